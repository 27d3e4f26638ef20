#include "adapters/torch/program/forewarn.h"

#include <algorithm>
#include <cmath>

#include "adapters/torch/device/probe.h"
#include "adapters/torch/hit/makers.h"
#include "adapters/torch/hit/saved.h"
#include "adapters/torch/hit/tensor_facts.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/session/session.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"
#include "scan/statistics.h"

namespace nanscope::torch_adapter {
namespace {

constexpr double kVanishesInFloat16 = 0x1p-25;
constexpr double kVanishesInBFloat16 = 0x1p-134;
constexpr std::size_t kGrowingSteps = 8;
constexpr double kGrownTimes = 1e4;
constexpr std::int64_t kFewestSteps = 10;
constexpr double kLargeWeight = 100;
constexpr double kSmallWeight = 1e-6;
constexpr std::size_t kMostLookedAt = 256;
constexpr double kNearInFloat16 = 1 / 4.0;
constexpr double kNear = 1e-4;

double vanishing_below(c10::ScalarType type) {
  return type == at::kHalf ? kVanishesInFloat16 : kVanishesInBFloat16;
}

// The largest of the finite elements; NaN where none can be seen. On a device none is copied.
double largest_of_weight(const at::Tensor& weight) {
  const c10::TensorImpl& impl = *weight.unsafeGetTensorImpl();
  if (sight_of(impl) == Sight::kWatched && !is_on_host(impl)) {
    const double largest = largest_on_device(impl);
    return std::isinf(largest) ? NAN : largest;
  }
  const Statistics seen = statistics_of(OwnedView(weight).view());
  if (seen.nan + seen.pos_inf + seen.neg_inf > 0) return NAN;  // what is left says nothing
  return seen.min && seen.max ? std::max(std::fabs(*seen.min), std::fabs(*seen.max)) : NAN;
}

}  // namespace

void watch_guard(const Wrapper& wrapper, const Call& call) {
  c10::ScalarType type = at::kFloat;
  each_tensor(wrapper, call, [&](const at::Tensor& tensor, std::size_t, int) {
    if (type != at::kFloat) return;
    const c10::ScalarType of = c10::typeMetaToScalarType(tensor.unsafeGetTensorImpl()->dtype());
    if (of != at::kFloat && !is_number(tensor)) type = of;
  });
  if (type != at::kHalf && type != at::kBFloat16) return;
  std::vector<double> numbers;
  each_tensor(wrapper, call, [&](const at::Tensor& tensor, std::size_t, int) {
    if (is_number(tensor)) numbers.push_back(number_in(tensor));
  });
  for (const NumberArgument& number : numbers_of(wrapper, call))
    if (!is_factor(wrapper.argument_names[number.argument])) numbers.push_back(number.value);
  for (const double number : numbers) {
    const double size = std::fabs(number);
    if (size > 0 && size <= vanishing_below(type))
      add_warning({"eps_underflow", "", type_name(type), number, vanishing_below(type), 0},
                  wrapper.info.name, current_stack());
  }
}

void watch_growth(const std::deque<StepRecord>& last) {
  if (last.size() < kGrowingSteps) return;
  const std::size_t begin = last.size() - kGrowingSteps;
  for (std::size_t i = begin; i < last.size(); ++i) {
    if (!last[i].gradient_norm || !std::isfinite(*last[i].gradient_norm)) return;
    if (i > begin && *last[i].gradient_norm <= *last[i - 1].gradient_norm) return;
  }
  const double first = *last[begin].gradient_norm;
  const double now = *last.back().gradient_norm;
  if (first <= 0 || now < kGrownTimes * first) return;
  add_warning({"growing_gradients", "", "", now, first, kGrowingSteps}, "optimizer step",
              current_stack());
}

void watch_headroom(const std::vector<at::Tensor>& roots) {
  const std::int64_t step = Watcher::get().judge().current_step();
  const bool power_of_two = (step & (step - 1)) == 0;
  if (!power_of_two && step % 512 != 0) return;
  const Busy busy;
  for (const Facts::Activation& kept :
       activations_behind({.inputs = {}, .roots = roots, .least_share = kNear}, kMostLookedAt)) {
    if (is_float8(kept.dtype)) continue;  // scaled to fill its range on purpose
    const double limit = largest_of(kept.dtype);
    // Constants such as finfo.min lie at the very end on purpose.
    const double share = kept.largest / limit;
    const bool near =
        share > (kept.dtype == DType::kFloat16 ? kNearInFloat16 : kNear) && share < 0.99;
    if (near)
      add_warning({"little_headroom", "", std::string(name_of(kept.dtype)), kept.largest, limit,
                   step, kept.goes_in},
                  kept.node, kept.stack);
  }
}

void watch_weights() {
  for (const Weight& weight : Watcher::get().history().trained_weights()) {
    if (weight.tensor.dim() < 2 || weight.steps < kFewestSteps || weight.tensor.numel() == 0)
      continue;
    const double largest = largest_of_weight(weight.tensor);
    if (std::isnan(largest)) continue;
    const StorageId storage = storage_id(*weight.tensor.unsafeGetTensorImpl());
    const std::string dtype = type_name(weight.tensor.scalar_type());
    const StackId here = 0;
    if (!weight.changed)
      add_warning({"untrained_weights", "", dtype, largest, 0, weight.steps}, "parameter", here,
                  storage);
    else if (largest > kLargeWeight)
      add_warning({"extreme_weights", "", dtype, largest, kLargeWeight, weight.steps}, "parameter",
                  here, storage);
    else if (largest < kSmallWeight)
      add_warning({"extreme_weights", "", dtype, largest, kSmallWeight, weight.steps}, "parameter",
                  here, storage);
  }
}

}  // namespace nanscope::torch_adapter
