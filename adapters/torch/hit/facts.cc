#include "adapters/torch/hit/facts.h"

#include <cmath>
#include <map>

#include "adapters/torch/hit/kept.h"
#include "adapters/torch/hit/makers.h"
#include "adapters/torch/hit/mended.h"
#include "adapters/torch/hit/rows.h"
#include "adapters/torch/hit/saved.h"
#include "adapters/torch/hit/what_if.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/watch/places.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"
#include "scan/statistics.h"

namespace nanscope::torch_adapter {
namespace {

constexpr std::size_t kMostIndices = 8;
constexpr std::size_t kMostInputs = 16;
constexpr std::size_t kMostLayers = 24;
constexpr std::int64_t kSmallResult = 4096;  // elements; counted at every hit

bool is_transposed(const OwnedView& view) {
  return view.strides.size() == 2 && view.strides[0] == 1 && view.strides[1] != 1;
}

// Its operands were finite, one of them exactly 0 where it failed, and no wider type mends it.
bool is_born_of_zero(const Finding& finding) {
  const auto is_finite = [](const Value& value) {
    return std::isfinite(value.real) && std::isfinite(value.imag);
  };
  if (!finding.exact || is_finite(*finding.exact)) return false;
  bool zero = false;
  for (const TensorFacts& input : finding.inputs) {
    if (input.saved || input.at_index.empty()) continue;
    const Value& value = input.at_index[0];
    if (!is_finite(value)) return false;
    zero |= value.real == 0 && value.imag == 0;
  }
  return zero;
}

// Under the judge's lock: the same constant of the same size, declared at every step.
using DeclaredFacts =
    std::map<std::tuple<const Wrapper*, StackId, std::int64_t>, std::shared_ptr<const EventFacts>>;
DeclaredFacts& declared_facts() {
  static auto& all = *new DeclaredFacts;
  return all;
}
constexpr std::size_t kMostDeclared = 4096;

}  // namespace

void CallFacts::describe_output(Finding& finding) const {
  Origin& origin = finding.origin;
  bool found = false;
  int number = 0;
  const auto describe_one = [&](const at::Tensor& output) {
    if (sight_of(*output.unsafeGetTensorImpl()) != Sight::kWatched ||
        finding.outputs.size() >= kMostInputs)
      return;
    const OwnedView view(output);
    TensorFacts tensor_facts = describe(output, view);
    add_pictures(tensor_facts, view);
    tensor_facts.name = "output " + std::to_string(number);
    const Statistics& seen = tensor_facts.statistics;
    if (!found && seen.nan + seen.pos_inf + seen.neg_inf > 0) {
      found = true;
      origin.output = number;
      origin.nan = seen.nan;
      origin.pos_inf = seen.pos_inf;
      origin.neg_inf = seen.neg_inf;
      origin.numel = seen.numel;
      origin.per_element = per_element;
      origin.indices = elements.empty() ? first_bad(view.view(), kMostIndices) : elements;
      if (!origin.indices.empty()) origin.value = value_at(view.view(), origin.indices[0]);
      add_values(tensor_facts, view, origin.indices);
    }
    finding.outputs.push_back(std::move(tensor_facts));
  };
  each_output(wrapper_, call_, result_, [&](const at::Tensor& output, int place) {
    number = place;
    describe_one(output);
  });
  each_hidden_write(wrapper_, call_, [&](const at::Tensor& target) {
    ++number;
    describe_one(target);
  });
}

std::vector<at::Tensor> CallFacts::describe_inputs(Facts& facts) const {
  Finding& finding = facts.finding;
  std::vector<at::Tensor> described;
  // Values at the failing element are shown only where the operand's element is known.
  const bool aligned = wrapper_.pointwise;
  each_tensor(wrapper_, call_, [&](const at::Tensor& input, std::size_t argument, int item) {
    const ArgumentInfo& info = wrapper_.arguments[argument];
    const std::string& name = wrapper_.argument_names[argument];
    if ((!info.read && !info.hidden_write) || finding.inputs.size() >= kMostInputs) return;
    if (is_number(input)) {
      finding.scalars.push_back({name, format_number(number_in(input))});
      return;
    }
    const Before::Kept* kept = before_ == nullptr ? nullptr : before_->kept_of(argument, item);
    const bool overwritten =
        info.written || info.hidden_write || (before_ != nullptr && before_->overwrites(argument));
    const OwnedView view = kept != nullptr ? kept->view : OwnedView(input);
    TensorFacts tensor_facts = describe(input, view);
    add_pictures(tensor_facts, view);
    tensor_facts.name = item < 0 ? name : name + "[" + std::to_string(item) + "]";
    tensor_facts.argument = tensor_facts.name;
    tensor_facts.parameter = Watcher::get().world().target_of(input) == Target::kParameter;
    if (kept != nullptr) {
      tensor_facts.remark = "as it was before the op overwrote it";
    } else if (overwritten) {
      tensor_facts.remark = "after the op; it was overwritten in place and not kept";
    }
    const bool as_it_was = kept != nullptr || info.hidden_write || !overwritten;
    if (aligned && as_it_was) add_values(tensor_facts, view, finding.origin.indices);
    if (as_it_was) add_healthy(tensor_facts, view);
    if (!aligned && as_it_was)
      tensor_facts.feeding = statistics_of_row(wrapper_, call_, view, finding);
    finding.inputs.push_back(std::move(tensor_facts));
    facts.arguments.push_back({name, item, false, is_transposed(view)});
    described.push_back(input);
  });
  return described;
}

void CallFacts::describe_numbers(Finding& finding) const {
  for (const NumberArgument& number : numbers_of(wrapper_, call_)) {
    finding.scalars.push_back(
        {wrapper_.argument_names[number.argument], format_number(number.value)});
  }
}

void CallFacts::describe_saved_tensors(Facts& facts, const std::vector<at::Tensor>& inputs) const {
  Finding& finding = facts.finding;
  for (const auto& [name, tensor] : saved_by_current_node().tensors) {
    if (finding.inputs.size() >= kMostInputs) break;
    if (sight_of(*tensor.unsafeGetTensorImpl()) != Sight::kWatched) continue;
    const bool aligned = !finding.outputs.empty() &&
                         tensor.sizes().vec() == finding.outputs[finding.origin.output].shape;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (is_same_memory(inputs[i], tensor)) facts.arguments[i].saved_as = finding.inputs.size();
    finding.inputs.push_back(describe_saved(name, tensor, finding, aligned));
    add_pictures(finding.inputs.back(), OwnedView(tensor));
    facts.arguments.push_back({name, -1, true});
  }
}

// What led to it: the ops behind the inputs, and the result in a wider type.
void CallFacts::describe_way_here(Facts& facts) const {
  MakerWalk walk;
  walk.in_backward = in_backward;
  each_tensor(wrapper_, call_, [&](const at::Tensor& input, std::size_t argument, int item) {
    const ArgumentInfo& info = wrapper_.arguments[argument];
    if (info.read && item < 0 && !is_number(input))
      walk.inputs.emplace_back(wrapper_.argument_names[argument], input);
  });
  describe_makers(walk, facts);
  if (!in_backward) facts.activations = activations_behind(walk, kMostLayers);
  if (Watcher::get().module_looks().is_due(wrapper_.info, stack_of_call()))
    facts.kept_by_modules = kept_behind(walk);
  recompute(wrapper_, call_, before_, facts.finding);
  mend_operands(wrapper_, call_, before_, facts.finding);
  facts.born_of_zero = is_born_of_zero(facts.finding);
  if (made_again) facts.finding.experiments.push_back(*made_again);
  if (forward_discarded) facts.finding.left_out_by = Link{"", {}, Phase::kForward, Role::kCleaned};
}

std::shared_ptr<const EventFacts> CallFacts::facts(std::optional<std::size_t> read) {
  if (!declared_at || read) return take_facts(read);
  std::int64_t numel = 0;
  each_output(wrapper_, call_, result_,
              [&](const at::Tensor& output, int) { numel += output.numel(); });
  DeclaredFacts& all = declared_facts();
  if (all.size() >= kMostDeclared) all.clear();
  std::shared_ptr<const EventFacts>& kept = all[{&wrapper_, *declared_at, numel}];
  if (kept == nullptr) kept = take_facts(read);
  return kept;
}

std::shared_ptr<const Made> CallFacts::made(bool born) {
  if (!result) return nullptr;
  auto made = std::make_shared<Made>();
  HitLooks& looks = Watcher::get().result_looks(born);
  if (result->numel() > kSmallResult && !looks.is_due(wrapper_.info, stack_of_call())) {
    made->dtype = type_name(*result);
    made->shape = result->sizes().vec();
    return made;
  }
  *made = as_made(describe(*result, OwnedView(*result)));
  return made;
}

std::shared_ptr<Facts> facts_of_outsider(const at::Tensor& tensor) {
  auto facts = std::make_shared<Facts>();
  const OwnedView view(tensor);
  TensorFacts tensor_facts = describe(tensor, view);
  add_pictures(tensor_facts, view);
  Origin& origin = facts->finding.origin;
  origin.nan = tensor_facts.statistics.nan;
  origin.pos_inf = tensor_facts.statistics.pos_inf;
  origin.neg_inf = tensor_facts.statistics.neg_inf;
  origin.numel = tensor_facts.statistics.numel;
  origin.per_element = true;
  origin.indices = first_bad(view.view(), kMostIndices);
  if (!origin.indices.empty()) origin.value = value_at(view.view(), origin.indices[0]);
  add_values(tensor_facts, view, origin.indices);
  facts->finding.inputs.push_back(std::move(tensor_facts));
  WrittenStorages& storages = Watcher::get().storages();
  origin.written_since = storages.is_shared_and_was_written(tensor);
  if (const auto other = storages.other_type_of(tensor); other && storages.was_finite(tensor)) {
    origin.reinterpreted = other->written;
    origin.viewed_as = type_name(other->viewed_as);
  }
  facts->pattern = pattern_in_memory(tensor);
  facts->numpy_births = Watcher::get().outside().numpy_births();
  facts->batches = Watcher::get().outside().batches();
  describe_unwatched_maker(tensor, *facts);
  return facts;
}

std::shared_ptr<const EventFacts> CallFacts::take_facts(std::optional<std::size_t> read) const {
  auto facts = std::make_shared<Facts>();
  Finding& finding = facts->finding;
  if (read && *read < read_tensors.size()) {
    // Imported: the tensor that brought the value is what matters.
    const at::Tensor& tensor = read_tensors[*read];
    facts = facts_of_outsider(tensor);
    TensorFacts& tensor_facts = facts->finding.inputs[0];
    bool shown = false;
    each_tensor(wrapper_, call_, [&](const at::Tensor& input, std::size_t argument, int item) {
      if (!wrapper_.arguments[argument].read || is_number(input)) return;
      const bool is_it = !shown && input.is_same(tensor);
      if (is_it) tensor_facts.name = tensor_facts.argument = wrapper_.argument_names[argument];
      shown |= is_it;
      facts->arguments.push_back(
          {wrapper_.argument_names[argument], item, false, is_transposed(OwnedView(input)), is_it});
    });
    return facts;
  }
  facts->numpy_births = Watcher::get().outside().numpy_births();
  // What a NaN is written for is seldom to be doubted; an infinity may be a result of NumPy's.
  if (numbers && (numbers->nan || facts->numpy_births > 0))
    facts->not_spelled = !is_spelled(*numbers);
  describe_output(finding);
  const std::vector<at::Tensor> inputs = describe_inputs(*facts);
  describe_numbers(finding);
  if (in_backward) describe_saved_tensors(*facts, inputs);
  if (!declared_at) describe_way_here(*facts);
  if (const OnlyCompiled* known = this_thread().only_compiled()) finding.only_compiled = *known;
  return facts;
}

}  // namespace nanscope::torch_adapter
