// The tensors that a tensor subclass wraps: Note [Tensor subclasses].
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace nanscope::torch_adapter {

// Asks the subclass, through all its layers. Takes the GIL. Empty if it does not say.
[[nodiscard]] std::vector<at::Tensor> wrapped_by(const at::Tensor& subclass);

}  // namespace nanscope::torch_adapter
