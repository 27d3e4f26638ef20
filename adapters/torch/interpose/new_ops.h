// Ops that were registered, or got a kernel, since the wrappers were put in; noted by name.
//
// Note [Ops that come late]
// Torch tells of an op when it is defined, before it has a kernel and with the dispatcher's lock
// held: nothing can be wrapped then. The next watched call does it, before it begins. A name that
// has no kernel by then waits; it is tried again when torch.library is given a kernel for it and
// when more ops come. Of kernels in C++ nobody tells: Note [Kernels that come late].
#pragma once

#include <ATen/core/operator_name.h>

#include <atomic>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "adapters/torch/interpose/kernel_table.h"
#include "adapters/torch/watch/locks.h"

namespace nanscope::torch_adapter {

class NewOps {
 public:
  void note(const c10::OperatorName& name);
  // Read on every call.
  [[nodiscard]] bool any() const noexcept { return fresh_.load(std::memory_order_relaxed); }
  // Those noted so far and those that wait; they are forgotten here.
  [[nodiscard]] std::unordered_set<c10::OperatorName> take();
  // It has no kernel yet.
  void put_back(const c10::OperatorName& name);

  // The kernels of these ops are as they should be.
  void are_known(const std::vector<c10::OperatorHandle>& ops);
  void is_gone(const c10::OperatorName& name);
  // Notes the ops whose kernels have changed unnoticed. `called`: they may have been called since.
  void note_changed(bool called);
  void begin_count() noexcept { unwatched_.store(0, std::memory_order_relaxed); }
  // The kernels of a whole device came, and may have been called since.
  void count_unwatched() noexcept { unwatched_.fetch_add(1, std::memory_order_relaxed); }
  // Whether a library came since this was asked last. With the GIL held.
  [[nodiscard]] bool has_new_libraries();
  // Ops with kernels that nobody watched for a while, or that stand before the wrapper.
  [[nodiscard]] std::uint64_t unwatched() const noexcept {
    return unwatched_.load(std::memory_order_relaxed);
  }

 private:
  Lock lock_{LockRank::kNewOps};
  std::unordered_set<c10::OperatorName> names_;  // each once: defined, then given its kernels
  std::atomic<bool> fresh_{false};               // some were noted since they were taken
  KernelTable kernels_;
  std::uint64_t libraries_ = 0;  // loaded by this process so far
  std::atomic<std::uint64_t> unwatched_{0};
};

}  // namespace nanscope::torch_adapter
