#include "adapters/torch/ops/own_numbers.h"

namespace nanscope::torch_adapter {

std::string_view writer_of_own_number(std::string_view op, std::string_view code) {
  constexpr auto kNone = std::string_view::npos;
  // Where the determinant is negative. A `where` beside it may write one, too.
  const bool is_logdet =
      op == "aten::scalar_tensor" && code.find("logdet(") != kNone && code.find("where(") == kNone;
  return is_logdet ? "aten::logdet" : "";
}

}  // namespace nanscope::torch_adapter
