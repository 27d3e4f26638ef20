// A table of text: columns as wide as they must be, the first cut at its front where the line
// would be too long.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nanscope::checkpoint {

using Cells = std::vector<std::string>;

// Lines without their ends, the head first. `left`: columns that are not numbers, from the first.
[[nodiscard]] std::vector<std::string> lines_of_table(const std::vector<Cells>& rows,
                                                      std::size_t left, std::size_t columns);

}  // namespace nanscope::checkpoint
