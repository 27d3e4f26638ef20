// A call as a trampoline would hand it over, made by hand: for tests of those who read it.
#pragma once

#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/torch/interpose/trampoline.h"
#include "adapters/torch/interpose/wrapper.h"

namespace nanscope::torch_adapter {

class TestCall {
 public:
  explicit TestCall(std::string name = "test::op")
      : wrapper_(std::make_unique<Wrapper>(std::move(name), c10::KernelFunction())) {
    slots_.reserve(1);  // a call without arguments has an address for them too
  }

  // Each adds an argument, passed as kernels get it.
  TestCall& tensor(const at::Tensor& value, const std::string& name = "self") {
    return reference(SlotKind::kTensor, value, name);
  }
  TestCall& optional_tensor(const std::optional<at::Tensor>& value) {
    return reference(SlotKind::kOptionalTensor, value, "weight");
  }
  TestCall& tensor_list(at::TensorList value) {
    return by_copy(SlotKind::kTensorList, value, "tensors");
  }
  TestCall& tensor_list_ref(const at::ITensorListRef& value) {
    return reference(SlotKind::kTensorListRef, value, "tensors");
  }
  TestCall& optional_tensor_list(const c10::List<std::optional<at::Tensor>>& value) {
    return reference(SlotKind::kOptionalTensorList, value, "indices");
  }
  TestCall& scalar(const c10::Scalar& value, const std::string& name = "alpha") {
    return reference(SlotKind::kScalar, value, name);
  }
  TestCall& optional_scalar(const std::optional<c10::Scalar>& value) {
    return reference(SlotKind::kOptionalScalar, value, "min");
  }
  TestCall& scalar_list(at::ArrayRef<c10::Scalar> value) {
    return by_copy(SlotKind::kScalarList, value, "scalars");
  }
  TestCall& real(double value) { return by_copy(SlotKind::kDouble, value, "eps"); }
  TestCall& optional_real(std::optional<double> value) {
    return by_copy(SlotKind::kOptionalDouble, value, "eps");
  }
  TestCall& whole(std::int64_t value, const std::string& name = "dim") {
    return by_copy(SlotKind::kInt, value, name);
  }
  TestCall& sizes(at::IntArrayRef value, const std::string& name = "dim") {
    return by_copy(SlotKind::kIntList, value, name);
  }
  TestCall& optional_sizes(at::OptionalIntArrayRef value, const std::string& name = "dim") {
    return by_copy(SlotKind::kOptionalIntList, value, name);
  }
  TestCall& flag(bool value, const std::string& name = "keepdim") {
    return by_copy(SlotKind::kBool, value, name);
  }
  // Of a kind that nobody reads.
  TestCall& other() { return by_copy(SlotKind::kOther, std::int64_t{0}, "other"); }

  // The last argument is written: an out=, or one that is also read.
  TestCall& written(bool also_read) {
    wrapper_->arguments.back().written = true;
    wrapper_->arguments.back().read = also_read;
    wrapper_->shape = ResultShape::kWrittenArguments;
    return *this;
  }

  [[nodiscard]] Wrapper& wrapper() { return *wrapper_; }
  [[nodiscard]] const Call& call() {
    call_.arguments = slots_.data();
    return call_;
  }

 private:
  // The slot holds the address of the object.
  template <class T>
  TestCall& reference(SlotKind kind, const T& value, const std::string& name) {
    const void* object = keep(value);
    return add(kind, keep(object), name);
  }
  // The slot holds the object.
  template <class T>
  TestCall& by_copy(SlotKind kind, const T& value, const std::string& name) {
    return add(kind, keep(value), name);
  }
  template <class T>
  const void* keep(const T& value) {
    kept_.push_back(std::make_shared<T>(value));
    return kept_.back().get();
  }
  TestCall& add(SlotKind kind, const void* slot, const std::string& name) {
    wrapper_->arguments.push_back({.kind = kind});
    wrapper_->argument_names.push_back(name);
    wrapper_->has_scalars |= kind == SlotKind::kScalar || kind == SlotKind::kDouble;
    slots_.push_back(slot);
    return *this;
  }

  std::unique_ptr<Wrapper> wrapper_;
  std::vector<std::shared_ptr<void>> kept_;
  std::vector<const void*> slots_;
  Call call_;
};

}  // namespace nanscope::torch_adapter
