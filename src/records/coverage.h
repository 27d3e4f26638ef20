// How much of the program was watched, and what was not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nanscope {

struct NotWatched {
  std::string what;
  std::string why;
  std::int64_t count = 0;
};

struct Coverage {
  std::int64_t ops_watched = 0;
  std::int64_t bytes_scanned = 0;
  std::int64_t steps = 0;
  std::vector<NotWatched> not_watched;
};

}  // namespace nanscope
