// Rules for loss scaling: what torch.amp.GradScaler overflows on purpose, finds and skips.
#include <algorithm>

#include "origin/judge_state.h"

namespace nanscope {
namespace {

bool born_in_backward(const Source& source) {
  return source.view.place.phase == Phase::kBackward && !source.given();
}

bool is_scalers_product(const Source& source) { return source.view.place.in_scaler; }

// Of a loss that was bad before, the backward pass tells; what was there before the watch began is
// nobody's.
bool can_be_of_scaling(const Source& source) {
  const bool brought = source.given() && !source.declared();
  return is_scalers_product(source) || born_in_backward(source) || brought;
}

template <class Test>
bool all_are(const std::vector<std::shared_ptr<Source>>& sources, const Test& test) {
  return !sources.empty() && std::all_of(sources.begin(), sources.end(),
                                         [&](const auto& source) { return test(*source); });
}

// It, or the Infs of which it was made.
bool found_by_scaler(const Source& source) {
  if (source.found_by_scaler && can_be_of_scaling(source)) return true;
  return all_are(source.infs, found_by_scaler) || all_are(source.evidence, found_by_scaler);
}

// The slope of a root at 0, and what was made of it: bad whatever the scale.
bool bad_at_any_scale(const Source& source) {
  return source.born_of_zero || std::any_of(source.infs.begin(), source.infs.end(),
                                            [](const auto& inf) { return bad_at_any_scale(*inf); });
}

bool made_by_scaling(const Source& source) {
  if (bad_at_any_scale(source)) return false;
  return is_scalers_product(source) || (born_in_backward(source) && source.of_scaled_loss) ||
         all_are(source.infs, made_by_scaling);
}

bool reaches_optimizer(const Source& source) {
  return source.reaches_optimizer || all_are(source.infs, reaches_optimizer);
}

}  // namespace

// Backward passes inside it (a reentrant checkpoint) are marked as it is.
bool JudgeState::in_backward_of_scaled_loss() const {
  bool any = false;
  for (const Root& root : roots) {
    if (!root.open) continue;
    if (!root.scaled) return false;
    any = true;
  }
  return any;
}

void JudgeState::scaler_will_check(std::span<const EventId> gradient) {
  for (const EventId id : gradient) {
    const Event* event = events.find(id);
    if (event == nullptr) continue;
    for (const Origins* origins : {&event->nan, &event->inf})
      for (const OriginRef& ref : *origins) ref.source->reaches_optimizer = true;
  }
}

void JudgeState::scaler_checked(std::span<const EventId> found) {
  for (const EventId id : found) {
    const Event* event = events.find(id);
    if (event == nullptr) continue;
    for (const Origins* origins : {&event->nan, &event->inf})
      for (const OriginRef& ref : *origins) ref.source->found_by_scaler = true;
    const bool again = std::find(amp_events.begin(), amp_events.end(), id) != amp_events.end();
    if (!again && amp_events.size() < kMostRootEvents) amp_events.push_back(id);
  }
}

bool JudgeState::bad_by_scaling(std::span<const EventId> ids) const {
  const std::vector<Blamed> origins = blame(ids, events);
  return !origins.empty() && std::all_of(origins.begin(), origins.end(), [](const Blamed& origin) {
    return made_by_scaling(*origin.source);
  });
}

bool JudgeState::is_scaled_loss(EventId id) const {
  const std::vector<Blamed> origins = blame({&id, 1}, events);
  return !origins.empty() && std::all_of(origins.begin(), origins.end(), [](const Blamed& origin) {
    return is_scalers_product(*origin.source);
  });
}

bool JudgeState::left_to_scaler(std::span<const EventId> ids, bool in_optimizer) const {
  const std::vector<Blamed> origins = blame(ids, events);
  return !origins.empty() && std::all_of(origins.begin(), origins.end(), [&](const Blamed& origin) {
    const Source& source = *origin.source;
    return found_by_scaler(source) ||
           (made_by_scaling(source) && (in_optimizer || reaches_optimizer(source)));
  });
}

std::vector<EventId> JudgeState::bad_at_any_scale(std::span<const EventId> ids) const {
  std::vector<EventId> found;
  for (const EventId id : ids) {
    const std::vector<Blamed> origins = blame({&id, 1}, events);
    if (std::any_of(origins.begin(), origins.end(), [](const Blamed& origin) {
          return nanscope::bad_at_any_scale(*origin.source);
        }))
      found.push_back(id);
  }
  return found;
}

std::int64_t JudgeState::most_skips_in_a_row() const {
  std::int64_t most = 0;
  for (const auto& [scaler, skips] : skips_in_a_row) most = std::max(most, skips);
  return most;
}

// A skipped step is a note. It is an error if the loss was bad by other than scaling, or if
// scaling down does not help any more. A check does not say whose it was: where there are several
// scalers, what it found stays until one of them says that it skipped.
void JudgeState::scaler_updated(bool found_inf, double scale, const Place& place, TensorId scaler) {
  if (skips_in_a_row.size() >= kMostScalers && !skips_in_a_row.contains(scaler.value))
    skips_in_a_row.clear();
  std::int64_t& skips = skips_in_a_row[scaler.value];
  if (!found_inf) {
    skips = 0;
    if (skips_in_a_row.size() == 1) amp_events.clear();
    return;
  }
  ++skips;
  skipped_in_vain = bad_at_any_scale(amp_events);
  const std::vector<Blamed> found = blame(amp_events, events);
  EventView first;
  first.place = place;
  notes.skipped_by_scaler(found.empty() ? first : found.front().source->view);
  fate(amp_events, Fate::kHandled);
  for (Root& root : roots) {
    if (!root.pending()) continue;
    if (!bad_by_scaling(root.events)) verdicts.harm({HarmKind::kLoss, root.events, root.place});
    close(root, Fate::kHandled);
  }
  forget_done_roots();
  if (scale < 1.0 && skips >= 3 && !amp_events.empty()) {
    verdicts.harm({HarmKind::kGradient, amp_events, place, {}, "loss scale collapsed"});
  }
  amp_events.clear();
}

}  // namespace nanscope
