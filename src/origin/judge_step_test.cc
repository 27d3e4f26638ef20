// Rules at the optimizer's step and at the loss scaler's update.
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

// ---- GradScaler

Tensor unscale(Program& p, Tensor grad) {
  p.inplace("_amp_foreach_non_finite_check_and_unscale_", grad, {}, grad.state.kinds,
            {.line = 75, .in_scaler = true});
  return grad;
}

TEST(JudgeScaler, ASkippedStepIsANote) {
  Program p;
  Leaf w = p.parameter();
  p.healthy_iteration(w);
  Tensor loss = p.op("mul", {p.data()}, kInf, {.line = 74, .grad = true, .in_scaler = true});
  Tensor grad = p.op("mul", {loss}, kInf, {.line = 74, .phase = Phase::kBackward});
  p.backward(loss, w, grad);
  unscale(p, grad);
  p.judge.scaler_updated(true, 32768, Program::at(76));
  p.zero_grad();
  p.healthy_iteration(w);
  p.judge.scaler_updated(false, 32768, Program::at(76));
  p.end();
  EXPECT_TRUE(p.clean());
  EXPECT_EQ(p.notes(), "mul:74 handled; mul:74 step skipped by GradScaler");
}

TEST(JudgeScaler, ALossThatIsBadWithoutTheScaleIsAnError) {
  Program p;
  Leaf w = p.parameter();
  Tensor loss = p.op("log", {p.data()}, kNan, {.line = 10, .grad = true});
  Tensor scaled = p.op("mul", {loss}, kNan, {.line = 74, .grad = true, .in_scaler = true});
  Tensor grad = p.op("mul", {scaled}, kNan, {.line = 10, .phase = Phase::kBackward});
  p.backward(scaled, w, grad, 74);
  unscale(p, grad);
  p.judge.scaler_updated(true, 32768, Program::at(76));
  ASSERT_EQ(p.verdict(), "log:10 by loss");
  EXPECT_EQ(p.reported[0].place.line, 74u);
}

TEST(JudgeScaler, ScaleBelowOneAtTheThirdSkipInARowIsAnError) {
  Program p;
  Leaf w = p.parameter();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(p.clean());
    Tensor grad = infinite_grad(p);
    p.backward(p.tensor(), w, grad);
    unscale(p, grad);
    p.judge.scaler_updated(true, 0.5, Program::at(76));
    p.zero_grad();
  }
  EXPECT_EQ(p.verdict(), "div:20 by gradient");
}

TEST(JudgeScaler, AGoodUpdateBreaksTheRow) {
  Program p;
  for (int i = 0; i < 6; ++i) {
    unscale(p, infinite_grad(p));
    p.judge.scaler_updated(true, 0.5, Program::at(76));
    if (i % 2 == 1) p.judge.scaler_updated(false, 0.5, Program::at(76));
  }
  EXPECT_TRUE(p.clean());
}

TEST(JudgeScaler, TheScalersOwnCheckIsNoGuard) {
  Program p;
  p.judge.optimizer_made();
  Tensor grad = p.op("div", {p.data()}, kInf, {.line = 20, .grad = true});
  unscale(p, grad);
  p.end(true);
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
