#include "adapters/torch/ranks/received.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "adapters/torch/watch/stopping.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"
#include "capture/encode.h"

namespace nb = nanobind;

namespace nanscope::torch_adapter {
namespace {

// One answer of `ask`: (rank, nan, pos_inf, neg_inf, declared, story).
void take_answer(nb::handle answer, Receipt& receipt, bool& all_declared) {
  receipt.call.givers.push_back({nb::cast<int>(answer[0]), nb::cast<std::int64_t>(answer[1]),
                                 nb::cast<std::int64_t>(answer[2]),
                                 nb::cast<std::int64_t>(answer[3])});
  all_declared &= nb::cast<bool>(answer[4]);
  const auto bytes = nb::cast<nb::bytes>(answer[5]);
  if (bytes.size() == 0) return;
  Result<Finding> story = decode_finding({bytes.c_str(), bytes.size()});
  if (!story) return;
  std::vector<Finding> behind = std::move(story.value().elsewhere);
  story.value().elsewhere.clear();
  receipt.elsewhere.push_back(std::move(story.value()));
  for (Finding& finding : behind) receipt.elsewhere.push_back(std::move(finding));
}

// Asks once what the other ranks gave into it.
void ask_givers(Receipt& receipt) {
  if (receipt.asked) return;
  receipt.asked = true;
  const nb::gil_scoped_acquire gil;
  const Busy busy;
  try {
    if (board_of_ranks().ask() == nullptr) return;
    const Collective& call = receipt.call;
    const nb::tuple question = nb::make_tuple(call.group, call.way, call.sequence);
    const nb::object answer = nb::steal(Stopping::ask(board_of_ranks().ask(), question.ptr()));
    if (!answer.is_valid() || answer.is_none()) return;
    bool all_declared = true;
    for (nb::handle one : nb::object(answer[1])) take_answer(one, receipt, all_declared);
    receipt.call.givers_known = nb::cast<bool>(answer[0]);
    receipt.declared = all_declared && !receipt.call.givers.empty() && receipt.call.givers_known;
    if (receipt.elsewhere.size() > Finding::kMostElsewhere)
      receipt.elsewhere.resize(Finding::kMostElsewhere);
  } catch (const std::exception&) {
    receipt.call.givers_known = false;  // an answer that is none
  }
  Watcher::get().receipts().answered(receipt);
}

}  // namespace

BoardOfRanks& board_of_ranks() {
  static auto& one = *new BoardOfRanks;
  return one;
}

std::optional<World::Receipt> receipt_of(const TensorState& state) {
  std::optional<Receipt> receipt = Watcher::get().receipts().of_storage(state.storage);
  if (!receipt) return std::nullopt;
  ask_givers(*receipt);
  // Nobody gave it, and the call only copies: somebody else wrote here since.
  const Collective& call = receipt->call;
  if (call.givers_known && call.givers.empty() && !call.reduces) return std::nullopt;
  return World::Receipt{receipt->number, receipt->op, receipt->place, receipt->declared};
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
