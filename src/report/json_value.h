// JSON as our writers build it: keys stay in the order in which they were put.
#pragma once

#include <nlohmann/json.hpp>

namespace nanscope {

using Json = nlohmann::ordered_json;

}  // namespace nanscope
