// Every lock of the adapter, in one list that a fork takes and gives back.
//
// Note [Order of locks]
// A thread that holds one lock may take only those below it:
//
//     the judge's lock      src/origin; waited for without the GIL only (WithoutGil), since the
//                           verdict, which is reached under it, asks Python
//     the GIL               asked for under the judge's lock, and under no other lock
//     every Lock of ours    in the order of LockRank; short, and never held while Python is asked
//
// So a thread that holds the GIL may wait for a Lock, and never the other way round.
//
// Note [Locks and forks]
// A fork copies the locks that other threads hold, and not the threads: what one of them held is
// held in the child for ever. So before a fork every lock is taken, in the order above, and given
// back afterwards in parent and child. The judge's comes first, without the GIL, while other
// threads still run (fork_begins); the others are taken inside fork() itself, where the GIL is not
// given up any more. A Lock is in the list from its construction: none can be forgotten.
// A fork from inside our own work (a finalizer that ran there) cannot wait for itself: that
// child is not watched.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace nanscope::torch_adapter {

// One lock each, outermost first.
enum class LockRank : std::uint8_t {
  kSession,
  kWorld,
  kStorages,
  kReceipts,
  kFrames,
  kNodes,
  kNewOps,
  kDevices,
  kWindow,
  kCudaLooks,
  kCudaProbes,  // held while a kernel is compiled, once for each type
  kKeptMemory,
  kProofs,
  kDisarming,
  kThreads,
};
inline constexpr std::array<std::string_view, 15> kLockNames = {
    "session",     "world",       "storages", "receipts",  "frames",
    "nodes",       "new ops",     "devices",  "window",    "cuda looks",
    "cuda probes", "kept memory", "proofs",   "disarming", "threads"};

// Lives as long as the process, like what it guards.
class Lock {
 public:
  explicit Lock(LockRank rank);
  Lock(const Lock&) = delete;

  void lock() {
    if (mutex_.try_lock()) return;
    ++waiting_;
    mutex_.lock();
    --waiting_;
  }
  void unlock() { mutex_.unlock(); }
  [[nodiscard]] bool try_lock() { return mutex_.try_lock(); }
  // For tests: whether some thread waits for it now.
  [[nodiscard]] bool is_waited_for() const noexcept { return waiting_ != 0; }

 private:
  std::mutex mutex_;
  std::atomic<int> waiting_{0};
};

// Null while nothing that has this lock was made.
[[nodiscard]] Lock* lock_of(LockRank rank) noexcept;

// The thread that forks has the judge's lock, and gives it here: its fork() then takes every other
// lock and gives it back. Without it (a fork of somebody's C) no lock is taken: the child is not
// Python's.
void begin_fork(std::unique_lock<std::mutex> judge);
// Whether this thread has begun one.
[[nodiscard]] bool is_forking() noexcept;
void end_fork();  // in parent and child; gives the judge's lock back

}  // namespace nanscope::torch_adapter
