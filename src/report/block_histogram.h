// A histogram over exponents in one line of block characters, for a terminal.
#pragma once

#include <cstddef>
#include <string>

#include "scan/exponents.h"

namespace nanscope::report {

struct BlockHistogram {
  std::string blocks;  // from small numbers to large ones; heights grow with the logarithm
  std::string range;   // 2^-12 to 2^3
};

// At most `columns` blocks. Empty where nothing was counted.
[[nodiscard]] BlockHistogram block_histogram(const ExponentHistogram& histogram,
                                             std::size_t columns);

}  // namespace nanscope::report
