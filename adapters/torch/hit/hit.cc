#include "adapters/torch/hit/hit.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "adapters/torch/hit/facts.h"
#include "adapters/torch/hit/lately_bad.h"
#include "adapters/torch/hit/remade.h"
#include "adapters/torch/hit/rows.h"
#include "adapters/torch/ops/operands.h"
#include "adapters/torch/program/forewarn.h"
#include "adapters/torch/program/frames.h"
#include "adapters/torch/program/nodes.h"
#include "adapters/torch/watch/allocations.h"
#include "adapters/torch/watch/gil.h"
#include "adapters/torch/watch/places.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"
#include "scan/statistics.h"

namespace nanscope::torch_adapter {
namespace {

// Builds the record of one call, and the facts beside it.
class Recorder {
 public:
  Recorder(const Wrapper& wrapper, const Call& call, void* result, const Before* before,
           ResultsSeen seen)
      : facts(wrapper, call, result, before),
        wrapper_(wrapper),
        call_(call),
        result_(result),
        before_(before),
        seen_(seen),
        results_seen_finite_(seen == ResultsSeen::kFinite) {
    record.op = &wrapper.info;
  }

  OpRecord record;
  CallFacts facts;

  void read_inputs() {
    for (const NumberArgument& number : numbers_of(wrapper_, call_))
      record.numbers.add(number.value);
    record.nonfinite_scalar = record.numbers.any();
    nan_scalar_ = record.numbers.nan;
    const bool grad_mode = c10::GradMode::is_enabled();
    std::vector<at::Tensor> operands;
    each_tensor(wrapper_, call_, [&](const at::Tensor& input, std::size_t argument, int item) {
      record.grad |= grad_mode && input.requires_grad();
      operands.push_back(input);
      const ArgumentInfo& info = wrapper_.arguments[argument];
      if (wrapper_.rule != ScanRule::kLifts && (info.read || info.hidden_write)) {
        read_input(input, argument, item);
      }
    });
    if (wrapper_.rule == ScanRule::kReadsHost && !operands.empty())
      record.host_values = host_values_in(operands[0]);
    record.same_operands = operands.size() >= 2 && is_same_memory(operands[0], operands[1]);
  }

  void read_outputs() {
    if (call_.arguments == nullptr) {
      auto give = [&](const at::Tensor& output, std::size_t, int) {
        add_write(output, nullptr, false);
      };
      for (const c10::IValue& value : static_cast<const BoxedCall&>(call_).results)
        visit_boxed(value, 0, give);
    } else if (wrapper_.shape != ResultShape::kWrittenArguments) {
      each_output(wrapper_, call_, result_,
                  [&](const at::Tensor& output, int) { add_write(output, nullptr, false); });
    }
    each_tensor(wrapper_, call_, [&](const at::Tensor& target, std::size_t argument, int item) {
      const ArgumentInfo& info = wrapper_.arguments[argument];
      if (!info.written && !info.hidden_write) return;
      add_write(target, before_ == nullptr ? nullptr : before_->find(argument, item), true);
    });
  }

  // Which inputs explain which bad outputs.
  void correspond_elements() {
    facts.per_element = record.reads.empty();  // nothing bad went in: every bad element is its own
    if (record.nonfinite_scalar || !bad_output_ || record.reads.empty()) return;
    const bool rows = !wrapper_.pointwise && has(wrapper_.flags, OpFlags::kRowByRow);
    if (!wrapper_.pointwise && !rows) return;
    first_bad_output_ = kind_map_of(OwnedView(*bad_output_).view());
    for (std::size_t i = 0; i < input_kinds_.size(); ++i) {
      if (input_kinds_[i].sizes.empty() && input_kinds_[i].kinds.empty()) {
        input_kinds_[i] = kind_map_of(OwnedView(facts.read_tensors[i]).view());
      }
    }
    if (rows && !fold_rows()) return;
    const auto found = correspond(first_bad_output_, input_kinds_);
    if (!found) return;
    record.elementwise = true;
    record.fresh_nan = found->fresh_nan;
    record.fresh_inf = found->fresh_inf;
    for (std::size_t i = 0; i < record.reads.size(); ++i) record.reads[i].feed = found->feeds[i];
    facts.per_element = true;
    if (!rows) facts.elements = found->elements;
  }

  // Each bad result of an op of another library is one that an op inside it made.
  [[nodiscard]] bool is_made_inside() const {
    const auto is_known = [](const OpRecord::Write& write) {
      return !write.state.kinds.any() ||
             (!write.before.any() && !Watcher::get().judge().events_of(write.state).empty());
    };
    return bad_output_ && std::all_of(record.writes.begin(), record.writes.end(), is_known);
  }

