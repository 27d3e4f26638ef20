// Which operand an op divides by; shared by the families in which a division hides.
#pragma once

#include <optional>
#include <string>

#include "diagnose/facts.h"

namespace nanscope::diagnosis {

// What div, reciprocal, rsqrt, addcdiv, remainder, ... divide by; nothing for other ops.
[[nodiscard]] std::optional<Operand> divisor_of(const Facts& facts);
// "0 / 0", "1 / sqrt(0)": the division at the failing element.
[[nodiscard]] std::string division_here(const Facts& facts);

}  // namespace nanscope::diagnosis
