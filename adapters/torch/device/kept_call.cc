#include "adapters/torch/device/kept_call.h"

#include <torch/csrc/autograd/variable.h>

#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/watch/kernels_only.h"

namespace nanscope::torch_adapter {
namespace {

constexpr std::size_t kMostOnHost = 4096;  // bytes

bool is_small_on_host(const c10::TensorImpl& tensor) {
  return tensor.is_cpu() && tensor.layout() == c10::kStrided && storage_of(tensor) != nullptr &&
         tensor.numel() * tensor.itemsize() <= kMostOnHost;
}

bool is_in_memory_of_device(const c10::TensorImpl& tensor) {
  return !tensor.is_cpu() && tensor.layout() == c10::kStrided && storage_of(tensor) != nullptr &&
         address_of(tensor) != nullptr;
}

}  // namespace

bool KeptTensor::is_possible(const at::Tensor& tensor) {
  if (!tensor.defined()) return true;
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (has_parts(impl)) return false;
  if (is_small_on_host(impl)) return true;
  return is_in_memory_of_device(impl) && KeptMemory::get().piece_of(*storage_of(impl)) != nullptr;
}

KeptTensor::KeptTensor(const at::Tensor& tensor) {
  if (!tensor.defined()) return;
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (!has_parts(impl) && is_small_on_host(impl)) {
    const KernelsOnly kernels_only;
    own_ = impl.is_wrapped_number() ? tensor : tensor.clone();
    return;
  }
  if (!has_parts(impl) && is_in_memory_of_device(impl))
    piece_ = KeptMemory::get().piece_of(*storage_of(impl));
  if (piece_ == nullptr) {
    held_ = true;
    own_ = tensor;
    return;
  }
  original_.emplace(tensor.getIntrusivePtr());
  sizes_ = tensor.sizes().vec();
  strides_ = tensor.strides().vec();
  offset_ = tensor.storage_offset();
  type_ = tensor.dtype();
  keys_ = impl.key_set();
  requires_grad_ = impl.requires_grad();
  if (auto* const node = torch::autograd::impl::grad_fn_unsafe(tensor)) node_.emplace(shared(node));
}

bool KeptTensor::is_still(const at::Tensor& tensor, const c10::StorageImpl* storage) const {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  const auto* const node = torch::autograd::impl::grad_fn_unsafe(tensor);
  return storage_of(impl) == storage && tensor.sizes() == sizes_ && tensor.strides() == strides_ &&
         tensor.storage_offset() == offset_ && tensor.dtype() == type_ &&
         impl.requires_grad() == requires_grad_ && node == (node_ ? node_->lock().get() : nullptr);
}

at::Tensor KeptTensor::revived() const {
  if (piece_ == nullptr) return own_;
  const c10::intrusive_ptr<c10::StorageImpl>& storage = piece_->revive();
  if (auto living = original_->lock()) {
    at::Tensor tensor(std::move(living));
    if (is_still(tensor, storage.get())) return tensor;
  }
  at::Tensor tensor(
      c10::make_intrusive<c10::TensorImpl>(c10::Storage(storage), keys_ - c10::python_ks, type_));
  c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  impl.set_sizes_and_strides(sizes_, strides_, offset_);
  if (!node_) {
    if (requires_grad_) impl.set_requires_grad(true);  // a leaf
  } else if (auto node = node_->lock()) {
    torch::autograd::impl::set_gradient_edge(tensor, {std::move(node), 0});
  }
  return tensor;
}

KeptValues::KeptValues(const std::vector<c10::IValue>& values) {
  for (const c10::IValue& value : values) {
    if (value.isTensor()) {
      values_.push_back({Kind::kTensor, 1, {}});
      tensors_.emplace_back(value.toTensor());
    } else if (value.isTensorList()) {
      const std::vector<at::Tensor> list = value.toTensorVector();
      values_.push_back({Kind::kList, list.size(), {}});
      for (const at::Tensor& tensor : list) tensors_.emplace_back(tensor);
    } else if (value.isOptionalTensorList()) {  // of indices, which nobody reads afterwards
      values_.push_back({Kind::kOther, 0, c10::List<std::optional<at::Tensor>>()});
    } else {
      values_.push_back({Kind::kOther, 0, value});
    }
  }
}

std::vector<c10::IValue> KeptValues::revived() const {
  std::vector<c10::IValue> values;
  auto next = tensors_.begin();
  for (const Value& value : values_) {
    if (value.kind == Kind::kTensor) {
      values.emplace_back((next++)->revived());
    } else if (value.kind == Kind::kList) {
      c10::List<at::Tensor> list;
      for (std::size_t i = 0; i < value.tensors; ++i) list.push_back((next++)->revived());
      values.emplace_back(std::move(list));
    } else {
      values.push_back(value.other);
    }
  }
  return values;
}

}  // namespace nanscope::torch_adapter
