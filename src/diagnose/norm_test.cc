#include <gtest/gtest.h>

#include "diagnose/test_finding.h"

namespace nanscope {
namespace {

using namespace test_finding;

TEST(Norm, OfAZeroVector) {
  Finding finding = in_backward(
      "HypotBackward0", made(kNan, "aten::div", {with("", "self", 0), with("", "other", 0)}));
  finding.inputs.push_back(saved("torch.hypot(re, im)", "result", 0));
  EXPECT_EQ(verdict(finding), "norm_gradient_at_zero certain");
  EXPECT_EQ(diagnose(finding).sentence,
            "`f(x)` is 0 at [3]: its gradient is a direction, x / |x|, and a vector of zeros has "
            "none.");
}

TEST(Norm, OfADenormalVector) {
  Finding finding =
      in_backward("LinalgVectorNormBackward0", made(kInf, "aten::div", {with("", "self", 1)}));
  finding.inputs.push_back(saved("", "result", 1e-42));
  EXPECT_EQ(verdict(finding), "norm_gradient_at_zero certain");
}

TEST(Norm, InnocentSuspect) {
  Finding finding =
      in_backward("CdistBackward0", made(kNan, "aten::_cdist_backward", {with("", "self", 1)}));
  finding.inputs.push_back(saved("", "result", 2));
  EXPECT_EQ(why_not(finding, "norm_gradient_at_zero"), "the argument of `f(x)` is 2 at [3], not 0");
}

TEST(Norm, LookAlikes) {
  // A power of a mean is no norm.
  Finding finding = in_backward("PowBackward0", made(kInf, "aten::pow", {with("", "self", 0)}));
  finding.inputs.push_back(saved("m", "self", 0));
  finding.makers = {made_by("MeanBackward0", "x.pow(3).mean(-1)")};
  EXPECT_EQ(verdict(finding), "pow_domain certain");
  // A square root keeps its own name.
  EXPECT_EQ(verdict(sample::sqrt_gradient()), "sqrt_gradient_at_zero certain");
}

}  // namespace
}  // namespace nanscope
