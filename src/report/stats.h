// What captures count: ops, bytes, findings, head-room per tensor and type, notes per site.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/diagnosed.h"

namespace nanscope {

[[nodiscard]] std::string text_stats(const std::vector<Diagnosed>& captures, std::size_t columns);
// An array of one object for each capture.
[[nodiscard]] std::string json_stats(const std::vector<Diagnosed>& captures);

}  // namespace nanscope
