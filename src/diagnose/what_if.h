// What the wider types say: finite there means that precision is the cause.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnose/facts.h"

namespace nanscope::diagnosis {

[[nodiscard]] std::vector<std::string> what_if(const Facts& facts, std::string_view cause);

}  // namespace nanscope::diagnosis
