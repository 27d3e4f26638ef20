// Certain means proved: what the experiments at the hit allow to be said.

#include "diagnose/proof.h"

#include <gtest/gtest.h>

#include "diagnose/test_finding.h"

namespace nanscope {
namespace {

using namespace test_finding;

// A reduction has no line of arithmetic to fall back on.
Finding masked_row() {
  TensorFacts row = with("scores", "self", -kInf);
  row.statistics.neg_inf = 4;
  return made(kNan, "aten::_softmax", {row});
}

TEST(Proof, AMendedOperandMakesItCertain) {
  EXPECT_EQ(verdict(masked_row()), "all_masked_softmax certain");
  const Cause cause = diagnose(masked_row());
  ASSERT_EQ(cause.experiments.size(), 1u);
  EXPECT_EQ(cause.experiments[0].what, "one place of the row of `scores` unmasked");
  EXPECT_EQ(cause.experiments[0].result, "finite: 1");
}

TEST(Proof, WithoutAnExperimentItIsLikely) {
  EXPECT_EQ(verdict(untried(masked_row())), "all_masked_softmax likely");
}

TEST(Proof, AnExperimentThatFailsProvesNothing) {
  Finding finding = masked_row();
  finding.experiments[0].result = real(kNan);
  EXPECT_EQ(verdict(finding), "all_masked_softmax likely");
  EXPECT_EQ(diagnose(finding).experiments[0].result, "still nan");
}

TEST(Proof, AnotherOperandThatHelpsProvesNothing) {
  // The divisor is 0, and mending the dividend is what helped.
  Finding finding = made(kNan, "aten::div", {with("a", "self", 0), blind(with("n", "other", 0))});
  finding.experiments[1].result = real(kNan);
  EXPECT_EQ(verdict(finding), "division_by_zero likely");
}

TEST(Proof, SimpleArithmeticNeedsNoKernel) {
  // As NumPy's findings come: values, and no experiment.
  const Finding finding =
      untried(made(kInf, "numpy::divide", {with("a", "self", 1), with("n", "other", 0)}));
  EXPECT_EQ(verdict(finding), "division_by_zero certain");
}

TEST(Proof, WhatNoOpComputedNeedsNone) {
  Finding finding = untried(made(kNan, "aten::mul", {with("x", "self", kNan)}));
  finding.origin.kind = OriginKind::kImported;
  EXPECT_EQ(verdict(finding), "bad_input_data certain");
}

TEST(Proof, CancellationIsShownInFloat64) {
  const Finding negative = made(kNan, "aten::sqrt", {with("v", "self", -0.125)});
  EXPECT_EQ(verdict(made_again(Loss::kCancellation, 0.1, negative)), "cancellation certain");
  EXPECT_EQ(verdict(made_again(Loss::kCancellation, kNan, negative)), "sqrt_of_negative certain");
  EXPECT_EQ(verdict(negative), "sqrt_of_negative certain");
}

TEST(Proof, AGuardIsNamed) {
  const Finding zero = made(-kInf, "aten::log", {with("1 - p", "self", 0)}, "bfloat16");
  const Cause cause = diagnose(made_again(Loss::kGuard, -13.8, zero));
  EXPECT_EQ(cause.id, "eps_underflow");
  EXPECT_EQ(cause.title, "The guard 1e-6 vanishes in bfloat16");
}

TEST(Title, SaysWhatHappenedWhere) {
  EXPECT_EQ(diagnose(sample::log_of_zero()).title, "Logarithm of zero in `torch.log(p)`");
}

}  // namespace
}  // namespace nanscope