  // Bad, though all that went in is finite.
  [[nodiscard]] bool is_born_of_finite() const {
    return bad_output_ && record.reads.empty() && !record.nonfinite_scalar;
  }
  [[nodiscard]] const at::Tensor& bad_output() const { return *bad_output_; }

  [[nodiscard]] bool worth_telling() const {
    // What was written is finite. What is bad beside it was so before, and nobody has read it.
    if (wrapper_.partial_write && seen_ == ResultsSeen::kPassedOver && record.reads.empty() &&
        !record.nonfinite_scalar)
      return false;
    if (!record.reads.empty() || bad_output_.has_value()) return true;
    const Judge& judge = Watcher::get().judge();
    if (wrapper_.info.traits.zeroes && judge.awaits_gradients()) return true;
    const Ledger& ledger = Watcher::get().ledger();
    for (const OpRecord::Write& write : record.writes) {
      if (ledger.knows(write.state.storage)) return true;
    }
    return false;
  }

 private:
  // A number that the interpreter turned into a tensor on the way to a fill or a copy.
  bool is_literal(const at::Tensor& input) const {
    const bool fills = wrapper_.info.traits.fills || wrapper_.info.traits.overwrites ||
                       wrapper_.rule == ScanRule::kPuts;
    return is_number(input) ||
           (fills && input.dim() == 0 &&
            !Watcher::get().storages().is_made(storage_of(*input.unsafeGetTensorImpl())));
  }

  void note_numbers(const at::Tensor& tensor) {
    const NumberKinds more = numbers_in(tensor);
    record.numbers.nan |= more.nan;
    record.numbers.pos_inf |= more.pos_inf;
    record.numbers.neg_inf |= more.neg_inf;
  }

  void read_input(const at::Tensor& input, std::size_t argument, int item) {
    const ArgumentInfo& info = wrapper_.arguments[argument];
    const c10::TensorImpl& impl = *input.unsafeGetTensorImpl();
    if (sight_of(impl) != Sight::kWatched) return;
    const Before::Bad* was_bad = before_ == nullptr ? nullptr : before_->find(argument, item);
    if (was_bad != nullptr) {
      add_read(input, was_bad->state, was_bad->known, was_bad->kinds, was_bad->allocation);
      if (was_bad->known.empty()) record.reads.back().pattern = pattern_of(was_bad->kinds);
      record.reads.back().from_other_device = was_bad->from_other_device;
      return;
    }
    const bool known_storage = Watcher::get().ledger().knows(storage_id(impl));
    const bool overwritten =
        info.written || info.hidden_write || (before_ != nullptr && before_->overwrites(argument));
    if (overwritten && !known_storage) return;
    const TensorState state = state_of_input(input);
    if (!state.kinds.any()) {
      // Finite, but of note: it lost its value to an absorbed Inf (the ledger's marks).
      if (known_storage) add_read(input, state, {}, {}, {});
      return;
    }
    if (overwritten) return;
    std::vector<EventId> known = Watcher::get().judge().events_of(state);
    if (known.empty() && is_literal(input)) {
      record.nonfinite_scalar = true;
      nan_scalar_ |= state.kinds.nan;
      note_numbers(input);
      return;
    }
    std::optional<OpRecord::Read::Allocation> allocation;
    if (known.empty()) allocation = allocation_under(input);
    const bool was_finite =
        known.empty() && !is_number(input) && Watcher::get().storages().was_finite(input);
    const bool unknown = known.empty();
    add_read(input, state, std::move(known), {}, std::move(allocation));
    record.reads.back().was_finite = was_finite;
    record.reads.back().from_other_device =
        unknown && Watcher::get().storages().is_from_other_device(input);
    if (unknown && Watcher::get().judge().has_host_read())
      record.reads.back().pattern = pattern_of(kind_map_of(OwnedView(input).view()));
  }

  // An unwatched hand may have written since: it is read where neither the
  // result speaks for it nor a mask is laid over it.
  TensorState state_of_input(const at::Tensor& input) const {
    const std::optional<Kinds> kinds =
        results_seen_finite_ ? LatelyBad::of_this_thread().kinds_of(input) : std::nullopt;
    if (kinds) {
      TensorState state = state_of(input, true);
      state.kinds = *kinds;
      return state;
    }
    const bool masks = wrapper_.rule == ScanRule::kPasses && record.nonfinite_scalar;
    return results_seen_finite_ || masks ? state_by_extent(input) : state_of(input);
  }

