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

void HostNumbers::read(const HostValues& values, const std::vector<EventId>& events,
                       std::uint32_t line) {
  for (int kind = 0; kind < 3; ++kind) {
    if (!has(values.kinds, kind)) continue;
    std::vector<Read>& reads = kinds_[kind].reads;
    std::erase_if(reads, [&](const Read& read) { return read.line == line; });
    if (reads.size() == kMostReads) reads.erase(reads.begin());
    reads.push_back({events, line});
  }
  if (values.pattern.bad == 0) return;
  const auto same = std::find_if(memory_.begin(), memory_.end(), [&](const HandedOut& memory) {
    return memory.pattern == values.pattern;
  });
  HandedOut& place = same != memory_.end() ? *same : memory_[next_++ % kMostMemory];
  place = {values.pattern, events};
}

std::array<int, 3> HostNumbers::made_of(int kind) {
  if (kind == kNan) return {kNan, kPosInf, kNegInf};
  const int other = kind == kPosInf ? kNegInf : kPosInf;
  return {kind, other, other};
}

std::vector<EventId> HostNumbers::events_for(int kind,
                                             const std::vector<std::uint32_t>& lines) const {
  const auto is_named = [&](const Read& read) {
    return read.line != 0 && std::find(lines.begin(), lines.end(), read.line) != lines.end();
  };
  for (const int source : made_of(kind)) {
    const std::vector<Read>& reads = kinds_[source].reads;
    const auto named = std::find_if(reads.rbegin(), reads.rend(), is_named);
    if (named != reads.rend()) return named->events;
  }
  for (const int source : made_of(kind))
    if (!kinds_[source].reads.empty()) return kinds_[source].reads.back().events;
  return {};
}

std::vector<EventId> HostNumbers::brought(const BadPattern& pattern) const {
  for (const HandedOut& memory : memory_)
    if (pattern.bad != 0 && memory.pattern == pattern) return memory.events;
  return {};
}

std::vector<EventId> HostNumbers::given(NumberKinds kinds, bool spelled,
                                        const std::vector<std::uint32_t>& lines) {
  std::vector<EventId> events;
  for (int kind = 0; kind < 3; ++kind) {
    if (!has(kinds, kind)) continue;
    const std::vector<EventId> known = events_for(kind, lines);
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
    if (kinds_[kind].reads.empty()) continue;
    const std::vector<EventId>& known = kinds_[kind].reads.back().events;
    events.insert(events.end(), known.begin(), known.end());
  }
  return events;
}

bool HostNumbers::explains(Kinds kinds) const {
  return (kinds.nan && !events_for(kNan, {}).empty()) ||
         (kinds.inf && !events_for(kPosInf, {}).empty());
}

std::uint8_t HostNumbers::kinds_read() const {
  std::uint8_t bits = 0;
  for (int kind = 0; kind < 3; ++kind)
    bits |= static_cast<std::uint8_t>(!events_for(kind, {}).empty() << kind);
  return bits;
}

}  // namespace nanscope
