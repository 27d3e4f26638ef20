// What a capture holds: the program, how it ended, what was found, what was not watched, and what
// `fix` made of the findings.
#pragma once

#include <optional>
#include <vector>

#include "records/coverage.h"
#include "records/finding.h"
#include "records/fix.h"
#include "records/program.h"
#include "records/rank.h"
#include "records/repair.h"
#include "records/withdrawal.h"

namespace nanscope {

struct Capture {
  Program program;
  std::vector<Finding> findings;  // errors first, then warnings, then notes
  Coverage coverage;
  std::optional<Fix> proposal;  // for the first error; it was never run
  std::vector<Repair> repairs;  // at most one for each finding
  std::vector<RankLine> ranks;  // of many captures that were merged into this one; in no file
  bool complete = true;         // false: the program was cut off before its end was recorded
};

}  // namespace nanscope
