#include "adapters/torch/device/probe.h"

#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>

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

double largest_on_device(const c10::TensorImpl& tensor) {
  const KernelsOnly kernels_only;
  return norm_of(tensor).item<double>();
}

int ceiling_on_device(const c10::TensorImpl& tensor) {
  return ceiling_of_largest_number(largest_on_device(tensor));
}

// Not all devices have float64: there is one copy for each type of norm.
std::vector<int> ceilings_on_device(const std::vector<const c10::TensorImpl*>& tensors) {
  const KernelsOnly kernels_only;
  std::vector<int> ceilings(tensors.size());
  std::vector<at::Tensor> norms;
  for (const c10::TensorImpl* tensor : tensors) norms.push_back(norm_of(*tensor));
  for (const c10::ScalarType type : {at::kFloat, at::kDouble}) {
    std::vector<at::Tensor> of_type;
    for (const at::Tensor& norm : norms) {
      if (norm.scalar_type() == type) of_type.push_back(norm);
    }
    if (of_type.empty()) continue;
    const at::Tensor here = at::stack(of_type).to(c10::kCPU).to(at::kDouble);
    const double* largest = here.const_data_ptr<double>();
    for (std::size_t i = 0; i < norms.size(); ++i) {
      if (norms[i].scalar_type() == type) ceilings[i] = ceiling_of_largest_number(*largest++);
    }
  }
  return ceilings;
}

}  // namespace nanscope::torch_adapter
