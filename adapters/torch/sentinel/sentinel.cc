#include "adapters/torch/sentinel/sentinel.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <utility>

#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/program/moments.h"
#include "adapters/torch/program/nodes.h"
#include "adapters/torch/watch/owners.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"
#include "scan/statistics.h"

namespace nanscope::torch_adapter {

// What the run and its snapshots have in common, in memory that a fork shares: the losses of the
// run, and how far a replay is. Written by the run, and the upper part by one replay at a time.
struct Sentinel::Shared {
  static constexpr std::int64_t kLosses = 1 << 20;
  std::atomic<std::int64_t> replayed{0};
  std::atomic<std::int64_t> compared{0};
  std::atomic<std::int64_t> first_unequal{-1};
  std::atomic<double> run{0};
  std::atomic<double> replay{0};
  std::atomic<std::int64_t> written{0};
  std::atomic<double> losses[kLosses];
};

bool is_bad(const at::Tensor& tensor) {
  if (!tensor.defined()) return false;
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (__builtin_expect(has_parts(impl), 0)) {
    const Busy busy;
    const at::Tensor values = values_of(tensor);
    if (!values.is_same(tensor)) return is_bad(values);
  }
  return sight_of(impl) == Sight::kWatched && !is_finite(impl);
}

namespace {

constexpr std::size_t kMostNodes = 100'000;
constexpr std::int64_t kSmall = 1 << 16;  // elements that are looked at whatever their version says

bool any_bad(const std::vector<at::Tensor>& tensors) {
  for (const at::Tensor& tensor : tensors) {
    if (is_bad(tensor)) return true;
  }
  return false;
}

std::optional<double> number_in_root(const std::vector<at::Tensor>& roots) {
  if (roots.size() != 1) return std::nullopt;
  const at::Tensor root = below_transforms(roots[0]);
  if (!root.defined() || root.numel() != 1) return std::nullopt;
  if (sight_of(*root.unsafeGetTensorImpl()) != Sight::kWatched) return std::nullopt;
  OwnedView view(root);
  view.sizes.clear();
  view.strides.clear();
  return value_at(view.view(), {}).real;
}

bool holds_floats(const at::Tensor& tensor) {
  return tensor.defined() && (tensor.is_floating_point() || tensor.is_complex());
}

// Another one after an op wrote it, or when it lies elsewhere.
std::uint64_t version_of(const at::Tensor& tensor) {
  std::uint64_t version = whereabouts_of(tensor);
  for (const at::Tensor& part : parts_of(tensor))
    version += part.is_inference() ? 0 : static_cast<std::uint64_t>(part._version());
  return version;
}

// Nothing but finite numbers and -Inf.
bool is_mask(const at::Tensor& tensor) {
  const std::vector<at::Tensor> parts = parts_of(tensor);
  return std::all_of(parts.begin(), parts.end(), [](const at::Tensor& part) {
    if (sight_of(*part.unsafeGetTensorImpl()) != Sight::kWatched) return true;
    const Statistics seen = statistics_of(OwnedView(part).view());
    return seen.nan == 0 && seen.pos_inf == 0;
  });
}

bool is_unexplained(const at::Tensor& tensor) {
  if (!is_bad(tensor) || is_mask(tensor)) return false;
  const std::vector<at::Tensor> parts = parts_of(tensor);
  return std::any_of(parts.begin(), parts.end(), [](const at::Tensor& part) {
    return is_bad(part) && !Watcher::get().ledger().knows(storage_id(*part.unsafeGetTensorImpl()));
  });
}

bool same(double one, double other) {
  return std::bit_cast<std::uint64_t>(one) == std::bit_cast<std::uint64_t>(other) ||
         (std::isnan(one) && std::isnan(other));
}

}  // namespace

void Sentinel::write_loss(double loss) {
  if (shared_ == nullptr) return;
  const std::int64_t number = counts_.backwards;
  shared_->losses[number % Shared::kLosses].store(loss, std::memory_order_relaxed);
  shared_->written.store(number + 1, std::memory_order_relaxed);
}

void Sentinel::compare_loss(double loss) {
  const std::int64_t number = counts_.backwards;
  if (shared_ == nullptr || number >= shared_->written ||
      number + Shared::kLosses <= shared_->written)
    return;
  const double run = shared_->losses[number % Shared::kLosses];
  ++shared_->compared;
  if (same(run, loss) || shared_->first_unequal >= 0) return;
  shared_->run = run;
  shared_->replay = loss;
  shared_->first_unequal = number;
}

bool Sentinel::steps_by_hand() const noexcept {
  return counts_.steps == 0 || counts_.backwards - backwards_at_step_ > 64;
}

void Sentinel::find_leaves(const std::vector<at::Tensor>& roots) {
  const std::int64_t number = counts_.backwards;
  const bool power_of_two = (number & (number - 1)) == 0;
  if (!power_of_two && number % 1024 != 0) return;
  leaves_.clear();
  for (const at::Tensor& leaf : leaves_of(roots, kMostNodes)) {
    count_hidden(leaf);
    leaves_.emplace_back(leaf.getIntrusivePtr());
  }
}

bool Sentinel::any_leaf_bad() const {
  for (const WeakTensor& leaf : leaves_) {
    auto strong = leaf.lock();
    if (strong && is_bad(at::Tensor(std::move(strong)))) return true;
  }
  return false;
}

// A version says nothing of BatchNorm's writes, which its schema hides, nor of those through
// `.data`: what is not large is looked at in any case.
bool Sentinel::any_buffer_turned_bad(bool all) {
  bool turned = false;
  for (auto entry = buffers_.begin(); entry != buffers_.end();) {
    Buffer& buffer = entry->second;
    auto strong = buffer.tensor.lock();
    if (!strong) {
      entry = buffers_.erase(entry);
      continue;
    }
    ++entry;
    if (is_another_at_work(buffer.owner)) continue;  // looked at when that one steps
    const at::Tensor tensor(std::move(strong));
    const std::uint64_t version = version_of(tensor);
    if (!all && version == buffer.version && tensor.numel() > kSmall) continue;
    if (tensor.requires_grad()) continue;  // a parameter: its optimizer's affair
    buffer.version = version;
    const bool bad = is_bad(tensor);
    const bool news = bad && !buffer.was_bad;
    buffer.turned = news || (bad && buffer.turned);
    buffer.was_bad = bad;
    turned |= all ? buffer.turned : news;
  }
  return turned;
}

Unsettled Sentinel::unsettled(const Written& written) {
  Unsettled found = unsettled_;
  found.loss |= nan_loss_skipped_;
  count_out_of_reach(Watcher::get().world().take_from_waiting());
  for (const auto& value : Watcher::get().world().live_targets()) {
    const at::Tensor& leaf = value.tensor;
    if (leaf.requires_grad() && leaf.is_leaf())
      found.gradient |= is_bad(gradient_of(leaf)) || is_bad(leaf);
  }
  for (const WeakTensor& leaf : leaves_) {
    if (auto strong = leaf.lock())
      found.gradient |= is_bad(gradient_of(at::Tensor(std::move(strong))));
  }
  found.gradient |= any_leaf_bad() || any_buffer_turned_bad(/*all=*/true) || any_bad(written.state);
  return found;
}

bool Sentinel::holds_unexplained(const Written& written) {
  for (const auto& value : Watcher::get().world().live_targets()) {
    const auto buffer = buffers_.find(value.tensor.unsafeGetTensorImpl());
    const bool known = buffer != buffers_.end() && !buffer->second.tensor.expired();
    if (known && buffer->second.explained) continue;
    if (is_unexplained(value.tensor)) return true;
  }
  return std::any_of(written.state.begin(), written.state.end(), is_unexplained);
}

void Sentinel::buffers_explained() {
  for (auto& [address, buffer] : buffers_) {
    buffer.explained = buffer.was_bad;
    auto strong = buffer.turned ? buffer.tensor.lock() : nullptr;
    if (strong && is_mask(at::Tensor(std::move(strong)))) buffer.turned = false;
  }
}

void Sentinel::begin_looks() {
  if (shared_ == nullptr) {
    void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) {
      shared_ = static_cast<Shared*>(memory);  // zeroed; a page is taken when it is written
      shared_->first_unequal = -1;
    }
  }
  counts_ = {};
  unsettled_ = {};
  step_skipped_ = loss_since_step_ = nan_loss_ = nan_loss_skipped_ = bad_results_ = false;
  backwards_at_step_ = last_moment_ = 0;
  leaves_.clear();
  next_snapshot_ = Clock::time_point::max();
  duty_ = Duty::kLooks;
}

