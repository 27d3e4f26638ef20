// A source: an event that can be an origin, kept apart from the event itself so that
// whatever was computed from it can still name it when the event is long evicted.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "origin/verdict.h"

namespace nanscope {

struct NoteSite;

struct Source {
  EventView view;
  // A test may come after everything was computed from it: looked at only when the
  // verdict is reached.
  bool tested = false;
  bool cleaned = false;
  bool discarded = false;
  bool of_scaled_loss = false;     // born in the backward of a loss that a GradScaler multiplied
  bool born_of_zero = false;       // at any scale: a divisor or its like is exactly 0
  bool found_by_scaler = false;    // by its check: the step is skipped
  bool reaches_optimizer = false;  // a gradient of an optimizer's parameter is bad by it
  // The born Infs that a NaN was made of, Inf * 0 when gradients are clipped; they are its origins
  // too.
  std::vector<std::shared_ptr<Source>> infs;
  // The declared or imported values it was made from (Verdict::evidence).
  std::vector<std::shared_ptr<Source>> evidence;
  // Ops that made a part of it finite again, one for each line (Verdict::cleaned); of those beyond
  // kMostCleaned only op and line are kept.
  std::vector<Cleaning> cleaned_by;
  std::vector<std::pair<const OpInfo*, std::uint32_t>> cleaned_more;
  static constexpr std::size_t kMostCleaned = 8;
  static constexpr std::size_t kMostCleanedMore = 56;
  NoteSite* site = nullptr;      // owned by Notes, for ever
  NoteSite* intended = nullptr;  // of a declared one, too

  [[nodiscard]] bool declared() const { return view.origin_kind == OriginKind::kDeclared; }
  [[nodiscard]] bool given() const {  // not made by computing
    return declared() || view.origin_kind == OriginKind::kImported ||
           view.origin_kind == OriginKind::kUnwatched;
  }
};

// One origin of a value, and the first op that carried it on: that one is to blame when
// the origin turns out to be an intended NaN.
struct OriginRef {
  std::shared_ptr<Source> source;
  std::shared_ptr<Source> carrier;

  friend bool operator==(const OriginRef&, const OriginRef&) = default;
};

using Origins = std::vector<OriginRef>;

}  // namespace nanscope
