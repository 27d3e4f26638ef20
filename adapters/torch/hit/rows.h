// The statistics of the row that feeds the first failing element: of a softmax, a reduction,
// a matrix product.
#pragma once

#include <optional>

#include "adapters/torch/interpose/arguments.h"
#include "adapters/torch/interpose/tensors.h"
#include "records/finding.h"

namespace nanscope::torch_adapter {

// Nothing where the row is not known, or the operand is one row as a whole.
[[nodiscard]] std::optional<Statistics> statistics_of_row(const Wrapper& wrapper, const Call& call,
                                                          const OwnedView& operand,
                                                          const Finding& finding);

}  // namespace nanscope::torch_adapter
