// Rules at an optimizer's step and at zero_grad.
#include <algorithm>

#include "origin/judge_state.h"

namespace nanscope {
namespace {

bool delivers_to(const Root& root, std::span<const LeafGrad> params) {
  if (!root.grads) return false;
  return std::any_of(params.begin(), params.end(), [&](const LeafGrad& param) {
    return param.grad.value != 0 &&
           std::any_of(root.grads->begin(), root.grads->end(),
                       [&](const Delivered& delivered) { return delivered.grad == param.grad; });
  });
}

}  // namespace

// Judged before the optimizer writes: a bad gradient, or gradients of a bad loss.
void JudgeState::step_begins(std::span<const LeafGrad> params, bool found_inf, const Place& place) {
  poll();
  step_skipped = found_inf;  // a fused optimizer skips it
  if (found_inf) return;
  HarmDone harm{HarmKind::kLoss, {}, place};
  bool any = false;
  for (const LeafGrad& param : params) {
    if (param.grad.value == 0) continue;
    any = true;
    if (!param.state.kinds.any()) continue;
    if (harm.kind != HarmKind::kGradient) harm.name = param.name;
    harm.kind = HarmKind::kGradient;
    const std::vector<EventId> ids = blame_tensor(param.state, place);
    harm.events.insert(harm.events.end(), ids.begin(), ids.end());
  }
  for (Root& root : roots) {
    if (!root.pending()) continue;
    const bool cleaned = !root.bad.empty() &&
                         all_events(root.bad, [](const Event& event) { return event.replaced; });
    // The product overflowed, and not the gradients: they do not depend on its value.
    if (cleaned || (delivers_to(root, params) && bad_by_scaling(root.events))) {
      close(root, Fate::kHandled);
    } else if (delivers_to(root, params)) {
      harm.events.insert(harm.events.end(), root.events.begin(), root.events.end());
      root.done = true;
    }
  }
  forget_done_roots();
  if (!harm.events.empty()) {
    verdicts.harm(harm);
  } else if (any) {
    healthy_step();
    optimizer_stepped = true;
    settle_dead(std::nullopt);
  }
}

void JudgeState::step_ended(std::span<const Held> bad_state, const Place& place) {
  HarmDone harm{HarmKind::kOptimizerState, {}, place};
  for (const Held& held : bad_state) {
    if (!held.state.kinds.any()) continue;
    if (harm.events.empty()) harm.name = held.name;
    const std::vector<EventId> ids = blame_tensor(held.state, place);
    harm.events.insert(harm.events.end(), ids.begin(), ids.end());
  }
  if (!step_skipped) ++optimizer_steps;
  if (!harm.events.empty()) verdicts.harm(harm);
}

void JudgeState::gradients_dropped(std::span<const TensorId> gradients) {
  judge_replaced({});
  for (Root& root : roots) {
    if (!root.pending() || !root.grads) continue;
    const bool hit =
        std::any_of(root.grads->begin(), root.grads->end(), [&](const Delivered& delivered) {
          return std::find(gradients.begin(), gradients.end(), delivered.grad) != gradients.end();
        });
    if (hit) close(root, Fate::kThrownAway);
  }
  forget_done_roots();
  forget_gradients([&](TensorId grad) {
    return std::find(gradients.begin(), gradients.end(), grad) != gradients.end();
  });
}

}  // namespace nanscope
