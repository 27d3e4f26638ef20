#include <gtest/gtest.h>

#include "diagnose/test_finding.h"

namespace nanscope {
namespace {

using namespace test_finding;

TEST(LinearAlgebra, Singular) {
  EXPECT_EQ(verdict(made(kInf, "aten::linalg_inv_ex", {blind(with("gram", "A", 1))})),
            "singular_matrix certain");
  EXPECT_EQ(verdict(made(kNan, "aten::_linalg_solve_ex", {blind(with("gram", "A", 1))})),
            "singular_matrix certain");
}

TEST(LinearAlgebra, ANanThatWentInIsInnocent) {
  EXPECT_NE(diagnose(made(kNan, "aten::linalg_inv_ex", {blind(with("gram", "A", kNan))})).id,
            "singular_matrix");
}

TEST(LinearAlgebra, Degenerate) {
  Finding finding =
      in_backward("LinalgSvdBackward0", made(kNan, "aten::mul", {with("", "self", 1)}));
  TensorFacts values = saved("", "S", 1);
  values.statistics.min = values.statistics.max = 1.0;
  finding.inputs.push_back(values);
  EXPECT_EQ(verdict(finding), "degenerate_decomposition certain");
  // Without the spectrum it is not proven.
  finding.inputs.pop_back();
  EXPECT_EQ(verdict(finding), "degenerate_decomposition likely");
  // In another node it is another cause.
  finding.origin.node = "MulBackward0";
  EXPECT_NE(diagnose(finding).id, "degenerate_decomposition");
}

TEST(LinearAlgebra, DependentColumnsOfQr) {
  Finding finding = in_backward("LinalgQrBackward0", made(kNan, "aten::linalg_solve_triangular",
                                                          {blind(with("", "self", 1))}));
  TensorFacts r = saved("", "R", 1);
  r.shape = {3, 3};
  r.diagonal = Statistics{3, 0, 0, 0, 1, 0, 0, 0.0, 2.0, 1.0};
  finding.inputs.push_back(r);
  finding.exact = real(kNan);
  EXPECT_EQ(verdict(finding), "degenerate_decomposition certain");
  EXPECT_EQ(
      diagnose(finding).sentence,
      "The gradient of `f(x)` divides by the diagonal of R, which holds 0: the columns of its "
      "matrix are not independent.");
  EXPECT_TRUE(is_evidence(finding, "1 of the 3 elements on the diagonal of R is 0"));
  // A wider type mends it: what float32 divided by was only next to 0.
  finding.exact = real(1e77);
  EXPECT_EQ(verdict(finding), "degenerate_decomposition likely");
  // R of columns that are orthogonal holds zeros above its diagonal, and none on it.
  finding.exact = real(kNan);
  finding.inputs.back().statistics.zeros = 6;
  finding.inputs.back().diagonal->zeros = 0;
  EXPECT_EQ(verdict(finding), "degenerate_decomposition likely");
  EXPECT_EQ(diagnose(finding).sentence,
            "The gradient of `f(x)` divides by the diagonal of R, which holds 0 or next to it: the "
            "columns of its matrix are not independent.");
}

TEST(LinearAlgebra, TheSlopeOfALogarithmicDeterminant) {
  const Finding finding = in_backward(
      "LinalgSlogdetBackward0", made(kNan, "aten::linalg_lu_solve", {blind(with("", "LU", 1))}));
  EXPECT_EQ(verdict(finding), "singular_matrix certain");
}

TEST(LinearAlgebra, ANegativeDeterminantHasNoLogarithm) {
  EXPECT_EQ(verdict(made(kNan, "aten::logdet", {})), "singular_matrix likely");
  EXPECT_NE(verdict(made(-kInf, "aten::logdet", {})), "singular_matrix likely");
}

TEST(LinearAlgebra, LookAlike) {
  // A product of matrices has no pivots.
  EXPECT_EQ(verdict(made(kInf, "aten::mm", {blind(with("a", "self", 1e30))})),
            "float_overflow certain");
}

}  // namespace
}  // namespace nanscope
