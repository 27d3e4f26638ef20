#include "origin/verdicts.h"

#include <algorithm>

namespace nanscope {
namespace {

EventView view_of(const Source& source) {
  EventView view = source.view;
  view.discarded = source.discarded;
  return view;
}

bool carries(const Event& event, EventId origin) {
  const auto names = [&](const OriginRef& ref) {
    return ref.source->view.id == origin || (ref.carrier && ref.carrier->view.id == origin);
  };
  return event.id == origin || std::any_of(event.nan.begin(), event.nan.end(), names) ||
         std::any_of(event.inf.begin(), event.inf.end(), names);
}

// The oldest of these that brings the origin: the shortest way.
const Event* nearer(const std::vector<EventId>& ids, EventId origin, const Events& events) {
  const Event* best = nullptr;
  for (const EventId id : ids) {
    const Event* event = events.find(id);
    if (event == nullptr || id < origin || !carries(*event, origin)) continue;
    if (best == nullptr || id < best->id) best = event;
  }
  return best;
}

bool all(const std::vector<Blamed>& origins, OriginKind kind) {
  return std::all_of(origins.begin(), origins.end(), [&](const Blamed& origin) {
    return !origin.misuse && origin.source->view.origin_kind == kind;
  });
}

bool all_intended(const std::vector<Blamed>& origins) {
  return std::all_of(origins.begin(), origins.end(),
                     [](const Blamed& origin) { return origin.intended(); });
}

}  // namespace

bool Verdicts::harm(const HarmDone& harm) {
  const std::vector<Blamed> origins = blame(harm.events, events_);
  if (origins.empty() || excused(harm, origins)) return false;
  for (const Blamed& origin : origins) {
    notes_.harmed(*origin.source);
    if (origin.misused) notes_.took_part(*origin.misused);
    for (const auto& evidence : origin.source->evidence) notes_.took_part(*evidence);
  }
  const Blamed& first = origins.front();
  if (!is_new(first.source->view, &harm)) return true;
  report(verdict_on(harm, first));
  return true;
}

std::optional<Verdict> Verdicts::tell(const HarmDone& harm) const {
  const std::vector<Blamed> origins = blame(harm.events, events_);
  return origins.empty() ? std::nullopt : std::optional(verdict_on(harm, origins.front()));
}

Verdict Verdicts::verdict_on(const HarmDone& harm, const Blamed& first) const {
  Verdict verdict;
  verdict.harm = harm.kind;
  verdict.place = harm.place;
  verdict.name = harm.name;
  verdict.text = harm.text;
  verdict.origin = view_of(*first.source);
  verdict.misuse = first.misuse;
  if (first.misused) verdict.evidence.push_back(view_of(*first.misused));
  for (const auto& source : first.source->evidence) {
    if (verdict.evidence.size() < kMostEvidence) verdict.evidence.push_back(view_of(*source));
  }
  trace(harm, first, verdict);
  verdict.cleaned = first.source->cleaned_by;
  verdict.cleaned_more = first.source->cleaned_more.size();
  for (Cleaning& cleaning : verdict.cleaned)
    cleaning.from = branching(cleaning, first.id(), verdict.chain);
  return verdict;
}

// The branch may have left the way some ops before: up from there, by the parents that bring the
// origin, to the first that is on the way.
std::optional<std::size_t> Verdicts::branching(const Cleaning& cleaning, EventId origin,
                                               const std::vector<EventView>& chain) const {
  std::vector<EventId> given = cleaning.given;
  for (int level = 0; level < Events::kLevels && !given.empty(); ++level) {
    for (std::size_t i = chain.size(); i-- > 0;)
      if (std::find(given.begin(), given.end(), chain[i].id) != given.end()) return i;
    const Event* const before = nearer(given, origin, events_);
    given = before == nullptr ? std::vector<EventId>{} : before->parents;
  }
  return std::nullopt;
}

void Verdicts::born(Source& source) {
  notes_.harmed(source);
  if (!is_new(source.view, nullptr)) return;
  Verdict verdict;
  verdict.harmless = true;
  verdict.place = source.view.place;
  verdict.origin = view_of(source);
  verdict.chain = {verdict.origin};
  report(std::move(verdict));
}

void Verdicts::forget() {
  verdicts_.clear();
  reported_.clear();
}

bool Verdicts::is_new(const EventView& origin, const HarmDone* harm) {
  const std::uint32_t line = origin.place.line;
  const Key key{origin.op, line, line != 0 ? 0 : origin.place.stack};
  const auto [known, added] = reported_.try_emplace(key, verdicts_.size());
  if (added) return verdicts_.size() < kMost;
  const bool was_reported = known->second < verdicts_.size();
  const bool raised = harm != nullptr && harm->kind == HarmKind::kException;
  if (!again_ || raised || !was_reported) return false;
  Verdict again = verdicts_[known->second];
  if (harm != nullptr) {  // the same, at another place
    again.harm = harm->kind;
    again.place = harm->place;
    again.name = harm->name;
  }
  again_(again);
  return false;
}

void Verdicts::report(Verdict verdict) {
  verdict.number = verdicts_.size();
  verdicts_.push_back(std::move(verdict));
  if (callback_) callback_(verdicts_.back());
}

bool Verdicts::excused(const HarmDone& harm, const std::vector<Blamed>& origins) const {
  switch (harm.kind) {
    case HarmKind::kParameter:
      if (all(origins, OriginKind::kDeclared)) return !is_computed(harm.events);
      return all(origins, OriginKind::kUninitialised);
    case HarmKind::kBuffer:
      return all(origins, OriginKind::kDeclared) || all(origins, OriginKind::kUninitialised);
    case HarmKind::kOptimizerState:
      return all(origins, OriginKind::kDeclared) ||
             (all(origins, OriginKind::kUninitialised) && merely_allocated(harm.events));
    case HarmKind::kException:
    case HarmKind::kGuard:
    case HarmKind::kCollapsed:
      return all_intended(origins);
    case HarmKind::kKept:
    case HarmKind::kHost:
      return all_intended(origins) || is_right_logarithm(harm, origins);
    case HarmKind::kGradient:
    case HarmKind::kLoss:
      return false;
  }
  return false;
}

// An update by a number that is not finite (a learning rate), not a constant that was put there.
bool Verdicts::is_computed(const std::vector<EventId>& ids) const {
  return std::any_of(ids.begin(), ids.end(), [&](EventId id) {
    const Event* event = events_.find(id);
    if (event == nullptr || event->op == nullptr) return false;
    if (event->origin_kind != OriginKind::kDeclared) return false;  // the number is its own
    const OpTraits& traits = event->op->traits;
    return !traits.fills && !traits.lifts && !traits.overwrites && !traits.deliberate &&
           !traits.allocates && !traits.looks_through && !traits.views;
  });
}

// Nothing was computed with what lay in that memory: it may still be filled.
bool Verdicts::merely_allocated(const std::vector<EventId>& ids) const {
  return std::all_of(ids.begin(), ids.end(), [&](EventId id) {
    const Event* event = events_.find(id);
    return event != nullptr && event->origin_kind == OriginKind::kUninitialised;
  });
}

// log(0) = -inf is the right value of a log-probability.
bool Verdicts::is_right_logarithm(const HarmDone& harm, const std::vector<Blamed>& origins) const {
  const auto holds_nan = [&](EventId id) {
    const Event* event = events_.find(id);
    return event != nullptr && event->kinds.nan;
  };
  const bool nan =
      harm.seen ? harm.seen->nan : std::any_of(harm.events.begin(), harm.events.end(), holds_nan);
  if (nan) return false;
  return std::all_of(origins.begin(), origins.end(), [](const Blamed& origin) {
    const EventView& view = origin.source->view;
    const bool is_log = view.op != nullptr && view.op->traits.is_log;
    return !view.kinds.nan && (is_log || origin.intended());
  });
}

// From the harm back to the origin, over parents that bring it.
void Verdicts::trace(const HarmDone& harm, const Blamed& origin, Verdict& verdict) const {
  std::vector<EventView> way;
  const Event* at = nearer(harm.events, origin.id(), events_);
  while (at != nullptr && at->id != origin.id() && way.size() < 1024) {
    way.push_back(at->view());
    at = nearer(at->parents, origin.id(), events_);
  }
  verdict.chain_truncated = at == nullptr || at->id != origin.id();
  way.push_back(verdict.origin);
  std::reverse(way.begin(), way.end());
  if (way.size() > kMostChain) {  // the middle goes
    verdict.chain_truncated = true;
    const auto half = static_cast<std::ptrdiff_t>(kMostChain / 2);
    way.erase(way.begin() + half, way.end() - half);
  }
  verdict.chain = std::move(way);
}

}  // namespace nanscope
