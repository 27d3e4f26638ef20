// The judge and its ledger, driven by several threads at once. The outcome is the same in whatever
// order they come; ThreadSanitizer (`make sanitize-threads`) says whether they may.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <set>
#include <thread>

#include "origin/scenario.h"

namespace nanscope::test {
namespace {

constexpr std::uint64_t kThreads = 4;

// Leaves that every thread may give a gradient to, as the adapter's world has them.
class SharedWorld : public World {
 public:
  void hold(StorageId) override {}
  void release(StorageId) override {}
  bool alive(StorageId) override { return true; }
  std::optional<LeafGrad> leaf(TensorId leaf) override {
    const std::lock_guard guard(lock_);
    const auto found = leaves_.find(leaf);
    return found == leaves_.end() ? std::nullopt : std::optional(found->second);
  }
  void set(const LeafGrad& leaf) {
    const std::lock_guard guard(lock_);
    leaves_.insert_or_assign(leaf.leaf, leaf);
  }

 private:
  std::mutex lock_;
  std::unordered_map<TensorId, LeafGrad> leaves_;
};

struct NoFacts : FactsMaker {
  std::shared_ptr<const EventFacts> facts(std::optional<std::size_t>) override { return nullptr; }
};

TensorState tensor(std::uint64_t storage, Kinds kinds) {
  return {{storage}, {0, 64}, true, kinds, false};
}

// Runs work(1) ... work(kThreads) on threads of their own, begun together.
template <class Work>
void at_once(const Work& work) {
  std::latch begin(kThreads);
  std::vector<std::thread> threads;
  for (std::uint64_t number = 1; number <= kThreads; ++number) {
    threads.emplace_back([&, number] {
      begin.arrive_and_wait();
      work(number);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(JudgeThreads, OpsOfManyThreadsAreAllCounted) {
  SharedWorld world;
  Judge judge(world);
  std::atomic<int> errors{0};
  judge.on_error([&](const Verdict&) { ++errors; });
  const OpInfo log{"log", traits_of("log")};
  const OpInfo where{"where", traits_of("where")};
  at_once([&](std::uint64_t number) {
    NoFacts facts;
    const std::uint64_t first = 10000 * number;
    for (std::uint64_t i = 0; i < 5000; ++i) {
      OpRecord made;
      made.op = &log;
      made.place = Program::at(static_cast<std::uint32_t>(first));
      made.place.step = judge.current_step();
      const TensorState state = tensor(first + i % 64, kInf);
      made.writes.emplace_back().state = state;
      judge.op_returned(made, facts);
      EXPECT_TRUE(judge.ledger().knows(state.storage));
      OpRecord read;
      read.op = &where;
      read.reads.push_back({state, judge.events_of(state), {}, {}, false, {}});
      read.writes.emplace_back().state = tensor(first + 1000, kFinite);
      judge.op_returned(read, facts);
      EXPECT_FALSE(judge.awaits_gradients());
    }
  });
  std::int64_t births = 0;
  for (const Note& note : judge.notes()) births += note.count;
  EXPECT_EQ(births, 20000);
  EXPECT_EQ(errors, 0);
}

// Every thread trains a parameter of its own, and each gets its own verdict: a step with a bad
// gradient is an error whatever the others do meanwhile.
TEST(JudgeThreads, EachThreadsBadStepIsAnError) {
  SharedWorld world;
  Judge judge(world);
  std::set<std::pair<std::string, std::uint32_t>> harmed;  // under the judge's lock
  judge.on_error([&](const Verdict& verdict) {
    harmed.emplace(verdict.name.text, verdict.origin.place.line);
    EXPECT_EQ(verdict.harm, HarmKind::kGradient);
  });
  const OpInfo sqrt{"sqrt", traits_of("sqrt")};
  constexpr std::int64_t kSteps = 200;
  at_once([&](std::uint64_t number) {
    NoFacts facts;
    const auto line = static_cast<std::uint32_t>(number);
    LeafGrad leaf;
    leaf.leaf = {number};
    leaf.name.text = "w" + std::to_string(number);
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const bool bad = step == kSteps / 2;
      const std::uint64_t unique = number * 10000 + static_cast<std::uint64_t>(step);
      const auto root = judge.backward_begins({}, Program::at(70), {});
      leaf.grad = {unique};
      leaf.version = unique;
      leaf.state = tensor(unique, bad ? kNan : kFinite);
      if (bad) {
        OpRecord record;
        record.op = &sqrt;
        record.place = Program::at(line);
        record.place.phase = Phase::kBackward;
        record.writes.emplace_back().state = leaf.state;
        judge.op_returned(record, facts);
      }
      world.set(leaf);
      judge.backward_ended(root, std::span(&leaf, 1));
      judge.step_begins(std::span(&leaf, 1), false, Program::at(80));
      judge.step_ended({}, Program::at(80));
      const TensorId dropped = leaf.grad;
      leaf.grad = {};
      leaf.state = {};
      world.set(leaf);
      judge.gradients_dropped(std::span(&dropped, 1));
    }
  });
  judge.ended({});
  EXPECT_EQ(harmed, (decltype(harmed){{"w1", 1}, {"w2", 2}, {"w3", 3}, {"w4", 4}}));
  EXPECT_EQ(judge.steps(), kSteps * static_cast<std::int64_t>(kThreads));
  EXPECT_EQ(judge.current_step(), judge.steps());
  EXPECT_FALSE(judge.awaits_gradients());
}

// A fork takes the judge's lock while other threads are on their way to it.
TEST(JudgeThreads, WhilePausedNobodyIsInside) {
  SharedWorld world;
  Judge judge(world);
  const OpInfo log{"log", traits_of("log")};
  std::int64_t inside = 0;  // guarded by the judge's lock alone
  judge.on_error([&](const Verdict&) { ++inside; });
  judge.be_strict();
  at_once([&](std::uint64_t number) {
    NoFacts facts;
    for (std::uint32_t i = 0; i < 100; ++i) {
      OpRecord record;
      record.op = &log;
      record.place = Program::at(static_cast<std::uint32_t>(number) * 1000 + i);
      record.writes.emplace_back().state = tensor(number * 1000 + i, kInf);
      judge.op_returned(record, facts);
      const auto paused = judge.pause();
      ++inside;
    }
  });
  EXPECT_EQ(inside, 800);
}

}  // namespace
}  // namespace nanscope::test
