// Memory that was taken and that no watched op wrote: by whom?
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "origin/op_record.h"

namespace nanscope::torch_adapter {

// Where the memory of this tensor was taken, if nobody is known to have written it. Asks Python.
[[nodiscard]] std::optional<OpRecord::Read::Allocation> allocation_under(const at::Tensor& tensor);

}  // namespace nanscope::torch_adapter
