// Was a declared value written as data? Asked by the two families that could name it.
#pragma once

#include "diagnose/facts.h"

namespace nanscope::diagnosis {

// A tensor built from Python values of which only some are bad, or one element assigned
// (`table[3, 2] = nan`): a missing value in the data. A fill or a mask is a constant.
[[nodiscard]] bool is_data_literal(const Facts& facts);

}  // namespace nanscope::diagnosis
