#include "adapters/torch/interpose/new_ops.h"

#include <mutex>
#include <utility>

namespace nanscope::torch_adapter {

void NewOps::note(const c10::OperatorName& name) {
  const std::lock_guard guard(lock_);
  names_.push_back(name);
  count_ = static_cast<int>(names_.size());
}

std::vector<c10::OperatorName> NewOps::take() {
  const std::lock_guard guard(lock_);
  count_ = 0;
  return std::exchange(names_, {});
}

}  // namespace nanscope::torch_adapter
