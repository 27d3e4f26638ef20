// The ledger, asked by several threads while one writes.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "watch/ledger.h"

namespace nanscope {
namespace {

struct NoKeeper : StorageKeeper {
  void hold(StorageId) override {}
  void release(StorageId) override {}
  bool alive(StorageId) override { return true; }
};

TensorState range_of(std::uint64_t storage, std::uint64_t lo, std::uint64_t hi) {
  TensorState tensor;
  tensor.storage = {storage};
  tensor.range = {lo, hi};
  return tensor;
}

// Readers ask without a lock while one thread writes. What was put before they started
// and is never dropped must be known to them all the time.
TEST(LedgerThreads, KnowsIsSafeFromManyThreads) {
  NoKeeper keeper;
  Ledger ledger(keeper);
  for (std::uint64_t i = 1; i <= 100; ++i) ledger.put(range_of(i, 0, 16), i);
  std::atomic<bool> stop{false};
  std::atomic<int> missed{0};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 4; ++reader) {
    readers.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        for (std::uint64_t i = 1; i <= 100; ++i) missed += ledger.knows({i}) ? 0 : 1;
        std::this_thread::yield();
      }
    });
  }
  for (int round = 0; round < 200; ++round) {
    for (std::uint64_t i = 1; i <= 100; ++i) {
      ledger.put(range_of(i, 0, 16), i + 1000);  // overwritten in place: known throughout
      ledger.put(range_of(1000 + i, 0, 16), i);
    }
    for (std::uint64_t i = 1; i <= 100; ++i) ledger.drop(range_of(1000 + i, 0, 16));
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(missed, 0);
  EXPECT_EQ(ledger.size(), 100u);
}

}  // namespace
}  // namespace nanscope
