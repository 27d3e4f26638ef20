// Nothing grows: long runs, and what is remembered across them.
#include <gtest/gtest.h>

#include "origin/judge_state.h"
#include "origin/scenario.h"

namespace nanscope::test {
namespace {

TEST(JudgeBounds, AMillionCleanedMasksKeepMemoryFlat) {
  Program p;
  const OpInfo* fill = p.info("masked_fill");
  const OpInfo* softmax = p.info("_softmax");
  int most_facts = 0;
  std::size_t most_held = 0;
  for (int i = 0; i < 500000; ++i) {
    Tensor scores = p.tensor(kInf);
    OpRecord made;
    made.op = fill;
    made.place = Program::at(1);
    made.nonfinite_scalar = true;
    made.writes.emplace_back().state = scores.state;
    p.judge.op_returned(made, p);
    OpRecord read;
    read.op = softmax;
    read.place = Program::at(2);
    read.reads.emplace_back().state = scores.state;
    read.writes.emplace_back().state = p.tensor().state;
    p.judge.op_returned(read, p);
    p.kill(scores);
    most_facts = std::max(most_facts, *p.facts_alive);
    most_held = std::max(most_held, p.world.held());
  }
  EXPECT_EQ(p.facts_made, 500000);
  EXPECT_LE(most_facts, 2 * static_cast<int>(Events::kCollectEvery));
  EXPECT_LE(most_held, Ledger::kMostStorages);
  EXPECT_EQ(p.judge.evicted(), 0u);
  EXPECT_EQ(p.notes(), "");
}

TEST(JudgeBounds, StateSizesHoldInABadTrainingRun) {
  FakeWorld world;
  JudgeState state(world);
  Program p;  // for its tensors and ops
  const OpInfo* log = p.info("log");
  for (std::uint32_t i = 0; i < 20000; ++i) {
    Tensor loss = p.tensor(kNan, true);
    OpRecord record;
    record.op = log;
    record.place = Program::at(i % 3000);
    record.grad = true;
    record.writes.emplace_back().state = loss.state;
    state.op_returned(record, p);
    state.host_read(loss.state, {}, true, Program::at(5));
    const std::vector<TensorState> roots{loss.state};
    const auto root = state.backward_begins(roots, Program::at(i), {});
    state.grad_ended(root, roots);
  }
  EXPECT_LE(state.roots.size(), JudgeState::kMostRoots + 1);
  EXPECT_LE(state.pending_gradients.size(), JudgeState::kMostPendingGradients);
  EXPECT_LE(state.grad_events.size(), JudgeState::kMostGradEvents);
  EXPECT_LE(state.decisive_reads.size(), JudgeState::kMostDecisiveReads);
  EXPECT_LE(state.bad_reads_of_line.size(), JudgeState::kMostLines);
  EXPECT_LE(state.events.size(), 2 * Events::kMost);
  EXPECT_LE(state.ledger.size(), Ledger::kMostStorages);
  EXPECT_LE(state.notes.list().size(), Notes::kMostSites);
  EXPECT_GT(state.evicted(), 0u);
}

TEST(JudgeBounds, HealthyCallsDisplaceNoPendingLoss) {
  FakeWorld world;
  JudgeState state(world);
  Program p;
  std::vector<TensorState> bad{p.tensor(kNan).state};
  const std::vector<TensorState> good{p.tensor().state};
  const auto first = state.backward_begins(bad, Program::at(1), {});
  for (std::size_t i = 1; i < JudgeState::kMostRoots; ++i) {
    (void)state.backward_begins(bad, Program::at(1), {});
  }
  for (int i = 0; i < 100; ++i) {
    const auto root = state.backward_begins(good, Program::at(2), {});
    if (i % 2 == 0) state.backward_ended(root, {});  // the others raised
  }
  EXPECT_NE(state.find_root(first), nullptr);
  EXPECT_EQ(state.records_dropped, 0u);
}

TEST(JudgeBounds, OriginsOutliveTheirEvents) {
  // A value made once, read after everything else was forgotten.
  Program p;
  Tensor old = p.op("exp", {p.data()}, kInf, {.line = 5});
  Tensor carried = p.op("mul", {old}, kInf, {.line = 6});
  p.kill(old);
  for (std::size_t i = 0; i < 2 * Events::kMost; ++i) {
    Tensor mask = p.mask();
    p.kill(mask);
  }
  Leaf w = p.parameter();
  p.inplace("sub_", w.data, {carried}, kInf, {.line = 7}, Target::kParameter);
  ASSERT_EQ(p.verdict(), "exp:5 by parameter");
  EXPECT_NE(p.reported[0].origin.facts, nullptr);
  EXPECT_TRUE(p.reported[0].chain_truncated);  // the first of them is forgotten by now
  EXPECT_EQ(Program::short_name(p.reported[0].chain.front()), "exp:5");
  EXPECT_EQ(Program::short_name(p.reported[0].chain.back()), "sub_:7");
}

TEST(JudgeBounds, AMaskMadeAtTheStartIsStillDeclared) {
  Program p;
  Tensor mask = p.mask(3);
  for (std::size_t i = 0; i < 2 * Events::kMost; ++i)
    p.kill(p.op("add", {mask}, kInf, {.line = 4}));
  Tensor buffer = p.tensor();
  p.inplace("copy_", buffer, {mask}, kInf, {.line = 5}, Target::kBuffer);
  EXPECT_TRUE(p.clean());
}

TEST(JudgeBounds, LongChainsKeepBothEnds) {
  Program p;
  Tensor x = p.op("sqrt", {p.data()}, kNan, {.line = 1});
  for (std::uint32_t i = 2; i < 100; ++i) x = p.op("mul", {x}, kNan, {.line = i});
  Leaf w = p.parameter();
  p.inplace("sub_", w.data, {x}, kNan, {.line = 100}, Target::kParameter);
  const Verdict& verdict = p.reported.at(0);
  EXPECT_EQ(verdict.chain.size(), 16u);
  EXPECT_TRUE(verdict.chain_truncated);
  EXPECT_EQ(verdict.chain.front().place.line, 1u);
  EXPECT_EQ(verdict.chain.back().place.line, 100u);
}

TEST(JudgeBounds, ManyOriginsKeepTheBest) {
  Program p;
  std::vector<Tensor> parts{p.mask(200)};
  for (std::uint32_t i = 1; i <= 20; ++i)
    parts.push_back(p.op("exp", {p.data()}, kInf, {.line = i}));
  Tensor all = p.op("cat", parts, kInf, {.line = 100});
  Leaf w = p.parameter();
  p.inplace("sub_", w.data, {all}, kInf, {.line = 101}, Target::kParameter);
  ASSERT_EQ(p.verdict(), "exp:1 by parameter");
  // The first eight did harm; the other births were let go of on the way.
  const std::vector<Note> notes = p.judge.notes();
  ASSERT_EQ(notes.size(), 12u);
  for (std::uint32_t i = 0; i < 12; ++i)
    EXPECT_EQ(Program::short_name(notes[i].first), "exp:" + std::to_string(9 + i));
}

}  // namespace
}  // namespace nanscope::test
