// foreign_operator: an operator that is not torch's own was given finite values and returned
// others.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

// Namespaces of operators that come with torch.
constexpr std::string_view kOfTorch[] = {
    "aten", "c10d",  "_c10d_functional", "inductor", "mkldnn", "numpy",
    "prim", "prims", "quantized",        "torch",    "xnnpack"};

constexpr std::size_t kMostInputs = 4;  // that are told

bool is_foreign(std::string_view op) {
  const std::size_t end = op.find("::");
  if (end == std::string_view::npos) return false;
  const std::string_view space = op.substr(0, end);
  return std::find(std::begin(kOfTorch), std::end(kOfTorch), space) == std::end(kOfTorch);
}

bool has_only_finite(const TensorFacts& tensor) {
  const Statistics& seen = tensor.statistics;
  return seen.nan + seen.pos_inf + seen.neg_inf == 0;
}

}  // namespace

void foreign(const Facts& facts, Opinions& opinions) {
  const Finding& finding = facts.finding();
  if (!is_foreign(finding.origin.op) || facts.origin().phase == Phase::kBackward) return;
  if (!std::all_of(finding.inputs.begin(), finding.inputs.end(), has_only_finite)) return;
  std::vector<std::string> evidence{bad_elements(finding.origin)};
  for (const Operand& operand : facts.tensors()) {
    if (evidence.size() > kMostInputs) break;
    evidence.push_back(finite_range(operand));
  }
  opinions.push_back({Opinion::Stand::kLikely, "foreign_operator",
                      fmt::format("The operator {} is not torch's own. It was given finite values "
                                  "and returned {}{}: the reason is in its own code.",
                                  finding.origin.op, facts.value(), facts.at()),
                      evidence});
}

}  // namespace nanscope::diagnosis
