#include "adapters/torch/hit/again.h"

#include <ATen/Functions.h>

#include <string_view>
#include <utility>

#include "adapters/torch/device/unowned.h"
#include "adapters/torch/hit/tensor_facts.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/ops/op_table.h"
#include "scan/statistics.h"

namespace nanscope::torch_adapter {
namespace {

// Elements of all operands and results of an op that is computed as a whole.
constexpr std::int64_t kMostElementsComputed = 1 << 18;

c10::ScalarType widened(c10::ScalarType type, Width width) {
  if (width == Width::kAsItIs) return type;
  const bool to_float64 = width == Width::kFloat64;
  if (c10::isComplexType(type)) return to_float64 ? at::kComplexDouble : at::kComplexFloat;
  if (!c10::isFloatingType(type)) return type;
  return to_float64 ? at::kDouble : at::kFloat;
}

std::optional<c10::ScalarType> type_of_result(const Finding& finding) {
  constexpr std::pair<std::string_view, c10::ScalarType> kTypes[] = {
      {"float16", at::kHalf},
      {"bfloat16", at::kBFloat16},
      {"float32", at::kFloat},
      {"float64", at::kDouble},
      {"complex64", at::kComplexFloat},
      {"complex128", at::kComplexDouble},
      {"float8_e4m3fn", at::kFloat8_e4m3fn},
      {"float8_e5m2", at::kFloat8_e5m2},
      {"float8_e4m3fnuz", at::kFloat8_e4m3fnuz},
      {"float8_e5m2fnuz", at::kFloat8_e5m2fnuz}};
  const auto output = static_cast<std::size_t>(finding.origin.output);
  if (output >= finding.outputs.size()) return std::nullopt;
  for (const auto& [name, type] : kTypes)
    if (name == finding.outputs[output].dtype) return type;
  return std::nullopt;
}

}  // namespace

bool Again::may_run() const {
  return wrapper_.handle && !wrapper_.random && !wrapper_.transparent &&
         wrapper_.rule != ScanRule::kAllocates && wrapper_.rule != ScanRule::kLifts &&
         is_small_enough();
}

bool Again::is_small_enough() const {
  if (wrapper_.pointwise) return true;
  std::int64_t elements = 0;
  each_tensor(wrapper_, call_,
              [&](const at::Tensor& t, std::size_t, int) { elements += t.numel(); });
  for (const TensorFacts& output : finding_.outputs) elements += output.statistics.numel;
  return elements <= kMostElementsComputed;
}

std::vector<Value> Again::compute(Width width, const Change* change, std::string& remark) {
  width_ = width;
  change_ = change;
  c10::Stack stack;
  for (std::size_t i = 0; i < wrapper_.arguments.size(); ++i) {
    std::optional<c10::IValue> value = argument(i, remark);
    if (!value) return {};
    stack.push_back(std::move(*value));
  }
  wrapper_.handle->callBoxed(stack);
  const auto output = static_cast<std::size_t>(finding_.origin.output);
  if (output >= stack.size() || !stack[output].isTensor()) return {};
  return values_in(stack[output].toTensor());
}

std::optional<c10::IValue> Again::argument(std::size_t i, std::string& remark) {
  const ArgumentInfo& info = wrapper_.arguments[i];
  const auto tensor = [&](const at::Tensor& given) -> std::optional<c10::IValue> {
    if (!given.defined()) return c10::IValue(at::Tensor());
    std::optional<at::Tensor> wide = operand(given, i, remark);
    if (!wide) return std::nullopt;
    return c10::IValue(std::move(*wide));
  };
  if (call_.arguments == nullptr) {
    const c10::IValue& given = static_cast<const BoxedCall&>(call_).values[i];
    if (given.isTensor()) return tensor(given.toTensor());
    const std::string& name = wrapper_.argument_names[i];
    if (name == "dtype" || says_how_stored(name)) return by_default(name);
    return given.isTensorList() || given.isOptionalTensorList() ? std::nullopt
                                                                : std::optional(given);
  }
  const void* slot = call_.arguments[i];
  switch (info.kind) {
    case SlotKind::kTensor:
      return tensor(by_reference<at::Tensor>(slot));
    case SlotKind::kOptionalTensor: {
      const auto& given = by_reference<std::optional<at::Tensor>>(slot);
      return given ? tensor(*given) : std::optional(c10::IValue());
    }
    case SlotKind::kScalar:
      return c10::IValue(by_reference<c10::Scalar>(slot));
    case SlotKind::kOptionalScalar: {
      const auto& given = by_reference<std::optional<c10::Scalar>>(slot);
      return given ? c10::IValue(*given) : c10::IValue();
    }
    case SlotKind::kDouble:
      return c10::IValue(by_value<double>(slot));
    case SlotKind::kOptionalDouble:
      return c10::IValue(by_value<std::optional<double>>(slot));
    case SlotKind::kInt:
      return c10::IValue(by_value<std::int64_t>(slot));
    case SlotKind::kOptionalInt:
      return c10::IValue(by_value<std::optional<std::int64_t>>(slot));
    case SlotKind::kIntList:
      return c10::IValue(by_value<at::IntArrayRef>(slot));
    case SlotKind::kOptionalIntList: {
      const auto& given = by_value<at::OptionalIntArrayRef>(slot);
      return given ? c10::IValue(*given) : c10::IValue();
    }
    case SlotKind::kBool:
      return c10::IValue(by_value<bool>(slot));
    default:
      return by_default(wrapper_.argument_names[i]);
  }
}

// The few arguments that say how a result is stored.
std::optional<c10::IValue> Again::by_default(const std::string& name) const {
  if (name == "dtype") {
    const std::optional<c10::ScalarType> type = type_of_result(finding_);
    if (!type) return std::nullopt;
    return c10::IValue(widened(*type, width_));
  }
  if (says_how_stored(name)) return c10::IValue();
  return std::nullopt;
}

std::optional<at::Tensor> Again::operand(const at::Tensor& given, std::size_t argument,
                                         std::string& remark) {
  const ArgumentInfo& info = wrapper_.arguments[argument];
  const Before::Kept* kept = before_ == nullptr ? nullptr : before_->kept_of(argument, -1);
  const bool restored = kept != nullptr;
  const bool overwritten =
      (info.written && info.read) || (before_ != nullptr && before_->overwrites(argument));
  if (overwritten && !restored) {
    remark = "it could not be computed again: " + wrapper_.argument_names[argument] +
             " was overwritten in place and not kept";
    return std::nullopt;
  }
  const OwnedView view = restored ? kept->view : OwnedView(given);
  const c10::ScalarType type = widened(given.scalar_type(), width_);
  std::optional<at::Tensor> copy;
  if (is_number(given)) {
    copy = at::scalar_tensor(number_in(given), at::kDouble);
  } else if (wrapper_.pointwise) {
    copy = failing_elements_of(view, type);
  } else if (!restored) {
    copy = as_it_was(given).to(at::TensorOptions(c10::kCPU).dtype(type), /*non_blocking=*/false,
                               /*copy=*/true);
  }
  if (!copy || change_ == nullptr) return copy;
  return change_->changed(argument, std::move(*copy));
}

// The operand's values at the failing elements, as a row.
std::optional<at::Tensor> Again::failing_elements_of(const OwnedView& view, c10::ScalarType type) {
  const std::vector<Index>& indices = finding_.origin.indices;
  at::Tensor row = at::empty({static_cast<std::int64_t>(indices.size())}, type);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto mine = feeding(indices[i], view.sizes);
    if (!mine || view.data == nullptr || !has_values(view.view())) return std::nullopt;
    const Value value = value_at(view.view(), *mine);
    const at::Tensor place = row.select(0, static_cast<std::int64_t>(i));
    if (value.is_complex) {
      place.fill_(c10::complex<double>(value.real, value.imag));
    } else {
      place.fill_(value.real);
    }
  }
  return row;
}

std::vector<Value> Again::values_in(const at::Tensor& result) const {
  const OwnedView view(result);
  std::vector<Value> values;
  for (std::size_t i = 0; i < finding_.origin.indices.size(); ++i) {
    const Index at =
        wrapper_.pointwise ? Index{static_cast<std::int64_t>(i)} : finding_.origin.indices[i];
    const auto mine = feeding(at, view.sizes);
    if (!mine || view.data == nullptr) return {};
    values.push_back(value_at(view.view(), *mine));
  }
  return values;
}

}  // namespace nanscope::torch_adapter
