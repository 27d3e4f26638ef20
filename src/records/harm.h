// What a bad value did, and the way it took from its origin to there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

// What an op on the way gave: its first bad result, or the first where none is.
struct Made {
  std::string dtype;
  std::vector<std::int64_t> shape;
  bool counted = false;  // the rest is known; of a large result only where it was looked at
  std::int64_t nan = 0;
  std::int64_t pos_inf = 0;
  std::int64_t neg_inf = 0;
  std::optional<double> largest;  // absolute value that is finite
};

// One op on the way.
struct Link {
  std::string op;
  Site site;
  Phase phase = Phase::kForward;
  Role role = Role::kCarrier;
  std::optional<Made> made = {};
  // Of what was cleaned beside the way: the number of the link in the chain that it comes from.
  std::optional<int> parent = {};
};

}  // namespace nanscope
