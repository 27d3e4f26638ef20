#include <gtest/gtest.h>

#include <algorithm>

#include "diagnose/test_finding.h"

namespace nanscope {
namespace {

using namespace test_finding;

// It may have underflowed or been masked: only an experiment can tell.
TEST(Lineage, SoftmaxIsExactlyZero) {
  Finding finding = sample::log_of_zero();
  finding.makers = {
      made_by("SoftmaxBackward0", "torch.softmax(logits, -1)", {saved("", "result", 0)})};
  EXPECT_TRUE(is_evidence(
      finding,
      "`p` is 0 because softmax at line 38 gives exactly 0 there: the logit is -inf, or "
      "lies more than 103 below the largest of its row"));
}

// So it may with exp: it is not called an underflow.
TEST(Lineage, ExpIsExactlyZeroInTheTypeItHas) {
  Finding finding = sample::log_of_zero();
  finding.makers = {made_by("ExpBackward0", "z.exp()", {saved("", "result", 0)})};
  EXPECT_TRUE(is_evidence(finding,
                          "`p` is 0 because exp at line 38 gives exactly 0 there: its argument is "
                          "-inf, or below -103"));
  finding.makers[0].tensors[0].dtype = "float16";
  EXPECT_TRUE(is_evidence(finding,
                          "`p` is 0 because exp at line 38 gives exactly 0 there: its argument is "
                          "-inf, or below -17"));
}

TEST(Lineage, TheLinkBehindADifference) {
  Finding finding = made(-kInf, "aten::log", {with("1 - recon", "self", 0)});
  finding.origin.site.file = "train.py";
  finding.makers = {made_by("RsubBackward1", "1 - recon"),
                    made_by("SigmoidBackward0", "torch.sigmoid(h)", {saved("", "result", 1)}, 1)};
  EXPECT_TRUE(
      is_evidence(finding,
                  "`1 - recon` is 0 because `torch.sigmoid(h)` at line 38 is exactly 1: sigmoid is "
                  "rounded to 1 above 16.7"));
}

TEST(Lineage, SaysNothingWithoutAMaker) {
  EXPECT_EQ(diagnose(sample::log_of_zero()).evidence.size(), 1u);
}

TEST(WhatIf, ZerosBesideTheSmallestNumbers) {
  Finding finding = made(-kInf, "aten::log", {with("likelihood", "self", 0)});
  finding.inputs[0].healthy = {real(2e-31), real(6e-32)};
  EXPECT_TRUE(is_evidence(finding,
                          "other elements of `likelihood` go down to 6e-32, near the end of "
                          "float32: it is likely that a smaller number was rounded to 0 here "
                          "(underflow)"));
  finding.inputs[0].healthy = {real(0.5), real(1e-6)};
  EXPECT_EQ(diagnose(finding).evidence.back().find("other elements"), std::string::npos);
}

TEST(WhatIf, TheTypeIsTooNarrow) {
  Finding finding =
      made(kInf, "aten::add", {with("a", "self", 60000), with("b", "other", 6246)}, "float16");
  finding.exact = real(66246);
  finding.recomputed = {{"float32", {real(66246)}}, {"float64", {real(66246)}}};
  EXPECT_EQ(verdict(finding), "half_overflow certain");
  EXPECT_TRUE(
      is_evidence(finding,
                  "computed again from the same operands it is 66246 in float32 and 66246 in "
                  "float64: float16 is too narrow"));
  // A forged capture may hold less than a type and its values.
  finding.recomputed.push_back({"float64", {}});
  EXPECT_NE(diagnose(finding).id, "");
}

TEST(WhatIf, PrecisionIsNotTheCause) {
  Finding finding = sample::log_of_zero();
  finding.recomputed = {{"float64", {real(-kInf)}}};
  // Its operand may have lost its digits before.
  EXPECT_TRUE(
      is_evidence(finding, "computed again in float64 from the same operands it is -inf too"));
  EXPECT_TRUE(is_evidence(
      made_again(Loss::kNothing, -kInf, finding),
      "computed again in float64 from the same operands it is -inf too, and so it is with `p` made "
      "again in float64: it does not lack precision"));
}

TEST(WhatIf, WhatAnExperimentTellsTooIsMarked) {
  Finding finding = sample::log_of_zero();
  finding.recomputed = {{"float64", {real(-kInf)}}};
  const Cause cause = diagnose(finding);
  EXPECT_EQ(
      cause.evidence_of_experiments,
      std::vector<std::string>{"computed again in float64 from the same operands it is -inf too"});
  finding.recomputed.clear();
  finding.not_recomputed = "it was not computed again: the operation draws random numbers";
  EXPECT_TRUE(diagnose(finding).evidence_of_experiments.empty());
}

TEST(WhatIf, RandomOpsAreNotRunAgain) {
  Finding finding = sample::log_of_zero();
  finding.not_recomputed = "it was not computed again: the operation draws random numbers";
  EXPECT_TRUE(is_evidence(finding, finding.not_recomputed));
}

}  // namespace
}  // namespace nanscope
