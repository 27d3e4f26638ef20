// Notes: births that did no harm, counted per op and line, with what became of them.
#pragma once

#include <deque>
#include <map>
#include <utility>

#include "origin/source.h"

namespace nanscope {

// What became of a value, the strongest last.
enum class Fate : std::uint8_t {
  kNotUsed,
  kCleaned,
  kOnlyEager,
  kDividedAway,
  kThrownAway,
  kHandled,
  kMayHaveEnded
};

struct NoteSite {
  EventView first;
  std::int64_t count = 0;
  Fate fate = Fate::kNotUsed;
  bool error = false;  // it did harm: no note
};

class Notes {
 public:
  // Counts a birth at its site.
  void born(Source& source);
  // Something happened to the value of this source.
  void met(Source& source, Fate fate);
  void harmed(Source& source);
  // A step that torch.amp.GradScaler skipped, with the origin of what it found.
  void skipped_by_scaler(const EventView& first);

  // Another stretch is watched, or another process: from this event on it counts for itself.
  void begin_anew(EventId first);

  [[nodiscard]] std::vector<Note> list() const;
  [[nodiscard]] std::uint64_t uncounted() const { return uncounted_; }

  static constexpr std::size_t kMostSites = 1024;

 private:
  using Key = std::pair<const OpInfo*, std::uint64_t>;

  [[nodiscard]] NoteSite* site_of(Source& source);

  std::map<Key, NoteSite> sites_;  // addresses stay
  std::deque<NoteSite*> order_;    // of those that were met in this stretch
  EventId first_own_ = {};
  NoteSite skips_;
  std::uint64_t uncounted_ = 0;
};

}  // namespace nanscope
