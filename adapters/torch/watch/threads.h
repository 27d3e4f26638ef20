// What is known of each thread of the program: its counters, whether it is inside our own work,
// and whether it is to be stopped.
#pragma once

#include <ATen/core/Tensor.h>
#include <pthread.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "adapters/torch/watch/locks.h"

namespace nanscope::torch_adapter {

struct Counters {
  std::uint64_t ops = 0;
  std::uint64_t bytes = 0;
  // By Sight: results that held floating-point numbers and could not be looked into; of wrapped
  // ones only losses, gradients, parameters and buffers.
  std::uint64_t unseen[7] = {};
};

struct Before;
struct SiteRing;

// Belongs to its thread; the others read its counters.
struct ThreadWatch {
  Counters counters;
  bool busy = false;
  bool stop_wanted = false;   // a verdict was reached on this thread, and the program is to stop
  std::size_t stop_for = 0;   // the number of the finding
  void* interrupt = nullptr;  // see keep_interrupt

  // What others keep for each thread; only they touch it.
  std::vector<at::Tensor> at_hand;                                            // at_hand.cc
  std::unique_ptr<Before, void (*)(Before*)> spare_before{nullptr, nullptr};  // before.cc
  void* known_stacks = nullptr;                                               // frames.cc
  std::uint64_t last_sequence = ~std::uint64_t{0};                            // nodes.cc
  std::shared_ptr<SiteRing> site_ring;                                        // nodes.cc
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

// The threads of this process that were seen.
class Threads {
 public:
  static Threads& get() noexcept;

  // Of all threads, those that ended included.
  [[nodiscard]] Counters counters() const;
  // In the child of a fork only this thread is left, and it counts from 0.
  void begin_anew();

  // The calling thread is seen for the first time.
  ThreadWatch& begin();

 private:
  Threads();
  void end(ThreadWatch* thread);  // its counters are added to those of the ended

  pthread_key_t at_end_{};
  mutable Lock lock_{LockRank::kThreads};
  std::vector<ThreadWatch*> threads_;
  Counters of_ended_;
};

}  // namespace nanscope::torch_adapter
