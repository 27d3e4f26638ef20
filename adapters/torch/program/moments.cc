#include "adapters/torch/program/moments.h"

#include <algorithm>
#include <regex>

#include "adapters/torch/hit/at_hand.h"
#include "adapters/torch/hit/tensor_facts.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/program/frames.h"
#include "adapters/torch/program/nodes.h"
#include "adapters/torch/session/session.h"
#include "adapters/torch/watch/gil.h"
#include "adapters/torch/watch/owners.h"
#include "adapters/torch/watch/places.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {
namespace {

constexpr std::size_t kMostNodes = 100'000;
constexpr std::size_t kNearestNodes = 64;
constexpr std::size_t kNodesOfALoss = 16;  // a sum of scaled terms
constexpr std::size_t kMostResults = 2000;
constexpr int kWaysKept = 200;

Watcher& watcher() { return Watcher::get(); }

// Calls the judge without the GIL, then stops the program if it says so.
template <class Tell>
auto tell(Tell act) {
  if constexpr (std::is_void_v<decltype(act())>) {
    {
      const Busy busy;
      const LetGoAfterwards let_go;
      const WithoutGil without_gil;
      act();
    }
    watcher().stopping().stop_if_wanted();
  } else {
    const Busy busy;
    const LetGoAfterwards let_go;
    const WithoutGil without_gil;
    return act();
  }
}

bool is_about_values(const std::string& words) {
  static const std::regex about(
      R"(\b(nans?|infs?|infinity|infinite|(non-?)?finite|diverged?|positive.definite|singular|)"
      R"(converged?|ill-conditioned)\b)",
      std::regex::icase);
  return std::regex_search(words, about);
}

std::vector<TensorState> states_of(const Tensors& tensors) {
  std::vector<TensorState> states;
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.defined()) continue;
    const at::Tensor below = below_transforms(tensor);
    count_hidden(below);
    states.push_back(look_at(below));
  }
  return states;
}

bool any_bad(const std::vector<TensorState>& states) {
  for (const TensorState& state : states) {
    if (state.kinds.any()) return true;
  }
  return false;
}

// The gradients that matter now: all where a bad loss waits, else those that may be bad.
std::vector<LeafGrad> gradients_of(const Tensors& leaves, bool all) {
  std::vector<LeafGrad> gradients;
  for (const at::Tensor& leaf : leaves) {
    if (!leaf.defined() || !leaf.is_leaf()) continue;
    const at::Tensor grad = gradient_of(leaf);
    if (!grad.defined()) continue;
    count_hidden(grad);
    if (all || is_suspect(grad) || gradients.empty()) {
      gradients.push_back(watcher().world().describe(leaf));
      keep_at_hand(grad, gradients.back().state);
    }
  }
  return gradients;
}

// Parameters and buffers that are bad now and were made by this run, though no op shows it: others
// wrote them, and nobody has read them since.
void add_written_unseen(std::vector<World::Replaced>& found) {
  const auto look = [&](const at::Tensor& value, Target target) {
    for (const at::Tensor& part : parts_of(value)) {
      const c10::TensorImpl& impl = *part.unsafeGetTensorImpl();
      if (sight_of(impl) != Sight::kWatched) continue;
      WrittenStorages& storages = watcher().storages();
      if (!storages.is_lent(storage_of(impl)) && !storages.was_finite(part)) continue;
      const TensorState state = look_at(part);
      if (state.kinds.any()) found.push_back({state, TorchWorld::named_by_storage(value), target});
    }
  };
  for (const auto& value : watcher().world().live_targets()) look(value.tensor, value.target);
}

// In memory that holds something bad, as far as is known.
bool is_in_ledger(const at::Tensor& tensor) {
  if (watcher().ledger().empty()) return false;
  const std::vector<at::Tensor> parts = parts_of(tensor);
  return std::any_of(parts.begin(), parts.end(), [](const at::Tensor& part) {
    return watcher().ledger().knows(storage_id(*part.unsafeGetTensorImpl()));
  });
}

