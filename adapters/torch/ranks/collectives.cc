#include "adapters/torch/ranks/collectives.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <pthread.h>

#include <algorithm>
#include <string_view>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "adapters/torch/interpose/arguments.h"
#include "adapters/torch/program/frames.h"
#include "adapters/torch/ranks/received.h"
#include "adapters/torch/session/story.h"
#include "adapters/torch/watch/gil.h"
#include "adapters/torch/watch/places.h"
#include "adapters/torch/watch/stopping.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"
#include "capture/encode.h"
#include "scan/statistics.h"

namespace nb = nanobind;

namespace nanscope::torch_adapter {
namespace {

std::string_view base_name(const Wrapper& wrapper) {
  return std::string_view(wrapper.info.name).substr(std::string_view("c10d::").size());
}

bool is_message(std::string_view name) { return name == "send" || name.starts_with("recv"); }

// The arguments of the call by their names in torch's schema.
class Arguments {
 public:
  Arguments(const Wrapper& wrapper, const Call& call)
      : names_(wrapper.argument_names), values_(static_cast<const BoxedCall&>(call).values) {}

  [[nodiscard]] const c10::IValue* find(std::string_view name) const {
    for (std::size_t i = 0; i < values_.size() && i < names_.size(); ++i)
      if (names_[i] == name) return &values_[i];
    return nullptr;
  }
  [[nodiscard]] std::int64_t number(std::string_view name, std::int64_t otherwise) const {
    const c10::IValue* value = find(name);
    return value != nullptr && value->isInt() ? value->toInt() : otherwise;
  }
  // Every tensor of the arguments that are called so or begin so, in lists and lists of lists.
  [[nodiscard]] std::vector<at::Tensor> tensors(std::string_view beginning) const {
    std::vector<at::Tensor> found;
    for (std::size_t i = 0; i < values_.size() && i < names_.size(); ++i)
      if (std::string_view(names_[i]).starts_with(beginning)) add(values_[i], found);
    return found;
  }

 private:
  static void add(const c10::IValue& value, std::vector<at::Tensor>& found) {
    if (value.isTensor()) {
      if (value.toTensor().defined()) found.push_back(value.toTensor());
    } else if (value.isList()) {
      for (const c10::IValue& item : value.toListRef()) add(item, found);
    }
  }

