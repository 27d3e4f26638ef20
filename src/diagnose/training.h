// What the steps before say of an overflow; the rules themselves are in the list of the catalogue.
#pragma once

#include <string>

#include "diagnose/facts.h"

namespace nanscope::diagnosis {

// "the loss jumped in one step ...: one bad batch, not a growth", or nothing.
[[nodiscard]] std::string one_bad_batch(const Facts& facts);

}  // namespace nanscope::diagnosis
