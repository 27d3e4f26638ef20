#include "adapters/torch/ops/ceiling_rule.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

#include "adapters/torch/ops/operands.h"
#include "adapters/torch/ops/test_operands.h"

namespace nanscope::torch_adapter {
namespace {

TEST(CeilingRule, SumsAndProductsHaveOne) {
  for (const char* name : {"add", "sub_", "mul", "div"})
    EXPECT_TRUE(ceiling_rule_of(name, "Tensor")) << name;
  for (const char* name : {"mm", "addmm", "convolution", "exp", "sqrt_", "sum", "mean"})
    EXPECT_TRUE(ceiling_rule_of(name, "")) << name;
  EXPECT_TRUE(ceiling_rule_of("sum", "dim_IntList"));
}

TEST(CeilingRule, WhatCanBreakOfFiniteNumbersHasNone) {
  for (const char* name : {"log", "reciprocal", "rsqrt", "acos", "linalg_inv_ex"})
    EXPECT_FALSE(ceiling_rule_of(name, "")) << name;
}

TEST(CeilingRule, AnotherOverloadIsAnotherOp) {
  EXPECT_FALSE(ceiling_rule_of("add", "out"));
  EXPECT_FALSE(ceiling_rule_of("mm", "out"));
  EXPECT_FALSE(ceiling_rule_of("pow", "Tensor_Tensor"));
}

// --- the numbers they give. A ceiling of n means that no element is above 2^n.

at::Tensor filled(double value, at::IntArrayRef sizes = {4}) {
  return known(at::full(sizes, value));
}

int sum_of(const at::Tensor& one, const at::Tensor& other, const c10::Scalar& alpha = 1,
           c10::ScalarType type = at::kFloat) {
  TestCall made("aten::add");
  made.tensor(one).tensor(other, "other").scalar(alpha);
  return ceiling_by_rule("add", "Tensor", made, type);
}

int product_of(const at::Tensor& one, const at::Tensor& other, c10::ScalarType type = at::kFloat) {
  TestCall made("aten::mul");
  made.tensor(one).tensor(other, "other");
  return ceiling_by_rule("mul", "Tensor", made, type);
}

TEST(ProvedCeiling, AScanGivesThePowerOfTwoAbove) {
  EXPECT_EQ(known_extent(filled(1)).ceiling, 1);  // 1 < 2^1
  EXPECT_EQ(known_extent(filled(31)).ceiling, 5);
  EXPECT_EQ(known_extent(filled(-500)).ceiling, 9);
  EXPECT_EQ(known_extent(python_number(8)).ceiling, 3);  // a number is bounded exactly
  EXPECT_EQ(known_extent(python_number(9)).ceiling, 4);
  EXPECT_EQ(known_extent(python_number(0)).ceiling, kAllZero);
  EXPECT_EQ(known_extent(at::ones({2}, at::kBool)).ceiling, 0);
  EXPECT_EQ(known_extent(at::ones({2}, at::kLong)).ceiling, 64);
}

TEST(ProvedCeiling, ASumIsOneAboveTheLarger) {
  EXPECT_EQ(sum_of(filled(31), filled(500)), 10);
  EXPECT_EQ(sum_of(filled(500), filled(31)), 10);
  EXPECT_EQ(sum_of(filled(1), filled(1), 16), 6);  // times alpha
  EXPECT_EQ(sum_of(filled(500), python_number(1e-6)), 10);
}

TEST(ProvedCeiling, AProductAddsTheCeilings) {
  EXPECT_EQ(product_of(filled(31), filled(500)), 14);
  EXPECT_EQ(product_of(filled(500), python_number(0.25)), 7);
  EXPECT_EQ(product_of(filled(500), at::ones({4}, at::kBool)), 9);
}

TEST(ProvedCeiling, WhatIsNotKnownProvesNothing) {
  EXPECT_EQ(sum_of(filled(1), unknown(at::full({4}, 1.0))), kNoCeiling);  // nobody saw who wrote it
  EXPECT_EQ(product_of(filled(1), python_number(INFINITY)), kNoCeiling);
  EXPECT_EQ(sum_of(filled(1), filled(1), NAN), kNoCeiling);
  TestCall complex;
  complex.tensor(known(at::ones({2}, at::kComplexFloat))).tensor(filled(1), "other");
  EXPECT_EQ(ceiling_by_rule("mul", "Tensor", complex), kNoCeiling);
}

// An unwatched hand that wrote large numbers is mostly seen in the three elements that are asked.
TEST(ProvedCeiling, AMarkThatTheMemoryContradictsIsNotBelieved) {
  at::Tensor tensor = filled(1);
  tensor.data_ptr<float>()[0] = 1e30F;
  EXPECT_EQ(sum_of(tensor, filled(1)), kNoCeiling);
}

TEST(ProvedCeiling, NearTheEndOfTheTypeNothingIsBelieved) {
  const float large = std::ldexp(1.0F, 53);
  EXPECT_EQ(product_of(filled(large), filled(large)), 108);
  EXPECT_EQ(product_of(filled(large), filled(2 * large)), kNoCeiling);
  EXPECT_EQ(product_of(filled(large), filled(2 * large), at::kDouble), 109);
  EXPECT_EQ(product_of(filled(64), filled(32), at::kHalf), 13);
  EXPECT_EQ(product_of(filled(64), filled(64), at::kHalf), kNoCeiling);
  EXPECT_EQ(product_of(filled(1), filled(1), at::kComplexFloat), kNoCeiling);
}

TEST(ProvedCeiling, ADivisorIsANumberOrNothingIsProved) {
  const auto quotient = [](const at::Tensor& divisor) {
    TestCall made("aten::div");
    made.tensor(filled(500)).tensor(divisor, "other");
    return ceiling_by_rule("div", "Tensor", made);
  };
  EXPECT_EQ(quotient(python_number(0.25)), 11);
  EXPECT_EQ(quotient(python_number(-3)), 8);
  EXPECT_EQ(quotient(python_number(0)), kNoCeiling);
  EXPECT_EQ(quotient(python_number(NAN)), kNoCeiling);
  EXPECT_EQ(quotient(filled(2)), kNoCeiling);
}

TEST(ProvedCeiling, PowersAreWholeAndSmall) {
  const auto power = [](const c10::Scalar& exponent) {
    TestCall made("aten::pow");
    made.tensor(filled(31)).scalar(exponent, "exponent");
    return ceiling_by_rule("pow", "Tensor_Scalar", made);
  };
  EXPECT_EQ(power(1), 5);
  EXPECT_EQ(power(2), 10);
  EXPECT_EQ(power(8), 40);
  for (const double exponent : {0.5, 2.5, 9.0, -1.0, double{NAN}})
    EXPECT_EQ(power(exponent), kNoCeiling) << exponent;
}

TEST(ProvedCeiling, AnExponentialOfSmallNumbers) {
  for (const double value : {-3.0, 0.5, 1.0, 20.0, 63.0}) {
    TestCall made("aten::exp");
    made.tensor(filled(value));
    const int ceiling = ceiling_by_rule("exp", "", made);
    EXPECT_LE(std::exp(std::fabs(value)), std::ldexp(1.0, ceiling)) << value;
    EXPECT_LE(ceiling, 97) << value;
  }
  TestCall large("aten::exp");
  large.tensor(filled(65));
  EXPECT_EQ(ceiling_by_rule("exp", "", large), kNoCeiling);
}

TEST(ProvedCeiling, ARootNeedsTheSign) {
  TestCall negative("aten::sqrt");
  negative.tensor(filled(31));
  EXPECT_EQ(ceiling_by_rule("sqrt", "", negative), kNoCeiling);
  TestCall positive("aten::sqrt");
  positive.tensor(known(at::full({4}, 31.0), Sign::kNotNegative));
  EXPECT_EQ(ceiling_by_rule("sqrt", "", positive), 3);
}

TEST(ProvedCeiling, ALongSumGrowsWithItsTerms) {
  const auto total = [](std::int64_t count) {
    TestCall made("aten::sum");
    made.tensor(filled(1, {count}));
    return ceiling_by_rule("sum", "", made);
  };
  EXPECT_EQ(total(1), 3);
  EXPECT_EQ(total(1000), 12);
  EXPECT_EQ(total(1024), 13);
  EXPECT_EQ(total(0), kNoCeiling);  // the mean of nothing is NaN
}

TEST(ProvedCeiling, AMatrixProductGrowsWithTheInnerDimension) {
  TestCall made("aten::mm");
  made.tensor(filled(31, {2, 100})).tensor(filled(500, {100, 3}), "mat2");
  EXPECT_EQ(ceiling_by_rule("mm", "", made), 5 + 9 + 8);
  EXPECT_LE(31.0 * 500 * 100, std::ldexp(1.0, 22));

  TestCall with_bias("aten::addmm");
  with_bias.tensor(filled(1, {3}))
      .tensor(filled(31, {2, 100}), "mat1")
      .tensor(filled(500, {100, 3}), "mat2")
      .scalar(1, "beta")
      .scalar(4, "alpha");
  EXPECT_EQ(ceiling_by_rule("addmm", "", with_bias), 5 + 9 + 8 + 2 + 1);
}

TEST(ProvedCeiling, AnAbsentBiasAddsNothing) {
  const auto convolution = [](const std::optional<at::Tensor>& bias) {
    TestCall made("aten::convolution");
    made.tensor(filled(1, {1, 2, 8}))
        .tensor(filled(1, {3, 2, 5}), "weight")
        .optional_tensor(bias)
        .sizes({1}, "stride")
        .sizes({0}, "padding")
        .sizes({1}, "dilation")
        .flag(false, "transposed");
    return ceiling_by_rule("convolution", "", made);
  };
  EXPECT_EQ(convolution(std::nullopt), 1 + 1 + 5 + 1);  // 10 terms
  EXPECT_EQ(convolution(filled(1, {3})), 8);
  EXPECT_EQ(convolution(filled(1e6, {3})), 21);
  EXPECT_EQ(convolution(unknown(at::full({3}, 1.0))), kNoCeiling);
}

TEST(ProvedCeiling, WhatIsPassedOnIsTheLargestThatWentIn) {
  TestCall made("aten::maximum");
  made.tensor(filled(31)).tensor(filled(500), "other");
  EXPECT_EQ(ceiling_by_rule("maximum", "", made), 9);
  TestCall clamped("aten::relu");
  clamped.tensor(filled(0.01));
  EXPECT_EQ(ceiling_by_rule("relu", "", clamped), 2);  // at least that of pi
}

// A result that is only written to is not among what went in.
TEST(ProvedCeiling, AnOutArgumentIsNotAnOperand) {
  TestCall made("aten::maximum");
  made.tensor(filled(31)).tensor(filled(30), "other").tensor(filled(1e20), "out").written(false);
  EXPECT_EQ(ceiling_by_rule("maximum", "out", made), 5);
}

// Weights live long: their ceiling stays low, or they are looked at again.
TEST(ProvedCeiling, AnUpdateStaysLow) {
  const auto updated = [](double step) {
    TestCall made("aten::add_");
    made.tensor(filled(1)).written(true).tensor(filled(step), "other").scalar(1);
    return ceiling_by_rule("add_", "Tensor", made);
  };
  EXPECT_EQ(updated(0.01), 2);
  EXPECT_EQ(updated(100), 8);
  EXPECT_EQ(updated(1000), kNoCeiling);
}

TEST(ProvedCeiling, OfAnEmptyTensor) { EXPECT_EQ(sum_of(filled(1), known(at::zeros({0}))), 2); }

}  // namespace
}  // namespace nanscope::torch_adapter
