// The tensors that a tensor subclass wraps: Note [Tensor subclasses].
#pragma once

#include <ATen/core/Tensor.h>

#include "adapters/torch/interpose/tensors.h"

namespace nanscope::torch_adapter {

// Asks the subclass, through all its layers. Takes the GIL. Nothing, and not all, if it does not
// say.
[[nodiscard]] Wrapped wrapped_by(const at::Tensor& subclass);

}  // namespace nanscope::torch_adapter
