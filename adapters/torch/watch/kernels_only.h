// Ops of our own, as far below the program as can be.
#pragma once

#include <c10/core/impl/LocalDispatchKeySet.h>

#include "adapters/torch/watch/threads.h"

namespace nanscope::torch_adapter {

// The kernels alone: no graph, no casts, no modes of the program see these calls.
class KernelsOnly {
 public:
  KernelsOnly();

 private:
  const Busy busy_;
  const c10::impl::ExcludeDispatchKeyGuard excluded_;
};

}  // namespace nanscope::torch_adapter
