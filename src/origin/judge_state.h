// What the judge remembers, and its rules by the moment they are applied.
//
// Each judge_*.cc holds the rules of one moment; judge.cc takes the lock and calls
// them. Nothing here grows without bound.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "origin/ending.h"
#include "origin/host_numbers.h"
#include "origin/verdicts.h"
#include "origin/world.h"
#include "watch/ledger.h"

namespace nanscope {

template <class T>
void append(std::vector<T>& into, const std::vector<T>& more) {
  into.insert(into.end(), more.begin(), more.end());
}

// A leaf and the gradient it had when a backward() ended.
struct Delivered {
  TensorId leaf;
  TensorId grad;
};

// A backward() or autograd.grad() call.
struct Root {
  RootId id = 0;
  EventId first_event = 0;                        // events from here on were made after it began
  std::vector<EventId> events;                    // of the roots that were bad
  std::vector<EventId> swallowed;                 // absorbed Infs that reached a root
  std::vector<EventId> bad;                       // of the gradients that came out bad
  std::shared_ptr<std::vector<Delivered>> grads;  // shared by roots that delivered to the same
  Place place;
  bool open = true;      // still running
  bool of_grad = false;  // autograd.grad()
  bool scaled = false;   // a GradScaler multiplied the loss
  bool done = false;     // judged, or its gradients were thrown away

  [[nodiscard]] bool pending() const { return !events.empty() && !done; }
};

// A gradient delivered bad that was not thrown away since.
struct PendingGradient {
  TensorId leaf;  // 0: a result of autograd.grad()
  TensorId grad;
  std::uint64_t version = 0;
  std::vector<EventId> events;
  bool in_optimizer = false;
  Place place;
  bool leaf_died = false;
};

struct HostRead {
  std::vector<EventId> events;
  Place place;
};

struct JudgeState {
  explicit JudgeState(World& living) : world(living), ledger(living), verdicts(events, notes) {}

  // ---- judge_ops.cc
  void op_returned(const OpRecord& record, FactsMaker& facts);
  void op_raised(const OpRecord& record, const std::string& text, FactsMaker& facts);

  // ---- judge_backward.cc
  RootId backward_begins(std::span<const TensorState> roots, const Place& place,
                         std::span<const std::uint32_t> way, bool scaled = false);
  void backward_ended(RootId id, std::span<const LeafGrad> leaves);
  void grad_ended(RootId id, std::span<const TensorState> results);
  void backward_raised(RootId id, bool about_nan, const std::string& text);
  void delivered_well(const Root& root);
  [[nodiscard]] Root* find_root(RootId id);
  void make_room_for_roots();

  // ---- judge_step.cc
  void step_begins(std::span<const LeafGrad> params, bool found_inf, const Place& place);
  void step_ended(std::span<const Held> bad_state, const Place& place);
  void gradients_dropped(std::span<const TensorId> gradients);

  // ---- judge_scaler.cc
  void scaler_will_check(std::span<const EventId> gradient);  // of an optimizer's parameter
  void scaler_checked(std::span<const EventId> found);
  void scaler_updated(bool found_inf, double scale, const Place& place, TensorId scaler);
  [[nodiscard]] bool in_backward_of_scaled_loss() const;
  // Bad by scaling alone: the scaler's own product, or born in the backward of that.
  [[nodiscard]] bool bad_by_scaling(std::span<const EventId> ids) const;
  // The scaler's own product, whose gradients may be finite all the same.
  [[nodiscard]] bool is_scaled_loss(EventId id) const;
  // Bad by what the scaler's check has found, or would find. `in_optimizer`: the gradient of a
  // parameter of one.
  [[nodiscard]] bool left_to_scaler(std::span<const EventId> ids, bool in_optimizer) const;
  [[nodiscard]] std::int64_t most_skips_in_a_row() const;
  // Picks what no other scale would mend.
  [[nodiscard]] std::vector<EventId> bad_at_any_scale(std::span<const EventId> ids) const;

  // ---- judge_reads.cc
  void host_read(const TensorState& tensor, const HostValues& values, bool decides,
                 const Place& place);
  // It is pickled or saved, and may come back.
  void copied_out(const TensorState& tensor, const HostValues& values);
  void remember_host(const std::vector<EventId>& ids, const Place& place);
  // The host read or tested a value; it may turn out to be a guard.
  void remember_read(const std::vector<EventId>& ids, bool requires_grad, const Place& place);
  void remember_other_read(const std::vector<EventId>& ids, const Place& place);
  void healthy_step();  // without an optimizer: a healthy backward
  void recovered();     // of what the host read bad, a habit is left
  [[nodiscard]] bool is_habit(std::uint32_t line, bool abnormal) const;

  // ---- judge_fork.cc
  void forked();
  void begin_anew();
  void take_over(const Past& past);
  std::optional<Verdict> handed_over(const TensorState& tensor, const Place& place,
                                     bool read_there);
  [[nodiscard]] bool inherited(const std::vector<EventId>& ids) const;

