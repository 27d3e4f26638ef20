// What is known of each thread of the program: its counters, whether it is inside our own work,
// and whether it is to be stopped.
#pragma once

#include <ATen/core/Tensor.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "adapters/torch/watch/locks.h"
#include "adapters/torch/watch/own_time.h"
#include "adapters/torch/watch/owner_thread.h"

namespace nanscope {
struct OnlyCompiled;
}

namespace nanscope::torch_adapter {

struct Counters {
  std::uint64_t ops = 0;
  std::uint64_t bytes = 0;
  std::uint64_t own_ticks = 0;  // about; see own_time.h
  // By Sight: results that held floating-point numbers and could not be looked into; of wrapped
  // ones only losses, gradients, parameters and buffers.
  std::uint64_t unseen[9] = {};
};

// A number that one thread counts up and others may read.
class Counter {
 public:
  void add(std::uint64_t more) noexcept { value_.store(value() + more, std::memory_order_relaxed); }
  void clear() noexcept { value_.store(0, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t value() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> value_{0};
};

struct Before;
struct SiteRing;
struct Then;
class RunningNode;
class HostCopies;
class LatelyBad;

// Belongs to its thread; the others read its counters.
class ThreadWatch {
 public:
  void count_op() noexcept { ops_.add(1); }
  void count_bytes(std::uint64_t bytes) noexcept { bytes_.add(bytes); }
  void count_unseen(std::size_t sight) noexcept { unseen_[sight].add(1); }
  void forget_counts() noexcept;
  [[nodiscard]] Counters counters() const noexcept;
  [[nodiscard]] OwnTime& own_time() noexcept { return own_time_; }
  // Its ops are our own; see Busy.
  [[nodiscard]] bool is_busy() const noexcept { return busy_; }
  // For a device that computes by the CPU's kernels: from here on, on this thread. Gives back what
  // held before.
  bool exchange_busy(bool busy) noexcept { return std::exchange(busy_, busy); }

  // Belongs to a backend of torch.distributed, by its name.
  [[nodiscard]] bool is_of_backend() const noexcept { return is_of_backend_; }
  // Python knows it, for as long as it lives: a quick answer for those that have owned something.
  [[nodiscard]] bool is_of_python() const noexcept { return owner_ != nullptr && owner_->runs(); }
  // An autograd node was made since the last one was remembered; `next` is torch's next number.
  [[nodiscard]] bool made_nodes(std::uint64_t next) const noexcept {
    return next != last_sequence_;
  }

  // A verdict was reached on this thread, and the program is to stop for this finding.
  void want_stop(std::size_t finding) noexcept {
    stop_wanted_ = true;
    stop_for_ = finding;
  }
  // Python is to be told that this thread has read a bad number.
  void want_look() noexcept {
    look_wanted_ = true;
    if (!stop_wanted_) want_stop(kNoFinding);
  }
  static constexpr std::size_t kNoFinding = ~std::size_t{0};
  // What it makes from here on is allowed to be bad: by the block of this number; 0, by none.
  [[nodiscard]] std::uint32_t allowed_by() const noexcept { return allowed_by_; }
  std::uint32_t allow(std::uint32_t block) noexcept { return std::exchange(allowed_by_, block); }
  // What it computes is how a compiled region gives a value that eager does not: what is known of
  // that; else null.
  [[nodiscard]] const OnlyCompiled* only_compiled() const noexcept { return only_compiled_; }
  const OnlyCompiled* be_only_compiled(const OnlyCompiled* known) noexcept {
    return std::exchange(only_compiled_, known);
  }
  // It computes again what a compiled region has computed without raising.
  [[nodiscard]] bool repeats_region() const noexcept { return repeats_region_; }
  bool repeat_region(bool repeats) noexcept { return std::exchange(repeats_region_, repeats); }
  // What it judges now ran earlier: Note [Judged as it was then]; else null.
  [[nodiscard]] const Then* then() const noexcept { return then_; }
  const Then* judge_as_then(const Then* then) noexcept { return std::exchange(then_, then); }
  [[nodiscard]] bool stop_wanted() const noexcept { return stop_wanted_; }
  void forget_stop() noexcept { stop_wanted_ = false; }

 private:
  friend class Busy;
  friend class Threads;
  Counter ops_;
  Counter bytes_;
  OwnTime own_time_;
  Counter unseen_[std::size(Counters{}.unseen)];
  bool busy_ = false;
  bool is_of_backend_ = false;
  bool stop_wanted_ = false;
  bool look_wanted_ = false;
  bool repeats_region_ = false;
  std::uint32_t allowed_by_ = 0;
  const OnlyCompiled* only_compiled_ = nullptr;
  const Then* then_ = nullptr;

  friend class Stopping;
  std::size_t stop_for_ = 0;   // the number of the finding
  void* interrupt_ = nullptr;  // see Stopping::keep_interrupt

  // What others keep for each thread; nobody else gets at it.
  friend class AtHand;
  std::vector<at::Tensor> at_hand_;
  friend struct Before;
  std::unique_ptr<Before, void (*)(Before*)> spare_before_{nullptr, nullptr};
  friend class CopiesOfThread;
  std::unique_ptr<HostCopies, void (*)(HostCopies*)> host_copies_{nullptr, nullptr};
  friend class LatelyBad;
  std::unique_ptr<LatelyBad, void (*)(LatelyBad*)> lately_bad_{nullptr, nullptr};
  friend class RunningNode;
  std::unique_ptr<RunningNode, void (*)(RunningNode*)> running_node_{nullptr, nullptr};
  friend class Stacks;
  void* known_stacks_ = nullptr;
  friend class Owners;
  std::shared_ptr<OwnerThread> owner_;
  friend class SiteRings;
  std::uint64_t last_sequence_ = ~std::uint64_t{0};
  std::shared_ptr<SiteRing> site_ring_;
};
extern __thread ThreadWatch* current_thread __attribute__((tls_model("initial-exec")));
ThreadWatch& begin_thread();
inline ThreadWatch& this_thread() {
  return __builtin_expect(current_thread != nullptr, 1) ? *current_thread : begin_thread();
}

// While one lives, ops of this thread are not watched: they are our own.
class Busy {
 public:
  Busy() : before_(this_thread().busy_) { this_thread().busy_ = true; }
  ~Busy() { this_thread().busy_ = before_; }
  Busy(const Busy&) = delete;

 private:
  bool before_;
};

// The threads of this process that were seen.
class Threads {
 public:
  static Threads& get() noexcept;

  // Adds up those of all threads, the ended ones included.
  [[nodiscard]] Counters counters() const;
  // In the child of a fork only this thread is left, and it counts from 0.
  void begin_anew();

  // How many threads have owned a leaf: see owners.h.
  void count_owner() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] int owners() const noexcept { return owners_.load(std::memory_order_relaxed); }

  // The calling thread is seen for the first time.
  ThreadWatch& begin();

 private:
  Threads();
  void end(ThreadWatch* thread);  // its counters are added to those of the ended

  pthread_key_t at_end_{};
  mutable Lock lock_{LockRank::kThreads};
  std::vector<ThreadWatch*> threads_;
  Counters of_ended_;
  std::atomic<int> owners_{0};
};

}  // namespace nanscope::torch_adapter
