// The judge: streams of op records in, verdicts out. The verdict model of
// docs/verdict.md.
//
// Every method runs under one lock, taken inside; none is on the hot path. Memory
// is bounded whatever the length of the run; what was evicted is counted.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "origin/records.h"

namespace nanscope {

// One event as a verdict shows it.
struct EventView {
  EventId id = 0;
  const OpInfo* op = nullptr;
  std::optional<OriginKind> origin_kind;  // nothing: it carries what went in
  Kinds kinds;
  Place place;
  std::shared_ptr<const EventFacts> facts;  // births, declared, imported, uninitialised
  bool discarded = false;                   // replaced on purpose

  [[nodiscard]] Role role() const;  // in a chain
  // Data, where nothing was computed; else the phase of the call.
  [[nodiscard]] Phase phase() const;
};

struct Verdict {
  std::size_t number = 0;  // counted from 0
  HarmKind harm = HarmKind::kGradient;
  bool harmless = false;  // strict: a birth is an error, whatever it does
  EventView origin;
  bool misuse = false;  // an intended NaN, carried on by this op
  // What the origin made it from and is not to blame: the mask of a fully masked row, the
  // intended NaN that was misused. At most 4.
  std::vector<EventView> evidence;
  std::vector<EventView> chain;  // origin first, harm last; at most 16
  bool chain_truncated = false;
  Place place;       // where it did harm
  TargetName name;   // of the parameter or buffer
  std::string text;  // the exception's words
};

// Something non-finite that did no harm, counted per line and op.
struct Note {
  EventView first;
  std::int64_t count = 0;
  std::string why;     // "cleaned", "handled", "not used", ...
  bool warns = false;  // nobody asked for what became of it
};

// A tensor the program still holds when it ends.
struct Held {
  TensorState state;
  TargetName name;
};

struct Ending {
  bool abnormal = false;  // an uncaught exception or a non-zero exit
  bool exception = false;
  bool about_values = false;  // the exception's words are about NaN or Inf
  bool blunder = false;       // a KeyError, a TypeError, Ctrl-C: not for a value's sake
  std::string text;
  Place place;
  std::vector<TensorState> locals;     // bad tensors in the last frames of an uncaught exception
  std::vector<LeafGrad> leaves;        // every live leaf that has a gradient
  std::vector<TensorState> gradients;  // live results of autograd.grad()
  std::vector<Held> held;              // names of __main__ first, then everything alive
};

// What the program did before the watch began: counted by others, and all of it went well.
struct Past {
  std::int64_t backwards = 0;
  std::int64_t steps = 0;          // of optimizers
  std::int64_t healthy_steps = 0;  // those, and one that has just begun
};

class Judge {
 public:
  using OnError = std::function<void(const Verdict&)>;

  struct State;  // judge_state.h; not for callers

  explicit Judge(World& world);
  ~Judge();
  // Called under the lock, as soon as the harm is known; `again` when the origin of an earlier
  // verdict does harm once more.
  void on_error(OnError callback, OnError again = nullptr);
  void be_strict();  // every birth is an error

  // ---- ops
  [[nodiscard]] const Ledger& ledger() const;  // for the lock-free `knows`
  // What the ledger says of a tensor; asked before the call, since in-place ops destroy it.
  [[nodiscard]] std::vector<EventId> events_of(const TensorState& tensor);
  void op_returned(const OpRecord& record, FactsMaker& facts);
  void op_raised(const OpRecord& record, const std::string& text, FactsMaker& facts);

  // ---- the program
  using RootId = std::uint64_t;
  // `way`: lines of the nearest 64 graph nodes, given only for a healthy root and only for
  // the first 200 of them.
  RootId backward_begins(std::span<const TensorState> roots, const Place& place,
                         std::span<const std::uint32_t> way);
  // `leaves`: those with a gradient; all of them if the root was bad, else at least the bad.
  void backward_ended(RootId root, std::span<const LeafGrad> leaves);
  void grad_ended(RootId root, std::span<const TensorState> results);
  // Something bad was made since this one began.
  [[nodiscard]] bool made_bad(RootId root);
  // It ended by an exception; `about_nan`: whose words are about NaN or Inf (anomaly mode).
  void backward_raised(RootId root, bool about_nan, const std::string& text);
  void optimizer_made();
  void step_begins(std::span<const LeafGrad> params, bool found_inf, const Place& place);
  void step_ended(std::span<const Held> bad_state, const Place& place);
  // A parameter or buffer of a module was set to this value.
  void value_registered(const TensorState& value, Target target, const TargetName& name,
                        const Place& place);
  void gradients_dropped(std::span<const TensorId> gradients);            // zero_grad, grad = None
  void scaler_updated(bool found_inf, double scale, const Place& place);  // scale: after the update
  // repr, numpy(), tolist(); `decides` is false for printing.
  void host_read(const TensorState& tensor, bool decides, const Place& place);
  // A tensor is handed to another process. What was born here is read there; what came from
  // outside is judged by the one who uses it.
  void handed_over(const TensorState& tensor, const Place& place);
  void ended(const Ending& ending);
  // This is a child now: it has its parent's values, and none of its parent's pending affairs.
  void forked();
  // Nobody watched for a while: what was known of storages and pending affairs is forgotten.
  void begin_anew();
  // The watch begins in the midst of a program.
  void take_over(const Past& past);
  // While the answer lives, nobody is inside: for a fork.
  [[nodiscard]] std::unique_lock<std::mutex> pause() { return std::unique_lock(lock_); }

  // ---- afterwards
  [[nodiscard]] std::vector<Note> notes() const;
  [[nodiscard]] std::int64_t steps()
      const;  // optimizer steps; without an optimizer, backward calls
  [[nodiscard]] std::uint64_t evicted() const;

  // ---- any thread, no lock
  [[nodiscard]] std::int64_t current_step() const noexcept {
    return step_.load(std::memory_order_relaxed);
  }
  // A bad loss or gradient waits to be used or thrown away: ops that zero (traits.zeroes) are to
  // be told, finite or not.
  [[nodiscard]] bool awaits_gradients() const noexcept {
    return awaits_.load(std::memory_order_relaxed);
  }

 private:
  class Session;  // the lock, and what is published when it is given back
  mutable std::mutex lock_;
  std::unique_ptr<State> state_;
  std::atomic<std::int64_t> step_{0};
  std::atomic<bool> awaits_{false};
};

}  // namespace nanscope
