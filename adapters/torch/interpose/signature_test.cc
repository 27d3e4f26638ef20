#include "adapters/torch/interpose/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nanscope::torch_adapter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Signature, ATensorComesBackThroughASlot) {
  const Signature read = read_signature("at::Tensor (at::Tensor const&, c10::Scalar const&)");
  EXPECT_EQ(read.abi_class, "S:WW");
  EXPECT_THAT(read.slots, ElementsAre(SlotKind::kTensor, SlotKind::kScalar));
}

TEST(Signature, AnInPlaceOpReturnsAReference) {
  const Signature read = read_signature("at::Tensor& (at::Tensor&, at::Tensor const&)");
  EXPECT_EQ(read.abi_class, "R:WW");
  EXPECT_THAT(read.slots, ElementsAre(SlotKind::kTensor, SlotKind::kTensor));
}

TEST(Signature, ATupleOfReferencesCountsThem) {
  EXPECT_EQ(read_signature("std::tuple<at::Tensor&, at::Tensor&, at::Tensor&> (at::Tensor const&)")
                .abi_class,
            "Q3:W");
}

TEST(Signature, ATupleOfTensorsComesBackThroughASlot) {
  EXPECT_EQ(
      read_signature("std::tuple<at::Tensor, at::Tensor> (at::Tensor const&, long)").abi_class,
      "S:WW");
}

TEST(Signature, ForeachOpsReturnNothing) {
  const Signature read =
      read_signature("void (c10::ArrayRef<at::Tensor>, c10::ArrayRef<c10::Scalar>)");
  EXPECT_EQ(read.abi_class, "V:PP");
  EXPECT_THAT(read.slots, ElementsAre(SlotKind::kTensorList, SlotKind::kScalarList));
}

TEST(Signature, WordsPairsAndNumbersHaveClassesOfTheirOwn) {
  const Signature read = read_signature(
      "at::Tensor (bool, std::optional<long>, double, std::optional<double>, "
      "c10::OptionalArrayRef<long>, std::optional<at::Tensor> const&)");
  EXPECT_EQ(read.abi_class, "S:WPDOMW");
  EXPECT_THAT(read.slots, ElementsAre(SlotKind::kBool, SlotKind::kOptionalInt, SlotKind::kDouble,
                                      SlotKind::kOptionalDouble, SlotKind::kOptionalIntList,
                                      SlotKind::kOptionalTensor));
}

TEST(Signature, CommasInsideATemplateDoNotSplit) {
  const Signature read = read_signature(
      "at::Tensor (std::array<bool, 3ul>, "
      "std::basic_string_view<char, std::char_traits<char> >, at::Tensor const&)");
  EXPECT_EQ(read.abi_class, "S:WPW");
  EXPECT_THAT(read.slots, ElementsAre(SlotKind::kOther, SlotKind::kOther, SlotKind::kTensor));
}

TEST(Signature, AnOpWithoutArguments) {
  const Signature read = read_signature("at::Tensor ()");
  EXPECT_EQ(read.abi_class, "S:");
  EXPECT_THAT(read.slots, IsEmpty());
}

// An unknown type by value could be passed in any registers: no trampoline serves it.
TEST(Signature, WhatIsNotKnownIsNotServed) {
  EXPECT_EQ(read_signature("at::Tensor (some::Struct, at::Tensor const&)").abi_class, "");
  EXPECT_EQ(read_signature("some::Struct (at::Tensor const&)").abi_class, "");
  EXPECT_EQ(read_signature("bool (at::Tensor const&)").abi_class, "");
  EXPECT_EQ(read_signature("no function type").abi_class, "");
  EXPECT_EQ(read_signature("").abi_class, "");
}

}  // namespace
}  // namespace nanscope::torch_adapter
