#include "adapters/torch/interpose/arguments.h"

#include <ATen/ops/full.h>
#include <ATen/ops/scalar_tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "adapters/torch/interpose/test_call.h"

namespace nanscope::torch_adapter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

constexpr double kInf = std::numeric_limits<double>::infinity();

// Tensors of one element each, known by it.
at::Tensor marked(double value) { return at::full({1}, value); }

struct Seen {
  double value;
  std::size_t argument;
  int item;
  bool operator==(const Seen& other) const = default;
};

std::vector<Seen> tensors_of(TestCall& made) {
  std::vector<Seen> seen;
  each_tensor(made.wrapper(), made.call(),
              [&](const at::Tensor& tensor, std::size_t argument, int item) {
                seen.push_back({tensor.item<double>(), argument, item});
              });
  return seen;
}

std::vector<double> outputs_of(TestCall& made, void* result) {
  std::vector<double> seen;
  each_output(made.wrapper(), made.call(), result, [&](const at::Tensor& tensor, int number) {
    EXPECT_GE(number, static_cast<int>(seen.size()));
    seen.push_back(tensor.item<double>());
  });
  return seen;
}

TEST(Arguments, EveryKindOfTensorIsVisitedInOrder) {
  const at::Tensor items[] = {marked(3), marked(4)};
  const std::vector<at::Tensor> more = {marked(5)};
  c10::List<std::optional<at::Tensor>> indices;
  indices.push_back(std::nullopt);
  indices.push_back(marked(6));
  TestCall made;
  made.tensor(marked(1))
      .optional_tensor(marked(2))
      .tensor_list(items)
      .tensor_list_ref(at::ITensorListRef(more))
      .optional_tensor_list(indices);
  EXPECT_THAT(tensors_of(made), ElementsAre(Seen{1, 0, -1}, Seen{2, 1, -1}, Seen{3, 2, 0},
                                            Seen{4, 2, 1}, Seen{5, 3, 0}, Seen{6, 4, 1}));
}

TEST(Arguments, WhatIsAbsentIsNotVisited) {
  const at::Tensor items[] = {at::Tensor(), marked(1)};
  TestCall made;
  made.tensor(at::Tensor())
      .optional_tensor(std::nullopt)
      .optional_tensor(at::Tensor())
      .tensor_list({})
      .tensor_list(items)
      .other();
  EXPECT_THAT(tensors_of(made), ElementsAre(Seen{1, 4, 1}));
}

TEST(Arguments, NumbersAreNoTensors) {
  TestCall made;
  made.scalar(1).real(2).whole(3).flag(true).sizes({4}).tensor(marked(5));
  EXPECT_THAT(tensors_of(made), ElementsAre(Seen{5, 5, -1}));
}

TEST(Arguments, ASparseTensorIsVisitedAsItsValues) {
  const at::Tensor sparse = at::full({1}, 7.0).to_sparse();
  TestCall made;
  made.tensor(sparse);
  EXPECT_THAT(tensors_of(made), ElementsAre(Seen{7, 0, -1}));
}

TEST(Arguments, ABoxedCallHasValues) {
  TestCall made;
  BoxedCall boxed;
  boxed.values = {marked(1), 2.0, c10::IValue(std::vector<at::Tensor>{marked(3), marked(4)}),
                  c10::IValue(), at::Tensor()};
  std::vector<Seen> seen;
  each_tensor(made.wrapper(), boxed, [&](const at::Tensor& tensor, std::size_t argument, int item) {
    seen.push_back({tensor.item<double>(), argument, item});
  });
  EXPECT_THAT(seen, ElementsAre(Seen{1, 0, -1}, Seen{3, 2, 0}, Seen{4, 2, 1}));
  const std::vector<NumberArgument> numbers = numbers_of(made.wrapper(), boxed);
  ASSERT_EQ(numbers.size(), 1u);
  EXPECT_EQ(numbers[0].argument, 1u);
  EXPECT_EQ(numbers[0].value, 2.0);
  EXPECT_EQ(dims_of(made.wrapper(), boxed), std::nullopt);
}

TEST(Arguments, EveryKindOfNumberIsRead) {
  const c10::Scalar several[] = {5, 6.5};
  TestCall made;
  made.scalar(1.5)
      .optional_scalar(c10::Scalar(2))
      .optional_scalar(std::nullopt)
      .scalar_list(several)
      .real(-7)
      .optional_real(8)
      .optional_real(std::nullopt)
      .whole(-9)
      .flag(true);
  std::vector<std::pair<std::size_t, double>> seen;
  for (const auto& [argument, value] : numbers_of(made.wrapper(), made.call()))
    seen.emplace_back(argument, value);
  using P = std::pair<std::size_t, double>;
  EXPECT_THAT(seen,
              ElementsAre(P{0, 1.5}, P{1, 2}, P{3, 5}, P{3, 6.5}, P{4, -7}, P{5, 8}, P{7, -9}));
  EXPECT_EQ(largest_number(made.wrapper(), made.call()), 9);
}

TEST(Arguments, OddScalarsAreReadAsRealNumbers) {
  const auto read = [](const c10::Scalar& scalar) {
    TestCall made;
    made.scalar(scalar);
    return numbers_of(made.wrapper(), made.call()).at(0).value;
  };
  EXPECT_EQ(read(true), 1);
  EXPECT_EQ(read(std::numeric_limits<std::uint64_t>::max()), 18446744073709551615.0);
  EXPECT_TRUE(std::isnan(read(c10::complex<double>(NAN, 0))));
  EXPECT_TRUE(std::isnan(read(c10::complex<double>(kInf, NAN))));
  EXPECT_EQ(read(c10::complex<double>(kInf, 0)), kInf);
  EXPECT_EQ(read(c10::complex<double>(0, -kInf)), -kInf);
}

