// A tensor over memory that is somebody else's, for an op of our own.
#pragma once

#include <ATen/core/Tensor.h>

namespace nanscope::torch_adapter {

// The same elements, in the same order, owning nothing: no count of references shows it. A complex
// number is two real ones; whether they are to be negated is not looked at.
[[nodiscard]] at::Tensor unowned(const c10::TensorImpl& tensor);
// The tensor itself, or another over the memory that held its elements when the op ran that is
// judged now: Note [Judged as it was then].
[[nodiscard]] at::Tensor as_it_was(const at::Tensor& tensor);
// `size` bytes of the tensor's storage, from `begin` on.
[[nodiscard]] at::Tensor unowned_bytes(const c10::TensorImpl& tensor, std::uint64_t begin,
                                       std::uint64_t size);

}  // namespace nanscope::torch_adapter
