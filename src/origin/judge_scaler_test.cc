// Rules for loss scaling.
#include <gtest/gtest.h>

#include "origin/scenario.h"

namespace nanscope::test {
namespace {

constexpr Options kInBackward{.line = 20, .phase = Phase::kBackward};

Tensor grad_of_a_scaled_loss(Program& p) { return p.op("div", {p.data()}, kInf, kInBackward); }

// scaler.scale(loss).backward(), whose gradient overflows.
Tensor overflow(Program& p, const Leaf& w) {
  const auto root = p.judge.backward_begins({}, Program::at(74), {}, /*scaled=*/true);
  const Tensor grad = grad_of_a_scaled_loss(p);
  p.set_grad(w, grad);
  p.judge.backward_ended(root, p.leaves());
  return grad;
}

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
    Tensor grad = grad_of_a_scaled_loss(p);
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
    unscale(p, grad_of_a_scaled_loss(p));
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

// ---- the run ends somewhere between backward() and update()

void clip(Program& p, const Leaf& w, Tensor& grad) {
  p.inplace("mul_", grad, {}, kNan, {.line = 76});
  p.set_grad(w, grad);
}

TEST(JudgeScaler, WhatTheScalerWillFindIsNoHarmYet) {
  Program p;
  const Leaf w = p.parameter();
  overflow(p, w);
  p.end();
  EXPECT_TRUE(p.clean());
}

TEST(JudgeScaler, AClippedGradientIsOfTheSameOrigin) {
  Program p;
  const Leaf w = p.parameter();
  Tensor grad = unscale(p, overflow(p, w));
  clip(p, w, grad);
  p.end();
  EXPECT_TRUE(p.clean());
}

TEST(JudgeScaler, SoItIsIfTheLossWasMultipliedByHand) {
  Program p;
  const Leaf w = p.parameter();
  Tensor grad = grad_of_a_scaled_loss(p);
  p.backward(p.tensor(), w, grad);
  grad = unscale(p, grad);
  clip(p, w, grad);
  p.end();
  EXPECT_TRUE(p.clean());
}

TEST(JudgeScaler, AnotherGradientBesideItIsHarm) {
  Program p;
  const Leaf w = p.parameter();
  const Leaf other = p.parameter("other");
  unscale(p, overflow(p, w));
  p.backward(p.tensor(), other,
             p.op("div", {p.data()}, kInf, {.line = 30, .phase = Phase::kBackward}));
  p.end();
  EXPECT_EQ(p.verdict(), "div:30 by gradient");
}

TEST(JudgeScaler, ANanOfAnInfThatItFoundIsOfTheSameOrigin) {
  Program p;
  const Leaf w = p.parameter();
  Tensor grad = unscale(p, overflow(p, w));
  p.inplace("mul_", grad, {}, kNan,
            {.line = 76, .elementwise = true, .fresh_nan = true, .feeds = {{.inf_to_nan = true}}});
  p.set_grad(w, grad);
  p.end();
  EXPECT_TRUE(p.clean());
}

TEST(JudgeScaler, ALeafBesideTheOptimizersIsBadByTheSame) {
  Program p;
  const Leaf w = p.parameter();
  const Leaf input = p.parameter("input", /*in_optimizer=*/false);
  const auto root = p.judge.backward_begins({}, Program::at(74), {}, /*scaled=*/true);
  const Tensor grad = grad_of_a_scaled_loss(p);
  p.set_grad(w, grad);
  p.set_grad(input, p.op("mul", {grad}, kInf, kInBackward));
  p.judge.backward_ended(root, p.leaves());
  p.end();
  EXPECT_TRUE(p.clean());
}

TEST(JudgeScaler, AGradientThatNoOptimizerHasIsNotTheScalers) {
  Program p;
  const Leaf w = p.parameter("w", /*in_optimizer=*/false);
  overflow(p, w);
  p.end();
  EXPECT_EQ(p.verdict(), "div:20 by gradient");
}

TEST(JudgeScaler, AStepWithoutTheScalerIsHarm) {
  Program p;
  const Leaf w = p.parameter();
  Tensor grad = unscale(p, overflow(p, w));
  clip(p, w, grad);
  p.step();
  EXPECT_EQ(p.verdict(), "div:20 by gradient");
}

TEST(JudgeScaler, ALossThatScalingMadeInfiniteIsNoHarm) {
  Program p;
  const Leaf w = p.parameter();
  const Tensor loss = p.op("mul", {p.data()}, kInf, {.line = 74, .grad = true, .in_scaler = true});
  p.backward(loss, w, p.op("mul", {loss}, kInf, kInBackward));
  p.end();
  EXPECT_TRUE(p.clean());
}

TEST(JudgeScaler, FiniteGradientsOfALossThatScalingMadeInfiniteAreGood) {
  Program p;
  const Leaf w = p.parameter();
  const Tensor loss = p.op("mul", {p.data()}, kInf, {.line = 74, .grad = true, .in_scaler = true});
  p.backward(loss, w, p.tensor());
  p.step();
  p.end();
  EXPECT_TRUE(p.clean());
}

// scaled = scaler.scale(loss); log(scaled.item()); scaled.backward(), whose gradients may be
// finite.
TEST(JudgeScaler, ALogOfTheScaledLossIsNoHarm) {
  Program p;
  const Leaf w = p.parameter();
  const Tensor loss = p.op("mul", {p.data()}, kInf, {.line = 74, .grad = true, .in_scaler = true});
  p.item(loss);
  p.backward(loss, w, p.tensor());
  p.end();
  EXPECT_TRUE(p.clean());
  EXPECT_EQ(p.notes(), "mul:74 handled");
}

TEST(JudgeScaler, ALossMadeOfScaledGradientsIsBadByScaling) {
  Program p;
  const Leaf w = p.parameter();
  const auto root = p.judge.backward_begins({}, Program::at(74), {}, /*scaled=*/true);
  const Tensor result = grad_of_a_scaled_loss(p);
  p.judge.grad_ended(root, std::vector<TensorState>{result.state});
  const Tensor loss = p.op("add", {result}, kInf, {.line = 40, .grad = true});
  const Tensor grad = p.op("mul", {loss}, kNan, kInBackward);
  p.backward(loss, w, grad, 41);
  unscale(p, grad);
  p.judge.scaler_updated(true, 32768, Program::at(76));
  p.end();
  EXPECT_TRUE(p.clean());
}

// A gradient penalty whose root is 0: no other scale makes its slope finite.
TEST(JudgeScaler, ALossMadeOfAnInfiniteSlopeIsNotBadByScaling) {
  Program p;
  const Leaf w = p.parameter();
  const auto root = p.judge.backward_begins({}, Program::at(74), {}, /*scaled=*/true);
  const Tensor slope =
      p.op("div", {p.data()}, kInf,
           {.line = 20, .phase = Phase::kBackward, .fresh_inf = true, .born_of_zero = true});
  const Tensor result = p.op("mul", {slope, p.data()}, kNan,
                             {.line = 21,
                              .phase = Phase::kBackward,
                              .elementwise = true,
                              .fresh_nan = true,
                              .feeds = {{.inf_to_nan = true}, {}}});
  p.judge.grad_ended(root, std::vector<TensorState>{result.state});
  const Tensor loss = p.op("add", {result}, kNan, {.line = 40, .grad = true});
  const Tensor grad = p.op("mul", {loss}, kNan, kInBackward);
  p.backward(loss, w, grad, 41);
  unscale(p, grad);
  p.judge.scaler_updated(true, 32768, Program::at(76));
  EXPECT_EQ(p.verdict(), "div:20 by loss");
}

void skip(Program& p, const Leaf& w, const Options& birth) {
  const auto root = p.judge.backward_begins({}, Program::at(74), {}, /*scaled=*/true);
  const Tensor grad = p.op("div", {p.data()}, kInf, birth);
  p.set_grad(w, grad);
  p.judge.backward_ended(root, p.leaves());
  unscale(p, grad);
  p.judge.scaler_updated(true, 1024, Program::at(76));
  p.zero_grad();
}

TEST(JudgeScaler, SkippingEveryStepForAnInfiniteSlopeIsHarm) {
  Options slope = kInBackward;
  for (const bool born_of_zero : {false, true}) {
    for (const int skips : {2, 3}) {
      Program p;
      const Leaf w = p.parameter();
      slope.born_of_zero = born_of_zero;
      for (int i = 0; i < skips; ++i) skip(p, w, slope);
      EXPECT_TRUE(p.clean());
      p.end();
      EXPECT_EQ(p.clean(), !born_of_zero || skips < 3);
    }
  }
  // One step was healthy: the batches are to blame, not the program.
  Program p;
  const Leaf w = p.parameter();
  p.healthy_iteration(w);
  for (int i = 0; i < 3; ++i) skip(p, w, slope);
  p.end();
  EXPECT_TRUE(p.clean());
}

void end_by_exception(Program& p, bool about_values, bool blunder) {
  Ending ending;
  ending.abnormal = ending.exception = true;
  ending.about_values = about_values;
  ending.blunder = blunder;
  ending.place = Program::at(99);
  ending.leaves = p.leaves();
  p.judge.ended(ending);
}

TEST(JudgeScaler, AProgramThatGaveUpBecauseOfItIsHarmed) {
  for (const bool about_values : {false, true}) {
    Program p;
    const Leaf w = p.parameter();
    unscale(p, overflow(p, w));
    end_by_exception(p, about_values, /*blunder=*/false);
    EXPECT_EQ(p.clean(), !about_values);
  }
  for (const bool blunder : {false, true}) {
    Program p;
    const Leaf w = p.parameter();
    for (int i = 0; i < 3; ++i) {
      unscale(p, overflow(p, w));
      p.judge.scaler_updated(true, 1024, Program::at(76));
    }
    end_by_exception(p, /*about_values=*/false, blunder);
    EXPECT_EQ(p.clean(), blunder);
  }
}

TEST(JudgeScaler, EachScalerHasARowOfItsOwn) {
  Program p;
  const Leaf w = p.parameter();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(p.clean());
    unscale(p, overflow(p, w));
    p.judge.scaler_updated(false, 1024, Program::at(77), TensorId{7});
    p.judge.scaler_updated(true, 0.5, Program::at(76), TensorId{8});
    p.zero_grad();
  }
  EXPECT_EQ(p.verdict(), "div:20 by gradient");
}

TEST(JudgeScaler, WhatItFoundIsNotKeptInABlockWithoutBackward) {
  Program p;
  const Leaf w = p.parameter();
  Tensor grad = p.brought(kBoth);
  p.inplace("_amp_foreach_non_finite_check_and_unscale_", grad, {}, kBoth,
            {.line = 75, .in_scaler = true, .elementwise = true, .fresh_nan = true});
  const Tensor norm = p.op("linalg_vector_norm", {grad}, kNan, {.line = 76});
  p.item(norm);
  p.end(false, {{grad.state, {}}, {norm.state, {"norm"}}});
  EXPECT_TRUE(p.clean());
  const Tensor other = p.op("sqrt", {p.data()}, kNan, {.line = 10});
  p.end(false, {{other.state, {"other"}}});
  EXPECT_EQ(p.verdict(), "sqrt:10 by kept");
}

TEST(JudgeScaler, GradientsFromBeforeTheWatchThatItFindsAreNoHarm) {
  Program p;
  const Leaf w = p.parameter();
  Tensor grad = unscale(p, p.brought(kInf));
  clip(p, w, grad);
  p.end();
  EXPECT_TRUE(p.clean());
}

}  // namespace
}  // namespace nanscope::test