  // Only numbers are bad, and the op computes nothing: a first bad element tells of all.
  TensorState state_of_output(const at::Tensor& output) const {
    const bool all_written =
        !wrapper_.partial_write ||
        Watcher::get().storages().is_made(storage_of(*output.unsafeGetTensorImpl()));
    const bool constant = wrapper_.rule == ScanRule::kPasses && record.nonfinite_scalar &&
                          record.reads.empty() && !nan_scalar_ && all_written;
    if (!constant) return state_by_extent(output);
    TensorState state = state_of(output, true);
    state.kinds.inf = !is_finite(*output.unsafeGetTensorImpl());
    return state;
  }

  void add_read(const at::Tensor& input, const TensorState& state, std::vector<EventId> known,
                KindMap kinds, std::optional<OpRecord::Read::Allocation> allocation) {
    OpRecord::Read read;
    read.state = state;
    read.known = std::move(known);
    read.allocation = std::move(allocation);
    record.reads.push_back(std::move(read));
    facts.read_tensors.push_back(input);
    input_kinds_.push_back(std::move(kinds));
  }

  void add_write(const at::Tensor& output, const Before::Bad* was_bad, bool existed) {
    const c10::TensorImpl& impl = *output.unsafeGetTensorImpl();
    if (sight_of(impl) != Sight::kWatched) return;
    OpRecord::Write write;
    write.state = state_of_output(output);
    LatelyBad::of_this_thread().note(output, write.state);
    if (!facts.result) facts.result = output;
    write.existed = existed;
    if (was_bad != nullptr) write.before = was_bad->state.kinds;
    write.tensor = tensor_id(output);
    if (existed) {
      write.target = Watcher::get().world().target_of(output);
      write.target_name = TorchWorld::named_by_storage(output);
    }
    if (write.state.kinds.any()) {
      if (!bad_output_) bad_output_ = facts.result = output;
      if (is_foreign(impl) || Watcher::get().storages().is_lent(storage_of(impl)))
        write.shared = host_values_in(output);
      if (wrapper_.rule == ScanRule::kLifts) note_numbers(output);
    } else {
      for (const OpRecord::Read& read : record.reads) {
        if (read.state.kinds.inf && wrapper_.info.traits.absorbs) {
          const Statistics seen = statistics_of(OwnedView(output).view());
          if (seen.zeros == 0) break;
          const double dividend = largest_dividend();
          const double limit = largest_of(dtype_of(output.scalar_type()));
          write.all_zero = seen.zeros == seen.numel && dividend >= kWorthKeeping;
          // x / (1 + exp(-x)) loses nothing that counts.
          write.some_zero = write.all_zero || dividend >= 1e-3 * std::sqrt(limit);
          break;
        }
      }
    }
    record.writes.push_back(std::move(write));
  }

  // Below 4 the true quotient is too small for any type whose largest number the divisor passed:
  // 1 / (1 + exp(200)) is rightly 0. The root of such a divisor is not that large.
  static constexpr double kWorthKeeping = 4;

  // Infinite where nobody knows.
  double largest_dividend() const {
    constexpr double kUnknown = std::numeric_limits<double>::infinity();
    if (has(wrapper_.flags, OpFlags::kDividesOne)) return 1;
    if (!has(wrapper_.flags, OpFlags::kDividesByOther)) return kUnknown;
    double largest = 0;
    each_tensor(wrapper_, call_, [&](const at::Tensor& input, std::size_t argument, int) {
      const c10::TensorImpl& impl = *input.unsafeGetTensorImpl();
      if (!wrapper_.arguments[argument].read || sight_of(impl) != Sight::kWatched) return;
      if (wrapper_.arguments[argument].written) largest = kUnknown;
      const Statistics seen = statistics_of(OwnedView(input).view());
      if (seen.nan + seen.pos_inf + seen.neg_inf > 0 || !seen.min || !seen.max) return;
      largest = std::max({largest, std::fabs(*seen.min), std::fabs(*seen.max)});
    });
    return largest;
  }

  // Rows: the kinds of each input row, laid out so that they broadcast to the output.
  bool fold_rows() {
    const auto dims = dims_of(wrapper_, call_);
    if (!dims || input_kinds_.size() != 1) return false;
    const std::size_t rank = input_kinds_[0].sizes.size();
    input_kinds_[0] = reduce_kinds(input_kinds_[0], *dims);
    if (first_bad_output_.sizes.size() != rank) {  // keepdim=False
      first_bad_output_.sizes = input_kinds_[0].sizes;
      std::int64_t numel = 1;
      for (const std::int64_t size : first_bad_output_.sizes) numel *= size;
      if (numel != static_cast<std::int64_t>(first_bad_output_.kinds.size())) return false;
    }
    return true;
  }

