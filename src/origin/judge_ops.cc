// Rules at an op: what kind of origin it is, if any, what it tests, cleans and absorbs, and
// whether a parameter or buffer became bad by it.
#include <algorithm>

#include "origin/event_facts.h"
#include "origin/judge_state.h"

namespace nanscope {
namespace {

bool is_test(const OpRecord& record) {
  const OpTraits& traits = record.op->traits;
  if (traits.tests || traits.amp_check) return true;
  return traits.compares && (record.same_operands || record.nonfinite_scalar);
}

// `metric < best`: a single value, of which the program goes on to ask yes or no.
bool orders_one_nan(const OpRecord& record) {
  constexpr std::uint64_t kLargestElement = 8;
  return record.op->traits.orders &&
         std::any_of(record.reads.begin(), record.reads.end(), [](const OpRecord::Read& read) {
           const ByteRange& range = read.state.range;
           return read.state.kinds.nan && range.hi - range.lo <= kLargestElement;
         });
}

bool gained(const OpRecord::Write& write) {
  return write.existed && ((write.state.kinds.nan && !write.before.nan) ||
                           (write.state.kinds.inf && !write.before.inf));
}

// Which kinds are in anything that was read, or written.
template <class ReadOrWrite>
Kinds all_kinds(const std::vector<ReadOrWrite>& all) {
  Kinds kinds;
  for (const ReadOrWrite& one : all) {
    kinds.nan |= one.state.kinds.nan;
    kinds.inf |= one.state.kinds.inf;
  }
  return kinds;
}

// The first kind that fits; nothing for a carrier. Only a call of the program's own can declare.
std::optional<OriginKind> origin_kind_of(const OpRecord& record, Kinds in, Kinds out,
                                         bool from_host) {
  const OpTraits& traits = record.op->traits;
  if (traits.allocates) return OriginKind::kUninitialised;
  if (traits.lifts && !from_host) return OriginKind::kDeclared;
  if (record.nonfinite_scalar && !from_host) {
    if (!in.any()) return OriginKind::kDeclared;
    if (traits.fills && out.inf && !in.inf) return OriginKind::kDeclared;
  }
  const bool fresh =
      record.elementwise && !record.nonfinite_scalar && (record.fresh_nan || record.fresh_inf);
  if (fresh || (out.nan && !in.nan) || (out.inf && !in.inf)) return OriginKind::kBirth;
  return std::nullopt;
}

// The kinds that are the op's own doing whatever went in.
Kinds made_by(std::optional<OriginKind> kind, Kinds in, Kinds out) {
  if (kind == OriginKind::kUninitialised) return out;
  if (kind == OriginKind::kDeclared) return {out.nan && !in.nan, out.inf && !in.inf};
  return {};
}

// One call at work: its bad inputs, and what comes of them.
class JudgedOp {
 public:
  JudgedOp(JudgeState& state, const OpRecord& record, FactsMaker& facts)
      : state_(state), record_(record), facts_(facts), traits_(record.op->traits) {}

  void returned();
  void raised(const std::string& text);

 private:
  void find_parents();
  void find_origin_of_numbers();
  EventId import(std::size_t number);  // what this read brought in from outside
  std::vector<EventId> received_instead(std::size_t number, std::vector<EventId> known);
  void note_readers();
  void drop_finite();
  void cleaned();
  void remember_cleaned();
  void absorbed();
  void warn_of(const std::vector<EventId>& lost);
  [[nodiscard]] std::vector<EventId> marks_read() const;
  void pass_on(const std::vector<EventId>& marks);
  void made_bad();
  EventId add_event(Kinds out);
  void judge_writes();

