// The arguments and results of a call, kept without a reference to the program's tensors.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <memory>
#include <optional>
#include <vector>

#include "adapters/seams/torch_api.h"
#include "adapters/torch/device/kept_memory.h"

namespace nanscope::torch_adapter {

// One tensor. Of a device: its memory, and what it was over that memory. Of the host: a copy, for
// it is small.
class KeptTensor {
 public:
  // It can be kept so.
  [[nodiscard]] static bool is_possible(const at::Tensor& tensor);
  // One that cannot is held as it is: whoever does so must not let the program run on.
  explicit KeptTensor(const at::Tensor& tensor);

  [[nodiscard]] bool is_held() const noexcept { return held_; }
  [[nodiscard]] const std::shared_ptr<KeptPiece>& piece() const noexcept { return piece_; }
  // As it was then: the tensor itself, if it is still the same, or another over the same storage.
  [[nodiscard]] at::Tensor revived() const;

 private:
  using WeakTensor = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
  [[nodiscard]] bool is_still(const at::Tensor& tensor, const c10::StorageImpl* storage) const;

  bool held_ = false;
  at::Tensor own_;
  std::shared_ptr<KeptPiece> piece_;
  std::optional<WeakTensor> original_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::int64_t> strides_;
  std::int64_t offset_ = 0;
  caffe2::TypeMeta type_;
  c10::DispatchKeySet keys_;
  bool requires_grad_ = false;
  std::optional<WeakNode> node_;
};

// A list of values, its tensors kept.
class KeptValues {
 public:
  explicit KeptValues(const std::vector<c10::IValue>& values);
  [[nodiscard]] std::vector<c10::IValue> revived() const;
  [[nodiscard]] const std::vector<KeptTensor>& tensors() const noexcept { return tensors_; }

 private:
  enum class Kind : std::uint8_t { kOther, kTensor, kList };
  struct Value {
    Kind kind;
    std::size_t tensors;  // that belong to it
    c10::IValue other;
  };
  std::vector<Value> values_;
  std::vector<KeptTensor> tensors_;
};

}  // namespace nanscope::torch_adapter
