#include "adapters/torch/ops/scan_rule.h"

#include <gtest/gtest.h>

namespace nanscope::torch_adapter {
namespace {

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
