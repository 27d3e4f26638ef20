// The arguments of a call in flight, read back from their slots.
#pragma once

#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <vector>

#include "adapters/torch/interpose/boxed_call.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/interpose/trampoline.h"
#include "adapters/torch/interpose/wrapper.h"

namespace nanscope::torch_adapter {

template <class T>
const T& by_value(const void* slot) {
  return *static_cast<const T*>(slot);
}
template <class T>
const T& by_reference(const void* slot) {
  return **static_cast<const T* const*>(slot);
}

template <class Visit>
void visit_boxed(const c10::IValue& value, std::size_t argument, Visit& visit) {
  if (value.isTensor()) {
    visit(value.toTensor(), argument, -1);
  } else if (value.isTensorList()) {
    int item = 0;
    for (const at::Tensor& tensor : value.toTensorVector()) visit(tensor, argument, item++);
  } else if (value.isOptionalTensorList()) {
    int item = 0;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      if (tensor) visit(*tensor, argument, item);
      ++item;
    }
  }
}

// visit(tensor, argument number, place in its list or -1), defined tensors only; of a sparse or
// nested one, the tensor that holds its values.
template <class Visit>
void each_tensor(const Wrapper& wrapper, const Call& call, Visit visit) {
  auto give = [&](const at::Tensor& tensor, std::size_t argument, int item) {
    if (!tensor.defined()) return;
    if (__builtin_expect(has_parts(*tensor.unsafeGetTensorImpl()), 0)) {
      visit(values_of(tensor), argument, item);
    } else {
      visit(tensor, argument, item);
    }
  };
  if (call.arguments == nullptr) {
    const auto& boxed = static_cast<const BoxedCall&>(call);
    for (std::size_t i = 0; i < boxed.values.size(); ++i) visit_boxed(boxed.values[i], i, give);
    return;
  }
  for (std::size_t i = 0; i < wrapper.arguments.size(); ++i) {
    const void* slot = call.arguments[i];
    int item = 0;
    switch (wrapper.arguments[i].kind) {
      case SlotKind::kTensor:
        give(by_reference<at::Tensor>(slot), i, -1);
        break;
      case SlotKind::kOptionalTensor:
        if (const auto& tensor = by_reference<std::optional<at::Tensor>>(slot))
          give(*tensor, i, -1);
        break;
      case SlotKind::kTensorList:
        for (const at::Tensor& tensor : by_value<at::TensorList>(slot)) give(tensor, i, item++);
        break;
      case SlotKind::kTensorListRef:
        for (const at::Tensor& tensor : by_reference<at::ITensorListRef>(slot))
          give(tensor, i, item++);
        break;
      case SlotKind::kOptionalTensorList:
        for (const std::optional<at::Tensor>& tensor :
             by_reference<c10::List<std::optional<at::Tensor>>>(slot).vec()) {
          if (tensor) give(*tensor, i, item);
          ++item;
        }
        break;
      default:
        break;
    }
  }
}

// visit(tensor, output number).
template <class Visit>
void each_output(const Wrapper& wrapper, const Call& call, void* result, Visit visit) {
  int number = 0;
  auto give = [&](const at::Tensor& tensor) {
    if (tensor.defined()) {
      if (__builtin_expect(has_parts(*tensor.unsafeGetTensorImpl()), 0)) {
        visit(values_of(tensor), number);
      } else {
        visit(tensor, number);
      }
    }
    ++number;
  };
  const bool boxed = call.arguments == nullptr;
  switch (boxed ? ResultShape::kWrittenArguments : wrapper.shape) {
    case ResultShape::kNone:
      break;
    case ResultShape::kOne:
      give(*static_cast<at::Tensor*>(result));
      break;
    case ResultShape::kMany:
      for (const ResultItem& item : wrapper.results) {
        char* place = static_cast<char*>(result) + item.offset;
        if (item.kind == ResultItem::kTensor) {
          give(*reinterpret_cast<at::Tensor*>(place));
        } else if (item.kind == ResultItem::kTensorVector) {
          for (const at::Tensor& tensor : *reinterpret_cast<std::vector<at::Tensor>*>(place))
            give(tensor);
        }
      }
      break;
    case ResultShape::kWrittenArguments:
      each_tensor(wrapper, call, [&](const at::Tensor& tensor, std::size_t argument, int) {
        if (wrapper.arguments[argument].written) give(tensor);
      });
      break;
  }
  if (boxed) {
    auto give_boxed = [&](const at::Tensor& tensor, std::size_t, int) { give(tensor); };
    for (const c10::IValue& value : static_cast<const BoxedCall&>(call).results)
      visit_boxed(value, 0, give_boxed);
  }
}

// visit(tensor): arguments that are written although the schema does not say so.
template <class Visit>
void each_hidden_write(const Wrapper& wrapper, const Call& call, Visit visit) {
  if (__builtin_expect(!wrapper.hidden_writes, 1)) return;
  each_tensor(wrapper, call, [&](const at::Tensor& tensor, std::size_t argument, int) {
    if (wrapper.arguments[argument].hidden_write) visit(tensor);
  });
}

// The number arguments, for declarations and for the report.
struct NumberArgument {
  std::size_t argument;
  double value;
};
[[nodiscard]] std::vector<NumberArgument> numbers_of(const Wrapper& wrapper, const Call& call);
// By magnitude; NaN if one is.
[[nodiscard]] double largest_number(const Wrapper& wrapper, const Call& call);
[[nodiscard]] bool has_nonfinite_number(const Wrapper& wrapper, const Call& call);
// Dimensions named by an argument called `dim` (or `normalized_shape` and kin are not dims).
[[nodiscard]] std::optional<std::vector<std::int64_t>> dims_of(const Wrapper& wrapper,
                                                               const Call& call);
// Of a pool: it pads, and its windows have gaps, so that one may lie in the padding alone.
[[nodiscard]] bool has_empty_windows(const Wrapper& wrapper, const Call& call);
[[nodiscard]] std::optional<bool> flag_of(const Wrapper& wrapper, const Call& call,
                                          std::string_view name);
// A Python number that reached the kernel as a 0-dim tensor.
[[nodiscard]] bool is_number(const at::Tensor& tensor);
[[nodiscard]] double number_in(const at::Tensor& tensor);

}  // namespace nanscope::torch_adapter
