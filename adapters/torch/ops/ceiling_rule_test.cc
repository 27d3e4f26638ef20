#include "adapters/torch/ops/ceiling_rule.h"

#include <gtest/gtest.h>

#include "adapters/torch/ops/sign_rule.h"

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

TEST(SignRule, OnlyWhatIsKnown) {
  EXPECT_TRUE(sign_rule_of("exp", ""));
  EXPECT_FALSE(sign_rule_of("exp", "out"));
  EXPECT_FALSE(sign_rule_of("randn", ""));
}

}  // namespace
}  // namespace nanscope::torch_adapter
