// Children of a fork, values handed to another process, and the strict judge.
#include <gtest/gtest.h>

#include "origin/scenario.h"

namespace nanscope::test {
namespace {

// ---- fork

TEST(JudgeFork, APendingLossIsTheParentsAffair) {
  Program p;
  const Leaf w = p.parameter();
  const Tensor loss = p.op("log", {p.data()}, kInf, {.line = 10, .grad = true});
  p.backward(loss, w, p.tensor());
  p.judge.forked();
  p.end();
  EXPECT_TRUE(p.clean());
}

TEST(JudgeFork, WhatTheParentHoldsIsNotKeptByTheChild) {
  Program p;
  const Tensor old = p.op("sqrt", {p.data()}, kNan, {.line = 10});
  p.judge.forked();
  p.end(false, {{old.state, {"old"}}});
  EXPECT_TRUE(p.clean());
  const Tensor own = p.op("sqrt", {p.data()}, kNan, {.line = 11});
  p.end(false, {{old.state, {"old"}}, {own.state, {"own"}}});
  EXPECT_EQ(p.verdict(), "sqrt:11 by kept");
}

TEST(JudgeFork, AValueKeepsItsOriginInTheChild) {
  Program p;
  const Tensor old = p.op("sqrt", {p.data()}, kNan, {.line = 10});
  p.judge.forked();
  Tensor weight = p.tensor();
  p.inplace("add_", weight, {old}, kNan, {.line = 12}, Target::kParameter, "w");
  EXPECT_EQ(p.verdict(), "sqrt:10 by parameter");
}

TEST(JudgeFork, StepsGoOnAndNotesBeginAnew) {
  Program p;
  const Leaf w = p.parameter();
  p.op("nan_to_num", {p.op("sqrt", {p.data()}, kNan, {.line = 10})}, kFinite, {.line = 11});
  p.healthy_iteration(w);
  ASSERT_EQ(p.judge.steps(), 1);
  ASSERT_EQ(p.judge.notes().size(), 1u);
  p.judge.forked();
  EXPECT_EQ(p.judge.steps(), 1);
  EXPECT_EQ(p.judge.notes().size(), 0u);
  p.backward(p.tensor(), w, p.tensor());
  EXPECT_EQ(p.judge.steps(), 1) << "it is the optimizer that counts, as it was for the parent";
  p.step();
  EXPECT_EQ(p.judge.steps(), 2);
  p.judge.forked();
  p.step();
  EXPECT_EQ(p.judge.steps(), 3) << "a child of the child";
}

TEST(JudgeFork, WithoutAnOptimizerBackwardCallsGoOn) {
  Program p;
  const Leaf w = p.parameter("w", false);
  p.backward(p.tensor(), w, p.tensor());
  p.judge.forked();
  p.backward(p.tensor(), w, p.tensor());
  EXPECT_EQ(p.judge.steps(), 2);
}

// ---- one watched stretch, then another

TEST(JudgeBeginAnew, WhatWasBadBeforeIsNotKnownAnyMore) {
  Program p;
  const Leaf w = p.parameter();
  p.op("sqrt", {p.data()}, kNan, {.line = 10});
  p.healthy_iteration(w);
  ASSERT_FALSE(p.judge.ledger().empty());
  p.judge.begin_anew();
  EXPECT_TRUE(p.judge.ledger().empty());
  EXPECT_EQ(p.judge.steps(), 0);
  p.end();
  EXPECT_TRUE(p.clean());
}

// What a line did in one stretch, or in the parent, says nothing of the next.
TEST(JudgeBeginAnew, NotesAreThoseOfTheStretch) {
  Program p;
  const Leaf w = p.parameter();
  const auto stretch = [&](int births) {
    for (int i = 0; i < births; ++i) p.op("sqrt", {p.data()}, kNan, {.line = 10});
    p.judge.scaler_updated(true, 1024, Program::at(76));
    p.healthy_iteration(w);
    p.end();
  };
  stretch(3);
  ASSERT_EQ(p.notes(), "sqrt:10 not used x3; ?:76 step skipped by GradScaler");
  p.judge.begin_anew();
  EXPECT_EQ(p.notes(), "");
  stretch(2);
  EXPECT_EQ(p.notes(), "sqrt:10 not used x2; ?:76 step skipped by GradScaler");
  p.judge.forked();
  EXPECT_EQ(p.notes(), "");
}

// Where a line did harm in one stretch, it is a note in the next.
TEST(JudgeBeginAnew, ALineThatDidHarmBeforeCanBeANote) {
  Program p;
  const Leaf w = p.parameter();
  const auto born = [&] { return p.op("sqrt", {p.data()}, kNan, {.line = 10, .grad = true}); };
  p.backward(born(), w, p.tensor(kNan));
  p.step();
  ASSERT_EQ(p.verdict(), "sqrt:10 by gradient");
  p.judge.begin_anew();
  born();
  p.healthy_iteration(w);
  p.end();
  EXPECT_EQ(p.notes(), "sqrt:10 not used");
}

// ---- a watch that begins in the midst of a program

TEST(JudgeTakeOver, StepsAreCountedOn) {
  Program p;
  const Leaf w = p.parameter();
  p.judge.take_over({.backwards = 8, .steps = 4, .healthy_steps = 4});
  EXPECT_EQ(p.judge.current_step(), 4);
  p.healthy_iteration(w);
  EXPECT_EQ(p.judge.steps(), 5);
}

TEST(JudgeTakeOver, WithoutAnOptimizerBackwardsAreSteps) {
  Program p;
  p.judge.take_over({.backwards = 3, .steps = 0, .healthy_steps = 0});
  EXPECT_EQ(p.judge.current_step(), 3);
}

// In a program that trains, what is merely held at the end is nothing; in another one it is.
TEST(JudgeTakeOver, AProgramThatTrainedIsOneThatTrains) {
  for (const std::int64_t backwards : {0, 1}) {
    Program p;
    p.judge.take_over({.backwards = backwards, .steps = 0, .healthy_steps = 0});
    const Tensor metric = p.op("sqrt", {p.data()}, kNan, {.line = 10});
    p.end(false, {{metric.state, {"metric"}}});
    EXPECT_EQ(p.clean(), backwards == 1);
  }
}

// A bad value that is tested after healthy steps is no guard, unless it is on a loss's way.
TEST(JudgeTakeOver, HealthyStepsBeforeExcuseALaterGuard) {
  for (const std::int64_t steps : {0, 1}) {
    Program p;
    p.judge.optimizer_made();
    p.judge.take_over({.backwards = steps, .steps = steps, .healthy_steps = steps});
    const Tensor loss = p.op("log", {p.data()}, kInf, {.line = 10, .grad = true});
    p.judge.host_read(loss.state, {}, true, Program::at(11));
    p.end();
    EXPECT_EQ(p.clean(), steps == 1);
  }
}

// ---- handed to another process

TEST(JudgeHandedOver, ABirthIsReadThere) {
  Program p;
  const Tensor batch = p.op("sqrt", {p.data()}, kNan, {.line = 10});
  p.judge.handed_over(batch.state, p.at(60));
  EXPECT_TRUE(p.clean());
  p.end();
  EXPECT_EQ(p.verdict(), "sqrt:10 by host");
}

TEST(JudgeHandedOver, WhatCameFromOutsideIsJudgedByItsUser) {
  Program p;
  const Tensor row = p.op("add", {p.brought(kNan)}, kNan, {.line = 10});
  p.judge.handed_over(row.state, p.at(60));
  p.judge.handed_over(p.brought(kNan).state, p.at(61));
  p.judge.handed_over(p.mask().state, p.at(62));
  p.end();
  EXPECT_TRUE(p.clean());
}

// ---- strict

TEST(JudgeStrict, ABirthIsAnErrorAtOnce) {
  Program p;
  p.judge.be_strict();
  const Tensor bad = p.op("sqrt", {p.data()}, kNan, {.line = 10});
  ASSERT_EQ(p.reported.size(), 1u);
  EXPECT_TRUE(p.reported[0].harmless);
  EXPECT_EQ(p.reported[0].origin.place.line, 10u);
  p.op("nan_to_num", {bad}, kFinite, {.line = 11});
  EXPECT_EQ(p.judge.notes().size(), 0u);
}

TEST(JudgeStrict, WhatIsDeclaredImportedOrCarriedIsNot) {
  Program p;
  p.judge.be_strict();
  p.op("add", {p.mask(), p.brought(kInf)}, kInf, {.line = 12});
  EXPECT_TRUE(p.clean());
}

TEST(JudgeStrict, TheSameAgainIsToldAgain) {
  Program p;
  std::vector<std::size_t> again;
  p.judge.on_error([&](const Verdict&) {},
                   [&](const Verdict& verdict) { again.push_back(verdict.number); });
  p.judge.be_strict();
  for (int i = 0; i < 3; ++i) p.op("sqrt", {p.data()}, kNan, {.line = 10});
  p.op("log", {p.data()}, kInf, {.line = 11});
  const Tensor bad = p.op("log", {p.data()}, kInf, {.line = 11});
  p.raises("multinomial", {bad}, "probability tensor contains inf", {.line = 12});
  EXPECT_EQ(again, (std::vector<std::size_t>{0, 0, 1}));
}

}  // namespace
}  // namespace nanscope::test