TEST(Arguments, ANumberThatIsNotFiniteIsSeen) {
  const auto seen = [](double value) {
    TestCall made;
    made.real(1).scalar(value).whole(3);
    return has_nonfinite_number(made.wrapper(), made.call());
  };
  EXPECT_FALSE(seen(2));
  EXPECT_TRUE(seen(kInf));
  EXPECT_TRUE(seen(-kInf));
  EXPECT_TRUE(seen(NAN));
}

TEST(Arguments, DimensionsAreThoseCalledDim) {
  using Dims = std::vector<std::int64_t>;
  const auto dims = [](auto add) {
    TestCall made;
    made.tensor(marked(0)).whole(9, "start");
    add(made);
    return dims_of(made.wrapper(), made.call());
  };
  EXPECT_THAT(dims([](TestCall& made) { made.whole(-1); }), Optional(Dims{-1}));
  EXPECT_THAT(dims([](TestCall& made) { made.sizes({0, 2}); }), Optional(Dims{0, 2}));
  EXPECT_THAT(dims([](TestCall& made) { made.optional_sizes(at::IntArrayRef{1}); }),
              Optional(Dims{1}));
  EXPECT_THAT(dims([](TestCall& made) { made.optional_sizes(std::nullopt); }), Optional(IsEmpty()));
  EXPECT_EQ(dims([](TestCall& made) { made.sizes({0, 2}, "normalized_shape"); }), std::nullopt);
  EXPECT_EQ(dims([](TestCall& made) { made.flag(true, "dim"); }), std::nullopt);
}

TEST(Arguments, AFlagIsFoundByName) {
  TestCall made;
  made.flag(true, "train").flag(false, "keepdim").whole(1, "upper");
  EXPECT_THAT(flag_of(made.wrapper(), made.call(), "train"), Optional(true));
  EXPECT_THAT(flag_of(made.wrapper(), made.call(), "keepdim"), Optional(false));
  EXPECT_EQ(flag_of(made.wrapper(), made.call(), "upper"), std::nullopt);
  EXPECT_EQ(flag_of(made.wrapper(), made.call(), "transposed"), std::nullopt);
}

TEST(Arguments, ANumberOfPythonIsAWrappedTensor) {
  at::Tensor number = at::scalar_tensor(0.5, at::kDouble);
  EXPECT_FALSE(is_number(number));
  number.unsafeGetTensorImpl()->set_wrapped_number(true);
  EXPECT_TRUE(is_number(number));
  EXPECT_EQ(number_in(number), 0.5);
  EXPECT_EQ(number_in(at::scalar_tensor(-3, at::kLong)), -3);
  EXPECT_EQ(number_in(at::scalar_tensor(c10::complex<double>(1, kInf), at::kComplexDouble)), kInf);
  EXPECT_FALSE(is_number(marked(1)));
}

// --- results

TEST(Results, OneTensorLiesInTheSlot) {
  TestCall made;
  made.tensor(marked(1));
  made.wrapper().shape = ResultShape::kOne;
  at::Tensor result = marked(2);
  EXPECT_THAT(outputs_of(made, &result), ElementsAre(2));
  result = at::Tensor();
  EXPECT_THAT(outputs_of(made, &result), IsEmpty());
}

TEST(Results, ATupleIsReadByItsOffsets) {
  struct Tuple {
    at::Tensor first;
    std::int64_t number;
    std::vector<at::Tensor> several;
    at::Tensor last;
  } result{marked(1), 9, {marked(2), marked(3)}, marked(4)};
  TestCall made;
  made.wrapper().shape = ResultShape::kMany;
  const auto offset = [&](const void* member) {
    return static_cast<std::uint16_t>(static_cast<const char*>(member) -
                                      reinterpret_cast<const char*>(&result));
  };
  made.wrapper().results = {{offset(&result.first), ResultItem::kTensor},
                            {offset(&result.number), ResultItem::kSymInt},
                            {offset(&result.several), ResultItem::kTensorVector},
                            {offset(&result.last), ResultItem::kTensor}};
  EXPECT_THAT(outputs_of(made, &result), ElementsAre(1, 2, 3, 4));
}

TEST(Results, AnOutArgumentIsTheResult) {
  TestCall made;
  made.tensor(marked(1)).tensor(marked(2), "out").written(false);
  EXPECT_THAT(outputs_of(made, nullptr), ElementsAre(2));
}

TEST(Results, AForeachOpWritesEveryItemOfItsList) {
  const at::Tensor items[] = {marked(1), marked(2)};
  TestCall made;
  made.tensor_list(items).written(true).scalar(3);
  EXPECT_THAT(outputs_of(made, nullptr), ElementsAre(1, 2));
}

TEST(Results, NothingComesOfAnOpThatReturnsNothing) {
  TestCall made;
  made.tensor(marked(1));
  EXPECT_THAT(outputs_of(made, nullptr), IsEmpty());
}

TEST(Results, OfABoxedCallWrittenArgumentsAndResultsAreGiven) {
  TestCall made;
  made.tensor(marked(1)).written(true);
  BoxedCall boxed;
  boxed.values = {marked(1)};
  boxed.results = {marked(2), c10::IValue(std::vector<at::Tensor>{marked(3)}), 4.0};
  std::vector<double> seen;
  each_output(made.wrapper(), boxed, nullptr,
              [&](const at::Tensor& tensor, int) { seen.push_back(tensor.item<double>()); });
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace nanscope::torch_adapter
