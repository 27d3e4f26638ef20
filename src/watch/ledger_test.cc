#include "watch/ledger.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace nanscope {
namespace {

using Ids = std::vector<EventId>;

class Keeper : public StorageKeeper {
 public:
  void hold(StorageId storage) override { ++held[storage.value]; }
  void release(StorageId storage) override {
    if (--held[storage.value] == 0) held.erase(storage.value);
  }
  bool alive(StorageId storage) override { return !dead.contains(storage.value); }

  std::map<std::uint64_t, int> held;
  std::set<std::uint64_t> dead;
};

TensorState bytes(std::uint64_t storage, std::uint64_t lo, std::uint64_t hi, bool dense = true) {
  TensorState tensor;
  tensor.storage = {storage};
  tensor.range = {lo, hi};
  tensor.dense = dense;
  return tensor;
}

TEST(Ledger, KnowsWhatWasPut) {
  Keeper keeper;
  Ledger ledger(keeper);
  EXPECT_TRUE(ledger.empty());
  EXPECT_FALSE(ledger.knows({7}));
  ledger.put(bytes(7, 0, 16), 1);
  EXPECT_FALSE(ledger.empty());
  EXPECT_TRUE(ledger.knows({7}));
  EXPECT_EQ(ledger.events_of(bytes(7, 0, 16)), Ids{1});
  EXPECT_EQ(keeper.held.size(), 1u);
}

TEST(Ledger, RangesOverlapOrDoNot) {
  Keeper keeper;
  Ledger ledger(keeper);
  ledger.put(bytes(7, 0, 16), 1);
  ledger.put(bytes(7, 16, 32), 2);
  EXPECT_EQ(ledger.events_of(bytes(7, 0, 16)), Ids{1});
  EXPECT_EQ(ledger.events_of(bytes(7, 16, 20)), Ids{2});
  EXPECT_EQ(ledger.events_of(bytes(7, 8, 24)), (Ids{1, 2}));
  EXPECT_EQ(ledger.events_of(bytes(7, 32, 64)), Ids{});
  EXPECT_EQ(ledger.events_of(bytes(8, 0, 16)), Ids{});
}

TEST(Ledger, DenseWriteCoversPartialWriteKeeps) {
  Keeper keeper;
  Ledger ledger(keeper);
  ledger.put(bytes(7, 0, 64), 1);
  ledger.put(bytes(7, 16, 32), 2);  // inside: the old blame stays for the rest
  EXPECT_EQ(ledger.events_of(bytes(7, 16, 32)), (Ids{1, 2}));
  ledger.put(bytes(7, 0, 64, false), 3);  // every other element: covers nothing
  EXPECT_EQ(ledger.events_of(bytes(7, 0, 64)), (Ids{1, 2, 3}));
  ledger.put(bytes(7, 0, 64), 4);
  EXPECT_EQ(ledger.events_of(bytes(7, 0, 64)), Ids{4});
}

TEST(Ledger, FiniteDenseWriteDrops) {
  Keeper keeper;
  Ledger ledger(keeper);
  ledger.put(bytes(7, 0, 16), 1);
  ledger.put(bytes(7, 32, 48), 2);
  ledger.drop(bytes(7, 0, 64, false));
  EXPECT_EQ(ledger.events_of(bytes(7, 0, 64)), (Ids{1, 2}));
  ledger.drop(bytes(7, 0, 16));
  EXPECT_EQ(ledger.events_of(bytes(7, 0, 64)), Ids{2});
  ledger.drop(bytes(7, 0, 64));
  EXPECT_FALSE(ledger.knows({7}));
  EXPECT_TRUE(ledger.empty());
  EXPECT_TRUE(keeper.held.empty());
}

TEST(Ledger, AWrongHintIsHealed) {
  Keeper keeper;
  Ledger ledger(keeper);
  ledger.put(bytes(7, 0, 16), 1);
  ledger.mark(bytes(7, 0, 16), 2);
  ledger.heal(bytes(7, 0, 16, false));
  ledger.heal(bytes(7, 0, 8));
  EXPECT_EQ(ledger.events_of(bytes(7, 0, 16)), Ids{1});
  ledger.heal(bytes(7, 0, 16));
  EXPECT_EQ(ledger.events_of(bytes(7, 0, 16)), Ids{});
  EXPECT_EQ(ledger.marks_of(bytes(7, 0, 16)), Ids{2});
}

TEST(Ledger, ADeadStorageIsForgottenAndItsNumberMayComeBack) {
  Keeper keeper;
  Ledger ledger(keeper);
  ledger.put(bytes(7, 0, 16), 1);
  keeper.dead.insert(7);
  EXPECT_EQ(ledger.events_of(bytes(7, 0, 16)), Ids{});
  EXPECT_TRUE(keeper.held.empty());
  keeper.dead.clear();
  EXPECT_EQ(ledger.events_of(bytes(7, 0, 16)), Ids{});
  ledger.put(bytes(7, 0, 16), 2);
  keeper.dead.insert(7);
  keeper.dead.clear();
  EXPECT_EQ(ledger.events_of(bytes(7, 0, 16)), Ids{2});
}

TEST(Ledger, AtMostSixteenRangesTheOldestGoes) {
  Keeper keeper;
  Ledger ledger(keeper);
  for (std::uint64_t i = 0; i < 20; ++i) ledger.put(bytes(7, i, i + 1), i + 1);
  EXPECT_EQ(ledger.events_of(bytes(7, 0, 64)).size(), Ledger::kMostRanges);
  EXPECT_EQ(ledger.events_of(bytes(7, 0, 64)).front(), 5u);
  EXPECT_EQ(ledger.evicted(), 4u);
}

TEST(Ledger, AtMostSoManyStoragesDeadOnesFirst) {
  Keeper keeper;
  Ledger ledger(keeper);
  for (std::uint64_t i = 1; i <= 3 * Ledger::kMostStorages; ++i) {
    ledger.put(bytes(i, 0, 16), i);
    keeper.dead.insert(i);
  }
  EXPECT_LE(ledger.size(), Ledger::kMostStorages);
  EXPECT_EQ(ledger.evicted(), 0u);
  keeper.dead.clear();
  const std::uint64_t first = 100000;
  for (std::uint64_t i = first; i < first + 2 * Ledger::kMostStorages; ++i)
    ledger.put(bytes(i, 0, 16), i);
  EXPECT_LE(ledger.size(), Ledger::kMostStorages);
  EXPECT_GE(ledger.evicted(), Ledger::kMostStorages);
  EXPECT_EQ(keeper.held.size(), ledger.size());
  EXPECT_FALSE(ledger.events_of(bytes(first + 2 * Ledger::kMostStorages - 1, 0, 16)).empty());
  EXPECT_TRUE(ledger.events_of(bytes(first, 0, 16)).empty());
}

TEST(Ledger, WhatIsLookedAtStaysLonger) {
  Keeper keeper;
  Ledger ledger(keeper);
  ledger.put(bytes(1, 0, 16), 1);
  for (std::uint64_t i = 2; i < 2 * Ledger::kMostStorages; ++i) {
    ledger.put(bytes(i, 0, 16), i);
    EXPECT_EQ(ledger.events_of(bytes(1, 0, 16)), Ids{1});
  }
}

TEST(Ledger, MarksAreKnownButNotEvents) {
  Keeper keeper;
  Ledger ledger(keeper);
  ledger.mark(bytes(7, 0, 16), 1);
  EXPECT_TRUE(ledger.knows({7}));
  EXPECT_TRUE(ledger.has_marks());
  EXPECT_EQ(ledger.events_of(bytes(7, 0, 16)), Ids{});
  EXPECT_EQ(ledger.marks_of(bytes(7, 0, 16)), Ids{1});
  ledger.put(bytes(7, 0, 8), 2);
  EXPECT_EQ(ledger.marks_of(bytes(7, 0, 16)), Ids{1});
  ledger.unmark([](EventId id) { return id == 1; });
  EXPECT_FALSE(ledger.has_marks());
  EXPECT_EQ(ledger.events_of(bytes(7, 0, 16)), Ids{2});
  ledger.mark(bytes(8, 0, 16), 3);
  ledger.drop(bytes(8, 0, 16));
  EXPECT_FALSE(ledger.has_marks());
  EXPECT_FALSE(ledger.knows({8}));
}

TEST(Ledger, MarksMakeRoomFirst) {
  Keeper keeper;
  Ledger ledger(keeper);
  ledger.put(bytes(1, 0, 16), 1);
  for (std::uint64_t i = 2; i < 2 * Ledger::kMostStorages; ++i) ledger.mark(bytes(i, 0, 16), i);
  EXPECT_EQ(ledger.events_of(bytes(1, 0, 16)), Ids{1});
  for (std::uint64_t i = 0; i < 40; ++i) ledger.mark(bytes(1, 0, 16), 10000 + i);
  EXPECT_EQ(ledger.events_of(bytes(1, 0, 16)), Ids{1});
}

TEST(Ledger, VisitsEveryLivingEvent) {
  Keeper keeper;
  Ledger ledger(keeper);
  ledger.put(bytes(1, 0, 16), 1);
  ledger.put(bytes(2, 0, 16), 2);
  ledger.mark(bytes(3, 0, 16), 3);
  keeper.dead.insert(2);
  std::set<EventId> seen;
  ledger.for_each_event([&](EventId id) { seen.insert(id); });
  EXPECT_EQ(seen, (std::set<EventId>{1, 3}));
}

}  // namespace
}  // namespace nanscope
