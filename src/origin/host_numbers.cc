#include "origin/host_numbers.h"

#include <algorithm>
#include <cmath>

namespace nanscope {
namespace {

constexpr int kNan = 0;
constexpr int kPosInf = 1;
constexpr int kNegInf = 2;

bool has(NumberKinds kinds, int kind) { return (kinds.bits() >> kind & 1) != 0; }

}  // namespace

void NumberKinds::add(double number) {
  nan |= std::isnan(number);
  pos_inf |= std::isinf(number) && number > 0;
  neg_inf |= std::isinf(number) && number < 0;
}

BadPattern pattern_of(const KindMap& map) {
  BadPattern pattern{map.kinds.size(), 0, 0xcbf29ce484222325};
  for (std::size_t i = 0; i < map.kinds.size(); ++i) {
    if (map.kinds[i] == 0) continue;
    ++pattern.bad;
    pattern.places = (pattern.places ^ (i << 2 | map.kinds[i])) * 0x100000001b3;
  }
  return pattern;
}

void HostNumbers::read(const HostValues& values, const std::vector<EventId>& events) {
  for (int kind = 0; kind < 3; ++kind)
    if (has(values.kinds, kind)) kinds_[kind].events = events;
  if (values.pattern.bad == 0) return;
  const auto same = std::find_if(memory_.begin(), memory_.end(), [&](const HandedOut& memory) {
    return memory.pattern == values.pattern;
  });
  HandedOut& place = same != memory_.end() ? *same : memory_[next_++ % kMostMemory];
  place = {values.pattern, events};
}

const std::vector<EventId>& HostNumbers::events_for(int kind) const {
  if (!kinds_[kind].events.empty()) return kinds_[kind].events;
  if (kind != kNan) return kinds_[kind == kPosInf ? kNegInf : kPosInf].events;
  return kinds_[kinds_[kPosInf].events.empty() ? kNegInf : kPosInf].events;
}

std::vector<EventId> HostNumbers::brought(const BadPattern& pattern) const {
  for (const HandedOut& memory : memory_)
    if (pattern.bad != 0 && memory.pattern == pattern) return memory.events;
  return {};
}

std::vector<EventId> HostNumbers::given(NumberKinds kinds, bool spelled) {
  std::vector<EventId> events;
  for (int kind = 0; kind < 3; ++kind) {
    if (!has(kinds, kind)) continue;
    const std::vector<EventId>& known = events_for(kind);
    if (known.empty()) kinds_[kind].used_before = true;
    if (known.empty() || spelled || (kind != kNan && kinds_[kind].used_before)) continue;
    events.insert(events.end(), known.begin(), known.end());
  }
  std::sort(events.begin(), events.end());
  events.erase(std::unique(events.begin(), events.end()), events.end());
  return events;
}

std::vector<EventId> HostNumbers::last_read(NumberKinds kinds) const {
  std::vector<EventId> events;
  for (int kind = 0; kind < 3; ++kind) {
    if (!has(kinds, kind)) continue;
    const std::vector<EventId>& known = kinds_[kind].events;
    events.insert(events.end(), known.begin(), known.end());
  }
  return events;
}

bool HostNumbers::explains(Kinds kinds) const {
  return (kinds.nan && !events_for(kNan).empty()) || (kinds.inf && !events_for(kPosInf).empty());
}

std::uint8_t HostNumbers::kinds_read() const {
  std::uint8_t bits = 0;
  for (int kind = 0; kind < 3; ++kind)
    bits |= static_cast<std::uint8_t>(!events_for(kind).empty() << kind);
  return bits;
}

}  // namespace nanscope
