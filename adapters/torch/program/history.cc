#include "adapters/torch/program/history.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "adapters/torch/device/unowned.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/watch/kernels_only.h"
#include "adapters/torch/watch/owners.h"
#include "scan/statistics.h"

namespace nanscope::torch_adapter {
namespace {

constexpr std::int64_t kStretch = 16;  // elements side by side: one line of cache
constexpr std::int64_t kStretches = 8;
constexpr std::int64_t kMostWhole = 256;  // elements of a tensor that is looked at as a whole
constexpr std::size_t kFirstSteps = 4;
constexpr std::size_t kLastSteps = 28;
constexpr std::size_t kMostOptimizers = 16;
constexpr std::size_t kMostGradients = 24;

// visit(elements side by side, their number)
template <class T, class Visit>
void visit_sample(const T* data, std::int64_t numel, Visit visit) {
  if (numel <= kMostWhole) {
    visit(data, numel);
    return;
  }
  for (std::int64_t k = 0; k < kStretches; ++k)
    visit(data + k * (numel - kStretch) / (kStretches - 1), kStretch);
}

// The numbers as float32, whatever their type; `room` is used where that is another one.
template <class T>
const float* as_floats(const T* numbers, std::int64_t count, float (&room)[kMostWhole]) {
  if constexpr (std::is_same_v<T, float>) {
    return numbers;
  } else {
    for (std::int64_t i = 0; i < count; ++i) room[i] = static_cast<float>(numbers[i]);
    return room;
  }
}

// Four numbers side by side: one sum alone would wait for itself. Doubles are in two halves, for
// wider vectors are passed differently where the compiler may use AVX and where not.
using Floats = float __attribute__((vector_size(16)));
using TwoFloats = float __attribute__((vector_size(8)));
using TwoDoubles = double __attribute__((vector_size(16)));

Floats four_of(const float* numbers) {
  Floats four;
  std::memcpy(&four, numbers, sizeof four);
  return four;
}

struct Doubles {
  TwoDoubles low = {};
  TwoDoubles high = {};

