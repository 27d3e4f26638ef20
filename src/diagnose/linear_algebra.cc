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

// Proven by a 0 on the diagonal, where float64 does not mend it: of a number next to 0 it does.
void dependent_columns(const Facts& facts, Opinions& opinions) {
  const auto r = facts.saved("R");
  bool has_zero = false;
  std::vector<std::string> evidence;
  if (r && r->tensor && r->tensor->diagonal) {
    const Statistics& diagonal = *r->tensor->diagonal;
    has_zero = diagonal.zeros > 0;
    evidence.push_back(fmt::format("{} of the {} on the diagonal of R {} 0",
                                   grouped(diagonal.zeros), plural(diagonal.numel, "element"),
                                   diagonal.zeros == 1 ? "is" : "are"));
  }
  const auto& exact = facts.finding().exact;
  const bool proven = has_zero && facts.op_is(OpFamily::kInverts) && facts.inputs_finite() &&
                      !(exact && is_finite(*exact));
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

// torch knows the sign of the determinant, and writes nan where it is -1.
void negative_determinant(const Facts& facts, Opinions& opinions) {
  opinions.push_back(
      {.stand = Opinion::Stand::kLikely,
       .id = "singular_matrix",
       .sentence = fmt::format("The determinant of the matrix in {} is negative, and its logarithm "
                               "is nan.",
                               facts.expression()),
       .evidence = {"torch takes the sign of the determinant apart, and writes nan where it is -1",
                    "no positive definite matrix has such a determinant: equal rows and rounding "
                    "can take that from one"},
       .title = fmt::format("Logarithm of a negative determinant in {}", facts.expression())});
}

}  // namespace

void linear_algebra(const Facts& facts, Opinions& opinions) {
  if (facts.op() == "logdet" && facts.is_nan()) return negative_determinant(facts, opinions);
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