  const std::vector<std::string>& names_;
  const std::vector<c10::IValue>& values_;
};

// What one call gives and writes on this rank.
struct Sides {
  Collective call;
  std::vector<at::Tensor> given;
  std::vector<at::Tensor> written;
};

Message message_of(std::string_view name, const Arguments& arguments, int rank,
                   const std::string& group) {
  const std::int64_t tag = arguments.number("tag", 0);
  const auto other = [&](std::string_view argument) {
    return static_cast<int>(arguments.number(argument, -1));
  };
  if (name == "send") return {rank, other("dst"), tag};
  Receipts& receipts = Watcher::get().receipts();
  if (name != "recv_") receipts.received_from_any(group, rank, tag);
  if (receipts.is_mixed(group, rank, tag)) return {std::nullopt, rank, tag};
  return {other("src"), rank, tag};
}

std::optional<Sides> sides_of(const Wrapper& wrapper, const Call& call) {
  const std::string_view name = base_name(wrapper);
  const Arguments arguments(wrapper, call);
  const c10::IValue* held = arguments.find("process_group");
  if (held == nullptr || !held->isObject()) return std::nullopt;
  const auto group = held->toCustomClass<c10d::ProcessGroup>();
  const int rank = group->getRank();
  Sides sides;
  sides.call.op = wrapper.info.name;
  sides.call.group = group->getGroupName();
  sides.call.ranks = group->getSize();
  sides.call.reduces = name.find("reduce") != std::string_view::npos;
  if (is_message(name)) sides.call.message = message_of(name, arguments, rank, sides.call.group);
  // tensors: what is given is written over. Else there are inputs and outputs.
  const std::vector<at::Tensor> both = arguments.tensors("tensors");
  const bool gives = name.starts_with("recv") ? false
                     : name == "broadcast_"   ? arguments.number("root_rank", 0) == rank
                                              : true;
  sides.given = gives ? both : std::vector<at::Tensor>{};
  if (name != "send" && !(name == "broadcast_" && gives)) sides.written = both;
  for (const at::Tensor& tensor : arguments.tensors("input")) sides.given.push_back(tensor);
  for (const at::Tensor& tensor : arguments.tensors("output")) sides.written.push_back(tensor);
  return sides;
}

// What was in memory that the call only writes is no longer there.
void forget_overwritten(const Sides& sides) {
  const Ledger& ledger = Watcher::get().ledger();
  if (ledger.empty()) return;
  const auto storage = [](const at::Tensor& tensor) {
    return storage_id(*tensor.unsafeGetTensorImpl());
  };
  for (const at::Tensor& tensor : sides.written) {
    const auto is_it = [&](const at::Tensor& given) { return storage(given) == storage(tensor); };
    if (!ledger.knows(storage(tensor))) continue;
    if (std::any_of(sides.given.begin(), sides.given.end(), is_it)) continue;
    const WithoutGil without_gil;
    Watcher::get().judge().overwritten(state_of(tensor, /*finite=*/true));
  }
}

// What is bad of the tensors that are given, and how much.
struct BadGift {
  Giver amounts;
  std::vector<at::Tensor> tensors;
};

BadGift bad_of(const std::vector<at::Tensor>& given) {
  Watcher& watcher = Watcher::get();
  BadGift bad;
  for (const at::Tensor& tensor : given) {
    const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
    if (sight_of(impl) != Sight::kWatched || impl.numel() == 0) continue;
    const bool known_finite =
        watcher.storages().is_made(storage_of(impl)) && !watcher.ledger().knows(storage_id(impl));
    if (known_finite || is_finite(impl)) continue;
    const Statistics seen = statistics_of(OwnedView(tensor).view());
    bad.amounts.nan += seen.nan;
    bad.amounts.pos_inf += seen.pos_inf;
    bad.amounts.neg_inf += seen.neg_inf;
    bad.tensors.push_back(tensor);
  }
  return bad;
}

// How the first of them became so that was not meant to; else how the first did.
std::optional<Verdict> verdict_on(const BadGift& bad, const Place& place) {
  const WithoutGil without_gil;
  std::optional<Verdict> answer;
  for (const at::Tensor& tensor : bad.tensors) {
    std::optional<Verdict> verdict =
        Watcher::get().judge().handed_over(state_of(tensor), place, /*read_there=*/false);
    if (!verdict) continue;
    const bool meant = verdict->origin.origin_kind == OriginKind::kDeclared && !verdict->misuse;
    if (!answer || !meant) answer = std::move(verdict);
    if (!meant) break;
  }
  return answer;
}

// What does not help another rank stays here; a story is some kilobytes.
Finding for_others(Finding finding) {
  finding.harm.reset();
  std::erase_if(finding.chain, [](const Link& link) { return link.role == Role::kHarm; });
  finding.modules.clear();
  for (auto* tensors : {&finding.inputs, &finding.outputs}) {
    for (TensorFacts& tensor : *tensors) {
      tensor.bad_map.reset();
      tensor.exponents.reset();
    }
  }
  return finding;
}

// Tells the others, before the call is made: who receives it can ask then.
void give(const BadGift& bad, const Sides& sides, const Place& place) {
  const Busy busy;
  const std::optional<Verdict> verdict = verdict_on(bad, place);
  bool declared = false;
  std::string story;
  if (verdict) {
    Watcher::get().receipts().gave(verdict->origin.id, sides.call);
    declared = verdict->origin.origin_kind == OriginKind::kDeclared && !verdict->misuse;
    if (!declared) story = encode(for_others(tell_story(*verdict)));
  }
  const nb::gil_scoped_acquire gil;
  if (Watcher::get().board_of_ranks().give() == nullptr) return;
  const Giver& amounts = bad.amounts;
  const nb::tuple gift = nb::make_tuple(amounts.nan, amounts.pos_inf, amounts.neg_inf, declared,
                                        nb::bytes(story.data(), story.size()));
  const nb::tuple given = nb::make_tuple(call_for_board(sides.call), gift);
  Py_XDECREF(Stopping::ask(Watcher::get().board_of_ranks().give(), given.ptr()));
}

// Says that this rank is watched.
void join() {
  const nb::gil_scoped_acquire gil;
  const Busy busy;
  if (Watcher::get().board_of_ranks().join() != nullptr)
    Py_XDECREF(Stopping::ask(Watcher::get().board_of_ranks().join(), nb::make_tuple().ptr()));
}

}  // namespace

void collective_begins(const Wrapper& wrapper, const Call& call) {
  if (call.arguments != nullptr) return;  // never: no collective has a trampoline
  std::optional<Sides> sides = sides_of(wrapper, call);
  if (!sides) return;
  Receipts& receipts = Watcher::get().receipts();
  sides->call.sequence = receipts.next_number(sides->call.group, sides->call.message);
  if (receipts.is_first()) join();
  const Place place = current_place();
  const BadGift bad = bad_of(sides->given);
  if (!bad.tensors.empty()) give(bad, *sides, place);
  forget_overwritten(*sides);
  for (const at::Tensor& tensor : sides->written)
    Watcher::get().storages().others_may_write(tensor);
  Receipt receipt;
  receipt.op = &wrapper.info;
  receipt.place = place;
  if (sides->call.reduces && sides->given.size() == 1) {
    // From C++ alone: DDP's reducer.
    const std::uint32_t here = place.call_stack != 0 ? place.call_stack : place.stack;
    if (info_of(here).by_engine) receipt.ordinal = receipts.ordinal_in_backward(sides->call.group);
    receipt.bytes = static_cast<std::int64_t>(sides->given[0].nbytes());
  }
  receipt.call = std::move(sides->call);
  receipts.note(std::move(receipt), sides->written);
}

}  // namespace nanscope::torch_adapter
