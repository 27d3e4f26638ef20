// The judge: reports of the running program in, verdicts out. The verdict model is docs/verdict.md.
//
// Note [What the judge does]
//
// What is reported to it. Of ops only those where something non-finite went in or came out, or that
// touch memory which the ledger knows (OpRecord); of the program the moments that no op shows: a
// backward begins and ends, an optimizer steps, gradients are dropped, a loss scaler decides,
// Python reads a value, a tensor goes to another process, the program ends. It looks at no tensor
// itself; what it must know later it asks of the World.
//
// What it makes of that. Every op call with a bad result is an event. An event is an origin (a
// birth, a declared constant, data, garbage of an allocation, the work of something unwatched) or
// it carries what went in; it takes its origins along from the events of its inputs, so no graph is
// searched later. The ledger says which event lies in which memory.
//
// When it judges. A bad value alone is no error: masks are made of -inf, and what is cleaned,
// tested or thrown away hurt nobody. Judged is harm, at the first moment that shows it: a parameter
// or buffer is written bad, an op raises because of what it was given, a step begins with a bad
// gradient or with gradients of a bad loss, an optimizer's state is bad after its step. What may
// still be thrown away waits: a bad loss, a bad gradient, a value that Python tested. At the end of
// the program whatever still waits is judged, in the order of judge_end.cc. The origins of what did
// harm are named; the first of them becomes the Verdict, once per op and line. An origin that did
// no harm becomes a Note.
//
// How much it remembers. Nothing grows with the length of the run: 4,096 storages, the last 16,384
// events and older ones that something still refers to, 8 origins of each kind and 8 parents per
// event, 5,000 losses and 64 gradients that wait, 256 tests and 1,024 reads, 1,024 sites of notes,
// 64 of constants, 500 verdicts with a chain of 16 links. What is forgotten because of a bound is
// counted
// (`evicted`), and the report says so.
//
// Threads. Every method takes the one lock; only `knows` of the ledger, `current_step` and
// `awaits_gradients` are asked without it, by every op. A verdict is reported on the thread that
// did harm, under the lock. None of this is on the hot path.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "origin/ending.h"
#include "origin/op_record.h"
#include "origin/verdict.h"
#include "origin/world.h"

namespace nanscope {

struct JudgeState;  // judge_state.h

class Judge {
 public:
  explicit Judge(World& world);
  ~Judge();
  // Called under the lock, as soon as the harm is known; `again` when the origin of an earlier
  // verdict does harm once more.
  void on_error(OnVerdict callback, OnVerdict again = nullptr);
  void be_strict();  // every birth is an error
  // The host read something bad that no gradient flows through: called under the lock.
  void on_other_read(std::function<void()> callback);

  // ---- ops
  [[nodiscard]] const Ledger& ledger() const;  // for the lock-free `knows`
  // What the ledger says of a tensor; asked before the call, since in-place ops destroy it.
  [[nodiscard]] std::vector<EventId> events_of(const TensorState& tensor);
  void op_returned(const OpRecord& record, FactsMaker& facts);
  void op_raised(const OpRecord& record, const std::string& text, FactsMaker& facts);

  // ---- the program
  using RootId = nanscope::RootId;
  // `way`: lines of the nearest 64 graph nodes, given only for a healthy root and only for
  // the first 200 of them. `scaled`: a GradScaler multiplied the loss.
  RootId backward_begins(std::span<const TensorState> roots, const Place& place,
                         std::span<const std::uint32_t> way, bool scaled = false);
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
  void gradients_dropped(std::span<const TensorId> gradients);  // zero_grad, grad = None
  // `scale`: after the update. `scaler`: its scale, which tells it from others.
  void scaler_updated(bool found_inf, double scale, const Place& place, TensorId scaler = {});
  // repr, numpy(), tolist(); `decides` is false for printing.
  void host_read(const TensorState& tensor, const HostValues& values, bool decides,
                 const Place& place);
  // Something that is not watched writes over this memory: what was known of it is gone.
  void overwritten(const TensorState& tensor);
  // It is pickled or saved, and may come back.
  void copied_out(const TensorState& tensor, const HostValues& values);
  // A tensor is handed to another process. What was born here is read there; what came from
  // outside is judged by the one who uses it.
  // `read_there`: as if the host had read it; not so of what a rank gives into a collective.
  std::optional<Verdict> handed_over(const TensorState& tensor, const Place& place,
                                     bool read_there = true);
  // A compiled region was run again eagerly: this result of the replay is bad, and that of the
  // program is finite.
  void only_eager(const TensorState& replayed);
  void ended(const Ending& ending);
  // This is a child now: it has its parent's values, and none of its parent's pending affairs.
  void forked();
  // Nobody watched for a while: what was known of storages and pending affairs is forgotten.
  void begin_anew();
  // The program has put back what the last harm had spoilt: what is pending from before is over.
  void put_back();
  // The watch begins in the midst of a program.
  void take_over(const Past& past);
  // While the answer lives, nobody is inside: for a fork.
  [[nodiscard]] std::unique_lock<std::mutex> pause() { return std::unique_lock(lock_); }

  // A value that was born at this place in the forward was replaced on purpose: where, a mask.
  [[nodiscard]] bool was_discarded_at(std::uint32_t stack) const;

  // ---- afterwards
  [[nodiscard]] std::vector<Note> notes() const;
  // What the program put there itself and did no harm; at most Notes::kMostIntended sites.
  [[nodiscard]] std::vector<Note> intended() const;
  [[nodiscard]] std::int64_t intended_more() const;  // at further sites
  [[nodiscard]] std::int64_t steps()
      const;  // optimizer steps; without an optimizer, backward calls
  [[nodiscard]] std::int64_t healthy_steps() const;
  [[nodiscard]] std::uint64_t evicted() const;

  // ---- any thread, no lock
  [[nodiscard]] std::int64_t current_step() const noexcept {
    return step_.load(std::memory_order_relaxed);
  }
  // The host has read bad numbers.
  [[nodiscard]] bool has_host_read() const noexcept {
    return numbers_read_.load(std::memory_order_relaxed) != 0;
  }
  // The host has read bad numbers that one of these kinds may come from.
  [[nodiscard]] bool has_host_read(NumberKinds kinds) const noexcept {
    return (numbers_read_.load(std::memory_order_relaxed) & kinds.bits()) != 0;
  }
  // A bad loss or gradient waits to be used or thrown away: ops that zero (traits.zeroes) are to
  // be reported, finite or not.
  [[nodiscard]] bool awaits_gradients() const noexcept {
    return awaits_.load(std::memory_order_relaxed);
  }

 private:
  class Locked;  // the lock, and what is published when it is given back
  mutable std::mutex lock_;
  std::unique_ptr<JudgeState> state_;
  std::atomic<std::int64_t> step_{0};
  std::atomic<bool> awaits_{false};
  std::atomic<std::uint8_t> numbers_read_{0};
};

}  // namespace nanscope
