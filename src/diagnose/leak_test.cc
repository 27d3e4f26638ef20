#include <gtest/gtest.h>

#include "diagnose/test_finding.h"

namespace nanscope {
namespace {

using namespace test_finding;

Finding discarded() {
  Finding finding = made(kNan, "aten::sqrt", {with("x", "self", -1)});
  finding.harm = Harm{HarmKind::kGradient, std::nullopt, 0, "x", ""};
  finding.chain = {{"aten::sqrt", {}, Phase::kForward, Role::kBirth},
                   {"aten::div", {}, Phase::kBackward, Role::kCarrier}};
  StepRecord now;
  now.loss = 2.5;
  finding.history = {now};
  return finding;
}

TEST(Leak, TheLossIsFinite) {
  const Finding finding = discarded();
  EXPECT_EQ(verdict(finding), "where_gradient_leak certain");
  EXPECT_EQ(diagnose(finding).sentence,
            "`f(x)` is nan at [3] and is not used: the loss is 2.5. Its gradient is used all the "
            "same: 0 times the infinite slope is nan, also in the branch not taken.");
}

TEST(Leak, TheForwardWasBadAlready) {
  Finding finding = in_backward(
      "LogBackward0", made(kNan, "aten::div", {with("", "self", 0), with("", "other", 0)}));
  finding.inputs.push_back(saved("p", "self", 0));
  EXPECT_EQ(verdict(left_out(finding)), "where_gradient_leak certain");
  // Nothing in the program leaves it out: a squashed -inf is used all the same.
  EXPECT_EQ(verdict(finding), "log_of_zero certain");
}

TEST(Leak, TheGradientIsZero) {
  const Finding finding = in_backward(
      "SqrtBackward0", made(kNan, "aten::div", {with("", "self", 0), with("", "other", 0)}));
  EXPECT_EQ(verdict(left_out(finding)), "where_gradient_leak certain");
  // The gradient may be 0 because the function behind is flat there.
  EXPECT_EQ(verdict(finding), "sqrt_gradient_at_zero certain");
}

TEST(Leak, InnocentSuspect) {
  // The bad value is in the loss: nothing was discarded.
  Finding finding = discarded();
  finding.history.back().loss = kNan;
  EXPECT_EQ(verdict(finding), "sqrt_of_negative certain");
  EXPECT_EQ(why_not(finding, "where_gradient_leak"), "the loss itself is nan");
}

TEST(Leak, AnInfMayBeDividedAway) {
  // e / e.sum(): the loss is finite, and the inf was used all the same.
  Finding finding = made(kInf, "aten::exp", {with("h * 40", "self", 274)});
  const Finding leaked = discarded();
  finding.harm = leaked.harm;
  finding.chain = leaked.chain;
  finding.history = leaked.history;
  EXPECT_EQ(verdict(finding), "exp_overflow certain");
  EXPECT_EQ(why_not(finding, "where_gradient_leak"),
            "the loss is 2.5, but nothing shows that `f(x)` was discarded: an inf can be divided "
            "away");
  finding.origin.discarded = true;
  EXPECT_EQ(verdict(finding), "where_gradient_leak certain");
}

TEST(Leak, LookAlike) {
  // A gradient other than 0 meets the infinite slope.
  EXPECT_EQ(verdict(sample::sqrt_gradient()), "sqrt_gradient_at_zero certain");
}

}  // namespace
}  // namespace nanscope
