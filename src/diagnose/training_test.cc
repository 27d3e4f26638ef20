#include <gtest/gtest.h>

#include <algorithm>

#include "diagnose/phrase.h"
#include "diagnose/test_finding.h"

namespace nanscope {
namespace {

using namespace test_finding;

// The gradient norm of some steps, each `factor` times the one before.
std::vector<StepRecord> growing(double factor, int steps) {
  std::vector<StepRecord> history;
  double norm = 1;
  for (int i = 0; i < steps; ++i, norm *= factor) {
    StepRecord record;
    record.step = i;
    record.gradient_norm = norm;
    record.learning_rate = 0.1;
    history.push_back(record);
  }
  return history;
}

Finding overflowed(std::int64_t step) {
  Finding finding = made(kInf, "aten::mul", {with("a", "self", 1e30), with("b", "other", 1e30)});
  finding.origin.step = step;
  return finding;
}

TEST(Training, Diverges) {
  Finding finding = overflowed(9);
  finding.history = growing(4.1, 10);
  EXPECT_EQ(verdict(finding), "learning_rate_divergence likely");
  EXPECT_EQ(diagnose(finding).sentence,
            "The training diverges: the gradient norm grew x 4.1 per step over the last 9 steps, "
            "until `f(x)` left the range of its type.");
  EXPECT_EQ(why_not(finding, "float_overflow").substr(0, 30), "true, and only how it showed: ");
}

std::vector<StepRecord> weights(std::vector<double> largest, std::int64_t first_step = 0) {
  std::vector<StepRecord> history;
  for (const double one : largest) {
    StepRecord record;
    record.step = first_step + static_cast<std::int64_t>(history.size());
    record.largest_parameter = one;
    history.push_back(record);
  }
  return history;
}

TEST(Training, DivergesInItsFirstSteps) {
  Finding finding = overflowed(2);
  finding.history = weights({0.18, 3.2, 60});
  EXPECT_EQ(verdict(finding), "learning_rate_divergence likely");
  EXPECT_EQ(diagnose(finding).sentence,
            "The training diverges: the largest parameter grew x 18 per step over the last 2 "
            "steps, until `f(x)` left the range of its type.");
  finding.history = weights({0.18, 3e9});
  EXPECT_EQ(verdict(finding), "learning_rate_divergence likely");
  // Weights that begin tiny grow fast and stay small.
  finding.history = weights({0.001, 0.1, 1.1});
  EXPECT_EQ(verdict(finding), "float_overflow certain");
  // One of them was well before: it may be one bad batch.
  finding.history = weights({0.18, 0.19, 60});
  EXPECT_EQ(verdict(finding), "float_overflow certain");
  finding.history = weights({0.18, 3.2, 60}, 400);
  EXPECT_EQ(verdict(finding), "float_overflow certain");
}

TEST(Training, AnInnerLoopDiverges) {
  Finding finding = overflowed(9);
  finding.makers = {made_by("SubBackward0", "p - inner_lr * g")};
  finding.magnitudes = {{"relu(x)", 3, false}, {"autograd.grad(loss, params)", 20, false}};
  EXPECT_EQ(verdict(finding), "float_overflow certain");
  finding.magnitudes.push_back({"autograd.grad(loss, params)", 3e14, false});
  EXPECT_EQ(verdict(finding), "learning_rate_divergence likely");
  EXPECT_NE(diagnose(finding).sentence.find("`p - inner_lr * g` makes inside one step diverge"),
            std::string::npos);
  // Nothing was updated on the way.
  finding.makers = {made_by("MulBackward0", "a * b")};
  EXPECT_EQ(verdict(finding), "float_overflow certain");
}

TEST(Training, AZeroIsTheWeightsDoingOnlyIfTheyRunAway) {
  Finding finding = made(kInf, "aten::div", {with("a", "self", 1), with("n", "other", 0)});
  finding.origin.step = 9;
  finding.history = growing(2, 10);
  for (StepRecord& record : finding.history) record.update_ratio = 0.03;
  EXPECT_EQ(verdict(finding), "division_by_zero certain");
  finding.history.back().update_ratio = 0.9;
  EXPECT_EQ(verdict(finding), "learning_rate_divergence likely");
}

TEST(Training, SteadyStepsAreInnocent) {
  Finding finding = overflowed(9);
  finding.history = growing(1.01, 10);
  EXPECT_EQ(verdict(finding), "float_overflow certain");
  // One jump is not a trend.
  finding.history.back().gradient_norm = 1e6;
  EXPECT_EQ(verdict(finding), "float_overflow certain");
}

TEST(Training, AJumpIsOneBadBatch) {
  Finding finding = overflowed(9);
  finding.history = growing(1.01, 10);
  finding.history.back().gradient_norm = 1e6;
  const auto jump_lines = [&] {
    const std::vector<std::string> evidence = diagnose(finding).evidence;
    return std::count_if(evidence.begin(), evidence.end(), [](const std::string& line) {
      return line ==
             "the gradient norm went from 1.08286 to 1e+06 in one step, after 8 steady ones: "
             "one bad batch, not a growth";
    });
  };
  EXPECT_EQ(jump_lines(), 1);
  finding.history.back().gradient_norm = 1.1;  // no jump
  EXPECT_EQ(jump_lines(), 0);
  for (StepRecord& record : finding.history) record.loss = 0.5;
  finding.history.back().loss = kInf;
  EXPECT_NE(joined(diagnose(finding).evidence, "; ").find("the loss went from 0.5 to inf in one "),
            std::string::npos);
  finding.history = growing(4.1, 10);  // a growth
  EXPECT_EQ(jump_lines(), 0);
}

TEST(Training, APoleIsNoDivergence) {
  Finding finding = made(-kInf, "aten::log", {with("p", "self", 0)});
  finding.history = growing(1.0, 10);
  EXPECT_EQ(verdict(finding), "log_of_zero certain");
}

TEST(Initialisation, GrowsThroughTheLayersAtStepZero) {
  Finding finding = overflowed(0);
  for (const double size : {1.0, 30.0, 900.0, 27'000.0, 810'000.0})
    finding.magnitudes.push_back({"self.fc(h)", size, false});
  EXPECT_EQ(verdict(finding), "bad_initialisation likely");
  // The same later is not the initialisation's doing.
  finding.origin.step = 50;
  EXPECT_EQ(verdict(finding), "float_overflow certain");
}

TEST(Initialisation, AWeightOfZeros) {
  Finding finding = made(kNan, "aten::div", {with("logit", "self", 0), with("n", "other", 0)});
  TensorFacts weight = saved("W", "self", 0);
  weight.parameter = true;
  weight.statistics.zeros = weight.statistics.numel;
  finding.makers = {made_by("LinalgVectorNormBackward0", "W.norm(dim=0)", {weight})};
  finding.makers[0].makes = "other";
  EXPECT_EQ(verdict(finding), "bad_initialisation certain");
  // Of the dividend: that is not what it divides by.
  finding.makers[0].makes = "self";
  EXPECT_EQ(verdict(finding), "division_by_zero certain");
  finding.makers[0].makes = "other";
  // Zeros that are no weight: data.
  finding.makers[0].tensors[0].parameter = false;
  EXPECT_EQ(verdict(finding), "division_by_zero certain");
}

TEST(Gradients, ExplodeThroughTheLayers) {
  Finding finding = in_backward("MulBackward0", overflowed(20));
  for (const double size : {1e12, 1e9, 1e6, 1e3, 1.0})
    finding.magnitudes.push_back({"", size, true});
  EXPECT_EQ(verdict(finding), "exploding_gradients likely");
  // Activations that grow are not gradients.
  for (Magnitude& magnitude : finding.magnitudes) magnitude.gradient = false;
  EXPECT_EQ(verdict(finding), "float_overflow certain");
  // Gradients that shrink are innocent.
  finding.magnitudes = {{"", 1.0, true}, {"", 1e3, true}, {"", 1e6, true}, {"", 1e9, true}};
  EXPECT_EQ(verdict(finding), "float_overflow certain");
}

}  // namespace
}  // namespace nanscope
