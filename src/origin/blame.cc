#include "origin/blame.h"

#include <algorithm>

namespace nanscope {
namespace {

constexpr std::size_t kMostOrigins = 8;
constexpr std::size_t kMostEvidence = 4;

template <class T>
void add_once(std::vector<T>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

bool holds(const Events& events, EventId id, bool nan) {
  const Event* event = events.find(id);
  return event != nullptr && (nan ? event->kinds.nan : event->kinds.inf);
}

// A whole tensor at a time: what any input could explain, it explains.
void explain_nan(std::span<const BadRead> reads, const Events& events, Explained& why) {
  for (const BadRead& read : reads) {
    for (const EventId id : read.events) {
      if (holds(events, id, true)) add_once(why.nan_from_nan, id);
    }
  }
  if (!why.nan_from_nan.empty()) return;
  for (const BadRead& read : reads) {
    for (const EventId id : read.events) {
      if (holds(events, id, false)) add_once(why.nan_from_inf, id);
    }
  }
  why.fresh_nan = why.nan_from_inf.empty();
}

void explain_inf(std::span<const BadRead> reads, const Events& events, Explained& why) {
  for (const BadRead& read : reads) {
    for (const EventId id : read.events) {
      if (holds(events, id, false)) add_once(why.inf_from_inf, id);
    }
  }
  why.fresh_inf = why.inf_from_inf.empty();
}

// The same elements, computed another way.
void explain_inf_by_nan(std::span<const BadRead> reads, const Events& events, Explained& why) {
  for (const BadRead& read : reads) {
    for (const EventId id : read.events) {
      if (holds(events, id, true)) add_once(why.inf_from_nan, id);
    }
  }
  why.fresh_inf &= why.inf_from_nan.empty();
}

// Element by element: only inputs whose bad elements meet bad results.
void explain_elements(const OpRecord& record, std::span<const BadRead> reads, const Events& events,
                      Explained& why) {
  why.fresh_nan = record.fresh_nan;
  why.fresh_inf = record.fresh_inf;
  for (const BadRead& read : reads) {
    if (!read.feed) continue;
    for (const EventId id : read.events) {
      const bool nan = holds(events, id, true);
      const bool inf = holds(events, id, false);
      if (read.feed->nan_to_nan && nan) add_once(why.nan_from_nan, id);
      if (read.feed->inf_to_inf && inf) add_once(why.inf_from_inf, id);
      if (read.feed->inf_to_nan && inf) add_once(why.nan_from_inf, id);
    }
  }
}

// An event whose origins were given up stands for itself, without facts.
Origins origins_of(const Event& event, bool nan) {
  const Origins& kept = event.of(nan);
  if (!kept.empty()) return kept;
  auto source = std::make_shared<Source>();
  source->view = event.view();
  source->tested = event.tested;
  return {{std::move(source), nullptr}};
}

// Origins of a parent; a given NaN read directly is carried on by this op first.
void take(Origins& into, const Event& parent, bool nan, const MakeSelf& self) {
  for (OriginRef ref : origins_of(parent, nan)) {
    const EventView& view = ref.source->view;
    if (view.id == parent.id && ref.source->given() && view.kinds.nan) ref.carrier = self();
    add_once(into, ref);
  }
}

// See Note [Given Inf].
void take_through_inf(Origins& into, const Explained& why, const Events& events,
                      const MakeSelf& self) {
  if (why.nan_from_inf.empty()) return;
  Origins given;
  Origins born;
  for (const EventId id : why.nan_from_inf) {
    const Event* parent = events.find(id);
    if (parent == nullptr) continue;
    for (const OriginRef& ref : origins_of(*parent, false)) {
      add_once(ref.source->given() ? given : born, ref);
    }
  }
  for (const OriginRef& ref : born) add_once(into, ref);
  if (!born.empty() && !why.fresh_nan) return;
  const std::shared_ptr<Source> own = self();
  for (const OriginRef& ref : born) {
    if (own->infs.size() < kMostOrigins) add_once(own->infs, ref.source);
  }
  if (!born.empty()) return;
  for (const OriginRef& ref : given) {
    if (own->evidence.size() < kMostEvidence) add_once(own->evidence, ref.source);
  }
  add_once(into, {own, nullptr});
}

// Too many: what could be named first stays.
void shorten(Origins& origins) {
  if (origins.size() <= kMostOrigins) return;
  std::stable_sort(origins.begin(), origins.end(), [](const OriginRef& a, const OriginRef& b) {
    const bool a_later = a.source->given() && !a.source->view.kinds.nan;
    const bool b_later = b.source->given() && !b.source->view.kinds.nan;
    return a_later != b_later ? b_later : a.source->view.id < b.source->view.id;
  });
  origins.resize(kMostOrigins);
}

Blamed resolve(const OriginRef& ref) {
  const Source& source = *ref.source;
  const bool intended_nan = source.given() && source.view.kinds.nan && source.tested;
  if (intended_nan && ref.carrier) return {ref.carrier, true, ref.source};
  return {ref.source, false, nullptr};
}

}  // namespace

Explained explain(const OpRecord& record, std::span<const BadRead> reads, Kinds out,
                  const Events& events) {
  Explained why;
  // A constant argument explains elements that no input does.
  if (record.elementwise && !record.nonfinite_scalar) explain_elements(record, reads, events, why);
  if (out.nan && !why.fresh_nan && why.nan_from_nan.empty() && why.nan_from_inf.empty()) {
    explain_nan(reads, events, why);
  }
  if (out.inf && !why.fresh_inf && why.inf_from_inf.empty()) explain_inf(reads, events, why);
  if (out.inf && why.inf_from_inf.empty() && record.inf_was_nan)
    explain_inf_by_nan(reads, events, why);
  return why;
}

void carry_origins(Event& event, const Explained& why, Kinds made, const Events& events,
                   const MakeSelf& self) {
  if (event.kinds.nan) {
    if (made.nan) {
      event.nan = {{self(), nullptr}};
    } else {
      for (const EventId id : why.nan_from_nan) {
        if (const Event* parent = events.find(id)) take(event.nan, *parent, true, self);
      }
      take_through_inf(event.nan, why, events, self);
      if (why.fresh_nan) add_once(event.nan, {self(), nullptr});
    }
  }
  if (event.kinds.inf) {
    if (made.inf) {
      event.inf = {{self(), nullptr}};
    } else {
      for (const EventId id : why.inf_from_inf) {
        if (const Event* parent = events.find(id)) take(event.inf, *parent, false, self);
      }
      for (const EventId id : why.inf_from_nan) {
        if (const Event* parent = events.find(id)) take(event.inf, *parent, true, self);
      }
      if (why.fresh_inf) add_once(event.inf, {self(), nullptr});
    }
  }
  shorten(event.nan);
  shorten(event.inf);
}

std::vector<Blamed> blame(std::span<const EventId> ids, const Events& events) {
  std::vector<Blamed> all;
  for (const EventId id : ids) {
    const Event* event = events.find(id);
    if (event == nullptr) continue;
    for (const bool nan : {true, false}) {
      if (nan ? !event->kinds.nan : !event->kinds.inf) continue;
      for (const OriginRef& ref : origins_of(*event, nan)) add_once(all, resolve(ref));
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Blamed& a, const Blamed& b) {
    return a.last_resort() != b.last_resort() ? b.last_resort() : a.id() < b.id();
  });
  return all;
}

}  // namespace nanscope
