// A look at a tensor where it lies: one op on its device, and one number that comes back.
#pragma once

#include <ATen/core/Tensor.h>

namespace nanscope::torch_adapter {

// The largest magnitude: NaN if an element is NaN, else infinite if one is. Waits for the device.
// For dense tensors that are not empty, of a type that holds NaN.
[[nodiscard]] double largest_on_device(const c10::TensorImpl& tensor);
// The look alone, whose one number comes later.
[[nodiscard]] at::Tensor norm_on_device(const c10::TensorImpl& tensor);
// See scan/ceiling.h.
[[nodiscard]] int ceiling_on_device(const c10::TensorImpl& tensor);

}  // namespace nanscope::torch_adapter
