#include "adapters/torch/sentinel/sentinel.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/program/nodes.h"
#include "adapters/torch/watch/watcher.h"
#include "scan/statistics.h"

namespace nanscope::torch_adapter {

SentinelRole sentinel_role = SentinelRole::kOff;

namespace {

// What the run and its snapshots have in common, in memory that a fork shares: the losses of the
// run, and how far a replay is. Written by the run, and the upper part by one replay at a time.
struct Shared {
  static constexpr std::int64_t kLosses = 1 << 20;
  std::atomic<std::int64_t> replayed{0};
  std::atomic<std::int64_t> compared{0};
  std::atomic<std::int64_t> first_unequal{-1};
  std::atomic<double> run{0};
  std::atomic<double> replay{0};
  std::atomic<std::int64_t> written{0};
  std::atomic<double> losses[kLosses];
};

}  // namespace

bool is_bad(const at::Tensor& tensor) {
  if (!tensor.defined()) return false;
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (__builtin_expect(has_parts(impl), 0)) {
    const Busy busy;
    const at::Tensor values = values_of(tensor);
    return !values.is_same(tensor) && is_bad(values);
  }
  return sight_of(impl) == Sight::kWatched && !is_finite(impl);
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostNodes = 100'000;
constexpr std::int64_t kSmall = 4096;  // elements that are looked at whatever their version says

struct Buffer {
  WeakTensor tensor;
  std::uint32_t version = 0;
  bool was_bad = false;  // a mask, or what nobody has written since
};

struct Looks {
  SentinelCounts counts;
  Unsettled unsettled;
  bool step_skipped = false;
  bool loss_since_step = false;  // a bad one, whose gradients were not thrown away
  std::int64_t backwards_at_step = 0;
  std::int64_t last_moment = 0;
  std::vector<WeakTensor> leaves;  // of programs whose updates are written by hand
  std::unordered_map<const c10::TensorImpl*, Buffer> buffers;
  Shared* shared = nullptr;
  Clock::time_point next_snapshot = Clock::time_point::max();
};
Looks& looks() {
  static auto& one = *new Looks;
  return one;
}

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

bool same(double one, double other) {
  return std::bit_cast<std::uint64_t>(one) == std::bit_cast<std::uint64_t>(other) ||
         (std::isnan(one) && std::isnan(other));
}

Shared* make_shared_memory() {
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* shared = static_cast<Shared*>(memory);  // zeroed; a page is taken when it is written
  shared->first_unequal = -1;
  return shared;
}

void write_loss(double loss) {
  Shared* shared = looks().shared;
  if (shared == nullptr) return;
  const std::int64_t number = looks().counts.backwards;
  shared->losses[number % Shared::kLosses].store(loss, std::memory_order_relaxed);
  shared->written.store(number + 1, std::memory_order_relaxed);
}

void compare_loss(double loss) {
  Shared* shared = looks().shared;
  const std::int64_t number = looks().counts.backwards;
  if (shared == nullptr || number >= shared->written || number + Shared::kLosses <= shared->written)
    return;
  const double run = shared->losses[number % Shared::kLosses];
  ++shared->compared;
  if (same(run, loss) || shared->first_unequal >= 0) return;
  shared->run = run;
  shared->replay = loss;
  shared->first_unequal = number;
}

// No optimizer has stepped since the last backward: an update is written by hand, if any.
bool updates_by_hand() {
  const Looks& all = looks();
  return all.counts.steps == 0 || all.counts.backwards - all.backwards_at_step > 64;
}

void find_leaves(const std::vector<at::Tensor>& roots) {
  Looks& all = looks();
  const std::int64_t number = all.counts.backwards;
  const bool power_of_two = (number & (number - 1)) == 0;
  if (!power_of_two && number % 1024 != 0) return;
  all.leaves.clear();
  for (const at::Tensor& leaf : leaves_of(roots, kMostNodes))
    all.leaves.emplace_back(leaf.getIntrusivePtr());
}

bool any_leaf_bad() {
  for (const WeakTensor& leaf : looks().leaves) {
    auto strong = leaf.lock();
    if (strong && is_bad(at::Tensor(std::move(strong)))) return true;
  }
  return false;
}

// A version says nothing of BatchNorm's writes, which its schema hides; those are small.
bool any_buffer_turned_bad() {
  bool turned = false;
  auto& buffers = looks().buffers;
  for (auto entry = buffers.begin(); entry != buffers.end();) {
    Buffer& buffer = entry->second;
    auto strong = buffer.tensor.lock();
    if (!strong) {
      entry = buffers.erase(entry);
      continue;
    }
    ++entry;
    const auto version = strong->is_inference() ? 0 : strong->version_counter().current_version();
    if (version == buffer.version && strong->numel() > kSmall) continue;
    const at::Tensor tensor(std::move(strong));
    if (tensor.requires_grad()) continue;  // a parameter: its optimizer's affair
    buffer.version = version;
    const bool bad = is_bad(tensor);
    turned |= bad && !buffer.was_bad;
    buffer.was_bad = bad;
  }
  return turned;
}

void healthy_step() {
  Looks& all = looks();
  ++all.counts.healthy;
  all.unsettled = {};
}

}  // namespace

const SentinelCounts& sentinel_counts() noexcept { return looks().counts; }

Unsettled sentinel_unsettled(const Written& written) {
  Unsettled told = looks().unsettled;
  for (const at::Tensor& leaf : Watcher::get().world.live_leaves())
    told.gradient |= leaf.is_leaf() && (is_bad(leaf.grad()) || is_bad(leaf));
  for (const WeakTensor& leaf : looks().leaves) {
    if (auto strong = leaf.lock()) told.gradient |= is_bad(at::Tensor(std::move(strong)).grad());
  }
  told.gradient |= any_leaf_bad() || any_buffer_turned_bad() || any_bad(written.state);
  return told;
}

void begin_looks() {
  Looks& all = looks();
  if (all.shared == nullptr) all.shared = make_shared_memory();
  auto buffers = std::move(all.buffers);
  Shared* shared = all.shared;
  all = {};
  all.buffers = std::move(buffers);
  all.shared = shared;
  sentinel_role = SentinelRole::kLooks;
}

std::uint64_t shared_memory() noexcept { return reinterpret_cast<std::uint64_t>(looks().shared); }

void end_looks() noexcept { sentinel_role = SentinelRole::kOff; }

Alarm look_at_backward_begin(const std::vector<at::Tensor>& roots) {
  Looks& all = looks();
  ++all.counts.moments;
  if (const auto loss = number_in_root(roots)) write_loss(*loss);
  for (const at::Tensor& root : roots) {
    if (is_bad(below_transforms(root))) all.loss_since_step = all.unsettled.loss = true;
  }
  if (!updates_by_hand()) return {};
  find_leaves(roots);
  return any_leaf_bad() ? "a parameter" : "";
}

Alarm look_at_backward_end(bool accumulated) {
  Looks& all = looks();
  ++all.counts.moments;
  ++all.counts.backwards;
  if (!accumulated || !updates_by_hand()) return {};
  if (any_buffer_turned_bad()) return "a buffer";
  return {};
}

Alarm look_at_step_begin(const std::vector<at::Tensor>& parameters, bool skipped) {
  Looks& all = looks();
  ++all.counts.moments;
  all.backwards_at_step = all.counts.backwards;
  const bool bad_loss = std::exchange(all.loss_since_step, false);
  all.step_skipped = skipped;
  if (skipped) return {};
  for (const at::Tensor& parameter : parameters) {
    if (is_bad(parameter.grad())) return "a gradient";
  }
  if (bad_loss) return "the loss";
  healthy_step();
  return {};
}

Alarm look_at_step_end(const Written& written) {
  ++looks().counts.moments;
  if (any_bad(written.parameters)) return "a parameter";
  if (any_bad(written.state)) return "the optimizer's state";
  if (!written.parameters.empty() && any_buffer_turned_bad()) return "a buffer";
  return {};
}

void step_looked_at() noexcept { looks().counts.steps += looks().step_skipped ? 0 : 1; }

Alarm look_at_scaler(const at::Tensor& scale) {
  ++looks().counts.moments;
  const auto value = number_in_root({scale});
  return value && *value < 1 ? "what the loss scaler skips" : "";
}

void look_at_dropped_gradients() noexcept { looks().loss_since_step = false; }

void look_at_read(const at::Tensor& tensor) {
  if (is_bad(tensor)) looks().unsettled.read = true;
}

void buffer_made(const at::Tensor& buffer) {
  if (!buffer.defined() || !buffer.is_floating_point()) return;
  looks().buffers.insert_or_assign(
      buffer.unsafeGetTensorImpl(),
      Buffer{WeakTensor(buffer.getIntrusivePtr()),
             buffer.is_inference() ? 0 : static_cast<std::uint32_t>(buffer._version()),
             is_bad(buffer)});
}

void let_looks_go_of(const at::Tensor& tensor) {
  Looks& all = looks();
  all.buffers.erase(tensor.unsafeGetTensorImpl());
  std::erase_if(all.leaves, [&](const WeakTensor& leaf) {
    const auto strong = leaf.lock();
    return strong.get() == tensor.unsafeGetTensorImpl();
  });
}

void tell_of_unseen_steps() {
  const SentinelCounts& counts = looks().counts;
  Watcher::get().judge.take_over({counts.backwards, counts.steps, counts.healthy});
}

void begin_replay(std::int64_t last_moment) {
  looks().last_moment = last_moment;
  sentinel_role = SentinelRole::kReplays;
}

bool replay_moment(Moment moment, const std::vector<at::Tensor>& roots) {
  Looks& all = looks();
  ++all.counts.moments;
  if (moment == Moment::kBackwardBegins) {
    if (const auto loss = number_in_root(roots)) compare_loss(*loss);
  }
  all.counts.backwards += moment == Moment::kBackwardEnds;
  all.counts.steps += moment == Moment::kStepEnds;
  if (all.shared != nullptr) all.shared->replayed = all.counts.moments;
  return all.counts.moments >= all.last_moment;
}

Comparison comparison() noexcept {
  const Shared* shared = looks().shared;
  if (shared == nullptr) return {};
  Comparison told{shared->replayed, shared->compared, std::nullopt, shared->run, shared->replay};
  if (shared->first_unequal >= 0) told.first_unequal = shared->first_unequal;
  return told;
}

void begin_comparison() noexcept {
  Shared* shared = looks().shared;
  if (shared == nullptr) return;
  shared->replayed = shared->compared = 0;
  shared->first_unequal = -1;
}

void next_snapshot_in(double seconds) noexcept {
  looks().next_snapshot = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                             std::chrono::duration<double>(seconds));
}

bool snapshot_due() noexcept { return Clock::now() >= looks().next_snapshot; }

bool steps_by_hand() noexcept { return updates_by_hand(); }

bool pause_openmp() noexcept {
  constexpr int kHard = 2;  // omp_pause_hard
  using Pause = int (*)(int);
  static const auto pause =
      reinterpret_cast<Pause>(::dlsym(RTLD_DEFAULT, "omp_pause_resource_all"));
  return pause != nullptr && pause(kHard) == 0;
}

}  // namespace nanscope::torch_adapter
