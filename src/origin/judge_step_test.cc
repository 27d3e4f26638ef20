// Rules at the optimizer's step.
#include <gtest/gtest.h>

#include "origin/scenario.h"

namespace nanscope::test {
namespace {

Tensor infinite_grad(Program& p) {
  return p.op("div", {p.data()}, kInf,
              {.line = 20, .phase = Phase::kBackward, .node = "SqrtBackward0"});
}

TEST(JudgeStep, OptimizerStateGainedAKind) {
  Program p;
  Leaf w = p.parameter();
  p.healthy_iteration(w);
  Tensor state = p.op("addcmul_", {p.data()}, kInf, {.line = 80, .phase = Phase::kOptimizer});
  p.judge.step_ended(std::vector<Held>{{state.state, {"exp_avg_sq"}}}, Program::at(80));
  ASSERT_EQ(p.verdict(), "addcmul_:80 by optimizer_state");
  EXPECT_EQ(p.reported[0].name.text, "exp_avg_sq");
}

TEST(JudgeStep, DeclaredOptimizerStateIsNoHarm) {
  Program p;
  Tensor best = p.mask();
  p.judge.step_ended(std::vector<Held>{{best.state, {"best"}}}, Program::at(80));
  EXPECT_TRUE(p.clean());
}

TEST(JudgeStep, OriginMayLieStepsBeforeTheHarm) {
  Program p;
  Leaf w = p.parameter();
  p.judge.optimizer_made();
  p.healthy_iteration(w);
  p.healthy_iteration(w);
  Tensor state = p.op("mul", {p.data()}, kInf, {.line = 30});
  for (int i = 0; i < 3; ++i) p.healthy_iteration(w);
  p.backward(p.tensor(), w, p.op("mul", {state}, kNan, {.line = 31, .phase = Phase::kBackward}));
  p.step();
  ASSERT_EQ(p.verdict(), "mul:30 by gradient");
  EXPECT_EQ(p.reported[0].origin.place.step, 2);
  EXPECT_EQ(p.judge.steps(), 6);
}

TEST(JudgeStep, StepsAreOptimizerStepsElseBackwardCalls) {
  Program p;
  Leaf w = p.parameter();
  p.backward(p.tensor(), w, p.tensor());
  EXPECT_EQ(p.judge.current_step(), 1);
  p.judge.optimizer_made();
  EXPECT_EQ(p.judge.current_step(), 0);
  p.step();
  p.step(80, true);  // skipped by a fused optimizer
  EXPECT_EQ(p.judge.current_step(), 1);
}

TEST(JudgeStep, FoundInfIsASkip) {
  Program p;
  Leaf w = p.parameter();
  p.backward(p.tensor(), w, infinite_grad(p));
  p.step(80, true);
  EXPECT_TRUE(p.clean());
}

TEST(JudgeStep, AStepCountsWhenItIsDone) {
  Program p;
  Leaf w = p.parameter();
  p.judge.optimizer_made();
  p.backward(p.tensor(), w, p.tensor());
  p.judge.step_begins(p.leaves(), false, Program::at(80));
  EXPECT_EQ(p.judge.current_step(), 0);
  p.judge.step_ended({}, Program::at(80));
  EXPECT_EQ(p.judge.current_step(), 1);
  p.step(80, /*found_inf=*/true);  // a fused optimizer skipped it
  EXPECT_EQ(p.judge.current_step(), 1);
}

}  // namespace
}  // namespace nanscope::test
