// The inputs of the failing op side by side: one column each, one row per statistic.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "records/tensor_facts.h"
#include "report/paint.h"

namespace nanscope::report {

// Lines of at most `columns` columns; more inputs than fit beside each other follow below.
// The last rows are the values at the first `elements` failing elements.
[[nodiscard]] std::vector<std::string> statistics_table(const std::vector<TensorFacts>& tensors,
                                                        const std::vector<Index>& failing,
                                                        std::size_t elements, std::size_t columns,
                                                        const Paint& paint);

}  // namespace nanscope::report
