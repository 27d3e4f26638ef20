// Who is to blame for a bad value: origins, followed per kind.
//
// A NaN follows NaN inputs and, only where there are none, Inf inputs; an Inf follows
// Inf inputs. Note [Given Inf]: NaN made from a declared or imported Inf is the doing of
// the op that made it (a fully masked row in softmax); NaN made from a born Inf is the
// doing of the Inf's birth.
#pragma once

#include <functional>
#include <span>

#include "origin/events.h"

namespace nanscope {

// Which events explain what an op's result holds.
struct Explained {
  std::vector<EventId> nan_from_nan;
  std::vector<EventId> inf_from_inf;
  std::vector<EventId> nan_from_inf;
  std::vector<EventId> inf_from_nan;  // of the same value computed another way
  bool fresh_nan = false;             // explained by none
  bool fresh_inf = false;
};

// The events of one bad input, and how it fed the result where that is known.
struct BadRead {
  std::vector<EventId> events;
  std::optional<Correspondence::Feed> feed;
};

// Makes (once) the source of the event at hand: its facts are taken then.
using MakeSelf = std::function<std::shared_ptr<Source>()>;

[[nodiscard]] Explained explain(const OpRecord& record, std::span<const BadRead> reads, Kinds out,
                                const Events& events);
// Fills in event.nan and event.inf. `made`: kinds that are this event's own doing whatever
// went in (declared, imported, uninitialised).
void carry_origins(Event& event, const Explained& why, Kinds made, const Events& events,
                   const MakeSelf& self);

// An origin as the verdict sees it now.
struct Blamed {
  std::shared_ptr<Source> source;
  bool misuse = false;
  std::shared_ptr<Source> misused;  // the intended NaN

  [[nodiscard]] EventId id() const { return source->view.id; }
  // Named only where nothing else is: an intended NaN's misuse, a declared or imported Inf.
  [[nodiscard]] bool last_resort() const { return misuse || (source->given() && inf_only()); }
  // Inf on purpose: declared, or brought in and used up as a mask is.
  [[nodiscard]] bool intended() const {
    return !misuse && inf_only() && (source->declared() || (source->given() && source->cleaned));
  }
  [[nodiscard]] bool inf_only() const { return !source->view.kinds.nan; }
  friend bool operator==(const Blamed& a, const Blamed& b) {
    return a.source == b.source && a.misuse == b.misuse;
  }
};

// The origins of all these events together: births, garbage and untested NaN by time, then
// misuse and given Inf.
[[nodiscard]] std::vector<Blamed> blame(std::span<const EventId> ids, const Events& events);

}  // namespace nanscope
