// The report as a JSON value, before it is text: the page is filled with it.
#pragma once

#include <string>

#include "report/diagnosed.h"
#include "report/json_value.h"

namespace nanscope {

[[nodiscard]] Json json_document(const Diagnosed& diagnosed);
// One finding alone, with its cause.
[[nodiscard]] Json json_of(const Finding& finding);
// Broken UTF-8 becomes U+FFFD. An indent below 0: on one line.
[[nodiscard]] std::string json_text(const Json& document, int indent = 2);

}  // namespace nanscope
