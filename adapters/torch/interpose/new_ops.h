// Ops that other libraries registered since the wrappers were put in, noted by name.
#pragma once

#include <ATen/core/operator_name.h>

#include <atomic>
#include <vector>

#include "adapters/torch/watch/locks.h"

namespace nanscope::torch_adapter {

class NewOps {
 public:
  void note(const c10::OperatorName& name);
  [[nodiscard]] bool any() const noexcept { return count_.load(std::memory_order_relaxed) != 0; }
  // Those noted so far; they are forgotten here.
  [[nodiscard]] std::vector<c10::OperatorName> take();

 private:
  Lock lock_{LockRank::kNewOps};
  std::vector<c10::OperatorName> names_;
  std::atomic<int> count_{0};
};

}  // namespace nanscope::torch_adapter
