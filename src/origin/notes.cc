#include "origin/notes.h"

#include <algorithm>

namespace nanscope {
namespace {

const char* words(Fate fate) {
  switch (fate) {
    case Fate::kNotUsed:
      return "not used";
    case Fate::kCleaned:
      return "cleaned";
    case Fate::kOnlyEager:
      return "only when the region runs eagerly: compiled, its result is finite";
    case Fate::kDividedAway:
      return "divided away in part: where it stood the result is 0";
    case Fate::kThrownAway:
      return "thrown away";
    case Fate::kHandled:
      return "handled";
    case Fate::kMayHaveEnded:
      return "the program read it, and may have ended because of it";
  }
  return "";
}

}  // namespace

void Notes::born(Source& source) {
  if (source.view.id < first_own_) return;
  if (NoteSite* site = site_of(source)) {
    if (site->count++ > 0) return;
    site->first = source.view;
    order_.push_back(site);
  } else {
    ++uncounted_;
  }
}

void Notes::met(Source& source, Fate fate) {
  if (fate == Fate::kCleaned) {
    source.cleaned = true;
    if (source.site == nullptr) return;  // a declared mask that softmax cleaned is no news
  }
  if (source.site == nullptr) {
    if (source.view.origin_kind == OriginKind::kDeclared) return;
    born(source);
  }
  if (source.site != nullptr) source.site->fate = std::max(source.site->fate, fate);
}

void Notes::harmed(Source& source) {
  if (source.site != nullptr) source.site->error = true;
}

void Notes::skipped_by_scaler(const EventView& first) {
  if (skips_.count++ == 0) skips_.first = first;
}

NoteSite* Notes::site_of(Source& source) {
  if (source.site != nullptr) return source.site;
  const Place& place = source.view.place;
  // Where the line is unknown the stack tells sites apart.
  const std::uint64_t where = place.line != 0 ? place.line : std::uint64_t{place.stack} << 32;
  const Key key{source.view.op, where};
  auto found = sites_.find(key);
  if (found == sites_.end()) {
    if (sites_.size() >= kMostSites) return nullptr;
    found = sites_.emplace(key, NoteSite{}).first;
  }
  return source.site = &found->second;
}

// What was born before may be met again, and points to its site: sites are emptied, not removed.
void Notes::begin_anew(EventId first) {
  first_own_ = first;
  for (NoteSite* site : order_) *site = {};
  order_.clear();
  skips_ = {};
  uncounted_ = 0;
}

std::vector<Note> Notes::list() const {
  std::vector<Note> notes;
  for (const NoteSite* site : order_) {
    if (site->error) continue;
    notes.push_back({site->first, site->count, words(site->fate)});
    notes.back().warns = site->fate == Fate::kDividedAway || site->fate == Fate::kMayHaveEnded;
  }
  if (skips_.count > 0) notes.push_back({skips_.first, skips_.count, "step skipped by GradScaler"});
  return notes;
}

}  // namespace nanscope