std::uint64_t Sentinel::shared_memory() const noexcept {
  return reinterpret_cast<std::uint64_t>(shared_);
}

Alarm Sentinel::look_at_backward_begin(const std::vector<at::Tensor>& roots) {
  ++counts_.moments;
  if (const auto loss = number_in_root(roots)) {
    write_loss(*loss);
    nan_loss_ |= std::isnan(*loss) && !bad_results_;
  }
  for (const at::Tensor& root : roots) {
    count_hidden(below_transforms(root));
    if (is_bad(below_transforms(root))) loss_since_step_ = unsettled_.loss = true;
  }
  if (std::exchange(nan_loss_skipped_, false)) return "the loss";
  if (!steps_by_hand()) return {};
  find_leaves(roots);
  return any_leaf_bad() ? "a parameter" : "";
}

Alarm Sentinel::look_at_backward_end(bool accumulated) {
  ++counts_.moments;
  ++counts_.backwards;
  if (!accumulated || !steps_by_hand()) return {};
  if (any_buffer_turned_bad()) return "a buffer";
  return {};
}

void Sentinel::look_at_results(const std::vector<at::Tensor>& results) {
  bad_results_ |= any_bad(results);
}

bool Sentinel::left_bad_gradients(const std::vector<at::Tensor>& results) const {
  if (any_bad(results)) return true;
  return std::any_of(leaves_.begin(), leaves_.end(), [](const WeakTensor& leaf) {
    auto strong = leaf.lock();
    return strong && is_bad(gradient_of(at::Tensor(std::move(strong))));
  });
}

