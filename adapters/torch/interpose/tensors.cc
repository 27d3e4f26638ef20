#include "adapters/torch/interpose/tensors.h"

#include <ATen/NestedTensorImpl.h>
#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseTensorImpl.h>
#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/functorch/TensorWrapper.h>
#include <c10/core/UndefinedTensorImpl.h>

#include <algorithm>

#include "adapters/torch/device/kept_memory.h"
#include "scan/finite.h"

namespace nanscope::torch_adapter {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;

constexpr DispatchKeySet kWrappers({DispatchKey::Functionalize, DispatchKey::FuncTorchBatched,
                                    DispatchKey::FuncTorchGradWrapper});

// Who knows what lies beyond the CPU's memory: given once, when the module is loaded.
class Beyond {
 public:
  void ask_for_wrapped(Wrapped (*answer)(const at::Tensor& subclass)) { wrapped_in_ = answer; }
  void read_devices_by(const DeviceReader& reader) { devices_ = &reader; }

  [[nodiscard]] Wrapped wrapped_in(const at::Tensor& subclass) const {
    return wrapped_in_ == nullptr ? Wrapped{} : wrapped_in_(subclass);
  }
  // Null until then.
  [[nodiscard]] const DeviceReader* devices() const { return devices_; }

 private:
  Wrapped (*wrapped_in_)(const at::Tensor& subclass) = nullptr;
  const DeviceReader* devices_ = nullptr;
};

Beyond beyond;

// Some subclasses have __torch_dispatch__ and memory of their own.
bool has_memory(const c10::TensorImpl& tensor) {
  return tensor.key_set().has(DispatchKey::CPU) && tensor.has_storage() &&
         address_of(tensor) != nullptr;
}

// On a device that can be looked into, in one piece.
bool is_read_by_device(const c10::TensorImpl& tensor) {
  return beyond.devices() != nullptr && tensor.has_storage() && !tensor.is_cpu() &&
         tensor.device_type() != c10::DeviceType::Meta && beyond.devices()->is_readable(tensor);
}

Sight sight_of_other_device(const c10::TensorImpl& tensor, DType dtype) {
  if (tensor.numel() == 0) return Sight::kNothing;
  if (!is_scannable(dtype) || !is_read_by_device(tensor)) return Sight::kOtherDevice;
  return address_of(tensor) == nullptr ? Sight::kNothing : Sight::kWatched;
}

// What is in memory is to be negated or conjugated when it is read.
constexpr DispatchKeySet kLazyBits({DispatchKey::Negative, DispatchKey::Conjugate});

// Quantized types stand for floating-point numbers.
bool is_floating(c10::ScalarType type) {
  return c10::isFloatingType(type) || c10::isComplexType(type) || c10::isQIntType(type);
}

bool is_signed_integer(c10::ScalarType type) {
  return type == at::kChar || type == at::kShort || type == at::kInt || type == at::kLong;
}

}  // namespace

at::Tensor below_transforms(at::Tensor tensor) {
  while (tensor.defined()) {
    if (const auto* wrapper = at::functorch::maybeGetTensorWrapper(tensor)) {
      tensor = wrapper->value();
    } else if (const auto* batched = at::functorch::maybeGetBatchedImpl(tensor)) {
      tensor = batched->value();
    } else {
      break;
    }
  }
  return tensor;
}

void read_devices_by(const DeviceReader& reader) { beyond.read_devices_by(reader); }

void ask_for_wrapped(Wrapped (*answer)(const at::Tensor& subclass)) {
  beyond.ask_for_wrapped(answer);
}

std::vector<at::Tensor> parts_of(const at::Tensor& tensor) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (!has_parts(impl)) return {tensor};
  if (impl.key_set().has(DispatchKey::Python)) {
    std::vector<at::Tensor> wrapped = beyond.wrapped_in(tensor).tensors;
    if (!has_memory(impl)) return wrapped;
    std::erase_if(wrapped, [&](const at::Tensor& part) { return is_same_memory(part, tensor); });
    wrapped.insert(wrapped.begin(), tensor);
    return wrapped;
  }
  at::Tensor values = values_of(tensor);
  if (values.is_same(tensor)) return {};
  return {std::move(values)};
}

bool is_hidden(const at::Tensor& tensor) {
  if (!tensor.defined()) return false;
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (!impl.key_set().has(DispatchKey::Python) || has_no_values(tensor) || has_memory(impl) ||
      tensor.numel() == 0 || !is_floating(c10::typeMetaToScalarType(impl.dtype())))
    return false;
  const Wrapped wrapped = beyond.wrapped_in(tensor);
  return !wrapped.all ||
         std::any_of(wrapped.tensors.begin(), wrapped.tensors.end(), [](const at::Tensor& part) {
           const Sight sight = sight_of(*part.unsafeGetTensorImpl());
           return sight != Sight::kWatched && sight != Sight::kNothing;
         });
}

