// For the tests: a program in miniature. Tensors, ops by name and training moments,
// reported to a judge the way the adapter reports them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "origin/event_facts.h"
#include "origin/judge.h"
#include "origin/op_traits.h"
#include "records/words.h"

namespace nanscope::test {

constexpr Kinds kFinite{};
constexpr Kinds kNan{true, false};
constexpr Kinds kInf{false, true};
constexpr Kinds kBoth{true, true};

struct Tensor {
  TensorState state;
  TensorId id;
  bool was_finite = false;  // when a watched op wrote it
};

// A parameter (leaf) and its gradient, by number.
struct Leaf {
  TensorId id;
  Tensor data;
  std::string name;
};

struct Options {
  std::uint32_t line = 0;
  Phase phase = Phase::kForward;
  std::string node = {};
  bool grad = false;
  bool constant = false;  // a non-finite number among the arguments
  bool same = false;
  bool in_scaler = false;
  bool printing = false;
  bool all_zero = false;
  bool some_zero = false;
  bool floating = true;
  bool elementwise = false;
  bool fresh_nan = false;
  bool fresh_inf = false;
  bool inf_was_nan = false;
  bool born_of_zero = false;
  std::vector<Correspondence::Feed> feeds = {};  // one per input
};

class FakeWorld : public World {
 public:
  void hold(StorageId storage) override { ++held_[storage.value]; }
  void release(StorageId storage) override {
    if (--held_[storage.value] > 0) return;
    held_.erase(storage.value);
    dead_.erase(storage.value);
  }
  bool alive(StorageId storage) override { return !dead_.contains(storage.value); }
  std::optional<LeafGrad> leaf(TensorId leaf) override {
    const auto found = leaves.find(leaf.value);
    if (found == leaves.end()) return std::nullopt;
    return found->second;
  }
  void kill(StorageId storage) {
    if (held_.contains(storage.value)) dead_.insert(storage.value);
  }
  [[nodiscard]] std::size_t held() const { return held_.size(); }
  std::optional<Receipt> receipt_of(const TensorState& state) override {
    const auto found = receipts.find(state.storage.value);
    return found == receipts.end() ? std::nullopt : std::optional(found->second);
  }

  std::map<std::uint64_t, LeafGrad> leaves;
  std::map<std::uint64_t, Receipt> receipts;  // by storage

 private:
  std::unordered_map<std::uint64_t, int> held_;
  std::unordered_set<std::uint64_t> dead_;  // while they are held
};

class Program : public FactsMaker {
 public:
  Program() : judge(world) {
    judge.on_error([this](const Verdict& verdict) { reported.push_back(verdict); });
  }

  // ---- tensors
  Tensor tensor(Kinds kinds = kFinite, bool requires_grad = false) {
    Tensor made;
    made.state.storage = {next_++};
    made.id = {next_++};
    made.state.range = {0, 64};
    made.state.kinds = kinds;
    made.state.requires_grad = requires_grad;
    return made;
  }
  void kill(const Tensor& tensor) { world.kill(tensor.state.storage); }

  // ---- ops
  Tensor op(const std::string& name, std::vector<Tensor> inputs, Kinds out, Options options = {}) {
    Tensor result = tensor(out, options.grad);
    OpRecord record = begin(name, inputs, options);
    if (options.floating) record.writes.push_back(write(result, options));
    report(record);
    return result;
  }
  // `target` is written; it is read too unless the op overwrites it.
  void inplace(const std::string& name, Tensor& target, std::vector<Tensor> inputs, Kinds out,
               Options options = {}, Target what = Target::kNone,
               const std::string& target_name = "") {
    if (!info(name)->traits.overwrites) inputs.insert(inputs.begin(), target);
    OpRecord record = begin(name, inputs, options);
    OpRecord::Write written = write(target, options);
    written.existed = true;
    written.before = target.state.kinds;
    written.state.kinds = out;
    written.target = what;
    written.target_name.text = target_name;
    if (options.floating) record.writes.push_back(written);
    report(record);
    target.state.kinds = out;
  }
  void raises(const std::string& name, std::vector<Tensor> inputs, const std::string& text,
              Options options = {}) {
    judge.op_raised(begin(name, inputs, options), text, *this);
  }

