#include "adapters/torch/compiled/regions.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "adapters/torch/hit/facts.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/program/nodes.h"
#include "adapters/torch/watch/gil.h"
#include "adapters/torch/watch/places.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {
namespace {

// Not an op of torch: it has no namespace, and no traits.
const OpInfo& region_op() {
  static const OpInfo op{"torch.compile", {}};
  return op;
}

// Describes a result that the replay does not explain.
class RegionFacts final : public FactsMaker {
 public:
  RegionFacts(at::Tensor result, std::string why, std::optional<OnlyCompiled> only = {})
      : result_(std::move(result)), why_(std::move(why)), only_(std::move(only)) {}

  std::shared_ptr<const EventFacts> facts(std::optional<std::size_t>) override {
    const std::shared_ptr<Facts> facts = facts_of_outsider(result_);
    facts->finding.inputs[0].name = "a result of the region";
    if (!why_.empty()) facts->finding.arrival.push_back(why_);
    facts->finding.arrival_is_likely = !only_ || only_->setting.empty();
    facts->finding.only_compiled = only_;
    return facts;
  }

 private:
  at::Tensor result_;
  std::string why_;
  std::optional<OnlyCompiled> only_;
};

bool covers(Kinds seen, Kinds wanted) {
  return (seen.nan || !wanted.nan) && (seen.inf || !wanted.inf);
}

bool is_watched(const at::Tensor& tensor) {
  return tensor.defined() && sight_of(*tensor.unsafeGetTensorImpl()) == Sight::kWatched;
}

OpRecord::Read read_of(TensorState state) {
  OpRecord::Read read;
  read.known = Watcher::get().judge().events_of(state);
  read.state = state;
  return read;
}

OpRecord::Write write_of(const RegionResult& outcome) {
  OpRecord::Write write;
  write.state = state_of(outcome.result);
  write.tensor = tensor_id(outcome.result);
  write.existed = outcome.before.defined();
  if (write.existed) {
    if (is_watched(outcome.before)) write.before = state_of(outcome.before).kinds;
    write.target = Watcher::get().world().target_of(outcome.result);
    write.target_name = TorchWorld::named_by_storage(outcome.result);
  }
  return write;
}

// Whatever was known of this memory is gone: it was written anew.
void forget(TensorState state) {
  OpRecord record;
  record.op = &region_op();
  state.kinds = {};
  OpRecord::Write write;
  write.state = state;
  record.writes.push_back(write);
  RegionFacts facts({}, "");
  Watcher::get().judge().op_returned(record, facts);
}

// All that a ceiling can say of a float64 is that it is below the least normal one.
bool is_nearly_zero(const c10::TensorImpl& impl, int ceiling) {
  return ceiling <= std::numeric_limits<double>::min_exponent && impl.numel() != 0;
}

// What is known of one part of a result; kNoCeiling if it is bad.
int look_at_part(const at::Tensor& part) {
  const c10::TensorImpl& impl = *part.unsafeGetTensorImpl();
  Watcher& watcher = Watcher::get();
  const Sight sight = sight_of(impl);
  if (sight != Sight::kWatched) {
    if (sight == Sight::kNothing && impl.has_storage())
      watcher.storages().unmark_made(storage_of(impl));
    else if (sight != Sight::kNothing)
      this_thread().count_unseen(static_cast<std::size_t>(sight));
    return 0;
  }
  this_thread().count_bytes(impl.numel() * impl.itemsize());
  const int ceiling = ceiling_of(impl);
  const bool fills = fills_its_storage(impl);
  if (!is_foreign(impl) && (fills || watcher.storages().is_made(storage_of(impl)))) {
    const Extent extent = fills ? Extent{ceiling, Sign::kAny} : Extent{};
    watcher.storages().mark_made(storage_of(impl), c10::typeMetaToScalarType(impl.dtype()), extent);
  }
  if (ceiling == kNoCeiling) return ceiling;
  if (watcher.ledger().knows(storage_id(impl))) forget(state_of(part, true));
  return is_nearly_zero(impl, ceiling) ? kAllZero : 0;
}

// The highest of all its parts.
int highest_in(const at::Tensor& result) {
  if (!has_parts(*result.unsafeGetTensorImpl())) return look_at_part(result);
  const auto parts = parts_of(result);
  int highest = parts.empty() ? 0 : kAllZero;
  for (const at::Tensor& part : parts) highest = std::max(highest, look_at_part(part));
  return highest;
}

}  // namespace

