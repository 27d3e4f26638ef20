#include "adapters/torch/ops/sign_rule.h"

#include <ATen/ops/flip.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "adapters/torch/ops/operands.h"
#include "adapters/torch/ops/test_operands.h"

namespace nanscope::torch_adapter {
namespace {

TEST(SignRule, OnlyWhatIsKnown) {
  EXPECT_TRUE(sign_rule_of("exp", ""));
  EXPECT_FALSE(sign_rule_of("exp", "out"));
  EXPECT_FALSE(sign_rule_of("randn", ""));
  EXPECT_FALSE(sign_rule_of("sub", "Tensor"));
}

at::Tensor positive() { return known(at::full({4}, 2.0), Sign::kNotNegative); }
at::Tensor negative() { return known(at::full({4}, -2.0), Sign::kNotPositive); }
at::Tensor any() { return known(at::full({4}, 2.0)); }

Sign of_two(const char* name, const char* overload, const at::Tensor& one,
            const at::Tensor& other) {
  TestCall made;
  made.tensor(one).tensor(other, "other").scalar(1);
  return sign_by_rule(name, overload, made);
}

TEST(ProvedSign, SomeResultsHaveOneWhateverGoesIn) {
  TestCall made;
  made.tensor(any());
  for (const char* name : {"exp", "sqrt", "relu", "abs", "sigmoid", "_softmax", "zeros_like"})
    EXPECT_EQ(sign_by_rule(name, "", made), Sign::kNotNegative) << name;
  EXPECT_EQ(sign_by_rule("_log_softmax", "", made), Sign::kNotPositive);
}

TEST(ProvedSign, ACopyHasThatOfItsSource) {
  for (const at::Tensor& source : {positive(), negative(), any()}) {
    const Sign sign = known_extent(source).sign;
    TestCall made;
    made.tensor(source);
    EXPECT_EQ(sign_by_rule("clone", "", made), sign);
    EXPECT_EQ(of_two("copy_", "", any(), source), sign);
  }
}

TEST(ProvedSign, ASumNeedsBothAndAFactorThatIsNotNegative) {
  EXPECT_EQ(of_two("add", "Tensor", positive(), positive()), Sign::kNotNegative);
  EXPECT_EQ(of_two("add", "Tensor", positive(), python_number(1e-8)), Sign::kNotNegative);
  EXPECT_EQ(of_two("add", "Tensor", positive(), python_number(-1e-8)), Sign::kAny);
  EXPECT_EQ(of_two("add", "Tensor", positive(), any()), Sign::kAny);
  EXPECT_EQ(of_two("add", "Tensor", negative(), negative()), Sign::kAny);
  TestCall made;
  made.tensor(positive()).tensor(positive(), "other").scalar(-1);
  EXPECT_EQ(sign_by_rule("add", "Tensor", made), Sign::kAny);
}

TEST(ProvedSign, ASquareIsNeverNegative) {
  const at::Tensor x = any();
  EXPECT_EQ(of_two("mul", "Tensor", x, x), Sign::kNotNegative);
  EXPECT_EQ(of_two("mul", "Tensor", x, any()), Sign::kAny);
  EXPECT_EQ(of_two("mul", "Tensor", x, x.flip(0)), Sign::kAny);
  EXPECT_EQ(of_two("mul", "Tensor", positive(), positive()), Sign::kNotNegative);
  EXPECT_EQ(of_two("div", "Tensor", positive(), python_number(3)), Sign::kNotNegative);
  EXPECT_EQ(of_two("div", "Tensor", positive(), python_number(-3)), Sign::kAny);
}

TEST(ProvedSign, AnEvenPowerIsNeverNegative) {
  const auto power = [](const c10::Scalar& exponent) {
    TestCall made;
    made.tensor(any()).scalar(exponent, "exponent");
    return sign_by_rule("pow", "Tensor_Scalar", made);
  };
  EXPECT_EQ(power(2), Sign::kNotNegative);
  EXPECT_EQ(power(4.0), Sign::kNotNegative);
  EXPECT_EQ(power(3), Sign::kAny);
  EXPECT_EQ(power(0.5), Sign::kAny);
}

// What Adam does: exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
TEST(ProvedSign, SumsOfSquaresStayNotNegative) {
  const auto with_product = [](const at::Tensor& start, const at::Tensor& one,
                               const at::Tensor& other, double value) {
    TestCall made;
    made.tensor(start).tensor(one, "tensor1").tensor(other, "tensor2").scalar(value, "value");
    return sign_by_rule("addcmul_", "", made);
  };
  const at::Tensor gradient = any();
  EXPECT_EQ(with_product(positive(), gradient, gradient, 0.001), Sign::kNotNegative);
  EXPECT_EQ(with_product(positive(), gradient, gradient, -0.001), Sign::kAny);
  EXPECT_EQ(with_product(any(), gradient, gradient, 0.001), Sign::kAny);
  EXPECT_EQ(with_product(positive(), gradient, any(), 0.001), Sign::kAny);
}

TEST(ProvedSign, BetweenTwoNumbersThatAreNotNegative) {
  const auto between = [](const at::Tensor& end, double weight) {
    TestCall made;
    made.tensor(positive()).tensor(end, "end").scalar(weight, "weight");
    return sign_by_rule("lerp", "Scalar", made);
  };
  EXPECT_EQ(between(positive(), 0.1), Sign::kNotNegative);
  EXPECT_EQ(between(positive(), 1.5), Sign::kAny);
  EXPECT_EQ(between(positive(), -0.1), Sign::kAny);
  EXPECT_EQ(between(any(), 0.1), Sign::kAny);
}

TEST(ProvedSign, OfTheLargerOneIsEnough) {
  EXPECT_EQ(of_two("maximum", "", any(), positive()), Sign::kNotNegative);
  EXPECT_EQ(of_two("maximum", "", positive(), any()), Sign::kNotNegative);
  EXPECT_EQ(of_two("maximum", "", any(), negative()), Sign::kAny);
}

TEST(ProvedSign, ABoxedCallProvesNothing) {
  TestCall made;
  made.wrapper().sign_rule = sign_rule_of("exp", "");
  EXPECT_EQ(proved_sign(made.wrapper(), Call()), Sign::kAny);
}

}  // namespace
}  // namespace nanscope::torch_adapter
