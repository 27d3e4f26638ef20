// What the wider types say: finite there means that precision is the cause.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnose/facts.h"

namespace nanscope::diagnosis {

struct WhatIf {
  std::string line;
  bool of_experiment = false;  // it tells what computing the element again gave
};

[[nodiscard]] std::vector<WhatIf> what_if(const Facts& facts, std::string_view cause);

}  // namespace nanscope::diagnosis
