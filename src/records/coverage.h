// How much of the program was watched, and what was not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "records/kinds.h"

namespace nanscope {

struct NotWatched {
  std::string what;
  std::string why;
  std::int64_t count = 0;
  GapKind kind = GapKind::kUnwatched;
};

// What the program, or who ran it, allowed to be non-finite.
struct Allowance {
  std::string what;  // the block, the comment, the option
  std::string why;
  std::int64_t count = 0;  // findings that it made notes of; 0: it was never needed
};

struct Coverage {
  std::int64_t ops_watched = 0;
  std::int64_t bytes_scanned = 0;
  std::int64_t steps = 0;
  std::vector<NotWatched> not_watched;
  std::vector<Allowance> allowed;
};

}  // namespace nanscope
