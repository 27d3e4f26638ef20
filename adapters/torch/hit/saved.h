// What an autograd node saved in the forward, by its names there.
//
// Tensors that pass through hooks of the program (checkpointing, offloading) are left
// alone: unpacking them would run its code again.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "adapters/seams/torch_api.h"

namespace nanscope::torch_adapter {

struct Saved {
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  std::vector<std::pair<std::string, double>> numbers;
};

// Takes the GIL; called on a hit only. Empty where the node tells nothing.
[[nodiscard]] Saved saved_by(const NodePtr& node);
[[nodiscard]] Saved saved_by_current_node();

// Shortest text that reads back as the same number.
[[nodiscard]] std::string format_number(double value);

}  // namespace nanscope::torch_adapter