  void add_square_of(Doubles x) {
    low += x.low * x.low;
    high += x.high * x.high;
  }
  [[nodiscard]] double sum() const { return low[0] + low[1] + high[0] + high[1]; }
};

Doubles widened(Floats four) {
  return {__builtin_convertvector(TwoFloats{four[0], four[1]}, TwoDoubles),
          __builtin_convertvector(TwoFloats{four[2], four[3]}, TwoDoubles)};
}
Doubles difference(Doubles a, Doubles b) { return {a.low - b.low, a.high - b.high}; }
double square(double x) { return x * x; }

double sum_of_squares(const float* numbers, std::int64_t count) {
  Doubles sum;
  const std::int64_t in_fours = count / 4 * 4;
  for (std::int64_t i = 0; i < in_fours; i += 4) sum.add_square_of(widened(four_of(numbers + i)));
  double rest = 0;
  for (std::int64_t i = in_fours; i < count; ++i) rest += square(numbers[i]);
  return sum.sum() + rest;
}

struct Moved {
  double squares = 0;  // of the numbers
  double change = 0;   // squares of what they changed by
  float largest = 0;
};

// Beside the numbers of the step before, which they replace.
Moved moved_from(const float* numbers, std::int64_t count, float* last, float largest) {
  Doubles squares;
  Doubles change;
  Floats most = {largest, largest, largest, largest};
  const std::int64_t in_fours = count / 4 * 4;
  for (std::int64_t i = 0; i < in_fours; i += 4) {
    const Floats now = four_of(numbers + i);
    const Doubles wide = widened(now);
    squares.add_square_of(wide);
    change.add_square_of(difference(wide, widened(four_of(last + i))));
    const Floats size = now < 0 ? -now : now;
    most = most < size ? size : most;  // NaN is not larger
    std::memcpy(last + i, &now, sizeof now);
  }
  Moved rest;
  for (std::int64_t i = in_fours; i < count; ++i) {
    rest.squares += square(numbers[i]);
    rest.change += square(static_cast<double>(numbers[i]) - last[i]);
    most[0] = std::max(most[0], std::fabs(numbers[i]));
    last[i] = numbers[i];
  }
  return {squares.sum() + rest.squares, change.sum() + rest.change,
          std::max(std::max(most[0], most[1]), std::max(most[2], most[3]))};
}

std::int64_t size_of_sample(std::int64_t numel) {
  return numel <= kMostWhole ? numel : kStretch * kStretches;
}

bool can_be_sampled(const c10::TensorImpl& impl) {
  return sight_of(impl) == Sight::kWatched && impl.is_non_overlapping_and_dense();
}

// The same elements, where they lie.
void add_stretches(const c10::TensorImpl& impl, std::vector<at::Tensor>& stretches) {
  const std::int64_t numel = impl.numel();
  const at::Tensor flat = unowned(impl).as_strided({numel}, {1});
  if (numel <= kMostWhole) {
    stretches.push_back(flat);
    return;
  }
  for (std::int64_t k = 0; k < kStretches; ++k)
    stretches.push_back(flat.narrow(0, k * (numel - kStretch) / (kStretches - 1), kStretch));
}

// They side by side, brought from a device.
at::Tensor sample_on_host(const c10::TensorImpl& impl) {
  const KernelsOnly kernels_only;
  std::vector<at::Tensor> stretches;
  add_stretches(impl, stretches);
  return (stretches.size() == 1 ? stretches[0] : at::cat(stretches)).to(c10::kCPU);
}

}  // namespace

// Those of many tensors of a device, brought home by one copy for each type.
class SamplesOnHost {
 public:
  void bring(const std::vector<at::Tensor>& tensors) {
    const KernelsOnly kernels_only;
    for (const c10::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
      std::vector<at::Tensor> stretches;
      std::vector<const c10::TensorImpl*> sampled;
      for (const at::Tensor& tensor : tensors) {
        const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
        if (tensor.scalar_type() != type || !can_be_sampled(impl) || is_on_host(impl) ||
            tensor.device() != tensors[0].device())
          continue;
        add_stretches(impl, stretches);
        sampled.push_back(&impl);
      }
      if (stretches.empty()) continue;
      const at::Tensor all = at::cat(stretches).to(c10::kCPU);
      std::int64_t place = 0;
      for (const c10::TensorImpl* impl : sampled) {
        const std::int64_t size = size_of_sample(impl->numel());
        samples_.emplace(impl, all.narrow(0, place, size));
        place += size;
      }
    }
  }
  [[nodiscard]] at::Tensor of(const c10::TensorImpl& impl) const {
    const auto found = samples_.find(&impl);
    return found == samples_.end() ? sample_on_host(impl) : found->second;
  }

 private:
  std::unordered_map<const c10::TensorImpl*, at::Tensor> samples_;
};

namespace {

template <class T, class Visit>
void visit_copied(const T* data, std::int64_t numel, Visit visit) {
  if (numel <= kMostWhole) return visit(data, numel);
  for (std::int64_t k = 0; k < kStretches; ++k) visit(data + k * kStretch, kStretch);
}

// In memory order; false if it cannot be read that way.
template <class Visit>
bool sample(const at::Tensor& tensor, const SamplesOnHost& samples, Visit visit) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (!can_be_sampled(impl)) return false;
  const bool on_host = is_on_host(impl);
  const at::Tensor copied = on_host ? at::Tensor() : samples.of(impl);
  const void* data = on_host ? data_of(impl) : copied.const_data_ptr();
  const auto look = [&](const auto* numbers) {
    if (on_host) {
      visit_sample(numbers, impl.numel(), visit);
    } else {
      visit_copied(numbers, impl.numel(), visit);
    }
    return true;
  };
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return look(static_cast<const float*>(data));
    case at::kDouble:
      return look(static_cast<const double*>(data));
    case at::kHalf:
      return look(static_cast<const at::Half*>(data));
    case at::kBFloat16:
      return look(static_cast<const at::BFloat16*>(data));
    default:
      return false;
  }
}

std::uint64_t hash_of(const at::Tensor& tensor) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (sight_of(impl) != Sight::kWatched || !impl.is_non_overlapping_and_dense() ||
      !is_on_host(impl))
    return 0;
  const auto* bytes = static_cast<const unsigned char*>(data_of(impl));
  const std::size_t size = impl.numel() * impl.itemsize();
  std::uint64_t hash = 0x9E3779B97F4A7C15ull;
  for (std::size_t i = 0; i + 8 <= size; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + i, 8);
    hash = (hash ^ word) * 0xFF51AFD7ED558CCDull;
    hash ^= hash >> 32;
  }
  for (std::size_t i = size - size % 8; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001B3ull;
  return hash | 1;
}

