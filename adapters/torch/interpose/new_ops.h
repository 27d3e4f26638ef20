// Ops that were registered, or got a kernel, since the wrappers were put in; noted by name.
//
// Note [Ops that come late]
// Torch tells of an op when it is defined, before it has a kernel and with the dispatcher's lock
// held: nothing can be wrapped then. The next watched call does it, before it begins. A name that
// has no kernel by then waits; it is tried again when torch.library is given a kernel for it, when
// more ops come, and between steps.
#pragma once

#include <ATen/core/operator_name.h>

#include <atomic>
#include <unordered_set>

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

 private:
  Lock lock_{LockRank::kNewOps};
  std::unordered_set<c10::OperatorName> names_;  // each once: defined, then given its kernels
  std::atomic<bool> fresh_{false};               // some were noted since they were taken
};

}  // namespace nanscope::torch_adapter
