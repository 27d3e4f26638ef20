#include "origin/events.h"

#include <algorithm>
#include <utility>

namespace nanscope {

EventView Event::view() const { return {*this, source ? source->view.facts : nullptr}; }

Event& Events::add(Event event) {
  for (const EventId parent : event.parents) {
    if (Event* from = find(parent)) from->used = true;
  }
  event.id = next_++;
  ++added_;
  if (event.parents.size() > kMostParents) event.parents.resize(kMostParents);
  recent_.push_back(std::move(event));
  return recent_.back();
}

const Event* Events::find(EventId id) const {
  const EventId first = next_ - recent_.size();
  if (id >= first && id < next_) return &recent_[id - first];
  const auto found = kept_.find(id);
  return found == kept_.end() ? nullptr : &found->second;
}

Event* Events::find(EventId id) { return const_cast<Event*>(std::as_const(*this).find(id)); }

void Events::test(EventId id) { test_through(id, 0); }

void Events::test_through(EventId id, int depth) {
  Event* event = find(id);
  if (event == nullptr || depth > kLooks) return;
  event->tested = true;
  if (event->source) event->source->tested = true;
  spread(id, &Event::known);
  if (event->op == nullptr || !event->op->traits.looks_through) return;
  for (const EventId parent : event->parents) test_through(parent, depth + 1);
}

void Events::replace(EventId id) {
  Event* event = find(id);
  if (event == nullptr) return;
  event->replaced = true;
  spread(id, &Event::known);
  spread(id, &Event::repaired);
}

// Upward over the parents, level by level. What has the flag already passed it on then.
void Events::spread(EventId from, bool Event::*flag) {
  std::vector<EventId> level{from};
  for (int depth = 0; depth < kLevels && !level.empty(); ++depth) {
    std::vector<EventId> above;
    for (const EventId id : level) {
      Event* event = find(id);
      if (event == nullptr) {
        ++lost_;
        continue;
      }
      if (event->*flag) continue;
      event->*flag = true;
      above.insert(above.end(), event->parents.begin(), event->parents.end());
    }
    level = std::move(above);
  }
}

std::vector<EventId> Events::look_through(EventId id) const {
  std::vector<EventId> values;
  look_through(id, 0, values);
  return values;
}

void Events::look_through(EventId id, int depth, std::vector<EventId>& into) const {
  const Event* event = find(id);
  const bool through = event != nullptr && event->op != nullptr && depth < kLooks &&
                       event->op->traits.looks_through && !event->origin_kind;
  const std::size_t found = into.size();
  if (through) {
    for (const EventId parent : event->parents) {
      if (find(parent) != nullptr) look_through(parent, depth + 1, into);
    }
  }
  if (into.size() == found) into.push_back(id);
}

bool Events::was_discarded_at(std::uint32_t stack) const {
  std::size_t seen = 0;
  for (auto event = recent_.rbegin(); event != recent_.rend() && seen < kNewest; ++event, ++seen)
    if (event->place.stack == stack && event->source) return event->source->discarded;
  return false;
}

bool Events::requires_grad(EventId id) const {
  const Event* event = find(id);
  if (event != nullptr && event->grad) return true;
  const std::vector<EventId> values = look_through(id);
  return std::any_of(values.begin(), values.end(), [&](EventId value) {
    const Event* behind = find(value);
    return behind != nullptr && behind->grad;
  });
}

void Events::collect(const std::unordered_set<EventId>& referred) {
  added_ = 0;
  std::erase_if(kept_, [&](const auto& entry) { return !referred.contains(entry.first); });
  while (recent_.size() > kMost - kCollectEvery) {
    Event& oldest = recent_.front();
    if (referred.contains(oldest.id)) kept_.emplace(oldest.id, std::move(oldest));
    recent_.pop_front();
  }
  const std::size_t old = recent_.size() - std::min(recent_.size(), kNewest);
  for (std::size_t at = 0; at < old; ++at) {
    Event& event = recent_[at];
    if (event.released || referred.contains(event.id)) continue;
    event.released = true;
    event.nan = {};
    event.inf = {};
    event.source.reset();
  }
}

}  // namespace nanscope
