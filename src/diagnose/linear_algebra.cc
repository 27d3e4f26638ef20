// singular_matrix: inverse, solve, cholesky or logdet of a matrix that has no inverse.
// degenerate_decomposition: the backward of svd or eigh divides by the distance of two singular
// values (or by one of them), and they coincide; that of qr by the diagonal of R.

#include <fmt/format.h>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

// The singular values as the node saved them.
std::optional<Operand> spectrum(const Facts& facts) {
  for (const char* name : {"S", "L", "eigenvalues"})
    if (auto values = facts.saved(name)) return values;
  return std::nullopt;
}

// R is 0 below its diagonal; a zero more, where a system with it has no finite solution, is on it.
void dependent_columns(const Facts& facts, Opinions& opinions) {
  const auto r = facts.saved("R");
  bool more_zeros = false;
  std::vector<std::string> evidence;
  if (r && r->tensor && r->tensor->shape.size() == 2) {
    const std::int64_t rows = r->tensor->shape[0];
    const std::int64_t below = rows * (rows - 1) / 2;
    more_zeros = rows <= r->tensor->shape[1] && r->tensor->statistics.zeros > below;
    evidence.push_back(fmt::format("R holds {} zeros, of which {} lie below its diagonal",
                                   grouped(r->tensor->statistics.zeros), grouped(below)));
  }
  const bool proven = more_zeros && facts.op_is(OpFamily::kInverts) && facts.inputs_finite();
  opinions.push_back(
      {proven ? Opinion::Stand::kCertain : Opinion::Stand::kLikely,
       "degenerate_decomposition",
       fmt::format("The gradient of {} divides by the diagonal of R, which holds {}: the columns "
                   "of its matrix are not independent.",
                   facts.expression(), proven ? "0" : "0 or next to it"),
       evidence,
       {"division_by_zero", "inf_minus_inf", "zero_times_inf", "float_overflow"}});
}

void decomposition(const Facts& facts, Opinions& opinions) {
  if (facts.in_backward_of("linalg_qr")) return dependent_columns(facts, opinions);
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
  const char* const name = facts.op_is(OpFamily::kMatrixIsA) ? "A"
                           : facts.op() == "linalg_lu_solve" ? "LU"
                                                             : "self";
  const auto matrix = facts.operand(name, 0, "the matrix");
  if (!matrix || !matrix->is_finite()) return;
  const bool backward =
      facts.origin().phase == Phase::kBackward && !facts.origin().in_backward_code;
  opinions.push_back(
      {Opinion::Stand::kCertain,
       "singular_matrix",
       fmt::format("{} is finite and has no inverse: one of its pivots is 0, and {}{} "
                   "divides by it.",
                   matrix->name, backward ? "the gradient of " : "", facts.expression()),
       {finite_range(*matrix),
        "of a finite matrix only a pivot of 0 gives a result that is not finite"}});
}

}  // namespace nanscope::diagnosis