  // Common phrases.
  Tensor mask(std::uint32_t line = 1) {
    return op("full", {}, kInf, {.line = line, .constant = true});
  }
  Tensor data() { return tensor(); }
  Tensor brought(Kinds kinds) { return tensor(kinds); }  // from a file: the ledger knows nothing
  void test(const Tensor& x, std::uint32_t line = 90) {
    op("isnan", {x}, kFinite, {.line = line, .floating = false});
  }
  void item(const Tensor& x, std::uint32_t line = 91) {
    op("_local_scalar_dense", {x}, kFinite, {.line = line, .floating = false});
  }

  // ---- training
  Leaf parameter(const std::string& name = "w", bool in_optimizer = true) {
    Leaf leaf{{next_++}, tensor(kFinite, true), name};
    LeafGrad grad;
    grad.leaf = leaf.id;
    grad.name.text = name;
    grad.in_optimizer = in_optimizer;
    world.leaves[leaf.id.value] = grad;
    return leaf;
  }
  void set_grad(const Leaf& leaf, const Tensor& grad) {
    LeafGrad& now = world.leaves.at(leaf.id.value);
    now.grad = grad.id;
    now.state = grad.state;
    ++now.version;
  }
  void clear_grad(const Leaf& leaf) {
    LeafGrad& now = world.leaves.at(leaf.id.value);
    now.grad = {};
    now.state = {};
  }
  void kill(const Leaf& leaf) { world.leaves.erase(leaf.id.value); }

  [[nodiscard]] std::vector<LeafGrad> leaves() const {
    std::vector<LeafGrad> all;
    for (const auto& [id, leaf] : world.leaves) {
      if (leaf.grad.value != 0) all.push_back(leaf);
    }
    return all;
  }
  // loss.backward() that leaves `grad` (made by an op before) in the leaf.
  void backward(const Tensor& loss, const Leaf& leaf, const Tensor& grad, std::uint32_t line = 70,
                std::vector<std::uint32_t> way = {}) {
    const auto root = begin_backward(loss, line, way);
    set_grad(leaf, grad);
    judge.backward_ended(root, leaves());
  }
  Judge::RootId begin_backward(const Tensor& loss, std::uint32_t line = 70,
                               std::vector<std::uint32_t> way = {}) {
    return judge.backward_begins(std::vector<TensorState>{loss.state}, at(line), way);
  }
  void autograd_grad(const Tensor& loss, std::vector<Tensor> results, std::uint32_t line = 71) {
    const auto root = begin_backward(loss, line);
    std::vector<TensorState> states;
    for (const Tensor& result : results) states.push_back(result.state);
    judge.grad_ended(root, states);
  }
  void step(std::uint32_t line = 80, bool found_inf = false) {
    judge.step_begins(leaves(), found_inf, at(line));
    judge.step_ended({}, at(line));
  }
  void zero_grad() {
    std::vector<TensorId> ids;
    for (const LeafGrad& leaf : leaves()) ids.push_back(leaf.grad);
    judge.gradients_dropped(ids);
    for (auto& [id, leaf] : world.leaves) leaf.grad = {};
  }
  // One healthy iteration.
  void healthy_iteration(const Leaf& leaf, std::vector<std::uint32_t> way = {}) {
    backward(tensor(), leaf, tensor(), 70, way);
    step();
    zero_grad();
  }
  void end(bool abnormal = false, std::vector<Held> held = {}) {
    Ending ending;
    ending.abnormal = abnormal;
    ending.place = at(99);
    ending.leaves = leaves();
    ending.held = std::move(held);
    judge.ended(ending);
  }

