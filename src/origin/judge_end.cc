// Rules at the end of the program, in the order in which they are applied: the first
// harm that holds is the verdict.
#include <algorithm>

#include "origin/judge_state.h"

namespace nanscope {
namespace {

bool protected_from_harm(const Event& event) {
  return event.tested || event.known || event.replaced;
}

class End {
 public:
  End(JudgeState& state, const Ending& ending) : state_(state), ending_(ending) {}

  void judge() {
    exception();
    state_.judge_replaced(ending_.place);
    written_unseen();
    state_of_optimizers();
    state_.poll();
    state_.poll_roots();
    losses();
    gradients();
    skipped_in_vain();
    collapsed();
    guards();
    other_guards();
    if (state_.backwards > 0) return;
    host_reads();
    kept();
  }

 private:
  void exception();
  void written_unseen();
  void state_of_optimizers();
  void losses();
  void gradients();
  void held_gradients(HarmDone& harm);
  void results_of_grad(HarmDone& harm);
  void lost_gradients(HarmDone& harm);
  void used_gradients();
  void skipped_in_vain();
  void collapsed();
  void guards();
  void other_guards();
  [[nodiscard]] std::vector<EventId> handed() const;
  void host_reads();
  void kept();
  void keep(const Held& held);

  [[nodiscard]] bool handled(const Root& root) const;
  [[nodiscard]] bool handled(const LeafGrad& leaf) const;
  [[nodiscard]] bool handled(const PendingGradient& gradient) const;
  [[nodiscard]] bool may_be_why(const TensorState& local, const std::vector<EventId>& ids) const;
  [[nodiscard]] bool merely_held(const Event& event) const;
  [[nodiscard]] bool skipped_on_purpose(const std::vector<EventId>& ids) const;
  [[nodiscard]] bool scaler_is_why() const;
  [[nodiscard]] bool skipped_by_scaler(std::span<const EventId> ids, bool in_optimizer) const;
  [[nodiscard]] bool read_of_scaling(EventId id) const;

