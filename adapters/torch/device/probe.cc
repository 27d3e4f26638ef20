#include "adapters/torch/device/probe.h"

#include <ATen/ops/linalg_vector_norm.h>

#include <cmath>

#include "adapters/torch/device/unowned.h"
#include "adapters/torch/watch/kernels_only.h"
#include "scan/ceiling.h"

namespace nanscope::torch_adapter {

namespace {

// The maximum norm: every device has it, it is exact, and a NaN goes through it. Of small types it
// is taken in float32, which holds them all. The stream is that of the op that wrote the tensor, so
// that the look comes after it.
at::Tensor norm_of(const c10::TensorImpl& tensor) {
  at::Tensor values = unowned(tensor);
  if (c10::isFloat8Type(values.scalar_type())) values = values.to(at::kFloat);
  const c10::ScalarType wide = values.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  return at::linalg_vector_norm(values, INFINITY, at::OptionalIntArrayRef(), /*keepdim=*/false,
                                wide);
}

int ceiling_of_largest_number(double largest) {
  if (!std::isfinite(largest)) return kNoCeiling;
  if (largest == 0) return kAllZero;
  int exponent = 0;
  const double digits = std::frexp(largest, &exponent);
  return digits == 0.5 ? exponent - 1 : exponent;
}

}  // namespace

at::Tensor norm_on_device(const c10::TensorImpl& tensor) {
  const KernelsOnly kernels_only;
  return norm_of(tensor);
}

double largest_on_device(const c10::TensorImpl& tensor) {
  const KernelsOnly kernels_only;
  return norm_of(tensor).item<double>();
}

int ceiling_on_device(const c10::TensorImpl& tensor) {
  return ceiling_of_largest_number(largest_on_device(tensor));
}

}  // namespace nanscope::torch_adapter
