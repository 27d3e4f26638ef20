// From at::Tensor to what the core knows: views and states.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/CPUAllocator.h>

#include <vector>

#include "scan/ceiling.h"
#include "scan/view.h"
#include "watch/tensor_state.h"

namespace nanscope::torch_adapter {

// Why a tensor cannot be looked into; kWatched where it can.
enum class Sight : std::uint8_t {
  kWatched,
  kNothing,  // undefined, empty, or of a type that holds no NaN
  kSparse,
  kQuantized,
  kOtherDevice,
  kWrapped,        // a subclass, a functorch level, a fake tensor: its parts are seen elsewhere
  kOpaque,         // mkldnn, nested, no storage
  kOfOtherThread,  // it may be written or freed there now: Note [Leaves of other threads]
};

// Below the levels of torch.func: the tensor that holds the values.
[[nodiscard]] at::Tensor below_transforms(at::Tensor tensor);
// A tensor whose values lie in another: sparse, compressed, nested, a subclass that wraps others.
inline bool has_parts(const c10::TensorImpl& tensor) noexcept {
  constexpr c10::DispatchKeySet kWithParts({c10::DispatchKey::Sparse, c10::DispatchKey::SparseCsr,
                                            c10::DispatchKey::NestedTensor,
                                            c10::DispatchKey::Python});
  return tensor.key_set().has_any(kWithParts);
}
// That other tensor, of several the first bad one; the tensor itself where its layout is not known.
[[nodiscard]] at::Tensor values_of(const at::Tensor& tensor);
// All of them; the tensor itself where it has no parts, and none where they are not known.
[[nodiscard]] std::vector<at::Tensor> parts_of(const at::Tensor& tensor);

// A subclass of whose values some may lie where nobody can look: nothing can be said of it.
[[nodiscard]] bool is_hidden(const at::Tensor& tensor);

// Note [Tensor subclasses]
// A subclass with __torch_dispatch__ has no memory of its own: FSDP2's DTensor holds a shard,
// others hold several tensors. The ops inside it work on those, and are watched as any. What is
// asked of the subclass itself (is this gradient finite? is this memory a parameter's?) is asked of
// the tensors it wraps. Only Python knows them: `answer` takes the GIL. What it does not know is
// counted where it matters, and nothing is said of it.
struct Wrapped {
  std::vector<at::Tensor> tensors;
  bool all = false;  // of what it wraps
};
void ask_for_wrapped(Wrapped (*answer)(const at::Tensor& subclass));
// A tensor without values: fake, meta, or being traced.
[[nodiscard]] bool has_no_values(const at::Tensor& tensor);

[[nodiscard]] DType dtype_of(c10::ScalarType type) noexcept;

// None where the tensor has no memory of its own. Asks no virtual function: this is asked on every
// op.
inline c10::StorageImpl* storage_of(const c10::TensorImpl& tensor) noexcept {
  return tensor.unsafe_storage().unsafeGetStorageImpl();
}
// Only for tensors that have a storage. No copy-on-write storage is materialised by looking at it.
inline const void* data_of(const c10::TensorImpl& tensor) {
  const auto* base =
      static_cast<const char*>(storage_of(tensor)->_mutable_data_ptr_no_checks().get());
  return base == nullptr
             ? nullptr
             : base + tensor.storage_offset() * static_cast<std::int64_t>(tensor.itemsize());
}

[[nodiscard]] Sight sight_of_any(const c10::TensorImpl& tensor);
// Most tensors are plain: of float32, dense, on the CPU.
inline Sight sight_of(const c10::TensorImpl& tensor) {
  constexpr c10::DispatchKeySet kWrapping(
      {c10::DispatchKey::Functionalize, c10::DispatchKey::FuncTorchBatched,
       c10::DispatchKey::FuncTorchGradWrapper, c10::DispatchKey::Python});
  const c10::DispatchKeySet keys = tensor.key_set();
  const bool plain = keys.has(c10::DispatchKey::CPU) && !keys.has_any(kWrapping) &&
                     tensor.dtype() == caffe2::TypeMeta::Make<float>() &&
                     storage_of(tensor) != nullptr && tensor.numel() != 0 &&
                     data_of(tensor) != nullptr;
  return __builtin_expect(plain, 1) ? Sight::kWatched : sight_of_any(tensor);
}
// See scan/finite.h.
[[nodiscard]] int ceiling_of(const c10::TensorImpl& tensor);
[[nodiscard]] inline bool is_finite(const c10::TensorImpl& tensor) {
  return ceiling_of(tensor) != kNoCeiling;
}

inline StorageId storage_id(const c10::TensorImpl& tensor) noexcept {
  return {reinterpret_cast<std::uint64_t>(storage_of(tensor))};
}
inline TensorId tensor_id(const at::Tensor& tensor) noexcept {
  return {reinterpret_cast<std::uint64_t>(tensor.unsafeGetTensorImpl())};
}

// Where its numbers lie, in one word: another one once other memory is under it, though the tensor
// is the same. Asks Python of a subclass.
[[nodiscard]] std::uint64_t whereabouts_of(const at::Tensor& tensor);

// Every number of its storage is one of its elements.
inline bool fills_its_storage(const c10::TensorImpl& tensor) {
  return tensor.is_non_overlapping_and_dense() &&
         tensor.numel() * tensor.itemsize() == storage_of(tensor)->nbytes();
}
// Two of its elements may lie in the same place.
[[nodiscard]] bool overlaps_itself(const c10::TensorImpl& tensor);
// The same elements, in the same order.
[[nodiscard]] bool is_same_memory(const at::Tensor& one, const at::Tensor& other);
// Integers or truth values that lie in memory: never bad, but they have statistics.
[[nodiscard]] bool holds_integers(const c10::TensorImpl& tensor);
// Its numbers are the negatives or conjugates of those in memory.
[[nodiscard]] bool is_negated(const c10::TensorImpl& tensor) noexcept;
// Memory of somebody else: NumPy, a file, another process.
inline bool is_foreign(const c10::TensorImpl& tensor) noexcept {
  static const c10::DeleterFnPtr own = c10::GetCPUAllocator()->raw_deleter();
  c10::StorageImpl* storage = storage_of(tensor);
  return storage != nullptr && storage->_mutable_data_ptr_no_checks().get_deleter() != own;
}

// A view with its own copy of sizes and strides, over live or kept data.
struct OwnedView {
  const void* data = nullptr;
  DType dtype = DType::kInteger;
  std::uint8_t int_width = 0;
  bool int_signed = true;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;

  OwnedView() = default;
  explicit OwnedView(const at::Tensor& tensor) { take(tensor); }
  void take(const at::Tensor& tensor);
  [[nodiscard]] TensorView view() const noexcept {
    TensorView v{data, dtype, sizes, strides};
    v.int_width = int_width;
    v.int_signed = int_signed;
    return v;
  }
};

[[nodiscard]] ByteRange range_of(const c10::TensorImpl& tensor);
// With a scan, if the tensor can be looked into.
// `finite`: it was just looked at.
[[nodiscard]] TensorState state_of(const at::Tensor& tensor, bool finite = false);

}  // namespace nanscope::torch_adapter
