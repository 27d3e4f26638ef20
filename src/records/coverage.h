// How much of the program was watched, and what was not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "records/kinds.h"
#include "records/site.h"
#include "scan/statistics.h"

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

// A NaN or Inf that the program put there itself, such as the -inf of a mask, by op and line.
struct Intended {
  std::string op;
  Site site;
  Value value;
  std::int64_t count = 0;
  std::string fate;  // the strongest of what became of them, as in Finding::fate
};

struct Coverage {
  std::int64_t ops_watched = 0;
  std::int64_t bytes_scanned = 0;
  std::int64_t steps = 0;
  std::vector<NotWatched> not_watched;
  std::vector<Allowance> allowed;
  std::vector<Intended> intended;  // those that did no harm
  std::int64_t intended_more = 0;  // further ones, at places that are not listed

  static constexpr std::size_t kMostIntended = 64;
};

}  // namespace nanscope