  JudgeState& state_;
  const OpRecord& record_;
  FactsMaker& facts_;
  const OpTraits& traits_;
  std::vector<BadRead> reads_;
  std::vector<EventId> parents_;  // of all of them, oldest first
  bool requires_grad_ = false;
  bool from_host_ = false;  // its numbers were read from tensors: Note [Through the host and back]
};

void JudgedOp::returned() {
  if (traits_.views) return;
  find_parents();
  if (!state_.pending_gradients.empty()) state_.poll();
  if (traits_.zeroes) state_.zeroed(record_);
  note_readers();
  const std::vector<EventId> marks = marks_read();
  drop_finite();
  if (all_kinds(record_.writes).any()) {
    made_bad();
  } else if (!parents_.empty()) {
    cleaned();
  } else {
    pass_on(marks);
  }
}

// Other ops raise because of shapes and types, whatever the values.
void JudgedOp::raised(const std::string& text) {
  if (!traits_.validates) return;
  find_parents();
  if (parents_.empty()) return;
  state_.verdicts.harm({HarmKind::kException, parents_, record_.place, {}, text});
}

// The events of the bad inputs; what the ledger does not know was brought in from outside.
void JudgedOp::find_parents() {
  if (record_.numbers.any()) find_origin_of_numbers();
  if (traits_.allocates || traits_.lifts) return;
  for (std::size_t i = 0; i < record_.reads.size(); ++i) {
    const OpRecord::Read& read = record_.reads[i];
    if (!read.state.kinds.any()) {
      state_.ledger.heal(read.state);
      continue;
    }
    requires_grad_ |= read.state.requires_grad;
    std::vector<EventId> ids = state_.matching(read.known, read.state.kinds);
    if (ids.empty()) ids = state_.matching(state_.ledger.events_of(read.state), read.state.kinds);
    if (ids.empty() && read.allocation) {
      const OriginKind kind =
          read.allocation->in_extension ? OriginKind::kUnwatched : OriginKind::kUninitialised;
      ids.push_back(state_.import(read.state, read.allocation->op, read.allocation->place,
                                  facts_.facts(i), kind));
    }
    if (!ids.empty() && !state_.explains(ids, read.state.kinds)) ids = received_instead(i, ids);
    if (ids.empty()) ids = state_.alive(state_.host_numbers.brought(read.pattern));
    if (ids.empty()) ids.push_back(import(i));
    parents_.insert(parents_.end(), ids.begin(), ids.end());
    reads_.push_back({std::move(ids), read.feed});
  }
  std::sort(parents_.begin(), parents_.end());
  parents_.erase(std::unique(parents_.begin(), parents_.end()), parents_.end());
}

// This rank gave an infinity into a collective, and got a NaN back: that is not its own.
std::vector<EventId> JudgedOp::received_instead(std::size_t number, std::vector<EventId> known) {
  const OpRecord::Read& read = record_.reads[number];
  const auto receipt = state_.world.receipt_of(read.state);
  if (!receipt) return known;
  return {state_.receive(read.state, *receipt, facts_.facts(number))};
}

EventId JudgedOp::import(std::size_t number) {
  const OpRecord::Read& read = record_.reads[number];
  const bool unwatched = read.was_finite || read.from_other_device;
  if (!unwatched) {
    if (const auto receipt = state_.world.receipt_of(read.state))
      return state_.receive(read.state, *receipt, facts_.facts(number));
  }
  const OriginKind kind = unwatched ? OriginKind::kUnwatched : OriginKind::kImported;
  const EventId id =
      state_.import(read.state, record_.op, record_.place, facts_.facts(number), kind);
  EventView& view = state_.events.find(id)->source->view;
  view.left_before = state_.host_numbers.explains(read.state.kinds);
  view.from_other_device = read.from_other_device;
  return id;
}

void JudgedOp::find_origin_of_numbers() {
  std::vector<EventId> ids = state_.alive(
      state_.host_numbers.given(record_.numbers, record_.numbers_spelled, record_.given_at));
  if (ids.empty()) return;
  from_host_ = true;
  parents_ = ids;
  reads_.push_back({std::move(ids), std::nullopt});
}

// The host, a test or the scaler's check looks at the bad inputs. Printing asks nothing.
void JudgedOp::note_readers() {
  if (parents_.empty() || record_.place.printing) return;
  if (traits_.reads_host) {
    state_.remember_host(parents_, record_.place);
    state_.host_numbers.read(record_.host_values, parents_, record_.place.line);
    state_.remember_read(parents_, requires_grad_, record_.place);
  }
  if ((traits_.compares && !is_test(record_)) || orders_one_nan(record_))
    state_.remember_other_read(parents_, record_.place);
  if (!is_test(record_)) return;
  for (const EventId id : parents_) state_.events.test(id);
  if (record_.place.in_scaler || traits_.amp_check) {
    state_.scaler_checked(parents_);
  } else {
    state_.remember_read(parents_, requires_grad_, record_.place);
  }
}

void JudgedOp::drop_finite() {
  for (const OpRecord::Write& write : record_.writes) {
    if (!write.state.kinds.any()) state_.ledger.drop(write.state);
  }
}

// Bad in, finite out.
void JudgedOp::cleaned() {
  if (record_.place.printing) return;
  if (traits_.deliberate) {
    for (const EventId id : parents_) {
      state_.events.replace(id);
      const Event* event = state_.events.find(id);
      if (event == nullptr) continue;
      for (const Origins* origins : {&event->nan, &event->inf})
        for (const OriginRef& ref : *origins) ref.source->discarded = true;
    }
  }
  if (record_.writes.empty()) return;
  state_.fate(parents_, Fate::kCleaned);
  remember_cleaned();
  if (traits_.absorbs && !traits_.deliberate) absorbed();
}

// A verdict shows the branches that ended well beside the one that did not.
void JudgedOp::remember_cleaned() {
  EventView here;
  here.op = record_.op;
  here.place = record_.place;
  const auto add = [&](Source& source) {
    const bool known =
        std::any_of(source.cleaned_by.begin(), source.cleaned_by.end(),
                    [&](const Cleaning& other) {
                      return other.by.op == here.op && other.by.place.line == here.place.line;
                    }) ||
        std::any_of(source.cleaned_more.begin(), source.cleaned_more.end(), [&](const auto& other) {
          return other == std::pair(here.op, here.place.line);
        });
    if (known) return;
    if (source.cleaned_by.size() >= Source::kMostCleaned) {
      if (source.cleaned_more.size() < Source::kMostCleanedMore)
        source.cleaned_more.emplace_back(here.op, here.place.line);
      return;
    }
    if (here.made == nullptr) here.made = facts_.made(!source.given());
    source.cleaned_by.push_back({here, parents_, {}});
    std::vector<EventId>& given = source.cleaned_by.back().given;
    if (given.size() > Events::kMostParents) given.resize(Events::kMostParents);
  };
  for (const EventId id : parents_) {
    const Event* event = state_.events.find(id);
    if (event == nullptr) continue;
    for (const Origins* origins : {&event->nan, &event->inf})
      for (const OriginRef& ref : *origins) add(*ref.source);
  }
}

// x / Inf = 0: nobody asked for that. Where the whole result is lost, follow it.
void JudgedOp::absorbed() {
  std::vector<EventId> lost;
  for (const EventId id : parents_) {
    const Event* event = state_.events.find(id);
    if (event == nullptr || !event->kinds.inf || event->kinds.nan) continue;
    const bool born = std::any_of(event->inf.begin(), event->inf.end(), [](const OriginRef& ref) {
      return !ref.source->given() || ref.source->view.kinds.nan;
    });
    if (born && !state_.infs_at_roots.contains(id)) lost.push_back(id);
  }
  if (lost.size() > Events::kMostParents) lost.resize(Events::kMostParents);
  for (const OpRecord::Write& write : record_.writes) {
    if (!write.some_zero) continue;
    if (!write.all_zero) warn_of(lost);
    for (const EventId id : lost)
      if (write.all_zero) state_.ledger.mark(write.state, id);
  }
}

// Elements were lost, not the whole: a warning, unless the program knows of the Inf.
void JudgedOp::warn_of(const std::vector<EventId>& lost) {
  std::vector<EventId> unknown = lost;
  std::erase_if(unknown, [&](EventId id) {
    const Event* event = state_.events.find(id);
    return event == nullptr || event->known || event->tested;
  });
  state_.fate(unknown, Fate::kDividedAway);
}

// Taken before the finite results are dropped: an in-place op reads what it writes.
std::vector<EventId> JudgedOp::marks_read() const {
  std::vector<EventId> marks;
  if (!state_.ledger.has_marks()) return marks;
  for (const OpRecord::Read& read : record_.reads) {
    const std::vector<EventId> found = state_.ledger.marks_of(read.state);
    marks.insert(marks.end(), found.begin(), found.end());
  }
  std::sort(marks.begin(), marks.end());
  marks.erase(std::unique(marks.begin(), marks.end()), marks.end());
  if (marks.size() > Events::kMostParents) marks.resize(Events::kMostParents);
  return marks;
}

void JudgedOp::pass_on(const std::vector<EventId>& marks) {
  for (const OpRecord::Write& write : record_.writes) {
    for (const EventId id : marks) state_.ledger.mark(write.state, id);
  }
}

void JudgedOp::made_bad() {
  const auto bad =
      std::find_if(record_.writes.begin(), record_.writes.end(),
                   [](const OpRecord::Write& write) { return write.state.kinds.any(); });
  // A tensor that is lifted twice was declared the first time.
  if (traits_.lifts && !state_.ledger.events_of(bad->state).empty()) return;
  const EventId id = add_event(all_kinds(record_.writes));
  for (const OpRecord::Write& write : record_.writes) {
    if (!write.state.kinds.any()) continue;
    state_.ledger.put(write.state, id);
    state_.host_numbers.read(write.shared, {id}, record_.place.line);
  }
  judge_writes();
}

EventId JudgedOp::add_event(Kinds out) {
  Kinds in = traits_.allocates || traits_.lifts ? Kinds{} : all_kinds(record_.reads);
  in.inf |= record_.inf_was_nan && in.nan;
  if (from_host_) {
    in.nan |= record_.numbers.nan;
    in.inf |= record_.numbers.pos_inf || record_.numbers.neg_inf;
  }
  Event event;
  event.id = state_.events.next_id();
  event.op = record_.op;
  event.origin_kind = origin_kind_of(record_, in, out, from_host_);
  event.kinds = out;
  event.place = record_.place;
  event.grad = record_.grad;
  event.tested = traits_.tests || traits_.amp_check;
  event.parents = parents_;
  const MakeSelf self = [&] {
    if (!event.source) {
      event.source = std::make_shared<Source>();
      event.source->view = event.view();
      event.source->view.facts = facts_.facts(std::nullopt);
      event.source->tested = event.tested;
      event.source->of_scaled_loss =
          event.place.phase == Phase::kBackward && state_.in_backward_of_scaled_loss();
      event.source->found_by_scaler = traits_.amp_check;
      if (const auto& facts = event.source->view.facts; facts != nullptr)
        event.source->born_of_zero = facts->born_of_zero;
    }
    return event.source;
  };
  Explained why = explain(record_, reads_, out, state_.events);
  if (traits_.leaves_nan_out && out.nan) {
    why.nan_from_nan.clear();
    why.fresh_nan = true;
  }
  // What no input explains was born here, whatever the inputs held.
  if (!event.origin_kind && (why.fresh_nan || why.fresh_inf)) {
    event.origin_kind = OriginKind::kBirth;
  }
  carry_origins(event, why, made_by(event.origin_kind, in, out), state_.events, self);
  const auto is_born = [](const OriginRef& ref) { return !ref.source->given(); };
  event.made = facts_.made(std::any_of(event.nan.begin(), event.nan.end(), is_born) ||
                           std::any_of(event.inf.begin(), event.inf.end(), is_born));
  if (event.source) event.source->view.made = event.made;
  const auto is_self = [&](const OriginRef& ref) { return ref.source == event.source; };
  const bool own = event.source && (std::any_of(event.nan.begin(), event.nan.end(), is_self) ||
                                    std::any_of(event.inf.begin(), event.inf.end(), is_self));
  const bool birth = own && event.origin_kind == OriginKind::kBirth && !record_.place.printing;
  if (birth) state_.notes.born(*event.source);
  // A constant that no text of the program spells is torch's own, or was computed.
  const auto& facts = own ? event.source->view.facts : nullptr;
  const bool spelled = facts == nullptr || !facts->not_spelled;
  if (own && event.source->declared() && spelled && !record_.place.printing)
    state_.notes.declared(*event.source);
  const std::shared_ptr<Source> source = birth && state_.strict ? event.source : nullptr;
  const EventId id = state_.add(std::move(event)).id;
  if (source) state_.verdicts.born(*source);
  return id;
}

// A parameter or buffer became bad, also by a write the schema hides.
void JudgedOp::judge_writes() {
  for (const OpRecord::Write& write : record_.writes) {
    if (write.target == Target::kNone || !gained(write)) continue;
    const HarmKind kind =
        write.target == Target::kParameter ? HarmKind::kParameter : HarmKind::kBuffer;
    std::vector<EventId> events = state_.blame_tensor(write.state, record_.place);
    const auto put_there = [&](const Event& event) { return state_.is_put_there(event); };
    if (kind == HarmKind::kBuffer && state_.all_events(events, put_there)) continue;
    state_.add_losses_behind(events);
    state_.verdicts.harm({kind, events, record_.place, write.target_name});
  }
}

}  // namespace

void JudgeState::op_returned(const OpRecord& record, FactsMaker& facts) {
  JudgedOp(*this, record, facts).returned();
}

void JudgeState::op_raised(const OpRecord& record, const std::string& text, FactsMaker& facts) {
  JudgedOp(*this, record, facts).raised(text);
}

}  // namespace nanscope
