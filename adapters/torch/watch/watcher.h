// The watch over this process: the judge, the counters and the switches. One per
// process, made when torch is first watched and never destroyed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "adapters/torch/interpose/hook.h"
#include "adapters/torch/watch/locks.h"
#include "adapters/torch/watch/world.h"
#include "origin/judge.h"
#include "scan/ceiling.h"

namespace nanscope::torch_adapter {

struct Counters {
  std::uint64_t ops = 0;
  std::uint64_t bytes = 0;
  // By Sight: results that held floating-point numbers and could not be looked into.
  std::uint64_t unseen[7] = {};
};

class Watcher {
 public:
  static Watcher& get() noexcept { return *instance_; }

  TorchWorld world;
  Judge judge{world};
  const Ledger& ledger = judge.ledger();  // for the lock-free question

  // Counters of all threads, those that ended included.
  [[nodiscard]] Counters counters() const;

  // Storages that a watched op wrote; a hint. Unmarked ones are looked at. With each goes what is
  // known of all its numbers, read as this type.
  void mark_made(const c10::StorageImpl* storage, c10::ScalarType type, Extent extent) noexcept {
    if (!has_extent(type)) extent = {};
    made_[slot_of(storage)].store(Made(storage, type, extent).word, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_made(const c10::StorageImpl* storage) const noexcept {
    return made_at(storage).is(storage) && !is_lent(storage);
  }
  // NumPy has an array of it: nothing is known of it from one op to the next, as long as it lives.
  [[nodiscard]] bool is_lent(const c10::StorageImpl* storage) const noexcept {
    return made_at(storage).word == Made::lent(storage).word;
  }
  void lend(const at::Tensor& tensor);
  [[nodiscard]] Extent extent_of(const c10::StorageImpl* storage,
                                 c10::ScalarType type) const noexcept {
    const Made made = made_at(storage);
    return has_extent(type) && is_made(storage) && made.is(type) ? made.extent() : Extent{};
  }

  void unmark_made(const c10::StorageImpl* storage) noexcept {
    if (is_made(storage)) made_[slot_of(storage)].store(0, std::memory_order_relaxed);
  }

  // Storages may have been written, freed and taken again while nobody watched.
  void forget_storages();

  // Memory that the program itself took without writing it, by storage.
  void note_allocation(const OpInfo* op, const at::Tensor& tensor);
  [[nodiscard]] std::optional<OpRecord::Read::Allocation> allocation_of(const at::Tensor& tensor);
  // Somebody who is not watched may write it from now on: NumPy, a collective.
  void others_may_write(const at::Tensor& tensor);
  // Its address is in other hands. What was computed stays known as such, though it may change.
  void address_given(const at::Tensor& tensor);
  // A watched op wrote it last, and it was finite then.
  [[nodiscard]] bool was_finite(const at::Tensor& tensor);

 private:
  Watcher() = default;
  static Watcher* const instance_;  // made when the module is loaded
  static constexpr std::size_t kSlots = 1 << 16;
  static std::size_t slot_of(const c10::StorageImpl* storage) noexcept {
    return (reinterpret_cast<std::uintptr_t>(storage) * 0x9E3779B97F4A7C15ull) >> 48;
  }
  // One word, so that no thread sees the storage of one entry with the ceiling of another.
  struct Made {
    std::uint64_t word;
    explicit Made(std::uint64_t kept) noexcept : word(kept) {}
    Made(const c10::StorageImpl* storage, c10::ScalarType type, Extent extent) noexcept
        : word(reinterpret_cast<std::uint64_t>(storage) << 16 |
               static_cast<std::uint64_t>(extent.sign) << 14 | code_of(type) << 12 |
               static_cast<std::uint64_t>(std::max(extent.ceiling, kAllZero) - kAllZero)) {}
    static Made lent(const c10::StorageImpl* storage) noexcept {
      return Made(reinterpret_cast<std::uint64_t>(storage) << 16 |
                  0xffff);  // no ceiling is so high
    }
    [[nodiscard]] bool is(const c10::StorageImpl* storage) const noexcept {
      return word >> 16 == reinterpret_cast<std::uint64_t>(storage);
    }
    [[nodiscard]] bool is(c10::ScalarType type) const noexcept {
      return (word >> 12 & 3) == code_of(type);
    }
    [[nodiscard]] Extent extent() const noexcept {
      return {static_cast<int>(word & 0xfff) + kAllZero, static_cast<Sign>(word >> 14 & 3)};
    }
    static std::uint64_t code_of(c10::ScalarType type) noexcept {
      return type == at::kFloat ? 0 : type == at::kDouble ? 1 : type == at::kHalf ? 2 : 3;
    }
  };
  static bool has_extent(c10::ScalarType type) noexcept {
    return type == at::kFloat || type == at::kDouble || type == at::kHalf || type == at::kBFloat16;
  }
  [[nodiscard]] Made made_at(const c10::StorageImpl* storage) const noexcept {
    return Made(made_[slot_of(storage)].load(std::memory_order_relaxed));
  }
  struct Allocation {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    OpRecord::Read::Allocation made_by;
  };

  std::atomic<std::uint64_t> made_[kSlots] = {};
  Lock allocations_lock_{LockRank::kStorages};
  static constexpr std::size_t kFirstSweep = 4096;
  static constexpr std::size_t kMostGivenAway = 256;
  std::size_t sweep_at_ = kFirstSweep;  // so that what is alive bounds it
  std::unordered_map<StorageId, Allocation> allocations_;
  // Computed, then given away by address; the oldest is forgotten.
  std::deque<c10::weak_intrusive_ptr<c10::StorageImpl>> given_away_;
};

// This thread's counters and whether it is inside our own work.
struct ThreadWatch {
  Counters counters;
  bool busy = false;
  bool stop_wanted = false;   // a verdict was reached on this thread, and the program is to stop
  std::size_t stop_for = 0;   // the number of the finding
  void* interrupt = nullptr;  // see keep_interrupt
};
extern __thread ThreadWatch* current_thread __attribute__((tls_model("initial-exec")));
ThreadWatch& begin_thread();
inline ThreadWatch& this_thread() {
  return __builtin_expect(current_thread != nullptr, 1) ? *current_thread : begin_thread();
}

// While one lives, ops of this thread are not watched: they are our own.
class Busy {
 public:
  Busy() : before_(this_thread().busy) { this_thread().busy = true; }
  ~Busy() { this_thread().busy = before_; }
  Busy(const Busy&) = delete;

 private:
  bool before_;
};

// The judge's lock is never waited for with the GIL held: the verdict asks Python.
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;

 private:
  void* state_ = nullptr;
};

// Where and when the calling thread is.
[[nodiscard]] Place current_place();
// A fault of our own: the watch is switched off for good, and the report says so.
void disarm(const std::string& where, const char* why) noexcept;
[[nodiscard]] std::string disarmed_because();

// Stops the program here, if a verdict wants it: throws the exception that Python gives for the
// finding, and goes on if it gives none.
void stop_if_wanted();
// Ctrl-C, or what a signal handler of the program raised, while Python code of ours ran on this
// thread: it is the program's, and `stop_if_wanted` throws it there. Takes the reference.
void keep_interrupt(void* exception) noexcept;
// The same when the steps that were asked for are done.
void stop_after_steps();
// How often a verdict stopped the program: it may catch it.
[[nodiscard]] int stops() noexcept;
// `exception_for` takes the number of a finding, or None where the steps are done; 0 steps: no
// limit.
void configure_stop(void* exception_for, std::int64_t steps);

// For fork.cc.
void count_anew();

// Note [Locks and forks] in locks.h.
void fork_begins();
void fork_ended();
// In the child: false if it cannot be watched.
[[nodiscard]] bool fork_ended_in_child(const std::string& capture_path, const std::string& news,
                                       std::int64_t pid);

}  // namespace nanscope::torch_adapter