// torch.amp.GradScaler multiplied the loss, or a term of it.
bool is_scaled(const Tensors& roots) {
  if (!is_scaler_seen()) return false;
  const std::vector<StackId> sites = sites_on_the_way(roots, kNodesOfALoss);
  return std::any_of(sites.begin(), sites.end(),
                     [](StackId stack) { return info_of(stack).in_scaler; });
}

}  // namespace

void count_hidden(const at::Tensor& tensor) {
  if (!tensor.defined()) return;
  if (__builtin_expect(is_hidden(tensor), 0)) {
    this_thread().count_unseen(static_cast<std::size_t>(Sight::kWrapped));
  } else if (sight_of(*tensor.unsafeGetTensorImpl()) == Sight::kOtherDevice) {
    this_thread().count_unseen(static_cast<std::size_t>(Sight::kOtherDevice));
  }
}

void count_out_of_reach(std::size_t values) {
  for (; values > 0; --values)
    this_thread().count_unseen(static_cast<std::size_t>(Sight::kOfOtherThread));
}

void Moments::forget() { *this = {}; }

bool Moments::is_old(const at::Tensor& gradient) const {
  const auto found = old_gradients_.find(gradient.unsafeGetTensorImpl());
  return found != old_gradients_.end() &&
         found->second.second == static_cast<std::uint32_t>(gradient._version());
}

bool is_suspect(const at::Tensor& tensor) {
  if (!tensor.defined()) return false;
  if (has_parts(*tensor.unsafeGetTensorImpl())) {
    const at::Tensor values = values_of(tensor);
    if (!values.is_same(tensor)) return is_suspect(values);
  }
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (sight_of(impl) != Sight::kWatched) return false;
  return watcher().ledger().knows(storage_id(impl)) ||
         !watcher().storages().is_made(storage_of(impl));
}

void Moments::remember_old_gradients() {
  for (const at::Tensor& leaf : watcher().world().live_leaves()) {
    if (!leaf.is_leaf()) continue;
    const at::Tensor grad = gradient_of(leaf);
    if (!grad.defined()) continue;
    old_gradients_.try_emplace(grad.unsafeGetTensorImpl(), grad.getIntrusivePtr(),
                               static_cast<std::uint32_t>(grad._version()));
  }
}

void Moments::forget_old_gradient(const at::Tensor& gradient) {
  old_gradients_.erase(gradient.unsafeGetTensorImpl());
}

bool Moments::is_first_from(std::uint32_t line) {
  const Owner here = this_owner();
  std::vector<std::weak_ptr<const OwnerThread>>& threads = lines_[line];
  std::erase_if(threads, [](const auto& thread) { return thread.expired(); });
  for (const auto& thread : threads) {
    if (thread.lock() == here) return false;
  }
  threads.push_back(here);
  return true;
}

Judge::RootId Moments::backward_begins(const Tensors& roots) {
  const Place place = current_place();
  watcher().receipts().backward_begins(/*nested=*/place.phase == Phase::kBackward);
  const std::vector<TensorState> states = states_of(roots);
  std::vector<std::uint32_t> way;
  if (!any_bad(states) && ways_ < kWaysKept) {
    ++ways_;
    for (const StackId stack : sites_on_the_way(roots, kNearestNodes))
      way.push_back(info_of(stack).line);
  }
  if (is_first_from(place.line)) {
    const std::vector<at::Tensor> leaves = leaves_of(roots, kMostNodes);
    watcher().world().used_here(leaves);
    for (const at::Tensor& leaf : leaves) {
      (void)watcher().world().describe(leaf);
      count_hidden(leaf);
      if (watcher().world().target_of(leaf) == Target::kParameter)
        watcher().world().register_target(leaf, Target::kParameter);
    }
  }
  const bool scaled = is_scaled(roots);
  return tell([&] { return watcher().judge().backward_begins(states, place, way, scaled); });
}

