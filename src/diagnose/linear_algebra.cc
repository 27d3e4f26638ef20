// singular_matrix: inverse, solve, cholesky or logdet of a matrix that has no inverse.
// degenerate_decomposition: the backward of svd, eigh or qr divides by the distance of two
// singular values (or by one of them), and they coincide.

#include <fmt/format.h>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

// The singular values as the node saved them.
std::optional<Operand> spectrum(const Facts& facts) {
  for (const char* name : {"S", "L", "eigenvalues", "R"})
    if (auto values = facts.saved(name)) return values;
  return std::nullopt;
}

void decomposition(const Facts& facts, Opinions& opinions) {
  const auto values = spectrum(facts);
  std::vector<std::string> evidence;
  if (values) {
    const Statistics& s = values->tensor->statistics;
    if (s.min && s.max)
      evidence.push_back(fmt::format("its {} reach from {} to {}, {} of them 0",
                                     plural(s.numel, "value"), number(*s.min), number(*s.max),
                                     grouped(s.zeros)));
  }
  const bool all_equal = values &&
                         values->tensor->statistics.min == values->tensor->statistics.max &&
                         values->tensor->statistics.numel > 1;
  const bool several_zero = values && values->tensor->statistics.zeros > 1;
  opinions.push_back(
      {all_equal || several_zero ? Opinion::Stand::kCertain : Opinion::Stand::kLikely,
       "degenerate_decomposition",
       fmt::format("The gradient of {} divides by the differences of its singular values, and two "
                   "of them coincide.",
                   facts.expression()),
       evidence,
       {"division_by_zero", "inf_minus_inf", "zero_times_inf", "float_overflow"}});
}

}  // namespace

void linear_algebra(const Facts& facts, Opinions& opinions) {
  if (facts.in_backward_of(OpFamily::kDecomposition)) return decomposition(facts, opinions);
  if (!facts.op_is(OpFamily::kInverts)) return;
  const auto matrix =
      facts.operand(facts.op_is(OpFamily::kMatrixIsA) ? "A" : "self", 0, "the matrix");
  if (!matrix || !matrix->is_finite()) return;
  opinions.push_back({Opinion::Stand::kCertain,
                      "singular_matrix",
                      fmt::format("{} is finite and has no inverse: one of its pivots is 0, and {} "
                                  "divides by it.",
                                  matrix->name, facts.expression()),
                      {finite_range(*matrix),
                       "of a finite matrix only a pivot of 0 gives a result that is not finite"}});
}

}  // namespace nanscope::diagnosis
