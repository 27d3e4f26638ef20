// One link back: why the operand that broke the op had that value.
#pragma once

#include <string>

#include "diagnose/facts.h"

namespace nanscope::diagnosis {

// "`p` is 0 because sigmoid at line 38 underflowed: ..."; empty where the capture shows nothing.
[[nodiscard]] std::string lineage(const Facts& facts);

}  // namespace nanscope::diagnosis