Alarm Sentinel::look_at_step_begin(const std::vector<at::Tensor>& parameters, bool skipped) {
  ++counts_.moments;
  backwards_at_step_ = counts_.backwards;
  const bool bad_loss = std::exchange(loss_since_step_, false);
  step_skipped_ = skipped;
  Watcher::get().world().used_here(parameters);
  if (skipped) return {};
  for (const at::Tensor& parameter : parameters) {
    count_hidden(parameter);
    const at::Tensor gradient = gradient_of(parameter);
    count_hidden(gradient);
    if (is_bad(gradient)) return "a gradient";
  }
  if (bad_loss) return "the loss";
  nan_loss_ = bad_results_ = false;
  ++counts_.healthy;
  unsettled_ = {};
  return {};
}

Alarm Sentinel::look_at_step_end(const Written& written) {
  ++counts_.moments;
  if (any_bad(written.parameters)) return "a parameter";
  if (any_bad(written.state)) return "the optimizer's state";
  if (!written.parameters.empty() && any_buffer_turned_bad()) return "a buffer";
  return {};
}

Alarm Sentinel::look_at_scaler(const at::Tensor& scale) {
  ++counts_.moments;
  nan_loss_skipped_ |= std::exchange(nan_loss_, false);
  // A gradient penalty: of gradients that are too large for the scale, and skipped for it, or bad
  // for another reason, and so at any scale. Unless a healthy step follows, the end asks which.
  if (std::exchange(bad_results_, false) && !nan_loss_skipped_) loss_since_step_ = false;
  const auto value = number_in_root({scale});
  return value && *value < 1 ? "what the loss scaler skips" : "";
}