  JudgeState& state_;
  const Ending& ending_;
  bool is_explained_ = false;  // why it raised
};

// Bad tensors in the frames an uncaught exception came through.
void End::exception() {
  if (!ending_.exception) return;
  HarmDone harm{HarmKind::kException, {}, ending_.place, {}, ending_.text};
  for (const TensorState& local : ending_.locals) {
    if (!local.kinds.any()) continue;
    const std::vector<EventId> ids = state_.blame_tensor(local, ending_.place);
    const auto held = [&](const Event& event) { return merely_held(event); };
    if (!state_.all_events(ids, held) && may_be_why(local, ids)) append(harm.events, ids);
  }
  if (ending_.about_values || !ending_.blunder) append(harm.events, handed());
  if (!harm.events.empty()) is_explained_ = state_.verdicts.harm(harm);
}

// What the code that ended the program was given: of numbers and arrays, the reads they come from.
std::vector<EventId> End::handed() const {
  std::vector<EventId> ids;
  for (const TensorState& tensor : ending_.handed) {
    if (tensor.kinds.any()) append(ids, state_.blame_tensor(tensor, ending_.place));
  }
  for (const BadPattern& pattern : ending_.handed_memory)
    append(ids, state_.alive(state_.host_numbers.brought(pattern)));
  if (ids.empty()) ids = state_.alive(state_.host_numbers.last_read(ending_.handed_numbers));
  std::erase_if(ids, [&](EventId id) { return merely_held(*state_.events.find(id)); });
  return ids;
}

// Raised because of this value? Its words say so, or the program had tested it, or it is on the way
// to a loss. A metric that is NaN beside a typing error is not.
bool End::may_be_why(const TensorState& local, const std::vector<EventId>& ids) const {
  if (ending_.about_values) return true;
  if (ending_.blunder) return false;
  const auto concerns = [&](EventId id) {
    const Event* event = state_.events.find(id);
    return event != nullptr && (event->tested || state_.events.requires_grad(id));
  };
  return local.requires_grad || std::any_of(ids.begin(), ids.end(), concerns);
}

// By a hand that nobody watches, since an op wrote them. What an op made of them was judged there.
void End::written_unseen() {
  const auto came_in = [](const Event& event) {
    return event.origin_kind == OriginKind::kImported ||
           event.origin_kind == OriginKind::kUnwatched;
  };
  for (const World::Replaced& value : ending_.written_unseen) {
    const std::vector<EventId> ids = state_.blame_tensor(value.state, ending_.place);
    if (!state_.all_events(ids, came_in)) continue;
    const HarmKind kind =
        value.target == Target::kParameter ? HarmKind::kParameter : HarmKind::kBuffer;
    const auto put_there = [&](const Event& event) { return state_.is_put_there(event); };
    if (kind == HarmKind::kBuffer && state_.all_events(ids, put_there)) continue;
    state_.verdicts.harm({kind, ids, ending_.place, value.name});
  }
}

// Put there after the last step, for the checkpoint.
void End::state_of_optimizers() {
  for (const Held& held : ending_.state) {
    const std::vector<EventId> ids = state_.blame_tensor(held.state, ending_.place);
    state_.verdicts.harm({HarmKind::kOptimizerState, ids, ending_.place, held.name});
  }
}

void End::losses() {
  for (Root& root : state_.roots) {
    if (!root.pending()) continue;
    if (handled(root)) {
      state_.close(root, Fate::kHandled);
    } else {
      state_.verdicts.harm({HarmKind::kLoss, root.events, root.place});
    }
  }
}

// A loss the program tested, whose gradients an optimizer still has: a skipped step. Or one of
// autograd.grad() that the program tested, or what came of it: a proposal it rejected.
bool End::handled(const Root& root) const {
  if (!scaler_is_why() && state_.bad_by_scaling(root.events)) return true;
  if (ending_.abnormal) return false;
  if (root.of_grad) {
    const auto known = [](const Event& event) { return event.known; };
    return state_.all_events(root.events, known) ||
           (!root.bad.empty() && state_.all_events(root.bad, known));
  }
  if (!root.grads) return false;
  if (!state_.all_events(root.events, [](const Event& event) { return event.tested; }))
    return false;
  return std::any_of(ending_.leaves.begin(), ending_.leaves.end(), [&](const LeafGrad& leaf) {
    return leaf.in_optimizer &&
           std::any_of(root.grads->begin(), root.grads->end(),
                       [&](const Delivered& delivered) { return delivered.grad == leaf.grad; });
  });
}

void End::gradients() {
  HarmDone harm{HarmKind::kGradient, {}, ending_.place};
  held_gradients(harm);
  results_of_grad(harm);
  lost_gradients(harm);
  if (!harm.events.empty()) {
    state_.verdicts.harm(harm);
  } else if (state_.optimizer_steps == 0) {
    used_gradients();
  }
}

void End::held_gradients(HarmDone& harm) {
  for (const LeafGrad& leaf : ending_.leaves) {
    if (leaf.grad.value == 0 || !leaf.state.kinds.any()) continue;
    if (state_.inherited(state_.ledger.events_of(leaf.state))) continue;
    if (state_.is_undone(state_.ledger.events_of(leaf.state))) continue;
    if (handled(leaf)) {
      state_.fate(state_.ledger.events_of(leaf.state), Fate::kHandled);
      continue;
    }
    if (harm.events.empty()) {
      harm.name = leaf.name;
      for (const PendingGradient& gradient : state_.pending_gradients) {
        if (gradient.grad == leaf.grad) harm.place = gradient.place;
      }
    }
    append(harm.events, state_.blame_tensor(leaf.state, ending_.place));
  }
}

// Tested by the program and born in backward: the last skip of a hand-written scaler.
bool End::skipped_on_purpose(const std::vector<EventId>& ids) const {
  return !ending_.abnormal && !ids.empty() &&
         state_.all_events(ids, [](const Event& event) { return event.tested; }) &&
         state_.origins_in_backward(ids);
}

// The program gave up because its loss scaler only skips: its words say so, or it did so for long.
bool End::scaler_is_why() const {
  return ending_.abnormal && !ending_.blunder &&
         (ending_.about_values || state_.most_skips_in_a_row() >= 3);
}

// What GradScaler's check found, or would have found next, and what was computed from it since: a
// clipped gradient is a new value of the same origin.
bool End::skipped_by_scaler(std::span<const EventId> ids, bool in_optimizer) const {
  return !scaler_is_why() && state_.left_to_scaler(ids, in_optimizer);
}

// A log of the norms of what was skipped, or of the scaled loss itself.
bool End::read_of_scaling(EventId id) const {
  return skipped_by_scaler({&id, 1}, false) || (!scaler_is_why() && state_.is_scaled_loss(id));
}

bool End::handled(const LeafGrad& leaf) const {
  const std::vector<EventId> ids = state_.ledger.events_of(leaf.state);
  return skipped_by_scaler(ids, leaf.in_optimizer) ||
         (leaf.in_optimizer && skipped_on_purpose(ids));
}

bool End::handled(const PendingGradient& gradient) const {
  return skipped_by_scaler(gradient.events, gradient.in_optimizer) ||
         (gradient.in_optimizer && skipped_on_purpose(gradient.events));
}

void End::results_of_grad(HarmDone& harm) {
  for (const TensorState& result : ending_.gradients) {
    if (!result.kinds.any()) continue;
    const std::vector<EventId> ids = state_.ledger.events_of(result);
    const bool cleaned =
        !ids.empty() && state_.all_events(ids, [](const Event& event) { return event.replaced; });
    if (!cleaned && !state_.inherited(ids) && !skipped_by_scaler(ids, false))
      append(harm.events, state_.blame_tensor(result, ending_.place));
  }
}

// Their leaf died, and nothing healthy followed.
void End::lost_gradients(HarmDone& harm) {
  for (const PendingGradient& gradient : state_.pending_gradients) {
    if (gradient.leaf.value != 0 && !gradient.leaf_died) continue;
    const bool repaired = state_.all_events(
        gradient.events, [](const Event& event) { return event.repaired || event.replaced; });
    const bool rejected =
        gradient.leaf.value == 0 && !ending_.abnormal &&
        state_.all_events(gradient.events, [](const Event& event) { return event.known; });
    if (repaired || rejected || handled(gradient)) {
      state_.fate(gradient.events, Fate::kHandled);
      continue;
    }
    if (harm.events.empty()) harm.place = gradient.place;
    append(harm.events, gradient.events);
  }
}

// No optimizer: the program itself uses what autograd.grad() gave it.
void End::used_gradients() {
  HarmDone harm{HarmKind::kGradient, {}, ending_.place};
  for (const EventId id : state_.grad_events) {
    const Event* event = state_.events.find(id);
    if (event == nullptr || !event->used || protected_from_harm(*event)) continue;
    if (!skipped_by_scaler({&id, 1}, false)) harm.events.push_back(id);
  }
  if (!harm.events.empty()) state_.verdicts.harm(harm);
}

// A scaler that skipped every step, for what is bad at any scale: nothing was trained.
void End::skipped_in_vain() {
  if (state_.healthy_steps > 0 || state_.most_skips_in_a_row() < 3) return;
  if (state_.skipped_in_vain.empty()) return;
  state_.verdicts.harm({HarmKind::kGradient, state_.skipped_in_vain, ending_.place});
}

void End::collapsed() {
  for (const Root& root : state_.roots) {
    for (const EventId id : root.swallowed) {
      const Event* event = state_.events.find(id);
      if (event == nullptr || event->tested) continue;
      state_.verdicts.harm({HarmKind::kCollapsed, {id}, root.place});
    }
  }
}

void End::guards() {
  if (state_.backwards == 0 && state_.optimizers == 0) return;
  for (const HostRead& read : state_.decisive_reads) {
    HarmDone harm{HarmKind::kGuard, {}, read.place};
    for (const EventId id : read.events) {
      const Event* event = state_.events.find(id);
      if (event == nullptr || event->repaired || event->replaced) continue;
      if (read_of_scaling(id)) continue;
      const std::uint32_t line = event->place.line;
      if (state_.is_habit(line, ending_.abnormal)) continue;
      const bool is_loss = state_.healthy_steps == 0 || ending_.abnormal ||
                           state_.lines_to_healthy_roots.contains(line);
      if (is_loss) harm.events.push_back(id);
    }
    if (harm.events.empty() || !state_.verdicts.harm(harm)) {
      state_.fate(read.events, Fate::kHandled);
    }
  }
}

// A metric that is not finite is a note, unless the program gave up because of it.
void End::other_guards() {
  if (is_explained_ || (state_.backwards == 0 && state_.optimizers == 0)) return;
  if (ending_.abnormal && !ending_.exception) {
    HarmDone harm{HarmKind::kGuard, handed(), ending_.place, {}, ending_.text};
    if (!harm.events.empty() && state_.verdicts.harm(harm)) return;
  }
  const bool decided = ending_.left_early || (ending_.abnormal && ending_.about_values);
  const bool may_have_decided =
      ending_.may_have_left_early || (ending_.abnormal && !ending_.blunder);
  if (!decided && !may_have_decided) return;
  for (const HostRead& read : state_.other_reads) {
    HarmDone harm{HarmKind::kGuard, read.events, read.place, {}, ending_.text};
    std::erase_if(harm.events, [&](EventId id) {
      const Event* event = state_.events.find(id);
      return event == nullptr || event->repaired || event->replaced || read_of_scaling(id) ||
             merely_held(*event);
    });
    if (harm.events.empty()) continue;
    if (!decided) {
      state_.fate(harm.events, Fate::kMayHaveEnded);
    } else {
      (void)state_.verdicts.harm(harm);
    }
  }
}

void End::host_reads() {
  for (const HostRead& read : state_.host_reads) {
    HarmDone harm{HarmKind::kHost, {}, read.place};
    for (const EventId id : read.events) {
      const Event* event = state_.events.find(id);
      if (event == nullptr || protected_from_harm(*event)) continue;
      if (!read_of_scaling(id)) harm.events.push_back(id);
    }
    if (!harm.events.empty()) state_.verdicts.harm(harm);
  }
}

// Names of the program first, in their order; then everything else the ledger knows, oldest
// first.
void End::kept() {
  std::vector<std::pair<EventId, const Held*>> unnamed;
  for (const Held& held : ending_.held) {
    if (!held.state.kinds.any()) continue;
    if (!held.name.empty()) {
      keep(held);
      continue;
    }
    const std::vector<EventId> ids = state_.ledger.events_of(held.state);
    if (!ids.empty()) unnamed.push_back({ids.front(), &held});
  }
  std::stable_sort(unnamed.begin(), unnamed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [oldest, held] : unnamed) keep(*held);
}

// Put there, or garbage nobody read, or a copy of it.
bool End::merely_held(const Event& event) const {
  return state_.all_events(state_.events.look_through(event.id), [&](const Event& value) {
    return value.origin_kind == OriginKind::kUninitialised || state_.is_put_there(value);
  });
}

void End::keep(const Held& held) {
  const std::vector<EventId> ids = state_.ledger.events_of(held.state);
  const bool excused = !ids.empty() && state_.all_events(ids, [&](const Event& event) {
    return protected_from_harm(event) || merely_held(event);
  });
  if (excused || state_.inherited(ids) || skipped_by_scaler(ids, false)) return;
  state_.verdicts.harm({HarmKind::kKept, state_.blame_tensor(held.state, ending_.place),
                        ending_.place, held.name, "", held.state.kinds});
}

}  // namespace

void JudgeState::ended(const Ending& ending) {
  End(*this, ending).judge();
  forget_done_roots();
}

}  // namespace nanscope
