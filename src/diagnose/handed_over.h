// How it is told that another process of the run handed a value over.
#pragma once

#include <string>

#include "records/finding.h"

namespace nanscope::diagnosis {

[[nodiscard]] std::string handed_text(const HandedOver& hand);

}  // namespace nanscope::diagnosis