double scaled(double squares, std::int64_t numel) {
  const std::int64_t seen = size_of_sample(numel);
  return seen == 0 ? 0 : squares * static_cast<double>(numel) / static_cast<double>(seen);
}

// The sum of squares, scaled up to the whole; nothing where it cannot be read.
std::optional<double> squares_of(const at::Tensor& gradient, const SamplesOnHost& samples) {
  double squares = 0;
  const auto look = [&](const auto* g, std::int64_t count) {
    float room[kMostWhole];
    squares += sum_of_squares(as_floats(g, count, room), count);
  };
  if (!sample(gradient, samples, look)) return std::nullopt;
  return scaled(squares, gradient.numel());
}

}  // namespace

// Sums over the samples, scaled up to the whole.
struct History::Sums {
  SamplesOnHost samples;  // of what lies on a device
  double gradient = 0;
  double weight = 0;
  double update = 0;
  float largest = 0;
  bool updated = false;
};

void History::add_parameter(const at::Tensor& parameter, Kept& kept, Sums& sums) {
  double squares = 0;
  double change = 0;
  float largest = sums.largest;
  std::int64_t place = 0;
  const bool known = !kept.last.empty();
  if (!known) kept.last.resize(size_of_sample(parameter.numel()));
  const auto look = [&](const auto* weights, std::int64_t count) {
    count = std::min(count, static_cast<std::int64_t>(kept.last.size()) - place);
    float room[kMostWhole];
    const Moved moved =
        moved_from(as_floats(weights, count, room), count, kept.last.data() + place, largest);
    squares += moved.squares;
    change += moved.change;
    largest = moved.largest;
    place += count;
  };
  if (!sample(parameter, sums.samples, look)) return;
  sums.largest = largest;
  sums.weight += scaled(squares, parameter.numel());
  if (known) sums.update += scaled(change, parameter.numel());
  sums.updated |= known;
}

History::Optimizer* History::optimizer_of(const std::vector<at::Tensor>& parameters) {
  const c10::TensorImpl* owner = parameters[0].unsafeGetTensorImpl();
  if (!optimizers_.contains(owner) && optimizers_.size() >= kMostOptimizers) return nullptr;
  latest_ = owner;
  Optimizer& optimizer = optimizers_[owner];
  if (optimizer.parameters.size() == parameters.size()) return &optimizer;
  optimizer.parameters.clear();
  for (const at::Tensor& parameter : parameters) {
    optimizer.parameters.push_back(
        {WeakTensor(parameter.getIntrusivePtr()), {}, hash_of(parameter)});
  }
  return &optimizer;
}

std::optional<double> History::loss_scale() const {
  const double scale = scale_;
  return std::isnan(scale) ? std::nullopt : std::optional(scale);
}

void History::keep(Optimizer& optimizer, const StepRecord& record) {
  if (optimizer.first.size() < kFirstSteps) {
    optimizer.first.push_back(record);
    return;
  }
  optimizer.last.push_back(record);
  if (optimizer.last.size() > kLastSteps) optimizer.last.pop_front();
}

void History::forget() {
  optimizers_.clear();
  latest_ = under_way_ = nullptr;
  loss_.reset();
  scale_ = kUnknown;
}

void History::loss_seen(const std::vector<at::Tensor>& roots) {
  if (roots.size() != 1 || roots[0].numel() != 1) return;
  if (sight_of(*roots[0].unsafeGetTensorImpl()) != Sight::kWatched) return;
  OwnedView view(roots[0]);
  view.sizes.clear();
  view.strides.clear();
  loss_ = value_at(view.view(), {}).real;
}

void History::weights_known(const std::vector<at::Tensor>& parameters) {
  if (!parameters.empty()) (void)optimizer_of(parameters);
}

