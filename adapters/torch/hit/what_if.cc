#include "adapters/torch/hit/what_if.h"

#include <ATen/Functions.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>

#include "adapters/torch/hit/tensor_facts.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/watch/threads.h"
#include "scan/statistics.h"

namespace nanscope::torch_adapter {
namespace {

// Elements of all operands and results of an op that is computed as a whole.
constexpr std::int64_t kMostElementsComputed = 1 << 18;

// The kernels alone: no graph, no casts, no modes of the program see these calls.
class KernelsOnly {
 public:
  KernelsOnly()
      : excluded_(c10::autograd_dispatch_keyset_with_ADInplaceOrView |
                  c10::autocast_dispatch_keyset | c10::python_ks |
                  c10::DispatchKeySet({c10::DispatchKey::Functionalize,
                                       c10::DispatchKey::FuncTorchDynamicLayerFrontMode,
                                       c10::DispatchKey::FuncTorchDynamicLayerBackMode})) {}

 private:
  const Busy busy_;
  const c10::impl::ExcludeDispatchKeyGuard excluded_;
};

bool is_narrow(c10::ScalarType type) {
  return type == at::kHalf || type == at::kBFloat16 || type == at::kComplexHalf ||
         c10::isFloat8Type(type);
}

c10::ScalarType widened(c10::ScalarType type, bool to_float64) {
  if (c10::isComplexType(type)) return to_float64 ? at::kComplexDouble : at::kComplexFloat;
  if (!c10::isFloatingType(type)) return type;
  return to_float64 ? at::kDouble : at::kFloat;
}

class Again {
 public:
  Again(const Wrapper& wrapper, const Call& call, const Before* before, const Finding& finding)
      : wrapper_(wrapper), call_(call), before_(before), finding_(finding) {}

  // Empty if it cannot be computed again; `remark` may say why.
  std::vector<Value> compute(bool to_float64, std::string& remark) {
    c10::Stack stack;
    for (std::size_t i = 0; i < wrapper_.arguments.size(); ++i) {
      std::optional<c10::IValue> value = argument(i, to_float64, remark);
      if (!value) return {};
      stack.push_back(std::move(*value));
    }
    wrapper_.handle->callBoxed(stack);
    const auto output = static_cast<std::size_t>(finding_.origin.output);
    if (output >= stack.size() || !stack[output].isTensor()) return {};
    return values_in(stack[output].toTensor());
  }

  [[nodiscard]] bool small_enough() const {
    if (wrapper_.pointwise) return true;
    std::int64_t elements = 0;
    each_tensor(wrapper_, call_,
                [&](const at::Tensor& t, std::size_t, int) { elements += t.numel(); });
    for (const TensorFacts& output : finding_.outputs) elements += output.statistics.numel;
    return elements <= kMostElementsComputed;
  }

 private:
  std::optional<c10::IValue> argument(std::size_t i, bool to_float64, std::string& remark) {
    const ArgumentInfo& info = wrapper_.arguments[i];
    const void* slot = call_.arguments[i];
    const auto tensor = [&](const at::Tensor& given) -> std::optional<c10::IValue> {
      if (!given.defined()) return c10::IValue(at::Tensor());
      std::optional<at::Tensor> wide = operand(given, i, to_float64, remark);
      if (!wide) return std::nullopt;
      return c10::IValue(std::move(*wide));
    };
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
        return by_default(wrapper_.argument_names[i], to_float64);
    }
  }

  // The few arguments that say how a result is stored.
  static std::optional<c10::IValue> by_default(const std::string& name, bool to_float64) {
    if (name == "dtype") return c10::IValue(to_float64 ? at::kDouble : at::kFloat);
    if (says_how_stored(name)) return c10::IValue();
    return std::nullopt;
  }

  std::optional<at::Tensor> operand(const at::Tensor& given, std::size_t argument, bool to_float64,
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
    const c10::ScalarType type = widened(given.scalar_type(), to_float64);
    if (is_number(given)) return at::scalar_tensor(number_in(given), at::kDouble);
    if (!wrapper_.pointwise) {
      if (restored) return std::nullopt;
      return given.to(type, /*non_blocking=*/false, /*copy=*/true);
    }
    return failing_elements_of(view, type);
  }

  // The operand's values at the failing elements, as a row.
  std::optional<at::Tensor> failing_elements_of(const OwnedView& view, c10::ScalarType type) {
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

  std::vector<Value> values_in(const at::Tensor& result) const {
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

  const Wrapper& wrapper_;
  const Call& call_;
  const Before* before_;
  const Finding& finding_;
};

bool may_run_again(const Wrapper& wrapper, const Call& call) {
  return wrapper.handle && call.arguments != nullptr && !wrapper.random && !wrapper.transparent &&
         wrapper.rule != ScanRule::kAllocates && wrapper.rule != ScanRule::kLifts;
}

}  // namespace

void recompute(const Wrapper& wrapper, const Call& call, const Before* before, Finding& finding) {
  if (finding.origin.indices.empty() || finding.outputs.empty()) return;
  if (wrapper.random) {
    finding.not_recomputed = "it was not computed again: the operation draws random numbers";
    return;
  }
  if (!may_run_again(wrapper, call)) return;
  Again again(wrapper, call, before, finding);
  if (!again.small_enough()) return;
  try {
    const KernelsOnly kernels_only;
    bool narrow = false;
    each_tensor(wrapper, call, [&](const at::Tensor& tensor, std::size_t, int) {
      narrow |= is_narrow(tensor.scalar_type());
    });
    const std::string& made = finding.outputs[finding.origin.output].dtype;
    narrow |= made == "float16" || made == "bfloat16" || made.starts_with("float8");
    for (const bool to_float64 : {false, true}) {
      if (!to_float64 && !narrow) continue;
      std::vector<Value> values = again.compute(to_float64, finding.not_recomputed);
      if (values.empty()) return;
      if (to_float64) finding.exact = values[0];
      finding.recomputed.push_back({to_float64 ? "float64" : "float32", std::move(values)});
    }
  } catch (const std::exception&) {
    finding.recomputed.clear();  // refuses these types: then nothing is claimed
    finding.exact.reset();
  }
}

}  // namespace nanscope::torch_adapter
