#include "origin/judge.h"

#include "origin/judge_state.h"

namespace nanscope {

class Judge::Locked {
 public:
  explicit Locked(Judge& judge) : judge_(judge), lock_(judge.lock_) {}
  ~Locked() {
    judge_.step_.store(judge_.state_->steps(), std::memory_order_relaxed);
    judge_.awaits_.store(judge_.state_->awaits_gradients(), std::memory_order_relaxed);
    judge_.numbers_read_.store(judge_.state_->host_numbers.kinds_read(), std::memory_order_relaxed);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

  JudgeState* operator->() { return judge_.state_.get(); }

 private:
  Judge& judge_;
  std::lock_guard<std::mutex> lock_;
};

Judge::Judge(World& world) : state_(std::make_unique<JudgeState>(world)) {}

Judge::~Judge() = default;

void Judge::on_error(OnVerdict callback, OnVerdict again) {
  Locked(*this)->verdicts.on_error(std::move(callback), std::move(again));
}

void Judge::on_other_read(std::function<void()> callback) {
  Locked(*this)->on_other_read = std::move(callback);
}

void Judge::be_strict() { Locked(*this)->strict = true; }

const Ledger& Judge::ledger() const { return state_->ledger; }

std::vector<EventId> Judge::events_of(const TensorState& tensor) {
  return Locked(*this)->ledger.events_of(tensor);
}

void Judge::op_returned(const OpRecord& record, FactsMaker& facts) {
  Locked(*this)->op_returned(record, facts);
}

void Judge::op_raised(const OpRecord& record, const std::string& text, FactsMaker& facts) {
  Locked(*this)->op_raised(record, text, facts);
}

Judge::RootId Judge::backward_begins(std::span<const TensorState> roots, const Place& place,
                                     std::span<const std::uint32_t> way, bool scaled) {
  return Locked(*this)->backward_begins(roots, place, way, scaled);
}

void Judge::backward_ended(RootId root, std::span<const LeafGrad> leaves) {
  Locked(*this)->backward_ended(root, leaves);
}

void Judge::grad_ended(RootId root, std::span<const TensorState> results) {
  Locked(*this)->grad_ended(root, results);
}

bool Judge::made_bad(RootId root) {
  Locked locked(*this);
  const Root* found = locked->find_root(root);
  return found != nullptr && locked->events.next_id() > found->first_event;
}

void Judge::backward_raised(RootId root, bool about_nan, const std::string& text) {
  Locked(*this)->backward_raised(root, about_nan, text);
}

void Judge::optimizer_made() { ++Locked(*this)->optimizers; }

void Judge::step_begins(std::span<const LeafGrad> params, bool found_inf, const Place& place) {
  Locked(*this)->step_begins(params, found_inf, place);
}

void Judge::step_ended(std::span<const Held> bad_state, const Place& place) {
  Locked(*this)->step_ended(bad_state, place);
}

void Judge::value_registered(const TensorState& value, Target target, const TargetName& name,
                             const Place& place) {
  Locked(*this)->value_registered(value, target, name, place);
}

void Judge::gradients_dropped(std::span<const TensorId> gradients) {
  Locked(*this)->gradients_dropped(gradients);
}

void Judge::scaler_updated(bool found_inf, double scale, const Place& place, TensorId scaler) {
  Locked(*this)->scaler_updated(found_inf, scale, place, scaler);
}

void Judge::host_read(const TensorState& tensor, const HostValues& values, bool decides,
                      const Place& place) {
  Locked(*this)->host_read(tensor, values, decides, place);
}

void Judge::copied_out(const TensorState& tensor, const HostValues& values) {
  Locked(*this)->copied_out(tensor, values);
}

void Judge::overwritten(const TensorState& tensor) { Locked(*this)->ledger.drop(tensor); }

std::optional<Verdict> Judge::handed_over(const TensorState& tensor, const Place& place,
                                          bool read_there) {
  return Locked(*this)->handed_over(tensor, place, read_there);
}

void Judge::only_eager(const TensorState& replayed) {
  Locked locked(*this);
  locked->fate(locked->ledger.events_of(replayed), Fate::kOnlyEager);
}

void Judge::ended(const Ending& ending) { Locked(*this)->ended(ending); }

void Judge::forked() { Locked(*this)->forked(); }
void Judge::begin_anew() { Locked(*this)->begin_anew(); }
void Judge::put_back() { Locked(*this)->put_back(); }
void Judge::take_over(const Past& past) { Locked(*this)->take_over(past); }

bool Judge::was_discarded_at(std::uint32_t stack) const {
  const std::lock_guard<std::mutex> lock(lock_);
  return state_->events.was_discarded_at(stack);
}

std::vector<Note> Judge::notes() const {
  const std::lock_guard<std::mutex> lock(lock_);
  return state_->notes.list();
}

std::vector<Note> Judge::intended() const {
  const std::lock_guard<std::mutex> lock(lock_);
  return state_->notes.intended();
}

std::int64_t Judge::intended_more() const {
  const std::lock_guard<std::mutex> lock(lock_);
  return state_->notes.intended_more();
}

std::int64_t Judge::steps() const {
  const std::lock_guard<std::mutex> lock(lock_);
  return state_->steps();
}

std::int64_t Judge::healthy_steps() const {
  const std::lock_guard<std::mutex> lock(lock_);
  return state_->healthy_steps;
}

std::uint64_t Judge::evicted() const {
  const std::lock_guard<std::mutex> lock(lock_);
  return state_->evicted();
}

}  // namespace nanscope