void Sentinel::look_at_read(const at::Tensor& tensor) {
  if (is_bad(tensor)) unsettled_.read = true;
}

Former Sentinel::former_of(const at::Tensor& value) const {
  if (!holds_floats(value)) return Former::kNone;
  const auto found = buffers_.find(value.unsafeGetTensorImpl());
  const bool known = found != buffers_.end() && !found->second.tensor.expired();
  return (known ? found->second.was_bad : is_bad(value)) ? Former::kBad : Former::kFinite;
}

void Sentinel::buffer_made(const at::Tensor& buffer, Former former) {
  if (!holds_floats(buffer)) return;
  const bool bad = is_bad(buffer);
  const bool left_alone =
      bad && (former == Former::kBad || (former == Former::kNone && is_mask(buffer)));
  // Otherwise it is still to be told, unless it is written before the next look.
  const bool news = bad && !left_alone;
  buffers_.insert_or_assign(buffer.unsafeGetTensorImpl(),
                            Buffer{WeakTensor(buffer.getIntrusivePtr()),
                                   news ? 0 : version_of(buffer), left_alone, this_owner()});
}

void Sentinel::buffer_found(const at::Tensor& buffer) {
  if (!holds_floats(buffer)) return;
  const auto found = buffers_.find(buffer.unsafeGetTensorImpl());
  if (found == buffers_.end() || found->second.tensor.expired())
    buffers_.insert_or_assign(buffer.unsafeGetTensorImpl(),
                              Buffer{WeakTensor(buffer.getIntrusivePtr()), 0, false, this_owner()});
}

void Sentinel::let_go_of(const at::Tensor& tensor) {
  buffers_.erase(tensor.unsafeGetTensorImpl());
  std::erase_if(leaves_, [&](const WeakTensor& leaf) {
    const auto strong = leaf.lock();
    return strong.get() == tensor.unsafeGetTensorImpl();
  });
}

void Sentinel::report_unseen_steps() const {
  Watcher::get().judge().take_over({counts_.backwards, counts_.steps, counts_.healthy});
}

void Sentinel::begin_replay(std::int64_t last_moment) {
  last_moment_ = last_moment;
  duty_ = Duty::kReplays;
}

bool Sentinel::replay_moment(Moment moment, const std::vector<at::Tensor>& roots) {
  ++counts_.moments;
  if (moment == Moment::kBackwardBegins) {
    if (const auto loss = number_in_root(roots)) compare_loss(*loss);
  }
  counts_.backwards += moment == Moment::kBackwardEnds;
  counts_.steps += moment == Moment::kStepEnds;
  if (shared_ != nullptr) shared_->replayed = counts_.moments;
  return counts_.moments >= last_moment_;
}

Comparison Sentinel::comparison() const noexcept {
  if (shared_ == nullptr) return {};
  Comparison answer{shared_->replayed, shared_->compared, std::nullopt, shared_->run,
                    shared_->replay};
  if (shared_->first_unequal >= 0) answer.first_unequal = shared_->first_unequal;
  return answer;
}

void Sentinel::begin_comparison() noexcept {
  if (shared_ == nullptr) return;
  shared_->replayed = shared_->compared = 0;
  shared_->first_unequal = -1;
}

void Sentinel::next_snapshot_in(double seconds) noexcept {
  next_snapshot_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
}

bool pause_openmp() noexcept {
  constexpr int kHard = 2;  // omp_pause_hard
  using Pause = int (*)(int);
  static const auto pause =
      reinterpret_cast<Pause>(::dlsym(RTLD_DEFAULT, "omp_pause_resource_all"));
  return pause != nullptr && pause(kHard) == 0;
}

}  // namespace nanscope::torch_adapter