at::Tensor values_of(const at::Tensor& tensor) {
  c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  if (impl->key_set().has_any(kWrappers)) return tensor;
  if (impl->key_set().has(DispatchKey::Python)) {
    const std::vector<at::Tensor> parts = parts_of(tensor);
    for (const at::Tensor& part : parts) {
      const c10::TensorImpl& inner = *part.unsafeGetTensorImpl();
      if (sight_of(inner) == Sight::kWatched && !is_finite(inner)) return part;
    }
    return parts.empty() ? tensor : parts.front();
  }
  if (const auto* sparse = dynamic_cast<at::SparseTensorImpl*>(impl)) return sparse->values();
  if (const auto* csr = dynamic_cast<at::SparseCsrTensorImpl*>(impl)) return csr->values();
  if (const auto* nested = dynamic_cast<at::native::NestedTensorImpl*>(impl))
    return nested->get_unsafe_storage_as_tensor();
  return tensor;
}

bool has_no_values(const at::Tensor& tensor) {
  const DispatchKeySet keys = tensor.unsafeGetTensorImpl()->key_set();
  return keys.has(DispatchKey::Meta) || keys.has(DispatchKey::Functionalize);
}

DType dtype_of(c10::ScalarType type) noexcept {
  switch (type) {
    case at::kFloat:
      return DType::kFloat32;
    case at::kDouble:
      return DType::kFloat64;
    case at::kHalf:
      return DType::kFloat16;
    case at::kBFloat16:
      return DType::kBFloat16;
    case at::kComplexFloat:
      return DType::kComplex64;
    case at::kComplexDouble:
      return DType::kComplex128;
    case at::kComplexHalf:
      return DType::kComplex32;
    case at::kFloat8_e5m2:
      return DType::kFloat8E5M2;
    case at::kFloat8_e4m3fn:
      return DType::kFloat8E4M3FN;
    case at::kFloat8_e4m3fnuz:
      return DType::kFloat8E4M3FNUZ;
    case at::kFloat8_e5m2fnuz:
      return DType::kFloat8E5M2FNUZ;
    case at::kFloat8_e8m0fnu:
      return DType::kFloat8E8M0FNU;
    default:
      return DType::kInteger;
  }
}

Sight sight_of_any(const c10::TensorImpl& tensor) {
  if (&tensor == c10::UndefinedTensorImpl::singleton()) return Sight::kNothing;
  const DispatchKeySet keys = tensor.key_set();
  if (keys.has_any(kWrappers)) return Sight::kWrapped;
  if (keys.has(DispatchKey::Python) && !has_memory(tensor)) return Sight::kWrapped;
  const DType dtype = dtype_of(c10::typeMetaToScalarType(tensor.dtype()));
  if (!keys.has(DispatchKey::CPU)) {
    if (tensor.device_type() == c10::DeviceType::Meta) return Sight::kWrapped;
    if (!is_floating(c10::typeMetaToScalarType(tensor.dtype()))) return Sight::kNothing;
    if (keys.has(DispatchKey::SparseCPU) || keys.has(DispatchKey::SparseCsrCPU))
      return Sight::kSparse;
    if (keys.has(DispatchKey::QuantizedCPU)) return Sight::kQuantized;
    return tensor.is_cpu() ? Sight::kOpaque : sight_of_other_device(tensor, dtype);
  }
  if (!is_scannable(dtype)) return Sight::kNothing;
  if (!tensor.has_storage()) return Sight::kOpaque;
  return tensor.numel() == 0 || address_of(tensor) == nullptr ? Sight::kNothing : Sight::kWatched;
}

const void* data_of(const c10::TensorImpl& tensor) {
  if (__builtin_expect(is_on_host(tensor), 1)) return address_of(tensor);
  return is_read_by_device(tensor) && tensor.numel() != 0
             ? beyond.devices()->bytes(tensor, range_of(tensor))
             : nullptr;
}

const void* storage_data_of(const c10::TensorImpl& tensor) {
  if (is_on_host(tensor)) return data_pointer_of(tensor).get();
  const std::size_t bytes = storage_of(tensor)->nbytes();
  return is_read_by_device(tensor) && bytes != 0 ? beyond.devices()->bytes(tensor, {0, bytes})
                                                 : nullptr;
}

int ceiling_of(const c10::TensorImpl& tensor) {
  if (__builtin_expect(!is_on_host(tensor), 0)) return beyond.devices()->ceiling(tensor);
  const DType dtype = dtype_of(c10::typeMetaToScalarType(tensor.dtype()));
  if (__builtin_expect(tensor.is_non_overlapping_and_dense(), 1)) {
    return nanscope::ceiling_of(address_of(tensor), tensor.numel() * tensor.itemsize(), dtype);
  }
  const c10::IntArrayRef sizes = tensor.sizes();
  const c10::IntArrayRef strides = tensor.strides();
  return nanscope::ceiling_of(TensorView{
      address_of(tensor), dtype, {sizes.data(), sizes.size()}, {strides.data(), strides.size()}});
}

bool is_own_of_device(const c10::DataPtr& data) noexcept {
  if (data.device().is_cpu()) return false;
  if (KeptMemory::is_deleter(data.get_deleter())) return true;
  try {
    return data.get_deleter() == c10::GetAllocator(data.device().type())->raw_deleter();
  } catch (const std::exception&) {
    return false;
  }
}

