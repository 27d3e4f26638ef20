// The events: op calls whose result held something non-finite.
//
// The last 16,384 are kept in order; older ones only while something still refers to
// them (a living storage, a pending loss). Each carries its origins with it, so no
// graph is walked to find them; parents are needed only to tell what the program
// knows of, and may be lost.
#pragma once

#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "origin/source.h"

namespace nanscope {

struct Event : EventBase {
  bool grad = false;             // grad mode was on and an input required grad
  bool tested = false;           // this very value was tested
  bool known = false;            // it, or something computed from it, was tested or replaced
  bool repaired = false;         // it, or something computed from it, was replaced on purpose
  bool replaced = false;         // this very value was replaced on purpose
  bool used = false;             // an event was computed from it
  bool released = false;         // nothing refers to it any more: origins and facts are gone
  std::vector<EventId> parents;  // at most kMostParents
  Origins nan;
  Origins inf;
  std::shared_ptr<Source> source;  // itself, where it can be an origin

  [[nodiscard]] const Origins& of(bool want_nan) const { return want_nan ? nan : inf; }
  [[nodiscard]] EventView view() const;
};

class Events {
 public:
  [[nodiscard]] EventId next_id() const { return next_; }
  Event& add(Event event);  // its id must be next_id()
  [[nodiscard]] Event* find(EventId id);
  [[nodiscard]] const Event* find(EventId id) const;

  // The program tested this value: it is known, with all it was computed from.
  void test(EventId id);
  // The program replaced this value.
  void replace(EventId id);
  // The value itself where this one is only its abs, clone or cast.
  [[nodiscard]] std::vector<EventId> look_through(EventId id) const;
  // Of the newest events: was one that was born at this place replaced on purpose?
  [[nodiscard]] bool was_discarded_at(std::uint32_t stack) const;
  // Does the value require grad, or was it detached from one that does?
  [[nodiscard]] bool requires_grad(EventId id) const;

  // Time to call `collect`?
  [[nodiscard]] bool wants_collection() const { return added_ >= kCollectEvery; }
  // Forgets the oldest events, and the origins of those nothing refers to.
  void collect(const std::unordered_set<EventId>& referred);

  [[nodiscard]] std::size_t size() const { return recent_.size() + kept_.size(); }
  [[nodiscard]] std::uint64_t lost_parents() const { return lost_; }

  static constexpr std::size_t kMost = 1 << 14;
  static constexpr std::size_t kMostParents = 8;
  static constexpr std::size_t kCollectEvery = 4096;
  static constexpr std::size_t kNewest = 1024;  // never released
  static constexpr int kLevels = 64;
  static constexpr int kLooks = 4;  // an abs of a cast of a clone

 private:
  void spread(EventId from, bool Event::*flag);
  void test_through(EventId id, int depth);
  void look_through(EventId id, int depth, std::vector<EventId>& into) const;

  std::deque<Event> recent_;  // consecutive ids, the last is next_ - 1
  std::unordered_map<EventId, Event> kept_;
  EventId next_ = 1;
  std::size_t added_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace nanscope