void Moments::backward_ended(Judge::RootId root, const Tensors& roots) {
  const bool bad = any_bad(states_of(roots));
  std::vector<LeafGrad> leaves;
  if (bad) {
    leaves = gradients_of(leaves_of(roots, kMostNodes), true);
  } else if (tell([&] { return watcher().judge().made_bad(root); })) {
    leaves = gradients_of(leaves_of(roots, kMostNodes), false);
  } else if (!watcher().ledger().empty()) {
    const bool mixed = watcher().world().has_leaves_elsewhere();
    leaves =
        gradients_of(mixed ? leaves_of(roots, kMostNodes) : watcher().world().live_leaves(), false);
  }
  tell([&] { watcher().judge().backward_ended(root, leaves); });
  if (!watcher().judge().awaits_gradients()) watcher().world().tidy();
}

void Moments::backward_raised(Judge::RootId root, const std::string& text) {
  const bool about = is_about_values(text);
  // The program's own exception goes on; it is stopped at its next op, if it lives.
  const Busy busy;
  const WithoutGil without_gil;
  watcher().judge().backward_raised(root, about, text);
}

void Moments::grad_ended(Judge::RootId root, const Tensors& results) {
  for (const at::Tensor& returned : results) {
    const at::Tensor result = below_transforms(returned);
    if (!is_suspect(result)) continue;
    results_.emplace_back(result.getIntrusivePtr());
    if (results_.size() > kMostResults) results_.pop_front();
  }
  const std::vector<TensorState> states = states_of(results);
  tell([&] { watcher().judge().grad_ended(root, states); });
}

void Moments::optimizer_made(const Tensors& parameters) {
  for (const at::Tensor& parameter : parameters) {
    watcher().world().in_optimizer(parameter);
    value_registered(parameter, Target::kParameter);  // its `.data` may be another by now
  }
  tell([&] { watcher().judge().optimizer_made(); });
}

void Moments::step_begins(const Tensors& parameters, bool found_inf) {
  watcher().world().used_here(parameters);
  for (const at::Tensor& parameter : parameters) count_hidden(parameter);
  const std::vector<LeafGrad> gradients =
      gradients_of(parameters, watcher().judge().awaits_gradients());
  const Place place = current_place();
  tell([&] { watcher().judge().step_begins(gradients, found_inf, place); });
}

void Moments::step_ended(const NamedTensors& state) {
  std::vector<Held> bad;
  for (const auto& [name, tensor] : state) {
    count_hidden(tensor);
    const TensorState seen = look_at(tensor);
    if (seen.kinds.any()) bad.push_back({seen, name});
  }
  const Place place = bad.empty() ? Place{} : current_place();
  tell([&] { watcher().judge().step_ended(bad, place); });
}

void Moments::value_registered(const at::Tensor& value, Target target) {
  watcher().world().register_target(value, target);
  count_hidden(value);
  if (!watching || this_thread().is_busy() || !is_in_ledger(value)) return;
  const TensorState state = state_of(value);
  const Place place = current_place();
  const TargetName name = TorchWorld::named_by_storage(value);
  tell([&] { watcher().judge().value_registered(state, target, name, place); });
}

void Moments::value_found(const at::Tensor& value, Target target) {
  if (watcher().world().is_registered(value)) return;
  watcher().world().register_target(value, target);
  count_hidden(value);
  if (!is_in_ledger(value)) return;
  const TensorState state = state_of(value);
  Place place;
  place.step = watcher().judge().current_step();
  const TargetName name = TorchWorld::named_by_storage(value);
  tell([&] { watcher().judge().value_registered(state, target, name, place); });
}

