// Rules that wait for the end: guard, habit, collapsed, kept, host, exception.
#include <gtest/gtest.h>

#include "origin/scenario.h"

namespace nanscope::test {
namespace {

Tensor bad_loss(Program& p, std::uint32_t line = 10) {
  return p.op("log", {p.data()}, kInf, {.line = line, .grad = true});
}

// ---- guard

TEST(JudgeGuard, ReadThenStopIsHarm) {
  Program p;
  p.judge.optimizer_made();
  p.item(bad_loss(p));  // if not math.isfinite(loss.item()): sys.exit(1)
  p.end(true);
  ASSERT_EQ(p.verdict(), "log:10 by guard");
  EXPECT_EQ(p.reported[0].place.line, 91u);
}

TEST(JudgeGuard, TestThenStopIsHarm) {
  Program p;
  p.judge.optimizer_made();
  p.test(bad_loss(p));
  p.end();
  EXPECT_EQ(p.verdict(), "log:10 by guard");
}

TEST(JudgeGuard, IsFiniteAsTheKernelsSeeIt) {
  Program p;
  p.judge.optimizer_made();
  Tensor loss = bad_loss(p);
  Tensor abs = p.op("abs", {loss}, kInf, {.line = 12});
  p.op("ne", {abs}, kFinite, {.line = 12, .constant = true, .floating = false});
  p.end();
  EXPECT_EQ(p.verdict(), "log:10 by guard");
}

TEST(JudgeGuard, ComparingWithAFiniteNumberIsNoTest) {
  Program p;
  p.judge.optimizer_made();
  Tensor loss = bad_loss(p);
  p.op("ne", {loss}, kFinite, {.line = 12, .floating = false});
  p.end();
  EXPECT_TRUE(p.clean());
  p.op("ne", {loss, loss}, kFinite, {.line = 12, .same = true, .floating = false});
  p.end();
  EXPECT_EQ(p.verdict(), "log:10 by guard");
}

TEST(JudgeGuard, OnlyInAProgramThatTrains) {
  Program p;
  p.test(bad_loss(p));
  p.end();
  EXPECT_TRUE(p.clean());
}

TEST(JudgeGuard, AMetricWithoutGradIsNone) {
  Program p;
  Leaf w = p.parameter();
  p.backward(p.tensor(), w, p.tensor());
  p.item(p.op("div", {p.data()}, kNan, {.line = 11}));
  p.end(true);
  EXPECT_TRUE(p.clean());
}

TEST(JudgeGuard, PrintingDecidesNothing) {
  Program p;
  p.judge.optimizer_made();
  Tensor loss = bad_loss(p);
  p.judge.host_read(loss.state, {}, false, Program::at(30));
  p.op("isfinite", {loss}, kFinite, {.line = 30, .printing = true, .floating = false});
  p.op("_local_scalar_dense", {loss}, kFinite, {.line = 30, .printing = true});
  p.op("masked_select", {loss}, kFinite, {.line = 30, .printing = true});
  p.end();
  EXPECT_TRUE(p.clean());
  EXPECT_EQ(p.notes(), "log:10 not used");
  p.judge.host_read(loss.state, {}, true, Program::at(31));  // tolist()
  p.end();
  EXPECT_EQ(p.verdict(), "log:10 by guard");
}

TEST(JudgeGuard, ARepairedValueIsNone) {
  Program p;
  p.judge.optimizer_made();
  Tensor loss = bad_loss(p);
  p.item(loss);
  p.op("nan_to_num", {p.op("neg", {loss}, kInf, {.line = 12})}, kFinite, {.line = 13});
  p.end(true);
  EXPECT_TRUE(p.clean());
}

TEST(JudgeGuard, AHealthyStepAfterwardsMakesItASkip) {
  Program p;
  Leaf w = p.parameter();
  p.item(bad_loss(p));
  p.healthy_iteration(w);
  p.end();
  EXPECT_TRUE(p.clean());
  EXPECT_EQ(p.notes(), "log:10 handled");
}

TEST(JudgeGuard, AMetricBesideAHealthyLossIsANote) {
  Program p;
  Leaf w = p.parameter();
  p.healthy_iteration(w, {10, 11});
  p.item(bad_loss(p, 50));  // made on a line no healthy loss came from
  p.end();
  EXPECT_TRUE(p.clean());
}

TEST(JudgeGuard, AfterHealthyStepsALineOnTheWayToALossCounts) {
  Program p;
  Leaf w = p.parameter();
  p.healthy_iteration(w, {10, 11});
  p.item(bad_loss(p, 10));
  p.end();
  EXPECT_EQ(p.verdict(), "log:10 by guard");
}

TEST(JudgeGuard, AfterHealthyStepsAnAbnormalEndCounts) {
  Program p;
  Leaf w = p.parameter();
  p.healthy_iteration(w);
  p.item(bad_loss(p, 50));
  p.end(true);
  EXPECT_EQ(p.verdict(), "log:50 by guard");
}

TEST(JudgeGuard, GivenInfIsNone) {
  Program p;
  p.judge.optimizer_made();
  p.item(p.op("add", {p.mask()}, kInf, {.line = 2, .grad = true}));
  p.end(true);
  EXPECT_TRUE(p.clean());
}

void skip(Program& p, int times) {
  for (int i = 0; i < times; ++i) p.item(bad_loss(p));
}

TEST(JudgeGuard, HabitExcusesUnlessMuchWorse) {
  struct Case {
    int before, now;
    bool abnormal;
    const char* verdict;
  };
  const Case cases[] = {
      {1, 1, true, "clean"},   {1, 2, true, "log:10 by guard"},
      {1, 8, false, "clean"},  {1, 9, false, "log:10 by guard"},
      {4, 12, false, "clean"}, {4, 13, false, "log:10 by guard"},
  };
  for (const Case& c : cases) {
    Program p;
    Leaf w = p.parameter();
    skip(p, c.before);
    p.healthy_iteration(w, {10});
    skip(p, c.now);
    p.end(c.abnormal);
    EXPECT_EQ(p.verdict(), c.verdict)
        << c.before << " then " << c.now << " abnormal " << c.abnormal;
  }
}

TEST(JudgeGuard, HabitIsPerLine) {
  Program p;
  Leaf w = p.parameter();
  p.item(bad_loss(p, 50));  // a NaN metric each epoch excuses no bad loss
  p.healthy_iteration(w, {10});
  p.item(bad_loss(p, 10));
  p.end();
  EXPECT_EQ(p.verdict(), "log:10 by guard");
}

// ---- collapsed

TEST(JudgeCollapsed, AnInfDividedAwayThatReachesALoss) {
  Program p;
  Leaf w = p.parameter();
  Tensor norm = p.op("linalg_vector_norm", {p.data()}, kInf, {.line = 3, .grad = true});
  Tensor zero = p.op("div", {p.data(), norm}, kFinite, {.line = 4, .grad = true, .all_zero = true});
  Tensor loss = p.op("sum", {p.op("mul", {zero}, kFinite, {.line = 5})}, kFinite, {.line = 6});
  p.backward(loss, w, p.tensor(), 7);
  p.step();
  EXPECT_TRUE(p.clean());
  p.end();
  ASSERT_EQ(p.verdict(), "linalg_vector_norm:3 by collapsed");
  EXPECT_EQ(p.reported[0].place.line, 7u);
}

TEST(JudgeCollapsed, NotIfPartlyZeroTestedDeclaredOrUnused) {
  enum class Why { kPartly, kTested, kDeclared, kUnused, kOverwritten };
  for (const Why why :
       {Why::kPartly, Why::kTested, Why::kDeclared, Why::kUnused, Why::kOverwritten}) {
    Program p;
    Leaf w = p.parameter();
    Tensor inf = why == Why::kDeclared ? p.mask() : p.op("exp", {p.data()}, kInf, {.line = 3});
    Tensor zero =
        p.op("div", {p.data(), inf}, kFinite, {.line = 4, .all_zero = why != Why::kPartly});
    if (why == Why::kTested) p.test(inf);
    if (why == Why::kOverwritten) p.inplace("normal_", zero, {}, kFinite);
    Tensor loss = p.op("sum", {why == Why::kUnused ? p.tensor() : zero}, kFinite, {.line = 6});
    p.backward(loss, w, p.tensor());
    p.step();
    p.end();
    EXPECT_EQ(p.verdict(), "clean") << static_cast<int>(why);
  }
}

// Only elements were lost: a warning, unless the program looked.
TEST(JudgeCollapsed, InPartItIsAWarning) {
  for (const bool tested : {false, true}) {
    Program p;
    Leaf w = p.parameter();
    Tensor inf = p.op("exp", {p.data()}, kInf, {.line = 3});
    if (tested) p.test(inf);
    Tensor kept = p.op("div", {p.data(), inf}, kFinite, {.line = 4, .some_zero = true});
    p.backward(p.op("sum", {kept}, kFinite, {.line = 6}), w, p.tensor());
    p.step();
    p.end();
    EXPECT_EQ(p.verdict(), "clean");
    ASSERT_EQ(p.judge.notes().size(), 1u);
    EXPECT_EQ(p.judge.notes()[0].warns, !tested);
  }
}

TEST(JudgeCollapsed, TheMarkSurvivesAnInPlaceOp) {
  Program p;
  Leaf w = p.parameter();
  Tensor inf = p.op("exp", {p.data()}, kInf, {.line = 3});
  Tensor zero = p.op("reciprocal", {inf}, kFinite, {.line = 4, .all_zero = true});
  p.inplace("mul_", zero, {}, kFinite, {.line = 5});
  p.backward(zero, w, p.tensor());
  p.end();
  EXPECT_EQ(p.verdict(), "exp:3 by collapsed");
}

// ---- programs without backward

TEST(JudgeForwardOnly, HostReadIsHarm) {
  Program p;
  p.item(p.op("div", {p.data()}, kNan, {.line = 1}));
  p.end();
  EXPECT_EQ(p.verdict(), "div:1 by host");
}

TEST(JudgeForwardOnly, PrintingIsAHostRead) {
  Program p;
  p.judge.host_read(p.op("div", {p.data()}, kNan, {.line = 1}).state, {}, false, Program::at(2));
  p.end();
  EXPECT_EQ(p.verdict(), "div:1 by host");
}

TEST(JudgeForwardOnly, NotInAProgramWithBackward) {
  Program p;
  Leaf w = p.parameter();
  Tensor x = p.op("div", {p.data()}, kNan, {.line = 1});
  p.item(x);
  p.healthy_iteration(w);
  p.item(x);
  p.end(false, {{x.state, {"x"}}});
  EXPECT_TRUE(p.clean());
}

TEST(JudgeForwardOnly, KeptIsHarmNamesFirstThenTheOldest) {
  Program p;
  Tensor old = p.op("sqrt", {p.data()}, kNan, {.line = 1});
  Tensor newer = p.op("log", {p.data()}, kNan, {.line = 2});
  Tensor named = p.op("acos", {p.data()}, kNan, {.line = 3});
  p.end(false, {{named.state, {"named"}}, {newer.state, {""}}, {old.state, {""}}});
  ASSERT_EQ(p.reported.size(), 3u);
  EXPECT_EQ(p.verdict(0), "acos:3 by kept");
  EXPECT_EQ(p.reported[0].name.text, "named");
  EXPECT_EQ(p.verdict(1), "sqrt:1 by kept");
  EXPECT_EQ(p.verdict(2), "log:2 by kept");
}

TEST(JudgeForwardOnly, HostReadsComeBeforeKeptValues) {
  Program p;
  Tensor kept = p.op("sqrt", {p.data()}, kNan, {.line = 1});
  p.item(p.op("log", {p.data()}, kNan, {.line = 2}));
  p.end(false, {{kept.state, {"kept"}}});
  EXPECT_EQ(p.verdict(0), "log:2 by host");
  EXPECT_EQ(p.verdict(1), "sqrt:1 by kept");
}

TEST(JudgeForwardOnly, KnownValuesAreNoHarm) {
  Program p;
  Tensor x = p.op("div", {p.data()}, kNan, {.line = 1});
  Tensor y = p.op("mul", {x}, kNan, {.line = 2});
  p.op("nansum", {y}, kFinite, {.line = 3});  // excuses y and what it was computed from
  Tensor z = p.op("add", {y}, kNan, {.line = 4});
  p.end(false, {{x.state, {"x"}}, {y.state, {"y"}}});
  EXPECT_TRUE(p.clean());
  p.end(false, {{z.state, {"z"}}});  // but not what is computed from it
  EXPECT_EQ(p.verdict(), "div:1 by kept");
}

TEST(JudgeForwardOnly, LogOfZeroIsANote) {
  Program p;
  Tensor log = p.op("log", {p.data()}, kInf, {.line = 1});
  Tensor sum = p.op("add", {log}, kInf, {.line = 2});
  p.item(sum);
  p.end(false, {{sum.state, {"sum"}}});
  EXPECT_TRUE(p.clean());
  EXPECT_EQ(p.notes(), "log:1 not used");
}

TEST(JudgeForwardOnly, OtherInfsAndNanOfALogCount) {
  Program p;
  p.item(p.op("exp", {p.data()}, kInf, {.line = 1}));
  p.item(p.op("log", {p.data()}, kNan, {.line = 2}));
  p.item(p.op("sub", {p.op("log", {p.data()}, kInf, {.line = 3})}, kNan, {.line = 4}));
  p.end();
  ASSERT_EQ(p.reported.size(), 3u);
  EXPECT_EQ(p.verdict(0), "exp:1 by host");
  EXPECT_EQ(p.verdict(1), "log:2 by host");
  EXPECT_EQ(p.verdict(2), "log:3 by host");
}

TEST(JudgeForwardOnly, DeclaredValuesMerelyHeldAreNotes) {
  Program p;
  Tensor missing = p.op("full", {}, kNan, {.line = 1, .constant = true});
  Tensor garbage = p.op("empty", {}, kNan, {.line = 2});
  Tensor mask = p.mask(3);
  p.end(false,
        {{missing.state, {"missing"}}, {garbage.state, {"garbage"}}, {mask.state, {"mask"}}});
  EXPECT_TRUE(p.clean());
  Tensor carried = p.op("mean", {missing}, kNan, {.line = 4});
  p.end(false, {{carried.state, {"carried"}}});
  EXPECT_EQ(p.verdict(), "full:1 by kept");
}

TEST(JudgeForwardOnly, ImportedInfCountsWhenItIsReadOrComputedWith) {
  Program p;
  Tensor inf = p.brought(kInf);
  p.item(inf, 5);
  p.end();
  EXPECT_EQ(p.verdict(), "_local_scalar_dense:5 by host");

  Program q;
  Tensor carried = q.op("mul", {q.brought(kInf)}, kInf, {.line = 3});
  q.end(false, {{carried.state, {"carried"}}});
  EXPECT_EQ(q.verdict(), "mul:3 by kept");
}

TEST(JudgeForwardOnly, ImportedInfMerelyHeldOrCleanedDoesNotCount) {
  Program p;
  Tensor held = p.brought(kInf);
  Tensor copy = p.op("clone", {held}, kInf, {.line = 2});
  p.end(false, {{held.state, {"held"}}, {copy.state, {"copy"}}});
  EXPECT_TRUE(p.clean());

  Tensor mask = p.brought(kInf);
  Tensor scores = p.op("add", {mask}, kInf, {.line = 3});
  p.op("_softmax", {scores}, kFinite, {.line = 4});
  p.item(mask);
  p.end(false, {{mask.state, {"mask"}}, {scores.state, {"scores"}}});
  EXPECT_TRUE(p.clean());
}

TEST(JudgeForwardOnly, ImportedNanCounts) {
  Program p;
  Tensor nan = p.brought(kNan);
  p.end(false, {{nan.state, {""}}});  // not known to anyone, not named: not looked at
  EXPECT_TRUE(p.clean());
  p.end(false, {{nan.state, {"nan"}}});
  ASSERT_EQ(p.verdict(), "input data:99 by kept");
  EXPECT_EQ(p.reported[0].origin.origin_kind, OriginKind::kImported);
}

TEST(JudgeForwardOnly, ATestExcusesTheValueTested) {
  Program p;
  Tensor x = p.op("div", {p.data()}, kNan, {.line = 1});
  p.item(x);
  p.test(x);
  p.end(false, {{x.state, {"x"}}});
  EXPECT_TRUE(p.clean());
}

// ---- exceptions

TEST(JudgeException, BadLocalsOfAnUncaughtException) {
  Program p;
  Tensor x = p.op("div", {p.data()}, kNan, {.line = 1});
  Ending ending;
  ending.abnormal = ending.exception = ending.about_values = true;
  ending.text = "ValueError: found nan";
  ending.place = Program::at(8);
  ending.locals = {x.state};
  p.judge.ended(ending);
  ASSERT_EQ(p.verdict(), "div:1 by exception");
  EXPECT_EQ(p.reported[0].text, "ValueError: found nan");
}

TEST(JudgeException, WithoutWordsOnlyAValueThatWasTestedOrIsALoss) {
  const auto raise = [](Program& p, const Tensor& local, bool blunder) {
    Ending ending;
    ending.abnormal = ending.exception = true;
    ending.blunder = blunder;
    ending.locals = {local.state};
    p.judge.ended(ending);
  };
  Program metric;
  raise(metric, metric.op("div", {metric.data()}, kNan, {.line = 1}), false);
  EXPECT_TRUE(metric.clean());

  Program loss;
  raise(loss, loss.op("div", {loss.data()}, kNan, {.line = 1, .grad = true}), false);
  EXPECT_EQ(loss.verdict(), "div:1 by exception");

  Program asserted;
  Tensor x = asserted.op("div", {asserted.data()}, kNan, {.line = 1});
  asserted.test(x);
  raise(asserted, x, false);
  EXPECT_EQ(asserted.verdict(), "div:1 by exception");

  Program typing_error;
  Leaf w = typing_error.parameter();
  typing_error.healthy_iteration(w);
  raise(typing_error, typing_error.op("div", {typing_error.data()}, kNan, {.grad = true}), true);
  EXPECT_TRUE(typing_error.clean());
}

TEST(JudgeException, AnOpThatDoesNotLookAtValuesRaisesForAnotherReason) {
  Program p;
  p.raises("mm", {p.op("div", {p.data()}, kNan, {.line = 1})}, "shapes cannot be multiplied");
  EXPECT_TRUE(p.clean());
}

TEST(JudgeException, AMaskAmongTheLocalsIsNone) {
  Program p;
  Ending ending;
  ending.abnormal = ending.exception = true;
  ending.locals = {p.mask().state};
  p.judge.ended(ending);
  EXPECT_TRUE(p.clean());
}

}  // namespace
}  // namespace nanscope::test
