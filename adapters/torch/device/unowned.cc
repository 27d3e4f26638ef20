#include "adapters/torch/device/unowned.h"

#include <ATen/ops/from_blob.h>

#include <vector>

#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/watch/then.h"
#include "adapters/torch/watch/threads.h"

namespace nanscope::torch_adapter {
namespace {

// Note [Judged as it was then]
std::byte* begin_of_storage(const c10::TensorImpl& tensor) {
  if (const Then* then = this_thread().then()) {
    if (const std::byte* place = then->place_of(storage_of(tensor)))
      return const_cast<std::byte*>(place);
  }
  return static_cast<std::byte*>(data_pointer_of(tensor).get());
}

void* begin_of(const c10::TensorImpl& tensor) {
  return begin_of_storage(tensor) +
         tensor.storage_offset() * static_cast<std::int64_t>(tensor.itemsize());
}

}  // namespace

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
  return at::for_blob(begin_of(tensor), sizes)
      .strides(strides)
      .options(at::TensorOptions(device).dtype(type))
      .target_device(device)
      .make_tensor();
}

at::Tensor as_it_was(const at::Tensor& tensor) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (this_thread().then() == nullptr || is_on_host(impl)) return tensor;
  at::Tensor same = at::for_blob(begin_of(impl), tensor.sizes())
                        .strides(tensor.strides())
                        .options(at::TensorOptions(tensor.device()).dtype(tensor.dtype()))
                        .target_device(tensor.device())
                        .make_tensor();
  if (tensor.is_conj()) same._set_conj(true);
  if (tensor.is_neg()) same._set_neg(true);
  return same;
}

at::Tensor unowned_bytes(const c10::TensorImpl& tensor, std::uint64_t begin, std::uint64_t size) {
  const c10::Device device = tensor.device();
  const std::int64_t sizes[] = {static_cast<std::int64_t>(size)};
  return at::for_blob(begin_of_storage(tensor) + begin, sizes)
      .options(at::TensorOptions(device).dtype(at::kByte))
      .target_device(device)
      .make_tensor();
}

}  // namespace nanscope::torch_adapter