void Moments::gradients_dropped(const Tensors& parameters) {
  if (!watcher().judge().awaits_gradients()) return;
  watcher().world().used_here(parameters);
  std::vector<TensorId> gradients;
  for (const at::Tensor& parameter : parameters) {
    if (!parameter.defined() || !parameter.is_leaf()) continue;
    if (const at::Tensor grad = gradient_of(parameter); grad.defined())
      gradients.push_back(tensor_id(grad));
  }
  tell([&] { watcher().judge().gradients_dropped(gradients); });
}

void Moments::host_read(const at::Tensor& tensor, bool decides) {
  if (this_thread().is_busy() || !is_suspect(tensor)) return;
  const TensorState state = look_at(tensor);
  if (!state.kinds.any()) return;
  const Place place = current_place();
  const HostValues values = decides ? host_values_in(tensor) : HostValues{};  // printing gives none
  tell([&] { watcher().judge().host_read(state, values, decides, place); });
}

void Moments::copied_out(const at::Tensor& tensor) {
  if (this_thread().is_busy() || !is_suspect(tensor)) return;
  const TensorState state = look_at(tensor);
  if (!state.kinds.any()) return;
  const HostValues values = host_values_in(tensor);
  tell([&] { watcher().judge().copied_out(state, values); });
}

void Moments::handed_over(const at::Tensor& tensor) {
  if (this_thread().is_busy() || !is_suspect(tensor)) return;
  const TensorState state = look_at(tensor);
  if (!state.kinds.any()) return;
  const Place place = current_place();
  const auto verdict = tell([&] { return watcher().judge().handed_over(state, place); });
  if (!verdict) return;
  const Busy busy;
  tell_of_handed(*verdict, pattern_in_memory(tensor), state.kinds);
}

void Moments::program_ended(const End& end) {
  watcher().window().settle();
  Ending ending;
  ending.exception = end.exception;
  ending.abnormal = end.exception || end.status != 0;
  ending.text = end.text;
  ending.about_values = is_about_values(end.text);
  ending.blunder = end.blunder;
  ending.place.step = watcher().judge().current_step();
  ending.place.stack = end.stack;
  ending.place.line = info_of(end.stack).line;
  for (const TensorState& state : states_of(end.locals)) {
    if (state.kinds.any()) ending.locals.push_back(state);
  }
  for (const TensorState& state : states_of(end.handed)) {
    if (state.kinds.any()) ending.handed.push_back(state);
  }
  ending.handed_numbers = end.numbers;
  for (const at::Tensor& tensor : end.memory)
    ending.handed_memory.push_back(host_values_in(tensor).pattern);
  ending.left_early = end.left_early;
  ending.may_have_left_early = end.may_have_left_early;
  count_out_of_reach(watcher().world().take_from_waiting());
  add_written_unseen(ending.written_unseen);
  // Held until the judge has seen them.
  const std::vector<at::Tensor> leaves = watcher().world().live_leaves();
  std::vector<at::Tensor> results;
  for (const at::Tensor& leaf : leaves) {
    if (!leaf.is_leaf()) continue;
    const at::Tensor grad = gradient_of(leaf);
    if (!grad.defined() || is_old(grad)) continue;
    ending.leaves.push_back(watcher().world().describe(leaf));
    keep_at_hand(grad, ending.leaves.back().state);
  }
  for (const WeakTensor& weak : results_) {
    if (auto strong = weak.lock()) {
      const TensorState state = look_at(results.emplace_back(std::move(strong)));
      if (state.kinds.any()) ending.gradients.push_back(state);
    }
  }
  for (const auto& [from, to] : {std::pair(&end.held, &ending.held), {&end.state, &ending.state}}) {
    for (const auto& [name, tensor] : *from) {
      const TensorState state = look_at(tensor);
      if (state.kinds.any()) to->push_back({state, name});
    }
  }
  const Busy busy;
  const LetGoAfterwards let_go;
  const WithoutGil without_gil;
  watcher().judge().ended(ending);
}

}  // namespace nanscope::torch_adapter