  // ---- judge_pending.cc
  void poll();        // gradients: cheap, at every reported op
  void poll_roots();  // at the program's own moments
  // Something went well: what was pending for a leaf that died is settled. `line`: only what
  // was called from there.
  void settle_dead(std::optional<std::uint32_t> line);
  void zeroed(const OpRecord& record);
  void forget_gradients(const std::function<bool(TensorId)>& gone);
  // Bad losses whose backward made what these values come from: the update of an optimizer that
  // is not torch's, or that calls backward inside its step, shows only when it has written.
  void add_losses_behind(std::vector<EventId>& ids, bool of_open_too = false);
  void close(Root& root, Fate what);
  void forget_done_roots();
  // The state that was spoilt is as it was before; gradients of then are not used any more.
  void put_back();
  // All of it was made before the program put a good state back.
  [[nodiscard]] bool is_undone(const std::vector<EventId>& ids) const;
  [[nodiscard]] bool awaits_gradients() const {
    return any_root_pending || !pending_gradients.empty();
  }

  // A parameter that was assigned a bad value.
  void judge_replaced(const Place& place);
  void value_registered(const TensorState& value, Target target, const TargetName& name,
                        const Place& place);

  // ---- judge_end.cc
  void ended(const Ending& ending);

  // ---- judge_state.cc
  // The events behind a bad tensor, those of its kinds first; imported here if nobody made it.
  [[nodiscard]] std::vector<EventId> blame_tensor(const TensorState& tensor, const Place& place);
  [[nodiscard]] std::vector<EventId> matching(std::vector<EventId> ids, Kinds kinds) const;
  [[nodiscard]] std::vector<EventId> alive(std::vector<EventId> ids) const;  // not forgotten
  // A NaN is among what these events left: it need not have come from elsewhere.
  [[nodiscard]] bool explains(const std::vector<EventId>& ids, Kinds kinds) const;
  // What a collective brought.
  EventId receive(const TensorState& tensor, const World::Receipt& receipt,
                  std::shared_ptr<const EventFacts> facts);
  EventId import(const TensorState& tensor, const OpInfo* op, const Place& place,
                 std::shared_ptr<const EventFacts> facts, OriginKind kind = OriginKind::kImported);
  Event& add(Event event);
  void fate(std::span<const EventId> ids, Fate fate);
  template <class Test>
  [[nodiscard]] bool all_events(std::span<const EventId> ids, const Test& test) const;
  // Nothing was computed with it: a constant, an Inf that was brought in (the mask of a
  // checkpoint), or a copy of these.
  [[nodiscard]] bool is_put_there(const Event& event) const;
  [[nodiscard]] bool origins_in_backward(std::span<const EventId> ids) const;
  [[nodiscard]] bool counts_optimizer_steps() const {
    return optimizers > 0 || optimizer_steps > 0 || parent_had_optimizers;
  }
  [[nodiscard]] std::int64_t steps() const {
    return steps_before_fork + (counts_optimizer_steps() ? optimizer_steps : backwards_ended);
  }
  [[nodiscard]] std::uint64_t evicted() const;

  static constexpr std::size_t kMostRoots = 5000;
  static constexpr std::size_t kMostPendingGradients = 64;
  static constexpr std::size_t kMostGradEvents = 64;
  static constexpr std::size_t kMostDecisiveReads = 256;
  static constexpr std::size_t kMostHostReads = 1024;
  static constexpr std::size_t kMostLines = 4096;
  static constexpr std::size_t kMostRootEvents = 256;
  static constexpr std::size_t kMostScalers = 256;

  World& world;
  Ledger ledger;
  Events events;
  Notes notes;
  Verdicts verdicts;

  std::deque<Root> roots;
  RootId next_root = 1;
  bool any_root_pending = false;
  std::vector<PendingGradient> pending_gradients;
  std::vector<EventId> grad_events;      // handed out by autograd.grad()
  std::vector<EventId> amp_events;       // what checks of scalers found bad since their updates
  std::vector<EventId> skipped_in_vain;  // of the last skip: what is bad at any scale
  std::vector<HostRead> host_reads;      // in programs without backward
  std::vector<HostRead> decisive_reads;  // tests and reads since the last healthy step
  std::vector<HostRead> other_reads;     // the same, of values that no gradient flows through
  // How many of these there were, per line that made the value; and the most that a line recovered
  // from by a healthy step.
  std::map<std::uint32_t, std::int64_t> bad_reads_of_line;
  std::map<std::uint32_t, std::int64_t> most_recovered_reads;
  HostNumbers host_numbers;
  std::unordered_set<std::uint32_t> lines_to_healthy_roots;
  std::unordered_set<EventId> infs_at_roots;  // absorbed Infs that have reached a root
  std::function<void()> on_other_read;
  bool step_skipped = false;
  std::int64_t backwards = 0;
  std::int64_t backwards_ended = 0;
  std::int64_t optimizers = 0;
  std::int64_t optimizer_steps = 0;
  std::int64_t healthy_steps = 0;
  std::map<std::uint64_t, std::int64_t> skips_in_a_row;  // of each scaler
  bool optimizer_stepped = false;                        // and the step was healthy
  std::uint64_t records_dropped = 0;                     // they did not fit
  bool strict = false;
  EventId undone_before = 0;    // events before this one belong to a harm that was undone
  EventId first_own_event = 0;  // earlier events are of the process that forked this one
  std::int64_t steps_before_fork = 0;
  bool parent_had_optimizers = false;

 private:
  void collect();
};

template <class Test>
bool JudgeState::all_events(std::span<const EventId> ids, const Test& test) const {
  for (const EventId id : ids) {
    const Event* event = events.find(id);
    if (event == nullptr || !test(*event)) return false;
  }
  return true;
}

}  // namespace nanscope
