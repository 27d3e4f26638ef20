// What a bad value did, and the way it took from its origin to there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/kinds.h"
#include "records/site.h"

namespace nanscope {

struct Harm {
  HarmKind kind = HarmKind::kGradient;
  std::optional<Site> site;
  std::int64_t step = 0;
  std::optional<std::string> name;  // net.head.weight
  std::string text;                 // e.g. the exception's own words
};

// One op on the way.
struct Link {
  std::string op;
  Site site;
  Phase phase = Phase::kForward;
  Role role = Role::kCarrier;
};

}  // namespace nanscope
