#include "adapters/torch/interpose/arguments.h"

#include <cmath>

#include "adapters/seams/torch_api.h"
#include "adapters/torch/interpose/tensors.h"
#include "scan/statistics.h"

namespace nanscope::torch_adapter {
namespace {

double real_value(const c10::Scalar& scalar) {
  if (scalar.isComplex()) {
    const auto value = scalar.toComplexDouble();
    if (std::isnan(value.real()) || std::isnan(value.imag())) return NAN;
    return std::isfinite(value.real()) ? value.imag() : value.real();
  }
  if (scalar.isSymbolic()) return 0;
  return is_unsigned(scalar) ? static_cast<double>(scalar.toUInt64()) : scalar.toDouble();
}

template <class Visit>
void each_number(const Wrapper& wrapper, const Call& call, Visit visit) {
  if (call.arguments == nullptr) {
    const auto& values = static_cast<const BoxedCall&>(call).values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i].isDouble()) visit(i, values[i].toDouble());
      if (values[i].isInt()) visit(i, static_cast<double>(values[i].toInt()));
    }
    return;
  }
  for (std::size_t i = 0; i < wrapper.arguments.size(); ++i) {
    const void* slot = call.arguments[i];
    switch (wrapper.arguments[i].kind) {
      case SlotKind::kScalar:
        visit(i, real_value(by_reference<c10::Scalar>(slot)));
        break;
      case SlotKind::kOptionalScalar:
        if (const auto& scalar = by_reference<std::optional<c10::Scalar>>(slot))
          visit(i, real_value(*scalar));
        break;
      case SlotKind::kScalarList:
        for (const c10::Scalar& scalar : by_value<at::ArrayRef<c10::Scalar>>(slot))
          visit(i, real_value(scalar));
        break;
      case SlotKind::kDouble:
        visit(i, by_value<double>(slot));
        break;
      case SlotKind::kOptionalDouble:
        if (const auto& number = by_value<std::optional<double>>(slot)) visit(i, *number);
        break;
      case SlotKind::kInt:
        visit(i, static_cast<double>(by_value<std::int64_t>(slot)));
        break;
      default:
        break;
    }
  }
}

std::optional<std::vector<std::int64_t>> boxed_dims(const c10::IValue& value) {
  if (value.isInt()) return std::vector{value.toInt()};
  if (value.isIntList()) return value.toIntVector();
  if (value.isNone()) return std::vector<std::int64_t>{};
  return std::nullopt;
}

}  // namespace

std::vector<NumberArgument> numbers_of(const Wrapper& wrapper, const Call& call) {
  std::vector<NumberArgument> numbers;
  each_number(wrapper, call, [&](std::size_t argument, double value) {
    numbers.push_back({argument, value});
  });
  return numbers;
}

double largest_number(const Wrapper& wrapper, const Call& call) {
  double most = 0;
  each_number(wrapper, call, [&](std::size_t, double value) {
    if (std::isnan(value) || std::fabs(value) > most) most = std::fabs(value);
  });
  return most;
}

bool has_nonfinite_number(const Wrapper& wrapper, const Call& call) {
  return !std::isfinite(largest_number(wrapper, call));
}

std::optional<std::vector<std::int64_t>> dims_of(const Wrapper& wrapper, const Call& call) {
  for (std::size_t i = 0; i < wrapper.arguments.size(); ++i) {
    if (wrapper.argument_names[i] != "dim") continue;
    if (call.arguments == nullptr) return boxed_dims(static_cast<const BoxedCall&>(call).values[i]);
    const void* slot = call.arguments[i];
    switch (wrapper.arguments[i].kind) {
      case SlotKind::kInt:
        return std::vector{by_value<std::int64_t>(slot)};
      case SlotKind::kIntList:
        return by_value<at::IntArrayRef>(slot).vec();
      case SlotKind::kOptionalIntList:
        if (const auto& dims = by_value<at::OptionalIntArrayRef>(slot)) return dims->vec();
        return std::vector<std::int64_t>{};
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

bool has_empty_windows(const Wrapper& wrapper, const Call& call) {
  bool pads = false;
  bool has_gaps = false;
  for (std::size_t i = 0; i < wrapper.arguments.size(); ++i) {
    const bool padding = wrapper.argument_names[i] == "padding";
    if (!padding && wrapper.argument_names[i] != "dilation") continue;
    if (call.arguments == nullptr || wrapper.arguments[i].kind != SlotKind::kIntList) return true;
    for (const std::int64_t size : by_value<at::IntArrayRef>(call.arguments[i]))
      (padding ? pads : has_gaps) |= size > (padding ? 0 : 1);
  }
  return pads && has_gaps;
}

std::optional<bool> flag_of(const Wrapper& wrapper, const Call& call, std::string_view name) {
  if (call.arguments == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < wrapper.arguments.size(); ++i) {
    if (wrapper.arguments[i].kind == SlotKind::kBool && wrapper.argument_names[i] == name) {
      return by_value<bool>(call.arguments[i]);
    }
  }
  return std::nullopt;
}

bool is_number(const at::Tensor& tensor) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  return impl.dim() == 0 && impl.is_wrapped_number();
}

double number_in(const at::Tensor& tensor) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  // What the interpreter makes of a float, on the way of every x * 0.9.
  if (c10::typeMetaToScalarType(impl.dtype()) == at::kDouble && impl.has_storage()) {
    const void* data = data_of(impl);
    return data == nullptr ? 0 : *static_cast<const double*>(data);
  }
  const OwnedView owned(tensor);
  if (owned.data == nullptr) return 0;
  const Value value = value_at(owned.view(), {});
  return std::isfinite(value.real)
             ? (value.is_complex && !std::isfinite(value.imag) ? value.imag : value.real)
             : value.real;
}

}  // namespace nanscope::torch_adapter
