#include "adapters/torch/ops/op_table.h"

#include <gtest/gtest.h>

namespace nanscope::torch_adapter {
namespace {

bool has_flag(std::string_view name, OpFlags flag) { return has(known_op(name).flags, flag); }

TEST(OpTable, ALineIsFoundByName) {
  EXPECT_TRUE(has_flag("div_", OpFlags::kDestroys));
  EXPECT_TRUE(has_flag("index_put_", OpFlags::kWritesPartly));
  EXPECT_TRUE(has_flag("clamp_min", OpFlags::kAddsGuard));
  EXPECT_TRUE(has_flag("addcdiv_", OpFlags::kUpdatesWeights));
  EXPECT_TRUE(has_flag("logsumexp", OpFlags::kRowByRow));
  EXPECT_TRUE(has_flag("embedding", OpFlags::kTakesFromFirst));
  EXPECT_TRUE(has_flag("_amp_update_scale_", OpFlags::kUpdatesScale));
  EXPECT_FALSE(has_flag("div", OpFlags::kDestroys));
}

TEST(OpTable, AnOpMayHaveSeveralFlags) {
  const OpFlags softmax = known_op("_softmax").flags;
  EXPECT_TRUE(has(softmax, OpFlags::kRowByRow) && has(softmax, OpFlags::kRowsAlike));
  EXPECT_FALSE(has(softmax, OpFlags::kPointwise));
}

TEST(OpTable, OtherOpsArePlain) {
  for (const char* name : {"", "mm", "di", "div_ ", "aten::div_", "like", "_foreach", "new"}) {
    EXPECT_EQ(known_op(name).flags, OpFlags::kPlain) << name;
    EXPECT_EQ(known_op(name).scan, ScanRule::kScan) << name;
  }
}

TEST(OpTable, FormsHoldForEveryNameThatHasThem) {
  EXPECT_TRUE(has_flag("_foreach_addcdiv_", OpFlags::kUnwatched));
  EXPECT_TRUE(has_flag("is_same_size", OpFlags::kUnwatched));
  EXPECT_TRUE(has_flag("zeros_like", OpFlags::kReadsShapeOnly));
  EXPECT_TRUE(has_flag("new_zeros", OpFlags::kReadsShapeOnly));
  EXPECT_FALSE(has_flag("zeros", OpFlags::kReadsShapeOnly));
  EXPECT_FALSE(has_flag("isnan", OpFlags::kUnwatched));
  // The line of its own name and those of two forms.
  EXPECT_EQ(known_op("new_zeros").scan, ScanRule::kPasses);
  EXPECT_EQ(known_op("new_empty_strided").scan, ScanRule::kAllocates);
  EXPECT_TRUE(has_flag("new_empty_strided", OpFlags::kReadsShapeOnly));
}

TEST(OpTable, ANodeHasTheFlagsOfItsOp) {
  EXPECT_TRUE(has(flags_of_node("UnsafeView"), OpFlags::kOnlyMoves));
  EXPECT_TRUE(has(flags_of_node("T"), OpFlags::kOnlyMoves));
  EXPECT_TRUE(has(flags_of_node("ToCopy"), OpFlags::kCopies));
  EXPECT_TRUE(has(flags_of_node("Copy"), OpFlags::kCopies));
  EXPECT_TRUE(has(flags_of_node("Log1P"), OpFlags::kElementwise));
  EXPECT_FALSE(has(flags_of_node("Mm"), OpFlags::kElementwise));
  EXPECT_EQ(flags_of_node("view"), OpFlags::kPlain);  // a function of the user's own
  EXPECT_EQ(flags_of_node(""), OpFlags::kPlain);
}

TEST(OpTable, OverloadsAreListedWithBlanks) {
  EXPECT_TRUE(is_listed("*", "out"));
  EXPECT_TRUE(is_listed("", ""));
  EXPECT_FALSE(is_listed("", "out"));
  EXPECT_TRUE(is_listed(" dim", ""));
  EXPECT_TRUE(is_listed(" dim", "dim"));
  EXPECT_TRUE(is_listed("src value", "value"));
  EXPECT_FALSE(is_listed("src value", "src value"));
  EXPECT_FALSE(is_listed("Tensor", ""));
}

TEST(OpTable, OpsOfOtherLibraries) {
  EXPECT_TRUE(is_plumbing("prim::device"));
  EXPECT_TRUE(is_plumbing("_c10d_functional::all_reduce"));
  EXPECT_TRUE(is_plumbing("inductor::_reinterpret_tensor"));
  EXPECT_FALSE(is_plumbing("torchvision::nms"));
  EXPECT_TRUE(is_collective("c10d::allreduce_"));
  EXPECT_FALSE(is_collective("_c10d_functional::all_reduce"));
}

TEST(OpTable, ArgumentsByName) {
  EXPECT_TRUE(is_hidden_write("running_var"));
  EXPECT_FALSE(is_hidden_write("weight"));
  EXPECT_TRUE(draws_random("generator"));
  EXPECT_FALSE(draws_random("p"));
  EXPECT_TRUE(is_factor("alpha"));
  EXPECT_FALSE(is_factor("other"));
  EXPECT_TRUE(says_how_stored("memory_format"));
  EXPECT_FALSE(says_how_stored("dtype"));
  EXPECT_TRUE(is_kept_activation("mat1"));
  EXPECT_FALSE(is_kept_activation("mat2"));
}

TEST(ScanRule, WhatIsNotKnownIsScanned) {
  for (const char* name : {"", "mm", "gelu", "native_dropout", "sub", "aten::relu", "no_such_op"})
    EXPECT_EQ(scan_rule_of(name, ""), ScanRule::kScan) << name;
}

TEST(ScanRule, OpsThatPassHaveItInEveryOverload) {
  EXPECT_EQ(scan_rule_of("relu", ""), ScanRule::kPasses);
  EXPECT_EQ(scan_rule_of("max", "dim"), ScanRule::kPasses);
  EXPECT_EQ(scan_rule_of("cat", "out"), ScanRule::kPasses);
}

TEST(ScanRule, ARuleMayHoldForSomeOverloadsOnly) {
  EXPECT_EQ(scan_rule_of("copy_", ""), ScanRule::kCasts);
  EXPECT_EQ(scan_rule_of("_to_copy", "out"), ScanRule::kScan);
  EXPECT_EQ(scan_rule_of("mul", "Tensor"), ScanRule::kMultiplies);
  EXPECT_EQ(scan_rule_of("mul", "out"), ScanRule::kScan);
  EXPECT_EQ(scan_rule_of("div_", "Tensor"), ScanRule::kDivides);
  EXPECT_EQ(scan_rule_of("div_", "Tensor_mode"), ScanRule::kScan);
  EXPECT_EQ(scan_rule_of("index_put_", ""), ScanRule::kPuts);
  EXPECT_EQ(scan_rule_of("index_put", "out"), ScanRule::kScan);
  EXPECT_EQ(scan_rule_of("scatter", "value"), ScanRule::kPasses);
  EXPECT_EQ(scan_rule_of("scatter", "reduce"), ScanRule::kScan);
  EXPECT_EQ(scan_rule_of("_softmax", ""), ScanRule::kBounded);
  EXPECT_EQ(scan_rule_of("_softmax", "out"), ScanRule::kScan);
}

TEST(ScanRule, MemoryAndNumbersFromOutside) {
  EXPECT_EQ(scan_rule_of("_local_scalar_dense", ""), ScanRule::kReadsHost);
  EXPECT_EQ(scan_rule_of("lift_fresh", ""), ScanRule::kLifts);
  EXPECT_EQ(scan_rule_of("set_", "source_Storage"), ScanRule::kBorrows);
  EXPECT_EQ(scan_rule_of("empty", "memory_format"), ScanRule::kAllocates);
  EXPECT_EQ(scan_rule_of("new_empty_strided", ""), ScanRule::kAllocates);
  EXPECT_EQ(scan_rule_of("resize_", ""), ScanRule::kAllocates);
  EXPECT_EQ(scan_rule_of("_efficientzerotensor", ""), ScanRule::kAllocates);
}

}  // namespace
}  // namespace nanscope::torch_adapter
