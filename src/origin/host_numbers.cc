#include "origin/host_numbers.h"

#include <algorithm>
#include <cmath>

namespace nanscope {
namespace {

constexpr int kNan = 0;

bool has(NumberKinds kinds, int kind) { return (kinds.bits() >> kind & 1) != 0; }

}  // namespace

void NumberKinds::add(double number) {
  nan |= std::isnan(number);
  pos_inf |= std::isinf(number) && number > 0;
  neg_inf |= std::isinf(number) && number < 0;
}

void HostNumbers::read(NumberKinds kinds, const std::vector<EventId>& events) {
  for (int kind = 0; kind < 3; ++kind)
    if (has(kinds, kind)) kinds_[kind].events = events;
}

std::vector<EventId> HostNumbers::given(NumberKinds kinds, bool spelled) {
  std::vector<EventId> events;
  for (int kind = 0; kind < 3; ++kind) {
    if (!has(kinds, kind)) continue;
    Kind& known = kinds_[kind];
    if (known.events.empty()) known.used_before = true;
    if (known.events.empty() || spelled || (kind != kNan && known.used_before)) continue;
    events.insert(events.end(), known.events.begin(), known.events.end());
  }
  std::sort(events.begin(), events.end());
  events.erase(std::unique(events.begin(), events.end()), events.end());
  return events;
}

std::uint8_t HostNumbers::kinds_read() const {
  std::uint8_t bits = 0;
  for (int kind = 0; kind < 3; ++kind)
    bits |= static_cast<std::uint8_t>(!kinds_[kind].events.empty() << kind);
  return bits;
}

}  // namespace nanscope