  const Wrapper& wrapper_;
  const Call& call_;
  void* result_;
  const Before* before_;
  const ResultsSeen seen_;
  const bool results_seen_finite_;
  bool nan_scalar_ = false;
  std::vector<KindMap> input_kinds_;
  KindMap first_bad_output_;
  std::optional<at::Tensor> bad_output_;  // the first
};

// What the program's text says of the numbers that an op is given.
void ask_of_numbers(OpRecord& record) {
  record.numbers_spelled = is_spelled(record.numbers);
  if (!record.numbers_spelled) record.given_at = lines_of_names();
}

// Ops that ran before this one and were put off: Note [The window].
void settle_before_judging() {
  if (this_thread().then() == nullptr) Watcher::get().window().settle();
}

void destroy_result(const Wrapper& wrapper, void* result) {
  for (const ResultItem& item : wrapper.results) {
    void* place = static_cast<char*>(result) + item.offset;
    using Tensors = std::vector<at::Tensor>;
    if (item.kind == ResultItem::kTensor) static_cast<at::Tensor*>(place)->~Tensor();
    if (item.kind == ResultItem::kTensorVector) static_cast<Tensors*>(place)->~Tensors();
    if (item.kind == ResultItem::kSymInt) static_cast<c10::SymInt*>(place)->~SymInt();
  }
}

}  // namespace

void tell_hit(Wrapper& wrapper, Call& call, void* result, const Before* before, ResultsSeen seen) {
  if (!watching) return;  // a thread that outlived the judgement
  settle_before_judging();
  const Busy busy;
  const WithoutGil without_gil;
  Recorder recorder(wrapper, call, result, before, seen);
  recorder.read_inputs();
  recorder.read_outputs();
  if (!recorder.worth_telling()) return;
  if (wrapper.transparent && recorder.is_made_inside()) return;
  recorder.correspond_elements();
  recorder.record.place = current_place();
  if (Watcher::get().judge().has_host_read(recorder.record.numbers))
    ask_of_numbers(recorder.record);
  recorder.facts.in_backward = recorder.record.place.phase == Phase::kBackward;
  if (recorder.record.reads.empty() && recorder.record.nonfinite_scalar) {
    recorder.facts.declared_at = recorder.record.place.stack;
  }
  if (recorder.facts.in_backward)
    recorder.facts.forward_discarded =
        Watcher::get().judge().was_discarded_at(current_node().forward);
  if (recorder.is_born_of_finite() && recorder.record.place.phase != Phase::kBackward)
    recorder.facts.made_again = make_operand_again(wrapper, call, before, recorder.bad_output());
  const bool gives_numbers = recorder.record.reads.empty() && recorder.record.numbers.any();
  if (gives_numbers) recorder.facts.numbers = recorder.record.numbers;
  Watcher::get().judge().op_returned(recorder.record, recorder.facts);
}

void stop(const Wrapper& wrapper, const Call& call, void* result) {
  try {
    Watcher::get().stopping().stop_if_wanted();
  } catch (...) {
    if (call.arguments != nullptr && result != nullptr) destroy_result(wrapper, result);
    throw;
  }
}

void tell_raised(Wrapper& wrapper, Call& call, const Before* before) noexcept {
  // What raises in a replay of a region that returned did not raise in the program.
  if (!watching || this_thread().repeats_region()) return;
  try {
    settle_before_judging();
    const Busy busy;
    const WithoutGil without_gil;
    Recorder recorder(wrapper, call, nullptr, before, ResultsSeen::kBad);
    recorder.read_inputs();
    if (recorder.record.reads.empty()) return;
    recorder.record.place = current_place();
    Watcher::get().judge().op_raised(recorder.record, "", recorder.facts);
  } catch (...) {
  }
}

namespace {
void tell_scaler(const Wrapper& wrapper, const Call& call) {
  settle_before_judging();
  // _amp_update_scale_(self, growth_tracker, found_inf, ...)
  std::vector<double> values;
  TensorId scale;
  each_tensor(wrapper, call, [&](const at::Tensor& tensor, std::size_t, int) {
    if (values.empty()) scale = tensor_id(tensor);
    OwnedView first(tensor);
    first.sizes.clear();
    first.strides.clear();
    values.push_back(tensor.numel() == 1 && first.data != nullptr ? value_at(first.view(), {}).real
                                                                  : 0);
  });
  if (values.size() < 3) return;
  Watcher::get().history().loss_scale_seen(values[0]);
  const Busy busy;
  const WithoutGil without_gil;
  Watcher::get().judge().scaler_updated(values[2] > 0, values[0], current_place(), scale);
}
}  // namespace

void look_aside(const Wrapper& wrapper, const Call& call) {
  if (wrapper.adds_guard)
    watch_guard(wrapper, call);
  else
    tell_scaler(wrapper, call);
}

}  // namespace nanscope::torch_adapter
