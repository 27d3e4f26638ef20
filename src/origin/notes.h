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
  // Counts a constant that is not finite at its site. It is no note: masks are made of them.
  void declared(Source& source);
  // Something happened to the value of this source.
  void met(Source& source, Fate fate);
  void harmed(Source& source);
  // It is not to blame for a harm, but that was made from it.
  void took_part(Source& source);
  // A step that torch.amp.GradScaler skipped, with the origin of what it found.
  void skipped_by_scaler(const EventView& first);

  // Another stretch is watched, or another process: from this event on it counts for itself.
  void begin_anew(EventId first);

  [[nodiscard]] std::vector<Note> list() const;
  // The constants that did no harm.
  [[nodiscard]] std::vector<Note> intended() const;
  [[nodiscard]] std::int64_t intended_more() const { return intended_more_; }  // at other sites
  [[nodiscard]] std::uint64_t uncounted() const { return uncounted_; }

  static constexpr std::size_t kMostSites = 1024;
  static constexpr std::size_t kMostIntended = 64;

 private:
  using Key = std::pair<const OpInfo*, std::uint64_t>;

  using Sites = std::map<Key, NoteSite>;  // addresses stay

  [[nodiscard]] NoteSite* site_of(Source& source);
  // Null where there is room for no other.
  [[nodiscard]] static NoteSite* site_in(Sites& sites, const EventView& view, std::size_t most);

  Sites sites_;
  std::deque<NoteSite*> order_;  // of those that were met in this stretch
  Sites intended_;
  std::deque<NoteSite*> intended_order_;
  std::int64_t intended_more_ = 0;
  EventId first_own_ = {};
  NoteSite skips_;
  std::uint64_t uncounted_ = 0;
};

}  // namespace nanscope
