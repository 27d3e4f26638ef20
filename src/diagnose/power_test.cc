#include <gtest/gtest.h>

#include "diagnose/test_finding.h"

namespace nanscope {
namespace {

using namespace test_finding;

TEST(Power, NegativeBase) {
  const Finding finding =
      made(kNan, "aten::pow", {with("1 - p", "self", -1e-7), with("g", "exponent", 0.5)});
  EXPECT_EQ(verdict(finding), "pow_domain certain");
  EXPECT_EQ(diagnose(finding).sentence,
            "`1 - p` is -1e-07 at [3] (1 of 4 elements is negative), and a negative number to the "
            "power 0.5 is nan.");
}

TEST(Power, ZeroToANegativePowerIsADivision) {
  Finding finding = made(kInf, "aten::pow.Tensor_Scalar", {with("deg", "self", 0)});
  finding.scalars = {{"exponent", "-0.5"}};
  EXPECT_EQ(verdict(finding), "division_by_zero certain");
}

TEST(Power, SlopeAtZero) {
  Finding finding = in_backward("PowBackward0", made(kInf, "aten::pow", {with("", "self", 0)}));
  finding.scalars = {{"exponent", "-0.5"}};
  finding.inputs.push_back(saved("x.mean(-1)", "self", 0));
  EXPECT_EQ(verdict(finding), "pow_domain certain");
  EXPECT_EQ(diagnose(finding).sentence,
            "`x.mean(-1)` is 0 at [3] (1 of 4 elements is zero), where the slope, 0.5 * x ** "
            "-0.5, is infinite.");
  // The gradient of a learnable exponent.
  EXPECT_EQ(
      verdict(in_backward("PowBackward1",
                          made(-kInf, "aten::log", {with("", "self", 0), saved("x", "self", 0)}))),
      "pow_domain certain");
}

TEST(Power, InnocentSuspect) {
  // A whole exponent of a negative base is fine: it overflowed.
  Finding finding = made(-kInf, "aten::pow", {with("x", "self", -1e20)});
  finding.scalars = {{"exponent", "3"}};
  finding.exact = real(-1e60);
  EXPECT_EQ(verdict(finding), "float_overflow certain");
  EXPECT_EQ(why_not(finding, "pow_domain"), "`x` is -1e+20 at [3] and the exponent is 3");
}

TEST(Power, LookAlikeThatIsANorm) {
  Finding finding = in_backward("PowBackward0", made(kInf, "aten::pow", {with("", "self", 0)}));
  finding.inputs.push_back(saved("", "self", 0));
  Maker square = made_by("PowBackward0", "b.pow(2)", {}, 1);
  square.scalars = {{"exponent", "2"}};
  finding.makers = {made_by("SumBackward0", "b.pow(2).sum()"), square};
  EXPECT_EQ(verdict(finding), "norm_gradient_at_zero certain");
}

}  // namespace
}  // namespace nanscope