  // ---- the outcome
  [[nodiscard]] bool clean() const { return reported.empty(); }
  // "log:41 by loss", of the first error.
  [[nodiscard]] std::string verdict(std::size_t which = 0) const {
    if (which >= reported.size()) return "clean";
    const Verdict& verdict = reported[which];
    return short_name(verdict.origin) + " by " + std::string(word_of(verdict.harm));
  }
  // "log:41 cleaned", all of them.
  [[nodiscard]] std::string notes() const { return listed(judge.notes()); }
  static std::string listed(const std::vector<Note>& notes) {
    std::string all;
    for (const Note& note : notes) {
      all += (all.empty() ? "" : "; ") + short_name(note.first) + " " + note.why;
      if (note.count != 1) all += " x" + std::to_string(note.count);
    }
    return all;
  }
  // "masked_fill:7 cleaned", all of what was put there and did no harm.
  [[nodiscard]] std::string intended() const { return listed(judge.intended()); }
  static std::string short_name(const EventView& event) {
    return (event.op == nullptr ? "?" : event.op->name) + ":" + std::to_string(event.place.line);
  }

  std::shared_ptr<const EventFacts> facts(std::optional<std::size_t> read) override {
    ++facts_made;
    ++*facts_alive;
    // A verdict may outlive the program that it is about.
    auto* made = new EventFacts;
    made->finding.origin.output = read ? static_cast<int>(*read) : -1;
    made->born_of_zero = born_of_zero_;
    return {made, [alive = facts_alive](const EventFacts* facts) {
              --*alive;
              delete facts;
            }};
  }
  static Place at(std::uint32_t line) {
    Place place;
    place.line = line;
    place.stack = line;
    return place;
  }
  const OpInfo* info(const std::string& name) {
    auto found = ops_.find(name);
    if (found == ops_.end()) found = ops_.emplace(name, OpInfo{name, traits_of(name)}).first;
    return &found->second;
  }

  int facts_made = 0;
  std::shared_ptr<int> facts_alive = std::make_shared<int>(0);
  FakeWorld world;
  Judge judge;
  std::vector<Verdict> reported;

 private:
  OpRecord begin(const std::string& name, const std::vector<Tensor>& inputs,
                 const Options& options) {
    OpRecord record;
    born_of_zero_ = options.born_of_zero;
    record.op = info(name);
    record.place = at(options.line);
    record.place.phase = options.phase;
    record.place.node = options.node;
    record.place.in_scaler = options.in_scaler;
    record.place.printing = options.printing;
    record.place.step = judge.current_step();
    record.grad = options.grad;
    record.nonfinite_scalar = options.constant;
    record.same_operands = options.same;
    record.elementwise = options.elementwise;
    record.fresh_nan = options.fresh_nan;
    record.fresh_inf = options.fresh_inf;
    record.inf_was_nan = options.inf_was_nan;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      OpRecord::Read read;
      read.state = inputs[i].state;
      read.known = judge.events_of(read.state);
      read.was_finite = inputs[i].was_finite;
      if (i < options.feeds.size()) read.feed = options.feeds[i];
      record.reads.push_back(read);
    }
    return record;
  }
  static OpRecord::Write write(const Tensor& tensor, const Options& options) {
    OpRecord::Write written;
    written.state = tensor.state;
    written.tensor = tensor.id;
    written.all_zero = options.all_zero;
    written.some_zero = options.all_zero || options.some_zero;
    return written;
  }
  // As the adapter does: healthy ops are not reported.
  void report(const OpRecord& record) {
    bool concerns = record.op->traits.zeroes && judge.awaits_gradients();
    for (const OpRecord::Read& read : record.reads) {
      concerns |= read.state.kinds.any() || judge.ledger().knows(read.state.storage);
    }
    for (const OpRecord::Write& written : record.writes) {
      concerns |= written.state.kinds.any() || judge.ledger().knows(written.state.storage);
    }
    if (concerns) judge.op_returned(record, *this);
  }

  std::map<std::string, OpInfo> ops_;
  bool born_of_zero_ = false;  // of the op that is reported
  std::uint64_t next_ = 1;
};

}  // namespace nanscope::test
