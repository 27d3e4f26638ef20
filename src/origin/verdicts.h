// Turns a harm into a verdict: who is to blame, whether it counts, the way it
// travelled. The same origin is reported once.
#pragma once

#include <set>
#include <tuple>

#include "origin/blame.h"
#include "origin/notes.h"

namespace nanscope {

struct Harm {
  Harmed kind = Harmed::kGradient;
  std::vector<EventId> events;  // of the values that did harm
  Place place;
  std::string name;
  std::string text;
  std::optional<Kinds> seen;  // what the value holds now, where that is known
};

class Verdicts {
 public:
  Verdicts(const Events& events, Notes& notes) : events_(events), notes_(notes) {}

  void on_error(Judge::OnError callback) { callback_ = std::move(callback); }
  // Judges the harm; true if it counts, whether or not it was reported before.
  bool harm(const Harm& harm);
  [[nodiscard]] const std::vector<Verdict>& list() const { return verdicts_; }

  static constexpr std::size_t kMost = 50;
  static constexpr std::size_t kMostOthers = 7;
  static constexpr std::size_t kMostEvidence = 4;
  static constexpr std::size_t kMostChain = 16;

 private:
  [[nodiscard]] bool excused(const Harm& harm, const std::vector<Blamed>& origins) const;
  [[nodiscard]] bool is_right_logarithm(const Harm& harm, const std::vector<Blamed>& origins) const;
  void trace(const Harm& harm, const Blamed& origin, Verdict& verdict) const;

  using Key = std::tuple<const OpInfo*, std::uint32_t, std::uint32_t>;

  const Events& events_;
  Notes& notes_;
  Judge::OnError callback_;
  std::vector<Verdict> verdicts_;
  std::set<Key> reported_;
};

}  // namespace nanscope
