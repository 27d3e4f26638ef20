#include "origin/op_families.h"

#include <gtest/gtest.h>

namespace nanscope {
namespace {

TEST(OpFamilies, MembersAreKnownByTheirBareName) {
  EXPECT_TRUE(is_in(OpFamily::kTrueDivision, "divide"));
  EXPECT_TRUE(is_in(OpFamily::kLogarithmOfSelf, "logit"));
  EXPECT_TRUE(is_in(OpFamily::kHasNoPole, "sum_to_size"));
  EXPECT_TRUE(is_in(OpFamily::kInverts, "lu_solve"));
  EXPECT_TRUE(is_in(OpFamily::kFusedOptimizer, "_fused_adagrad"));
}

TEST(OpFamilies, NoOtherNameIsAMember) {
  for (const char* name : {"", "di", "div_", "divided", "div divide", "Div", "aten::div"})
    EXPECT_FALSE(is_in(OpFamily::kTrueDivision, name)) << name;
  EXPECT_FALSE(is_in(OpFamily::kQuotient, "divide"));
  EXPECT_FALSE(is_in(OpFamily::kLogarithm, "log1p"));
}

TEST(OpFamilies, AFamilyMayNameABeginning) {
  EXPECT_TRUE(is_in(OpFamily::kAttention, "scaled_dot_product_attention"));
  EXPECT_TRUE(is_in(OpFamily::kAttention, "_scaled_dot_product_flash_attention_for_cpu"));
  EXPECT_FALSE(is_in(OpFamily::kAttention, "_scaled_mm"));
  EXPECT_FALSE(is_in(OpFamily::kAttention, "scaled_dot_product_attention_2"));
}

TEST(OpFamilies, OfANodeTheForwardIsAsked) {
  EXPECT_TRUE(is_backward_of("log", "LogBackward0"));
  EXPECT_TRUE(is_backward_of("log", "LogBackward"));
  EXPECT_FALSE(is_backward_of("log", "Log2Backward0"));
  EXPECT_FALSE(is_backward_of("log", "logBackward"));  // a function of the user's own
  EXPECT_FALSE(is_backward_of("log", "Log"));
  EXPECT_TRUE(is_backward_in(OpFamily::kSlopeOfLogarithm, "Log1PBackward0"));
  EXPECT_TRUE(is_backward_in(OpFamily::kDecomposition, "LinalgEighBackward0"));
  EXPECT_FALSE(is_backward_in(OpFamily::kDecomposition, "LinalgInvExBackward0"));
  EXPECT_FALSE(is_backward_in(OpFamily::kDecomposition, ""));
}

TEST(OpFamilies, NodesAreNamedAsAutogradDoes) {
  EXPECT_EQ(node_name_of("log1p"), "Log1P");
  EXPECT_EQ(node_name_of("atan2"), "Atan2");
  EXPECT_EQ(node_name_of("expm1"), "Expm1");
  EXPECT_EQ(node_name_of("_log_softmax"), "LogSoftmax");
  EXPECT_EQ(node_name_of("linalg_vector_norm"), "LinalgVectorNorm");
  EXPECT_EQ(node_name_of("copy_"), "Copy");
  EXPECT_EQ(node_name_of("t"), "T");
}

TEST(OpFamilies, ABareNameHasNoNamespaceOverloadOrMark) {
  EXPECT_EQ(bare_name("aten::div_.Tensor"), "div");
  EXPECT_EQ(bare_name("aten::_foreach_div_"), "div");
  EXPECT_EQ(bare_name("aten::div.out"), "div");
  EXPECT_EQ(bare_name("aten::special_xlog1py"), "xlog1py");
  EXPECT_EQ(bare_name("aten::_index_put_impl_"), "_index_put_impl");
  EXPECT_EQ(bare_name("numpy::multiply"), "mul");
  EXPECT_EQ(bare_name("numpy::divide"), "divide");
  EXPECT_EQ(bare_name(""), "");
}

}  // namespace
}  // namespace nanscope