const std::deque<StepRecord>& History::step_seen(const std::vector<at::Tensor>& parameters,
                                                 std::optional<double> learning_rate,
                                                 std::int64_t step) {
  static const std::deque<StepRecord> none;
  if (parameters.empty()) return none;
  Optimizer* optimizer = optimizer_of(parameters);
  if (optimizer == nullptr) return none;
  Sums sums;
  if (!parameters[0].is_cpu()) {
    std::vector<at::Tensor> sampled = parameters;
    for (const at::Tensor& parameter : parameters) {
      if (at::Tensor gradient = gradient_of(parameter); gradient.defined())
        sampled.push_back(std::move(gradient));
    }
    sums.samples.bring(sampled);
  }
  bool any = false;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor gradient = gradient_of(parameters[i]);
    if (gradient.defined()) {
      any = true;
      sums.gradient += squares_of(gradient, sums.samples).value_or(0);
    }
    add_parameter(parameters[i], optimizer->parameters[i], sums);
  }
  StepRecord record;
  record.step = step;
  record.loss = std::exchange(loss_, std::nullopt);
  if (any) record.gradient_norm = std::sqrt(sums.gradient);
  record.largest_parameter = sums.largest;
  if (sums.updated && sums.weight > 0) record.update_ratio = std::sqrt(sums.update / sums.weight);
  record.learning_rate = learning_rate;
  record.loss_scale = loss_scale();
  ++optimizer->steps;
  under_way_ = latest_;
  keep(*optimizer, record);
  return optimizer->last;
}

void History::step_counted(const std::vector<at::Tensor>& parameters,
                           const std::function<std::optional<double>()>& learning_rate,
                           std::int64_t step) {
  if (parameters.empty()) return;
  const auto known = optimizers_.find(parameters[0].unsafeGetTensorImpl());
  if (known == optimizers_.end() || known->second.first.size() < kFirstSteps) {
    (void)step_seen(parameters, learning_rate(), step);
  } else {
    ++known->second.steps;
    under_way_ = known->first;
  }
}

void History::forget_samples() {
  for (auto& [owner, optimizer] : optimizers_) {
    for (Kept& kept : optimizer.parameters) kept.last.clear();
  }
}

void History::let_go_of(const at::Tensor& tensor) {
  for (auto& [owner, optimizer] : optimizers_) {
    for (const Kept& kept : optimizer.parameters) {
      const auto strong = kept.tensor.lock();
      if (strong.get() != tensor.unsafeGetTensorImpl()) continue;
      optimizer.parameters.clear();
      break;
    }
  }
}

std::vector<StepRecord> History::so_far(std::int64_t step) const {
  std::vector<StepRecord> steps;
  const auto found = optimizers_.find(latest_);
  if (found != optimizers_.end()) {
    steps = found->second.first;
    steps.insert(steps.end(), found->second.last.begin(), found->second.last.end());
  }
  if (loss_) {
    StepRecord now;
    now.step = step;
    now.loss = loss_;
    now.loss_scale = loss_scale();
    steps.push_back(now);
  }
  return steps;
}

std::vector<double> History::gradients_now() const {
  std::vector<double> largest;
  const auto found = optimizers_.find(latest_);
  if (found == optimizers_.end()) return largest;
  for (const Kept& kept : found->second.parameters) {
    auto strong = kept.tensor.lock();
    if (!strong || largest.size() >= kMostGradients) continue;
    const at::Tensor tensor(std::move(strong));
    const at::Tensor gradient = try_gradient_of(tensor).value_or(at::Tensor());
    float most = 0;
    if (gradient.defined() && tensor.dim() > 1)
      sample(gradient, SamplesOnHost(), [&](const auto* g, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i)
          most = std::max(most, std::fabs(static_cast<float>(g[i])));
      });
    if (most > 0 && std::isfinite(most)) largest.push_back(most);
  }
  return largest;
}

std::vector<Weight> History::trained_weights() const {
  std::vector<Weight> weights;
  for (const auto& [owner, optimizer] : optimizers_) {
    const std::int64_t done = optimizer.steps - (owner == under_way_ ? 1 : 0);
    for (const Kept& kept : optimizer.parameters) {
      auto strong = kept.tensor.lock();
      if (!strong) continue;
      at::Tensor tensor(std::move(strong));
      const bool changed = kept.first_hash == 0 || hash_of(tensor) != kept.first_hash;
      weights.push_back({std::move(tensor), done, changed});
    }
  }
  return weights;
}

}  // namespace nanscope::torch_adapter