RegionLook look_at_region(const std::vector<at::Tensor>& results) {
  RegionLook look;
  remember_new_nodes();
  Watcher::get().window().settle();
  const Busy busy;
  const WithoutGil without_gil;
  this_thread().count_op();
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) continue;
    const int highest = highest_in(results[i]);
    if (highest == kNoCeiling) look.bad.push_back(i);
    if (highest == kAllZero) look.zero.push_back(i);
  }
  return look;
}

bool is_any_known_bad(const std::vector<at::Tensor>& tensors) {
  const Ledger& ledger = Watcher::get().ledger();
  if (ledger.empty()) return false;
  for (const at::Tensor& tensor : tensors) {
    if (is_watched(tensor) && ledger.knows(storage_id(*tensor.unsafeGetTensorImpl()))) return true;
  }
  return false;
}

void carry_over(const at::Tensor& from, const at::Tensor& to) {
  if (!is_watched(from) || !is_watched(to)) return;
  const Busy busy;
  const WithoutGil without_gil;
  OpRecord record;
  record.op = &region_op();
  TensorState held = state_of(from, true);
  held.kinds = state_of(to).kinds;  // by now others may lie where it was
  if (!held.kinds.any()) return;
  record.reads.push_back(read_of(held));
  if (record.reads.back().known.empty()) return;  // it is looked at where it is read
  OpRecord::Write write;
  write.state = state_of(to);
  record.writes.push_back(write);
  record.place = current_place();
  RegionFacts facts(to, "");
  Watcher::get().judge().op_returned(record, facts);
}

void tell_region(const RegionResult& outcome) {
  if (!is_watched(outcome.result)) return;
  const Busy busy;
  const WithoutGil without_gil;
  OpRecord record;
  record.op = &region_op();
  record.place = current_place();
  record.grad = outcome.result.requires_grad();
  const OpRecord::Write write = write_of(outcome);
  Kinds seen;
  if (is_watched(outcome.replayed)) {
    OpRecord::Read read = read_of(state_of(outcome.replayed));
    seen = read.known.empty() ? Kinds{} : read.state.kinds;
    if (seen.any()) record.reads.push_back(std::move(read));
    record.inf_was_nan = outcome.inf_was_nan && seen.nan;
    seen.inf |= record.inf_was_nan;
  }
  if (!covers(seen, write.state.kinds)) {
    record.reads.clear();
    forget(write.state);
    OpRecord::Read read;
    read.state = write.state;
    read.was_finite = true;  // so it is nobody's data
    record.reads.push_back(std::move(read));
  }
  record.writes.push_back(write);
  RegionFacts facts(outcome.result, outcome.why, outcome.only);
  Watcher::get().judge().op_returned(record, facts);
}

void carry_losses(const at::Tensor& replayed, const at::Tensor& result) {
  if (!is_watched(replayed) || !is_watched(result)) return;
  if (!Watcher::get().ledger().knows(storage_id(*replayed.unsafeGetTensorImpl()))) return;
  const Busy busy;
  const WithoutGil without_gil;
  OpRecord record;
  record.op = &region_op();
  record.place = current_place();
  OpRecord::Read read;
  read.state = state_of(replayed);
  OpRecord::Write write;
  write.state = state_of(result);
  if (read.state.kinds.any() || write.state.kinds.any()) return;
  record.reads.push_back(std::move(read));
  record.writes.push_back(write);
  RegionFacts facts(result, "");
  Watcher::get().judge().op_returned(record, facts);
}

void tell_only_eager(const at::Tensor& replayed) {
  if (!is_watched(replayed)) return;
  const Busy busy;
  const WithoutGil without_gil;
  Watcher::get().judge().only_eager(state_of(replayed));
}

}  // namespace nanscope::torch_adapter
