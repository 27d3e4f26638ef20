#include "adapters/torch/device/unowned.h"

#include <ATen/ops/from_blob.h>

#include <vector>

#include "adapters/torch/interpose/tensors.h"

namespace nanscope::torch_adapter {

at::Tensor unowned(const c10::TensorImpl& tensor) {
  c10::ScalarType type = c10::typeMetaToScalarType(tensor.dtype());
  std::vector<std::int64_t> sizes = tensor.sizes().vec();
  std::vector<std::int64_t> strides = tensor.strides().vec();
  if (c10::isComplexType(type)) {
    type = c10::toRealValueType(type);
    for (std::int64_t& stride : strides) stride *= 2;
    sizes.push_back(2);
    strides.push_back(1);
  }
  const c10::Device device = tensor.device();
  return at::for_blob(const_cast<void*>(address_of(tensor)), sizes)
      .strides(strides)
      .options(at::TensorOptions(device).dtype(type))
      .target_device(device)
      .make_tensor();
}

at::Tensor unowned_bytes(const c10::TensorImpl& tensor, std::uint64_t begin, std::uint64_t size) {
  const c10::Device device = tensor.device();
  auto* storage = static_cast<std::byte*>(data_pointer_of(tensor).get());
  const std::int64_t sizes[] = {static_cast<std::int64_t>(size)};
  return at::for_blob(storage + begin, sizes)
      .options(at::TensorOptions(device).dtype(at::kByte))
      .target_device(device)
      .make_tensor();
}

}  // namespace nanscope::torch_adapter