bool holds_integers(const c10::TensorImpl& tensor) {
  const c10::ScalarType type = c10::typeMetaToScalarType(tensor.dtype());
  const DispatchKeySet keys = tensor.key_set();
  return c10::isIntegralType(type, /*includeBool=*/true) && !keys.has_any(kWrappers) &&
         (keys.has(DispatchKey::CPU) ? has_memory(tensor) : is_read_by_device(tensor));
}

bool is_negated(const c10::TensorImpl& tensor) noexcept {
  return tensor.key_set().has_any(kLazyBits);
}

void OwnedView::take(const at::Tensor& tensor) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  const c10::ScalarType type = c10::typeMetaToScalarType(impl.dtype());
  dtype = dtype_of(type);
  // Two float4 share a byte, and what a quantized number stands for is not in it.
  const bool is_integer = c10::isIntegralType(type, /*includeBool=*/true);
  int_width = is_integer ? static_cast<std::uint8_t>(impl.itemsize()) : 0;
  int_signed = !is_integer || is_signed_integer(type);
  data = impl.has_storage() ? data_of(impl) : nullptr;
  sizes.assign(impl.sizes().begin(), impl.sizes().end());
  strides.assign(impl.strides().begin(), impl.strides().end());
}

ByteRange range_of(const c10::TensorImpl& tensor) {
  const auto item = static_cast<std::int64_t>(tensor.itemsize());
  std::int64_t lo = tensor.storage_offset();
  std::int64_t hi = lo;
  const c10::IntArrayRef sizes = tensor.sizes();
  const c10::IntArrayRef strides = tensor.strides();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0)
      return {static_cast<std::uint64_t>(lo * item), static_cast<std::uint64_t>(lo * item)};
    hi += (sizes[i] - 1) * strides[i];
  }
  return {static_cast<std::uint64_t>(lo * item), static_cast<std::uint64_t>((hi + 1) * item)};
}

std::uint64_t whereabouts_of(const at::Tensor& tensor) {
  std::uint64_t word = 0;
  const auto add = [&](std::uint64_t number) {
    word = (word ^ number) * 0x9E3779B97F4A7C15ull;
    word ^= word >> 29;
  };
  const auto add_tensor = [&](const c10::TensorImpl& impl) {
    add(storage_id(impl).value);
    if (storage_of(impl) == nullptr) return;
    const ByteRange range = range_of(impl);
    add(range.lo);
    add(range.hi);
  };
  if (!has_parts(*tensor.unsafeGetTensorImpl())) {
    add_tensor(*tensor.unsafeGetTensorImpl());
  } else {
    for (const at::Tensor& part : parts_of(tensor)) add_tensor(*part.unsafeGetTensorImpl());
  }
  return word;
}

TensorState state_of(const at::Tensor& tensor, bool finite) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (has_parts(impl)) {
    const at::Tensor values = values_of(tensor);
    if (!values.is_same(tensor)) return state_of(values, finite);
  }
  TensorState state;
  if (sight_of(impl) != Sight::kWatched) return state;
  state.storage = storage_id(impl);
  state.range = range_of(impl);
  state.dense = impl.is_non_overlapping_and_dense();
  state.requires_grad = impl.requires_grad();
  // Of what is finite on a device nothing is copied.
  if (!finite && (is_on_host(impl) || !is_finite(impl)))
    state.kinds = kinds_of(OwnedView(tensor).view());
  return state;
}

bool overlaps_itself(const c10::TensorImpl& tensor) {
  if (tensor.is_non_overlapping_and_dense()) return false;
  c10::SmallVector<std::pair<std::int64_t, std::int64_t>, 8> dims;  // stride, size
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) > 1) dims.emplace_back(tensor.stride(i), tensor.size(i));
  }
  std::sort(dims.begin(), dims.end());
  std::int64_t reach = 0;
  for (const auto& [stride, size] : dims) {
    if (stride <= reach) return true;
    reach += (size - 1) * stride;
  }
  return false;
}

bool is_same_memory(const at::Tensor& one, const at::Tensor& other) {
  const c10::TensorImpl& a = *one.unsafeGetTensorImpl();
  const c10::TensorImpl& b = *other.unsafeGetTensorImpl();
  if (&a == &b) return true;
  if (storage_of(a) == nullptr || storage_of(b) == nullptr) return false;
  const bool same_storage = storage_of(a) == storage_of(b);
  if (!same_storage && address_of(a) == nullptr) return false;
  // NumPy and DLPack make a second storage over the same memory.
  const bool same_place =
      same_storage ? a.storage_offset() == b.storage_offset() : address_of(a) == address_of(b);
  return same_place && a.sizes() == b.sizes() && a.strides() == b.strides() &&
         a.dtype() == b.dtype() && (a.key_set() & kLazyBits) == (b.key_set() & kLazyBits);
}

}  // namespace nanscope::torch_adapter
