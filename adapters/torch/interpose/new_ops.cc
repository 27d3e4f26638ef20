#include "adapters/torch/interpose/new_ops.h"

#include <mutex>
#include <utility>

namespace nanscope::torch_adapter {

void NewOps::note(const c10::OperatorName& name) {
  const std::lock_guard guard(lock_);
  names_.insert(name);
  fresh_.store(true, std::memory_order_relaxed);
}

std::unordered_set<c10::OperatorName> NewOps::take() {
  const std::lock_guard guard(lock_);
  fresh_.store(false, std::memory_order_relaxed);
  return std::exchange(names_, {});
}

void NewOps::put_back(const c10::OperatorName& name) {
  const std::lock_guard guard(lock_);
  names_.insert(name);
}

}  // namespace nanscope::torch_adapter
