// What a capture holds besides findings: the program, how it ended, and what was not watched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/finding.h"
#include "records/kinds.h"

namespace nanscope {

struct Program {
  std::vector<std::string> argv;
  std::string python;
  std::string torch;
  std::string mode = "exact";
  std::int64_t pid = 0;
  std::string host;
  std::optional<int> exit_status;  // absent while it runs
  std::optional<Ended> ended;
};

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

struct Capture {
  Program program;
  std::vector<Finding> findings;  // errors first, then warnings, then notes
  Coverage coverage;
  std::optional<Fix> proposal;  // for the first error; it was never run
  bool complete = true;         // false: the program was cut off before its end was recorded
};

}  // namespace nanscope
