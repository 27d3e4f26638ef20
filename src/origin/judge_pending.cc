// Bad losses and gradients that wait: until a step uses them, or the program throws
// them away.
#include <algorithm>

#include "origin/judge_state.h"

namespace nanscope {

// A gradient is thrown away when its living leaf has another, none, or made this one
// finite. When the leaf dies nobody can say any more: it stays.
void JudgeState::poll() {
  std::erase_if(pending_gradients, [&](PendingGradient& gradient) {
    if (gradient.leaf.value == 0 || gradient.leaf_died) return false;
    std::optional<LeafGrad> now = world.peek(gradient.leaf);
    if (!now) {
      gradient.leaf_died = true;
      return false;
    }
    if (now->unanswered) return false;
    bool gone = now->grad != gradient.grad;
    if (!gone && now->version != gradient.version) {
      now = world.leaf(gradient.leaf);
      if (now && now->unanswered) return false;
      gradient.version = now ? now->version : 0;
      gone = now && !now->state.kinds.any();
    }
    if (gone) fate(gradient.events, Fate::kThrownAway);
    return gone;
  });
}

// A bad loss whose *bad* gradients were all replaced did nothing: had they been used, a
// parameter would be bad. Finite gradients of a bad loss may have been used unseen, so only
// zeroing them (zero_grad, zero_) counts as throwing away.
void JudgeState::poll_roots() {
  for (Root& root : roots) {
    if (!root.pending() || root.open || !root.grads || root.bad.empty()) continue;
    const bool replaced =
        std::all_of(root.grads->begin(), root.grads->end(), [&](const Delivered& delivered) {
          const std::optional<LeafGrad> now = world.peek(delivered.leaf);
          return now && !now->unanswered && now->grad != delivered.grad;
        });
    if (replaced) close(root, Fate::kThrownAway);
  }
  forget_done_roots();
}

void JudgeState::settle_dead(std::optional<std::uint32_t> line) {
  const auto here = [&](const Place& place) { return !line || place.line == *line; };
  std::erase_if(pending_gradients, [&](PendingGradient& gradient) {
    const bool dead = gradient.leaf.value == 0 || gradient.leaf_died || !world.peek(gradient.leaf);
    if (!dead || !here(gradient.place)) return false;
    fate(gradient.events, Fate::kHandled);
    return true;
  });
  for (Root& root : roots) {
    if (!root.pending() || root.open || root.bad.empty() || !here(root.place)) continue;
    // Computed with, and never looked at: that was no skip.
    const bool looked_at =
        all_events(root.bad, [](const Event& event) { return event.known || !event.used; });
    if (!looked_at) continue;
    const bool dead = root.grads ? std::none_of(root.grads->begin(), root.grads->end(),
                                                [&](const Delivered& delivered) {
                                                  return world.peek(delivered.leaf).has_value();
                                                })
                                 : root.of_grad;
    if (dead) close(root, Fate::kHandled);
  }
  forget_done_roots();
}

void JudgeState::judge_replaced(const Place& place) {
  if (ledger.empty()) return;
  for (const World::Replaced& value : world.replaced_values())
    value_registered(value.state, value.target, value.name, place);
}

bool JudgeState::is_put_there(const Event& event) const {
  return all_events(events.look_through(event.id), [](const Event& value) {
    const bool brought =
        value.origin_kind == OriginKind::kImported || value.origin_kind == OriginKind::kUnwatched;
    return value.origin_kind == OriginKind::kDeclared || (brought && !value.kinds.nan);
  });
}

void JudgeState::value_registered(const TensorState& value, Target target, const TargetName& name,
                                  const Place& place) {
  if (!value.kinds.any()) return;
  std::vector<EventId> ids = matching(ledger.events_of(value), value.kinds);
  if (ids.empty()) return;  // garbage of an allocation, or data: judged when it is used
  const auto put_there = [&](const Event& event) { return is_put_there(event); };
  if (target == Target::kBuffer && all_events(ids, put_there)) return;
  add_losses_behind(ids);
  const HarmKind kind = target == Target::kParameter ? HarmKind::kParameter : HarmKind::kBuffer;
  verdicts.harm({kind, ids, place, name});
}

// zero_() on gradient tensors keeps the tensors: identity does not show it.
void JudgeState::zeroed(const OpRecord& record) {
  const auto hit = [&](TensorId grad) {
    return std::any_of(record.writes.begin(), record.writes.end(),
                       [&](const OpRecord::Write& write) { return write.tensor == grad; });
  };
  // Were they used before they are thrown away?
  judge_replaced(record.place);
  for (Root& root : roots) {
    if (!root.pending() || !root.grads) continue;
    std::erase_if(*root.grads, [&](const Delivered& delivered) { return hit(delivered.grad); });
    if (root.grads->empty()) close(root, Fate::kThrownAway);
  }
  forget_done_roots();
  forget_gradients(hit);
}

void JudgeState::forget_gradients(const std::function<bool(TensorId)>& gone) {
  std::erase_if(pending_gradients, [&](const PendingGradient& gradient) {
    if (gradient.grad.value == 0 || gradient.leaf_died || !gone(gradient.grad)) return false;
    fate(gradient.events, Fate::kThrownAway);
    return true;
  });
}

void JudgeState::add_losses_behind(std::vector<EventId>& ids, bool of_open_too) {
  if (!any_root_pending) return;
  poll_roots();
  const std::vector<Blamed> origins = blame(ids, events);
  for (const Root& root : roots) {
    if (!root.pending() || (root.open && !of_open_too)) continue;
    const bool made_by_it = std::any_of(origins.begin(), origins.end(), [&](const Blamed& origin) {
      return origin.id() >= root.first_event && origin.source->view.place.phase == Phase::kBackward;
    });
    if (made_by_it) ids.insert(ids.end(), root.events.begin(), root.events.end());
  }
}

void JudgeState::close(Root& root, Fate what) {
  root.done = true;
  fate(root.events, what);
  fate(root.bad, what);
}

void JudgeState::put_back() {
  for (Root& root : roots) {
    if (!root.open && root.pending()) close(root, Fate::kHandled);
  }
  forget_done_roots();
  for (const PendingGradient& gradient : pending_gradients) fate(gradient.events, Fate::kHandled);
  pending_gradients.clear();
  grad_events.clear();
  recovered();
  undone_before = events.next_id();
}

bool JudgeState::is_undone(const std::vector<EventId>& ids) const {
  return !ids.empty() &&
         std::all_of(ids.begin(), ids.end(), [&](EventId id) { return id < undone_before; });
}

void JudgeState::forget_done_roots() {
  std::erase_if(roots, [](const Root& root) {
    return !root.open && !root.pending() && root.swallowed.empty();
  });
  any_root_pending =
      std::any_of(roots.begin(), roots.end(), [](const Root& root) { return root.pending(); });
}

}  // namespace nanscope
