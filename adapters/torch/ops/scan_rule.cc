#include "adapters/torch/ops/scan_rule.h"

#include "adapters/torch/ops/op_table.h"

namespace nanscope::torch_adapter {

ScanRule scan_rule_of(std::string_view name, std::string_view overload) noexcept {
  const KnownOp op = known_op(name);
  return is_listed(op.overloads, overload) ? op.scan : ScanRule::kScan;
}

}  // namespace nanscope::torch_adapter
