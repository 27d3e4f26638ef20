#include "adapters/torch/program/forewarn.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "adapters/torch/hit/makers.h"
#include "adapters/torch/hit/saved.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/program/history.h"
#include "adapters/torch/session/session.h"
#include "adapters/torch/watch/locks.h"
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

Lock lock{LockRank::kWarnings};
using Warned = std::set<std::tuple<std::string, StackId, std::uint64_t>>;
Warned& warned() {
  static auto& all = *new Warned;
  return all;
}

bool is_new(const std::string& id, StackId stack, StorageId weight) {
  const std::lock_guard guard(lock);
  return warned().insert({id, stack, weight.value}).second;
}

// `weight`: of the parameter that the warning is about, if it is about one.
void warn(Forewarning warning, const std::string& op, StackId stack, StorageId weight = {}) {
  if (!is_new(warning.id, stack, weight)) return;
  add_warning(std::move(warning), op, stack, weight);
}

double vanishing_below(c10::ScalarType type) {
  return type == at::kHalf ? kVanishesInFloat16 : kVanishesInBFloat16;
}

std::string type_name(c10::ScalarType type) { return std::string(name_of(dtype_of(type))); }

}  // namespace

void watch_guard(const Hook& hook, const Call& call) {
  c10::ScalarType type = at::kFloat;
  each_tensor(hook, call, [&](const at::Tensor& tensor, std::size_t, int) {
    if (type == at::kFloat && !is_number(tensor)) type = tensor.scalar_type();
  });
  if (type != at::kHalf && type != at::kBFloat16) return;
  std::vector<double> numbers;
  each_tensor(hook, call, [&](const at::Tensor& tensor, std::size_t, int) {
    if (is_number(tensor)) numbers.push_back(number_in(tensor));
  });
  for (const NumberArgument& number : numbers_of(hook, call))
    if (!is_factor(hook.argument_names[number.argument])) numbers.push_back(number.value);
  for (const double number : numbers) {
    const double size = std::fabs(number);
    if (size > 0 && size <= vanishing_below(type))
      warn({"eps_underflow", "", type_name(type), number, vanishing_below(type), 0}, hook.info.name,
           current_stack());
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
  warn({"growing_gradients", "", "", now, first, kGrowingSteps}, "optimizer step", current_stack());
}

void watch_headroom(const std::vector<at::Tensor>& roots) {
  const std::int64_t step = Watcher::get().judge.current_step();
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
      warn({"little_headroom", "", std::string(name_of(kept.dtype)), kept.largest, limit, step,
            kept.goes_in},
           kept.node, kept.stack);
  }
}

void watch_weights() {
  for (const Weight& weight : trained_weights()) {
    if (weight.tensor.dim() < 2 || weight.steps < kFewestSteps || weight.tensor.numel() == 0)
      continue;
    const Statistics seen = statistics_of(OwnedView(weight.tensor).view());
    if (!seen.min || !seen.max) continue;
    const double largest = std::max(std::fabs(*seen.min), std::fabs(*seen.max));
    const StorageId storage = storage_id(*weight.tensor.unsafeGetTensorImpl());
    const std::string dtype = type_name(weight.tensor.scalar_type());
    const StackId here = 0;
    if (!weight.changed)
      warn({"untrained_weights", "", dtype, largest, 0, weight.steps}, "parameter", here, storage);
    else if (largest > kLargeWeight)
      warn({"extreme_weights", "", dtype, largest, kLargeWeight, weight.steps}, "parameter", here,
           storage);
    else if (largest < kSmallWeight)
      warn({"extreme_weights", "", dtype, largest, kSmallWeight, weight.steps}, "parameter", here,
           storage);
  }
}

}  // namespace nanscope::torch_adapter
