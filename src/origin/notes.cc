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

void Notes::declared(Source& source) {
  if (source.view.id < first_own_) return;
  NoteSite* site = site_in(intended_, source.view, kMostSites);
  if (site == nullptr || (site->count == 0 && intended_order_.size() >= kMostIntended)) {
    ++intended_more_;
    return;
  }
  source.intended = site;
  if (site->count++ > 0) return;
  site->first = source.view;
  intended_order_.push_back(site);
}

void Notes::met(Source& source, Fate fate) {
  if (source.intended != nullptr) source.intended->fate = std::max(source.intended->fate, fate);
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

void Notes::took_part(Source& source) {
  if (source.intended != nullptr) source.intended->error = true;
}

void Notes::harmed(Source& source) {
  took_part(source);
  if (source.site != nullptr) source.site->error = true;
}

void Notes::skipped_by_scaler(const EventView& first) {
  if (skips_.count++ == 0) skips_.first = first;
}

NoteSite* Notes::site_of(Source& source) {
  if (source.site == nullptr) source.site = site_in(sites_, source.view, kMostSites);
  return source.site;
}

NoteSite* Notes::site_in(Sites& sites, const EventView& view, std::size_t most) {
  const Place& place = view.place;
  // Where the line is unknown the stack tells sites apart.
  const std::uint64_t where = place.line != 0 ? place.line : std::uint64_t{place.stack} << 32;
  const Key key{view.op, where};
  auto found = sites.find(key);
  if (found == sites.end()) {
    if (sites.size() >= most) return nullptr;
    found = sites.emplace(key, NoteSite{}).first;
  }
  return &found->second;
}

// What was born before may be met again, and points to its site: sites are emptied, not removed.
void Notes::begin_anew(EventId first) {
  first_own_ = first;
  for (NoteSite* site : order_) *site = {};
  order_.clear();
  for (NoteSite* site : intended_order_) *site = {};
  intended_order_.clear();
  intended_more_ = 0;
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

std::vector<Note> Notes::intended() const {
  std::vector<Note> notes;
  for (const NoteSite* site : intended_order_)
    if (!site->error) notes.push_back({site->first, site->count, words(site->fate)});
  return notes;
}

}  // namespace nanscope
