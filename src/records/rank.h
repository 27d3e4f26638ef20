// Ranks of a program that ran on many, in the report of all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/collective.h"
#include "records/harm.h"

namespace nanscope {

struct RankLine {
  int rank = -1;  // -1: not known
  std::string host;
  std::int64_t pid = 0;
  std::string capture;   // its file; empty if it has none
  std::string sentence;  // what it has to do with the origin, or how it ended; no full stop
};

// What was made on another rank came to this one: by which call, and how it went on here.
struct RankWay {
  int rank = -1;  // -1: not known
  Collective collective = {};
  std::vector<Link> chain = {};
  bool chain_truncated = false;
  std::optional<Harm> harm = {};
};

}  // namespace nanscope
