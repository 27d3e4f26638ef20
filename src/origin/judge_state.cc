#include "origin/judge_state.h"

#include <algorithm>

namespace nanscope {
namespace {

// Where no op read it first: the loss of a backward(), a value the host looked at.
const OpInfo kInputData{"input data", {}};

}  // namespace

std::vector<EventId> JudgeState::matching(std::vector<EventId> ids, Kinds kinds) const {
  std::erase_if(ids, [&](EventId id) { return events.find(id) == nullptr; });
  std::vector<EventId> same = ids;
  std::erase_if(same, [&](EventId id) {
    const Kinds held = events.find(id)->kinds;
    return !(kinds.nan && held.nan) && !(kinds.inf && held.inf);
  });
  return same.empty() ? ids : same;
}

std::vector<EventId> JudgeState::blame_tensor(const TensorState& tensor, const Place& place) {
  std::vector<EventId> ids = matching(ledger.events_of(tensor), tensor.kinds);
  if (!ids.empty() && explains(ids, tensor.kinds)) return ids;
  auto facts = world.facts_of(tensor);
  if (const auto receipt = world.receipt_of(tensor)) return {receive(tensor, *receipt, facts)};
  if (!ids.empty()) return ids;
  return {import(tensor, &kInputData, place, std::move(facts))};
}

bool JudgeState::explains(const std::vector<EventId>& ids, Kinds kinds) const {
  return !kinds.nan || std::any_of(ids.begin(), ids.end(),
                                   [&](EventId id) { return events.find(id)->kinds.nan; });
}

EventId JudgeState::receive(const TensorState& tensor, const World::Receipt& receipt,
                            std::shared_ptr<const EventFacts> facts) {
  const OriginKind kind = receipt.declared ? OriginKind::kDeclared : OriginKind::kReceived;
  const EventId id = import(tensor, receipt.op, receipt.place, std::move(facts), kind);
  events.find(id)->source->view.receipt = receipt.number;
  return id;
}

EventId JudgeState::import(const TensorState& tensor, const OpInfo* op, const Place& place,
                           std::shared_ptr<const EventFacts> facts, OriginKind kind) {
  Event event;
  event.id = events.next_id();
  event.op = op;
  event.origin_kind = kind;
  event.kinds = tensor.kinds;
  event.place = place;
  event.source = std::make_shared<Source>();
  event.source->view = event.view();
  event.source->view.facts = std::move(facts);
  const OriginRef self{event.source, nullptr};
  if (event.kinds.nan) event.nan.push_back(self);
  if (event.kinds.inf) event.inf.push_back(self);
  const EventId id = add(std::move(event)).id;
  ledger.put(tensor, id);
  return id;
}

std::vector<EventId> JudgeState::alive(std::vector<EventId> ids) const {
  std::erase_if(ids, [&](EventId id) { return events.find(id) == nullptr; });
  return ids;
}

// Collects first, so that the reference stays good.
Event& JudgeState::add(Event event) {
  if (events.wants_collection()) collect();
  return events.add(std::move(event));
}

void JudgeState::collect() {
  std::unordered_set<EventId> referred;
  const auto refer = [&](const std::vector<EventId>& ids) {
    referred.insert(ids.begin(), ids.end());
  };
  ledger.for_each_event([&](EventId id) { referred.insert(id); });
  for (const Root& root : roots) {
    refer(root.events);
    refer(root.swallowed);
    refer(root.bad);
  }
  for (const PendingGradient& gradient : pending_gradients) refer(gradient.events);
  for (const HostRead& read : host_reads) refer(read.events);
  for (const HostRead& read : decisive_reads) refer(read.events);
  for (const HostRead& read : other_reads) refer(read.events);
  host_numbers.each_event([&](EventId id) { referred.insert(id); });
  refer(grad_events);
  refer(amp_events);
  refer(skipped_in_vain);
  events.collect(referred);
  std::erase_if(infs_at_roots, [&](EventId id) { return !referred.contains(id); });
}

// What became of these values, for the notes of their origins.
void JudgeState::fate(std::span<const EventId> ids, Fate fate) {
  for (const EventId id : ids) {
    const Event* event = events.find(id);
    if (event == nullptr) continue;
    for (const OriginRef& ref : event->nan) notes.met(*ref.source, fate);
    for (const OriginRef& ref : event->inf) notes.met(*ref.source, fate);
  }
}

bool JudgeState::origins_in_backward(std::span<const EventId> ids) const {
  const std::vector<Blamed> origins = blame(ids, events);
  return std::all_of(origins.begin(), origins.end(), [](const Blamed& origin) {
    return origin.source->view.place.phase == Phase::kBackward;
  });
}

std::uint64_t JudgeState::evicted() const {
  return ledger.evicted() + events.lost_parents() + notes.uncounted() + records_dropped;
}

}  // namespace nanscope
