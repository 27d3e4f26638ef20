// Rules between processes: what a forked child takes over from its parent, and what is
// handed to another process; and between one watched stretch of a program and the next.
#include <algorithm>

#include "origin/judge_state.h"

namespace nanscope {

// Values, their origins and the count of steps live on in the child. What is pending is judged by
// the parent, who has it too.
void JudgeState::forked() {
  steps_before_fork = steps();
  parent_had_optimizers = counts_optimizer_steps();
  roots.clear();
  any_root_pending = false;
  pending_gradients.clear();
  grad_events.clear();
  amp_events.clear();
  skipped_in_vain.clear();
  host_reads.clear();
  decisive_reads.clear();
  bad_reads_of_line.clear();
  backwards = backwards_ended = optimizers = optimizer_steps = healthy_steps = 0;
  skips_in_a_row.clear();
  optimizer_stepped = step_skipped = false;
  records_dropped = 0;
  verdicts.forget();
  first_own_event = events.next_id();
  notes.begin_anew(first_own_event);
}

void JudgeState::begin_anew() {
  forked();
  steps_before_fork = 0;
  parent_had_optimizers = false;
  ledger.clear();
  host_numbers.forget();
  strict = false;
}

void JudgeState::take_over(const Past& past) {
  backwards += past.backwards;
  backwards_ended += past.backwards;
  optimizer_steps += past.steps;
  optimizer_stepped |= past.healthy_steps > 0;
  healthy_steps += optimizer_stepped ? past.healthy_steps : past.backwards;
}

bool JudgeState::inherited(const std::vector<EventId>& ids) const {
  return !ids.empty() &&
         std::all_of(ids.begin(), ids.end(), [&](EventId id) { return id < first_own_event; });
}

// The other process is told how it became bad, whoever made it.
std::optional<Verdict> JudgeState::handed_over(const TensorState& tensor, const Place& place,
                                               bool read_there) {
  std::vector<EventId> born;
  std::vector<EventId> ids = blame_tensor(tensor, place);
  // A gradient goes into a collective while its backward still runs.
  if (!read_there) add_losses_behind(ids, /*of_open_too=*/true);
  for (const EventId id : ids) {
    const Event* event = events.find(id);
    if (event == nullptr || id < first_own_event) continue;
    const auto is_birth = [&](const OriginRef& ref) {
      const EventView& origin = ref.source->view;
      return origin.origin_kind == OriginKind::kBirth && origin.id >= first_own_event;
    };
    if (std::any_of(event->nan.begin(), event->nan.end(), is_birth) ||
        std::any_of(event->inf.begin(), event->inf.end(), is_birth)) {
      born.push_back(id);
    }
  }
  if (read_there && !born.empty()) remember_host(born, place);
  std::optional<Verdict> verdict = verdicts.tell({HarmKind::kHost, ids, place});
  if (verdict) verdict->inherited = verdict->origin.id < first_own_event;
  return verdict;
}

}  // namespace nanscope
