// Captures of the ranks of one run, told as one before each is told for itself.
#pragma once

#include <vector>

#include "report/diagnosed.h"

namespace nanscope {

// Captures with different ranks of the same command and number of ranks are one run. What they are
// together comes before them, in place of the capture in which the origin stands; the others stay.
[[nodiscard]] std::vector<Diagnosed> ranks_as_one(std::vector<Diagnosed> captures);

}  // namespace nanscope
