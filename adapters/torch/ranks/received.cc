#include "adapters/torch/ranks/received.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>

#include "adapters/torch/watch/stopping.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"
#include "capture/decode.h"

namespace nb = nanobind;

namespace nanscope::torch_adapter {
namespace {

// One Gift of calls.py.
void take_gift(nb::handle gift, Receipt& receipt, bool& all_declared) {
  const auto count = [&](const char* name) { return nb::cast<std::int64_t>(gift.attr(name)); };
  receipt.call.givers.push_back(
      {nb::cast<int>(gift.attr("rank")), count("nan"), count("pos_inf"), count("neg_inf")});
  all_declared &= nb::cast<bool>(gift.attr("declared"));
  const auto bytes = nb::cast<nb::bytes>(gift.attr("story"));
  if (bytes.size() == 0) return;
  Result<Finding> story = decode_finding({bytes.c_str(), bytes.size()});
  if (!story) return;
  std::vector<Finding> behind = std::move(story.value().elsewhere);
  story.value().elsewhere.clear();
  receipt.elsewhere.push_back(std::move(story.value()));
  for (Finding& finding : behind) receipt.elsewhere.push_back(std::move(finding));
}

// Where a value was made is worth more than through whose hands it went.
void keep_most(std::vector<Finding>& stories) {
  for (std::size_t i = stories.size(); i-- > 0 && stories.size() > Finding::kMostElsewhere;) {
    if (stories[i].origin.kind == OriginKind::kReceived)
      stories.erase(stories.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (stories.size() > Finding::kMostElsewhere) stories.resize(Finding::kMostElsewhere);
}

// Infinities that were written on purpose, and a nan that the reduction made of them.
bool is_more_than_given(const Collective& call, const TensorState& state) {
  const auto gave_nan = [](const Giver& giver) { return giver.nan > 0; };
  return state.kinds.nan && std::none_of(call.givers.begin(), call.givers.end(), gave_nan);
}

// Asks once what the other ranks gave into it.
void ask_givers(Receipt& receipt) {
  if (receipt.asked) return;
  receipt.asked = true;
  const nb::gil_scoped_acquire gil;
  const Busy busy;
  try {
    _object* const ask = Watcher::get().board_of_ranks().ask();
    if (ask == nullptr) return;
    const nb::tuple question = nb::make_tuple(call_for_board(receipt.call),
                                              nb::make_tuple(receipt.ordinal, receipt.bytes));
    const nb::object answer = nb::steal(Stopping::ask(ask, question.ptr()));
    if (!answer.is_valid() || answer.is_none()) return;
    bool all_declared = true;
    for (nb::handle gift : nb::object(answer.attr("gifts"))) take_gift(gift, receipt, all_declared);
    receipt.call.givers_known = nb::cast<bool>(answer.attr("known"));
    const nb::object bucket = answer.attr("bucket");
    if (!bucket.is_none()) receipt.call.bucket = nb::cast<int>(bucket);
    receipt.declared = all_declared && !receipt.call.givers.empty() && receipt.call.givers_known;
    keep_most(receipt.elsewhere);
  } catch (const std::exception&) {
    receipt.call.givers_known = false;  // an answer that is none
  }
  Watcher::get().receipts().answered(receipt);
}

}  // namespace

void tell_ranks_of_leaving() noexcept {
  if (Py_IsInitialized() == 0) return;
  const nb::gil_scoped_acquire gil;
  _object* const leave = Watcher::get().board_of_ranks().leave();
  if (leave == nullptr) return;
  Py_XDECREF(Stopping::ask(leave, nb::make_tuple().ptr()));
}

std::optional<World::Receipt> receipt_of(const TensorState& state) {
  std::optional<Receipt> receipt = Watcher::get().receipts().of_storage(state.storage);
  if (!receipt) return std::nullopt;
  ask_givers(*receipt);
  // Nobody gave it, and the call only copies, or would have made an infinity too: somebody else
  // wrote here since.
  const Collective& call = receipt->call;
  const bool may_make = call.reduces && state.kinds.inf;
  if (call.givers_known && call.givers.empty() && !may_make) return std::nullopt;
  const bool declared = receipt->declared && !is_more_than_given(call, state);
  return World::Receipt{receipt->number, receipt->op, receipt->place, declared};
}

void tell_of_ranks(const EventView& origin, Finding& finding) {
  finding.given = Watcher::get().receipts().given_of(origin.id);
  if (finding.origin.kind != OriginKind::kReceived) return;
  std::optional<Receipt> receipt = Watcher::get().receipts().of_number(origin.receipt);
  if (!receipt) return;
  ask_givers(*receipt);
  finding.origin.collective = receipt->call;
  finding.elsewhere = std::move(receipt->elsewhere);
}

}  // namespace nanscope::torch_adapter
