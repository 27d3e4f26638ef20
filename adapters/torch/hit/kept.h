// What the ops behind a hit kept for the backward: how large the numbers of each module are.
//
// A look walks up to 2,048 autograd nodes and reads what they kept: see watch/hit_looks.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "adapters/torch/hit/makers.h"

namespace nanscope::torch_adapter {

// For each place of the program the largest |value| that its ops kept, in no order.
[[nodiscard]] std::vector<Facts::Kept> kept_behind(const MakerWalk& walk);

// The largest |value|; NaN or Inf where there is one; nothing where it cannot be read, or where
// `elements_left` do not suffice.
[[nodiscard]] std::optional<double> largest_or_bad(const at::Tensor& tensor,
                                                   std::int64_t& elements_left);

}  // namespace nanscope::torch_adapter
