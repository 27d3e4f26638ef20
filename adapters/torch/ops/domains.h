// Ops that have a pole, or an edge beyond which there is no result.
#pragma once

#include <string_view>

#include "origin/op_families.h"

namespace nanscope::torch_adapter {

// `op`: as bare_name gives it.
[[nodiscard]] inline bool has_a_domain(std::string_view op) {
  return is_in(OpFamily::kHasPole, op) || is_in(OpFamily::kSquareRoot, op) ||
         is_in(OpFamily::kInverseTrigonometry, op);
}

}  // namespace nanscope::torch_adapter
