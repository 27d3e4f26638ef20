// One rank of a program that ran on many, in the report of all.
#pragma once

#include <cstdint>
#include <string>

namespace nanscope {

struct RankLine {
  int rank = -1;  // -1: not known
  std::string host;
  std::int64_t pid = 0;
  std::string capture;   // its file; empty if it has none
  std::string sentence;  // what it has to do with the origin, or how it ended; no full stop
};

}  // namespace nanscope
