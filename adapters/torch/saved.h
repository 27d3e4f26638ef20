// The tensors the running autograd node saved in the forward, by their names there.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

namespace nanscope::torch_adapter {

// Takes the GIL; called on a hit only. Empty where the node tells nothing.
[[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> saved_tensors_of_current_node();

// Shortest text that reads back as the same number.
[[nodiscard]] std::string format_number(double value);

}  // namespace nanscope::torch_adapter
