#include <gtest/gtest.h>

#include "diagnose/test_finding.h"

namespace nanscope {
namespace {

using namespace test_finding;

TEST(Infinities, MinusEachOther) {
  const Finding finding =
      made(kNan, "aten::sub", {with("alpha", "self", -kInf), with("top", "other", -kInf)});
  EXPECT_EQ(verdict(finding), "inf_minus_inf certain");
  EXPECT_EQ(diagnose(finding).sentence,
            "`alpha` and `top` are both infinite at [3]: -inf - (-inf) is nan.");
  EXPECT_EQ(verdict(made(kNan, "aten::add", {with("a", "self", kInf), with("b", "other", -kInf)})),
            "inf_minus_inf certain");
}

TEST(Infinities, InAReduction) {
  TensorFacts row = blind(with("x", "self", kInf));
  row.statistics.neg_inf = 1;
  EXPECT_EQ(verdict(made(kNan, "aten::sum", {row})), "inf_minus_inf certain");
  EXPECT_EQ(verdict(made(kNan, "aten::var", {blind(with("x", "self", kInf))})),
            "empty_reduction certain");  // of one element; the inf is beside the point
}

TEST(Infinities, TimesZero) {
  const Finding finding =
      made(kNan, "aten::mul_", {with("grad", "self", kInf), with("clip", "other", 0)});
  EXPECT_EQ(verdict(finding), "zero_times_inf certain");
  EXPECT_EQ(diagnose(finding).sentence, "`grad` is inf and `clip` is 0 at [3]: inf * 0 is nan.");
  EXPECT_EQ(verdict(made(kNan, "aten::div", {with("a", "self", kInf), with("b", "other", kInf)})),
            "zero_times_inf certain");
}

TEST(Infinities, InnocentSuspect) {
  // One infinite operand alone stays infinite.
  EXPECT_EQ(why_not(made(kNan, "aten::sub", {with("a", "self", -kInf), with("b", "other", 1)}),
                    "inf_minus_inf"),
            "only one operand is infinite at [3]");
  EXPECT_EQ(why_not(made(kNan, "aten::mul", {with("a", "self", kInf), with("b", "other", 2)}),
                    "zero_times_inf"),
            "no factor is 0 at [3]");
}

TEST(Infinities, LookAlike) {
  TensorFacts scores = with("scores", "self", -kInf);
  scores.statistics.neg_inf = 4;
  EXPECT_EQ(verdict(made(kNan, "aten::_softmax", {scores})), "all_masked_softmax certain");
}

}  // namespace
}  // namespace nanscope
