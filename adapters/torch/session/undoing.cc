#include "adapters/torch/session/undoing.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_set>

#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/program/nodes.h"
#include "adapters/torch/session/session.h"
#include "adapters/torch/watch/gil.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {
namespace {

constexpr std::size_t kMostNodes = 100'000;
constexpr std::int64_t kLeastUses = 250;
constexpr std::int64_t kMostUses = 1000;

bool is_bad(const at::Tensor& tensor) {
  const std::vector<at::Tensor> parts = parts_of(tensor);
  return std::any_of(parts.begin(), parts.end(), [](const at::Tensor& part) {
    const c10::TensorImpl& impl = *part.unsafeGetTensorImpl();
    return sight_of(impl) == Sight::kWatched && !is_finite(impl);
  });
}

// A fingerprint of the values, wherever they lie; 0 where they cannot be seen.
std::uint64_t print_of(const at::Tensor& tensor) {
  const Busy busy;
  const at::NoGradGuard no_grad;
  std::uint64_t print = 0;
  for (const at::Tensor& part : parts_of(tensor)) {
    if (sight_of(*part.unsafeGetTensorImpl()) != Sight::kWatched) continue;
    const at::Tensor values = part.detach().contiguous().cpu();
    const std::string_view bytes(static_cast<const char*>(values.const_data_ptr()),
                                 values.nbytes());
    print = print * 31 + std::hash<std::string_view>{}(bytes);
  }
  return print;
}

}  // namespace

std::int64_t Undoing::healthy_steps() const {
  const WithoutGil without_gil;
  return Watcher::get().judge().healthy_steps() + healthy_looks_;
}

bool Undoing::is_open() {
  const std::uint64_t group = open_harm();
  if (group == 0) return false;
  if (group != group_) {
    group_ = group;
    spoilt_.clear();
    uses_ = 0;
    expected_.reset();
    healthy_before_ = healthy_steps();
  }
  for (const WeakTensor& weak : take_spoilt()) {
    if (auto strong = weak.lock()) {
      add(at::Tensor(std::move(strong)), std::nullopt);
    } else {
      spoilt_.push_back({weak, std::nullopt});
    }
  }
  return true;
}

void Undoing::add(const at::Tensor& tensor, std::optional<std::uint64_t> print, bool of_optimizer) {
  for (Spoilt& known : spoilt_) {
    const auto strong = known.tensor.lock();
    if (strong.get() != tensor.unsafeGetTensorImpl()) continue;
    known.print = print;
    return;
  }
  spoilt_.push_back({WeakTensor(tensor.getIntrusivePtr()), print, of_optimizer});
}

Undoing::Look Undoing::look() const {
  Look now;
  for (const Spoilt& spoilt : spoilt_) {
    auto strong = spoilt.tensor.lock();
    if (!strong) {
      now.died |= !spoilt.of_optimizer;
      continue;
    }
    at::Tensor tensor(std::move(strong));
    const bool still = is_bad(tensor) || (spoilt.print && *spoilt.print == print_of(tensor));
    if (still) now.still.push_back(std::move(tensor));
  }
  return now;
}

bool Undoing::is_expected() {
  if (!expected_) expected_ = source_tests_for_it();
  return *expected_;
}

bool Undoing::settle(const Look& now) {
  if (spoilt_.empty() || !now.still.empty()) return false;
  if (now.died && !(is_expected() && healthy_steps() > healthy_before_)) return false;
  withdraw_open(now.died ? "thrown away, and healthy steps followed"
                         : "all of it was put back before it was used");
  spoilt_.clear();
  const WithoutGil without_gil;
  Watcher::get().judge().put_back();
  return true;
}

void Undoing::use(bool by_backward) {
  const std::int64_t steps = Watcher::get().judge().current_step();
  uses_ += by_backward ? 1 : 0;
  if (is_expected() && uses_ <= std::clamp(steps, kLeastUses, kMostUses)) return;
  stop_for_open();
  Watcher::get().stopping().stop_if_wanted();
}

void Undoing::backward_begins(const Tensors& roots) {
  if (!is_open()) return;
  const Look now = look();
  if (settle(now)) return;
  bool uses =
      spoilt_.empty() || std::any_of(roots.begin(), roots.end(), [](const at::Tensor& root) {
        return root.defined() && is_bad(below_transforms(root));
      });
  std::unordered_set<const c10::TensorImpl*> bad;
  for (const at::Tensor& tensor : now.still) bad.insert(tensor.unsafeGetTensorImpl());
  if (!uses && !bad.empty()) {
    const std::vector<at::Tensor> leaves = leaves_of(roots, kMostNodes);
    uses = std::any_of(leaves.begin(), leaves.end(), [&](const at::Tensor& leaf) {
      return bad.contains(leaf.unsafeGetTensorImpl());
    });
  }
  // What was spoilt is gone, and nothing says that this was meant.
  if (uses || (now.died && now.still.empty() && !is_expected())) use(true);
}

void Undoing::step_begins(const Tensors& parameters) {
  harms_before_ = harms_so_far();
  step_is_under_way(true);
  if (!is_open()) return;
  const Look now = look();
  if (settle(now)) return;
  // Of an optimizer's state nobody knows whose it is, as long as parameters are spoilt too.
  const bool uses = std::any_of(now.still.begin(), now.still.end(), [&](const at::Tensor& bad) {
    if (!bad.requires_grad()) return true;
    return std::any_of(parameters.begin(), parameters.end(), [&](const at::Tensor& parameter) {
      return parameter.is_same(bad) && parameter.grad().defined();
    });
  });
  if (!uses) return;
  step_is_under_way(false);  // if it is stopped here
  use(false);
  step_is_under_way(true);
}

void Undoing::step_judged(const Tensors& parameters) {
  before_.clear();
  step_spoils_ = harms_so_far() != harms_before_;
  if (!is_open()) return;
  const Look now = look();
  for (const at::Tensor& parameter : parameters) {
    if (!parameter.defined() || !parameter.grad().defined()) continue;
    const bool spoilt = std::any_of(now.still.begin(), now.still.end(),
                                    [&](const at::Tensor& bad) { return bad.is_same(parameter); });
    if (step_spoils_ || spoilt)
      before_.emplace(parameter.unsafeGetTensorImpl(), print_of(parameter));
  }
}

void Undoing::step_ended(const Tensors& parameters, const NamedTensors& state) {
  step_is_under_way(false);
  if (!is_open()) return;
  for (const at::Tensor& parameter : parameters) {
    if (!parameter.defined()) continue;
    if (is_bad(parameter)) {
      add(parameter, std::nullopt);
      continue;
    }
    const auto found = before_.find(parameter.unsafeGetTensorImpl());
    if (found == before_.end()) continue;
    const std::uint64_t print = print_of(parameter);
    if (print != found->second) add(parameter, print);
  }
  before_.clear();
  for (const auto& [name, tensor] : state) {
    if (tensor.defined() && is_bad(tensor)) add(tensor, std::nullopt, true);
  }
  (void)settle(look());
}

void Undoing::program_ended() {
  if (is_open()) (void)settle(look());
}

}  // namespace nanscope::torch_adapter
