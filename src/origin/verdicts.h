// Turns a harm into a verdict: who is to blame, whether it counts, the way it
// travelled. The same origin is reported once.
#pragma once

#include <map>
#include <tuple>

#include "origin/blame.h"
#include "origin/notes.h"

namespace nanscope {

struct HarmDone {
  HarmKind kind = HarmKind::kGradient;
  std::vector<EventId> events;  // of the values that did harm
  Place place;
  TargetName name = {};
  std::string text = {};
  std::optional<Kinds> seen = {};  // what the value holds now, where that is known
};

class Verdicts {
 public:
  Verdicts(const Events& events, Notes& notes) : events_(events), notes_(notes) {}

  void on_error(OnVerdict callback, OnVerdict again) {
    callback_ = std::move(callback);
    again_ = std::move(again);
  }
  // Judges the harm; true if it counts, whether or not it was reported before.
  bool harm(const HarmDone& harm);
  // How these values became bad; nothing is judged or reported.
  [[nodiscard]] std::optional<Verdict> tell(const HarmDone& harm) const;
  // strict: the birth itself is the error.
  void born(Source& source);
  void forget();

  static constexpr std::size_t kMost = 500;
  static constexpr std::size_t kMostEvidence = 4;
  static constexpr std::size_t kMostChain = 16;

 private:
  [[nodiscard]] bool excused(const HarmDone& harm, const std::vector<Blamed>& origins) const;
  [[nodiscard]] bool is_computed(const std::vector<EventId>& ids) const;
  [[nodiscard]] bool merely_allocated(const std::vector<EventId>& ids) const;
  [[nodiscard]] bool is_right_logarithm(const HarmDone& harm,
                                        const std::vector<Blamed>& origins) const;
  // The same origin is reported once; when it does harm again, `again_` is called, unless an
  // exception says so already.
  [[nodiscard]] bool is_new(const EventView& origin, const HarmDone* harm);
  [[nodiscard]] Verdict verdict_on(const HarmDone& harm, const Blamed& first) const;
  [[nodiscard]] std::optional<std::size_t> branching(const Cleaning& cleaning, EventId origin,
                                                     const std::vector<EventView>& chain) const;
  void report(Verdict verdict);
  void trace(const HarmDone& harm, const Blamed& origin, Verdict& verdict) const;

  using Key = std::tuple<const OpInfo*, std::uint32_t, std::uint32_t>;

  const Events& events_;
  Notes& notes_;
  OnVerdict callback_;
  OnVerdict again_;
  std::vector<Verdict> verdicts_;
  std::map<Key, std::size_t> reported_;  // the number of its verdict
};

}  // namespace nanscope
