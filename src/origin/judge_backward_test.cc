// Rules at backward() and autograd.grad(): what waits, and what throws it away.
#include <gtest/gtest.h>

#include "origin/scenario.h"

namespace nanscope::test {
namespace {

// A loss born bad at line 10, and a gradient that is `grad_kinds` because of it.
struct BadLoss {
  explicit BadLoss(Program& p, Kinds grad_kinds = kNan) {
    loss = p.op("log", {p.data()}, kNan, {.line = 10, .grad = true});
    grad = grad_kinds.any()
               ? p.op("mul", {loss}, grad_kinds, {.line = 10, .phase = Phase::kBackward})
               : p.tensor();
  }
  Tensor loss;
  Tensor grad;
};

Tensor grad_born_in_backward(Program& p, std::uint32_t line = 20, Kinds kinds = kInf) {
  return p.op("div", {p.data()}, kinds,
              {.line = line, .phase = Phase::kBackward, .node = "SqrtBackward0"});
}

TEST(JudgeBackward, WhereGradientLeakBlamesTheInfiniteSlope) {
  // where(x > 0, sqrt(x), 0): finite in forward; in backward 0 * inf.
  Program p;
  Leaf w = p.parameter();
  Tensor loss = p.op("sum", {p.data()}, kFinite, {.line = 5, .grad = true});
  const auto root = p.begin_backward(loss);
  Tensor slope = p.op("div", {p.data()}, kNan,
                      {.line = 4, .phase = Phase::kBackward, .node = "SqrtBackward0"});
  Tensor grad =
      p.op("mul", {slope}, kNan, {.line = 3, .phase = Phase::kBackward, .node = "MulBackward0"});
  p.set_grad(w, grad);
  p.judge.backward_ended(root, p.leaves());
  p.step();
  ASSERT_EQ(p.verdict(), "div:4 by gradient");
  EXPECT_EQ(p.reported[0].origin.place.node, "SqrtBackward0");
  EXPECT_EQ(p.reported[0].origin.place.phase, Phase::kBackward);
  EXPECT_EQ(p.reported[0].name.text, "w");
  EXPECT_EQ(p.reported[0].place.line, 80u);
}

TEST(JudgeBackward, BadLossWithFiniteGradientsIsJudgedAtTheStep) {
  Program p;
  Leaf w = p.parameter();
  BadLoss bad(p, kFinite);
  p.backward(bad.loss, w, bad.grad);
  EXPECT_TRUE(p.clean());
  p.step();
  EXPECT_EQ(p.verdict(), "log:10 by loss");
}

TEST(JudgeBackward, LossAndGradientTogetherNameTheEarliest) {
  Program p;
  Leaf w = p.parameter();
  Tensor loss = p.op("mul", {p.data()}, kInf, {.line = 1, .grad = true});
  p.backward(loss, w, grad_born_in_backward(p));
  p.step();
  EXPECT_EQ(p.verdict(), "mul:1 by gradient");
}

TEST(JudgeBackward, GradientsThrownAwayByZeroGradAreANote) {
  Program p;
  Leaf w = p.parameter();
  BadLoss bad(p);
  p.backward(bad.loss, w, bad.grad);
  p.zero_grad();
  p.healthy_iteration(w);
  p.end();
  EXPECT_TRUE(p.clean());
  EXPECT_EQ(p.notes(), "log:10 thrown away");
}

TEST(JudgeBackward, ZeroInPlaceThrowsAwayToo) {
  Program p;
  Leaf w = p.parameter();
  BadLoss bad(p, kFinite);
  p.backward(bad.loss, w, bad.grad);
  EXPECT_TRUE(p.judge.awaits_gradients());
  p.inplace("zero_", bad.grad, {}, kFinite, {.line = 72});
  EXPECT_FALSE(p.judge.awaits_gradients());
  p.set_grad(w, bad.grad);
  p.step();
  p.end();
  EXPECT_TRUE(p.clean());
}

TEST(JudgeBackward, ReplacedBadGradientsAreThrownAway) {
  Program p;
  Leaf w = p.parameter();
  BadLoss bad(p);
  p.backward(bad.loss, w, bad.grad);
  p.set_grad(w, p.tensor());  // p.grad = a finite one
  p.step();
  p.end();
  EXPECT_TRUE(p.clean());
}

TEST(JudgeBackward, ReplacedFiniteGradientsOfABadLossMayHaveBeenUsed) {
  Program p;
  Leaf w = p.parameter("w", false);
  BadLoss bad(p, kFinite);
  p.backward(bad.loss, w, bad.grad);
  p.clear_grad(w);  // after a hand-written update
  p.end();
  EXPECT_EQ(p.verdict(), "log:10 by loss");
}

TEST(JudgeBackward, CleanedGradientsOfABadLossAreHandled) {
  Program p;
  Leaf w = p.parameter();
  BadLoss bad(p);
  p.backward(bad.loss, w, bad.grad);
  p.inplace("nan_to_num_", bad.grad, {}, kFinite, {.line = 73});
  p.set_grad(w, bad.grad);
  p.step();
  p.end();
  EXPECT_TRUE(p.clean());
  EXPECT_EQ(p.notes(), "log:10 handled");
}

TEST(JudgeBackward, PendingLossAtTheEndIsHarm) {
  Program p;
  Leaf w = p.parameter();
  BadLoss bad(p, kFinite);
  p.backward(bad.loss, w, bad.grad, 70);
  p.end();
  ASSERT_EQ(p.verdict(), "log:10 by loss");
  EXPECT_EQ(p.reported[0].place.line, 70u);
}

TEST(JudgeBackward, TestedLossWhoseGradientsWaitInAnOptimizerIsASkip) {
  for (const bool abnormal : {false, true}) {
    Program p;
    p.judge.optimizer_made();
    Leaf w = p.parameter();
    p.healthy_iteration(w);
    BadLoss bad(p, kFinite);
    p.backward(bad.loss, w, bad.grad);
    p.test(bad.loss);
    p.end(abnormal);
    // The test is no guard either: line 10 is on the way to no healthy root.
    EXPECT_EQ(p.verdict(), abnormal ? "log:10 by loss" : "clean");
  }
}

TEST(JudgeBackward, HandWrittenScalerSkipsAreNotes) {
  Program p;
  Leaf w = p.parameter();
  p.judge.optimizer_made();
  for (int i = 0; i < 3; ++i) {
    Tensor grad = grad_born_in_backward(p);
    p.backward(p.tensor(), w, grad);
    p.test(grad);
    p.zero_grad();
    p.healthy_iteration(w);
  }
  p.end();
  EXPECT_TRUE(p.clean());
}

TEST(JudgeBackward, LastSkipOfAHandWrittenScalerIsHandled) {
  for (const bool abnormal : {false, true}) {
    Program p;
    Leaf w = p.parameter();
    p.judge.optimizer_made();
    p.healthy_iteration(w);
    Tensor grad = grad_born_in_backward(p);
    p.backward(p.tensor(), w, grad);
    p.test(grad);
    p.end(abnormal);
    EXPECT_EQ(p.verdict(), abnormal ? "div:20 by gradient" : "clean");
    EXPECT_EQ(p.notes(), abnormal ? "" : "div:20 handled");
  }
}

TEST(JudgeBackward, HeldGradientWhoseOriginLiesBeforeBackwardStaysAnError) {
  Program p;
  Leaf w = p.parameter();
  p.judge.optimizer_made();
  p.healthy_iteration(w);
  Tensor bad = p.op("exp", {p.data()}, kInf, {.line = 9, .grad = true});
  Tensor grad = p.op("mul", {bad}, kInf, {.line = 9, .phase = Phase::kBackward});
  p.backward(p.tensor(), w, grad);
  p.test(grad);
  p.end();
  EXPECT_EQ(p.verdict(), "exp:9 by gradient");
}

TEST(JudgeBackward, HeldGradientNamesTheBackwardCall) {
  Program p;
  Leaf w = p.parameter("net.w", false);
  p.backward(p.tensor(), w, grad_born_in_backward(p), 33);
  p.end();
  ASSERT_EQ(p.verdict(), "div:20 by gradient");
  EXPECT_EQ(p.reported[0].place.line, 33u);
  EXPECT_EQ(p.reported[0].name.text, "net.w");
}

TEST(JudgeBackward, GradientOfALeafThatDiedStays) {
  Program p;
  Leaf w = p.parameter("w", false);
  p.backward(p.tensor(), w, grad_born_in_backward(p));
  p.kill(w);
  p.end();
  EXPECT_EQ(p.verdict(), "div:20 by gradient");
}

TEST(JudgeBackward, FiniteBackwardFromTheSameLineSettlesADeadLeaf) {
  for (const std::uint32_t line : {33u, 34u}) {
    Program p;
    Leaf w = p.parameter("w", false);
    p.backward(p.tensor(), w, grad_born_in_backward(p), 33);
    p.kill(w);
    Leaf v = p.parameter("v", false);
    p.backward(p.tensor(), v, p.tensor(), line);
    p.end();
    EXPECT_EQ(p.verdict(), line == 33 ? "clean" : "div:20 by gradient");
  }
}

TEST(JudgeBackward, HealthyStepSettlesADeadLeaf) {
  Program p;
  Leaf w = p.parameter();
  p.backward(p.tensor(), w, grad_born_in_backward(p), 33);
  p.kill(w);
  Leaf v = p.parameter("v");
  p.healthy_iteration(v);
  p.end();
  EXPECT_TRUE(p.clean());
}

TEST(JudgeBackward, LivingGradientIsNotSettledByOthers) {
  Program p;
  Leaf w = p.parameter("w", false);
  p.backward(p.tensor(), w, grad_born_in_backward(p), 33);
  const auto root = p.begin_backward(p.tensor(), 33);
  p.judge.backward_ended(root, {});
  p.end();
  EXPECT_EQ(p.verdict(), "div:20 by gradient");
}

TEST(JudgeBackward, PendingGradientIsDroppedWhenClearedOrMadeFinite) {
  for (const bool cleared : {false, true}) {
    Program p;
    Leaf w = p.parameter("w", false);
    Tensor grad = grad_born_in_backward(p);
    p.backward(p.tensor(), w, grad);
    if (cleared) {
      p.clear_grad(w);
    } else {
      p.inplace("mul_", grad, {}, kFinite, {.line = 50});
      p.set_grad(w, grad);
    }
    p.op("log", {p.data()}, kInf, {.line = 51});  // any reported op polls
    EXPECT_FALSE(p.judge.awaits_gradients());
    p.kill(w);
    p.end();
    EXPECT_TRUE(p.clean());
  }
}

TEST(JudgeBackward, ZeroGradJustBeforeTheLeafDiesThrowsAway) {
  Program p;
  Leaf w = p.parameter();
  Tensor grad = grad_born_in_backward(p);
  p.backward(p.tensor(), w, grad);
  p.test(grad);
  p.zero_grad();
  p.kill(w);  // the function that held it returned
  p.end();
  EXPECT_TRUE(p.clean());
  EXPECT_EQ(p.notes(), "div:20 thrown away");
}

TEST(JudgeBackward, UsedResultsOfABadLossAreNoSkip) {
  Program p;
  BadLoss bad(p);
  p.autograd_grad(bad.loss, {bad.grad}, 71);
  p.op("sub", {bad.grad}, kNan, {.line = 60});
  p.autograd_grad(p.tensor(), {p.tensor()}, 71);
  p.end();
  EXPECT_EQ(p.verdict(), "log:10 by loss");
}

TEST(JudgeBackward, ResultsOfAutogradGradCountAsGradients) {
  Program p;
  Tensor result = grad_born_in_backward(p);
  p.autograd_grad(p.tensor(), {result});
  Ending ending;
  ending.gradients = {result.state};
  p.judge.ended(ending);
  EXPECT_EQ(p.verdict(), "div:20 by gradient");
}

TEST(JudgeBackward, CleanedResultsOfAutogradGradDoNot) {
  Program p;
  Tensor result = grad_born_in_backward(p);
  p.autograd_grad(p.tensor(), {result});
  p.op("nan_to_num", {result}, kFinite, {.line = 60});
  Ending ending;
  ending.gradients = {result.state};
  p.judge.ended(ending);
  EXPECT_TRUE(p.clean());
}

TEST(JudgeBackward, UsedResultsCountInAProgramWithoutOptimizer) {
  for (const bool used : {false, true}) {
    Program p;
    Tensor result = grad_born_in_backward(p);
    p.autograd_grad(p.tensor(), {result}, 71);
    if (used) p.op("sub", {result}, kInf, {.line = 60});
    p.autograd_grad(p.tensor(), {p.tensor()}, 71);  // settles what is pending from line 71
    p.end();
    EXPECT_EQ(p.verdict(), used ? "div:20 by gradient" : "clean");
  }
}

TEST(JudgeBackward, RecoveredAutogradGradOfABadLossIsANote) {
  Program p;
  BadLoss bad(p);
  p.autograd_grad(bad.loss, {bad.grad}, 71);
  p.autograd_grad(p.tensor(), {p.tensor()}, 71);
  p.end();
  EXPECT_TRUE(p.clean());
  EXPECT_EQ(p.notes(), "log:10 handled");
}

// A reentrant checkpoint computes again and calls backward inside backward.
TEST(JudgeBackward, ABackwardInsideAnotherBlamesTheOuterLoss) {
  Program p;
  Leaf w = p.parameter();
  Tensor first = p.op("log", {p.data()}, kInf, {.line = 8});
  const auto outer = p.begin_backward(first, 13);
  Tensor again = p.op("log", {p.data()}, kInf, {.line = 8});
  p.backward(again, w, p.tensor(), 314);
  p.judge.backward_ended(outer, {});
  p.step();
  ASSERT_EQ(p.verdict(), "log:8 by loss");
  EXPECT_EQ(p.reported[0].origin.id, 1u);
}

TEST(JudgeBackward, AnomalyModeRaisesBecauseOfWhatTheBackwardMade) {
  Program p;
  const auto root = p.begin_backward(p.tensor());
  p.op("div", {p.data()}, kNan, {.line = 5, .phase = Phase::kBackward, .node = "SqrtBackward0"});
  p.judge.backward_raised(root, true, "RuntimeError: returned nan values");
  EXPECT_EQ(p.verdict(), "div:5 by exception");
}

TEST(JudgeBackward, AnExceptionAboutSomethingElseIsNoHarm) {
  Program p;
  const auto root = p.begin_backward(p.tensor());
  p.op("div", {p.data()}, kNan, {.line = 5, .phase = Phase::kBackward});
  p.judge.backward_raised(root, false, "RuntimeError: second time");
  EXPECT_TRUE(p.clean());
}

TEST(JudgeBackward, AnUpdateOfTheProgramsOwnBlamesTheLossBeforeItsGradient) {
  Program p;
  Leaf w = p.parameter("w", false);
  Tensor loss = p.op("log", {p.data()}, kInf, {.line = 3, .grad = true});
  const auto root = p.begin_backward(loss);
  Tensor slope = p.op("div", {p.data()}, kInf, {.line = 3, .phase = Phase::kBackward});
  p.set_grad(w, slope);
  p.judge.backward_ended(root, p.leaves());
  p.inplace("sub_", w.data, {slope}, kInf, {.line = 9}, Target::kParameter, "w");
  EXPECT_EQ(p.verdict(), "log:3 by parameter");
}

TEST(JudgeBackward, StepsWithoutAnOptimizerAreCompletedBackwards) {
  Program p;
  const auto root = p.begin_backward(p.tensor());
  EXPECT_EQ(p.judge.current_step(), 0);
  p.judge.grad_ended(root, {});
  EXPECT_EQ(p.judge.current_step(), 1);
}

}  // namespace
}  // namespace nanscope::test
