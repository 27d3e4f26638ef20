// What the judge answers: errors, and notes of what did no harm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "origin/op_record.h"
#include "origin/place.h"
#include "origin/target.h"
#include "records/kinds.h"

namespace nanscope {

// What op it was, where, and what it made.
struct EventBase {
  EventId id = 0;
  const OpInfo* op = nullptr;
  std::optional<OriginKind> origin_kind;  // nothing: it carries what went in
  Kinds kinds;
  Place place;
  std::shared_ptr<const Made> made;  // what it gave, where that is known
};

// One event as a verdict shows it.
struct EventView : EventBase {
  std::shared_ptr<const EventFacts> facts;  // births, declared, imported, uninitialised
  bool discarded = false;                   // replaced on purpose
  bool left_before = false;        // imported, after this run had handed out numbers like it
  bool from_other_device = false;  // unwatched: another device computed it
  std::uint64_t receipt = 0;       // received: World::Receipt

  [[nodiscard]] Role role() const;  // in a chain
  // Data, where nothing was computed; else the phase of the call.
  [[nodiscard]] Phase phase() const;
};

// An op that made a part of a value finite again.
struct Cleaning {
  EventView by;
  std::vector<EventId> given;       // what was not finite, oldest first
  std::optional<std::size_t> from;  // of a verdict: in its chain, the last that it comes from
};

struct Verdict {
  std::size_t number = 0;  // counted from 0
  HarmKind harm = HarmKind::kGradient;
  bool harmless = false;  // strict: a birth is an error, whatever it does
  EventView origin;
  bool inherited = false;  // its origin is of the process that forked this one
  bool misuse = false;     // an intended NaN, carried on by this op
  // What the origin made it from and is not to blame: the mask of a fully masked row, the
  // intended NaN that was misused. At most 4.
  std::vector<EventView> evidence;
  std::vector<EventView> chain;  // origin first, harm last; at most 16
  bool chain_truncated = false;
  std::vector<Cleaning> cleaned;  // beside the way; at most 8
  std::size_t cleaned_more = 0;   // further places where that happened; at most 56
  Place place;                    // where it did harm
  TargetName name;                // of the parameter or buffer
  std::string text;               // the exception's words
};

using OnVerdict = std::function<void(const Verdict&)>;

// Something non-finite that did no harm, counted per line and op.
struct Note {
  EventView first;
  std::int64_t count = 0;
  std::string why;     // "cleaned", "handled", "not used", ...
  bool warns = false;  // nobody asked for what became of it
};

}  // namespace nanscope
