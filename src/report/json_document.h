// The report as a JSON value, before it is text: the page is filled with it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "report/diagnosed.h"

namespace nanscope {

using Json = nlohmann::ordered_json;

[[nodiscard]] Json json_document(const Diagnosed& diagnosed);
// Broken UTF-8 becomes U+FFFD. An indent below 0: on one line.
[[nodiscard]] std::string json_text(const Json& document, int indent = 2);

}  // namespace nanscope
