// Numbers of calls, and which memory they wrote.
#include "adapters/torch/ranks/receipts.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {
namespace {

// Those of the process: a second set would have a second lock of the same rank. Each test has
// groups of its own.
Receipts& receipts() { return Watcher::get().receipts(); }

StorageId storage(const at::Tensor& tensor) { return storage_id(*tensor.unsafeGetTensorImpl()); }

TEST(Receipts, CallsAreCountedByGroupAndWay) {
  EXPECT_EQ(receipts().next_number("a", std::nullopt), 0);
  EXPECT_EQ(receipts().next_number("a", std::nullopt), 1);
  EXPECT_EQ(receipts().next_number("b", std::nullopt), 0);
  EXPECT_EQ(receipts().next_number("a", Message{0, 1, 0}), 0);
  EXPECT_EQ(receipts().next_number("a", Message{std::nullopt, 1, 0}), 0);
  EXPECT_EQ(receipts().next_number("a", Message{0, 1, 0}), 1);
}

TEST(Receipts, CallsOfTheReducerAreCountedInTheirBackward) {
  receipts().backward_begins(/*nested=*/false);
  EXPECT_EQ(receipts().ordinal_in_backward("0"), 0);
  EXPECT_EQ(receipts().ordinal_in_backward("0"), 1);
  EXPECT_EQ(receipts().ordinal_in_backward("1"), 0);
  receipts().backward_begins(/*nested=*/false);
  EXPECT_EQ(receipts().ordinal_in_backward("0"), 0);
  receipts().backward_begins(/*nested=*/true);
  EXPECT_EQ(receipts().ordinal_in_backward("0"), -1) << "which comes after it, nobody knows";
}

TEST(Receipts, AReceiverThatTookFromAnyoneIsMixedFromThenOn) {
  EXPECT_FALSE(receipts().is_mixed("0", 1, 0));
  receipts().received_from_any("0", 1, 0);
  EXPECT_TRUE(receipts().is_mixed("0", 1, 0));
  EXPECT_FALSE(receipts().is_mixed("0", 1, 1));
  EXPECT_FALSE(receipts().is_mixed("1", 1, 0));
}

TEST(Receipts, WhatTheBackendCopiesOnWasReceivedToo) {
  const at::Tensor half = at::ones({4});
  const at::Tensor bucket = at::ones({4});
  EXPECT_FALSE(receipts().carry(half, bucket));
  receipts().note(Receipt{}, {half});
  EXPECT_FALSE(receipts().of_storage(storage(bucket)));
  EXPECT_TRUE(receipts().carry(half, bucket));
  ASSERT_TRUE(receipts().of_storage(storage(bucket)));
  EXPECT_EQ(receipts().of_storage(storage(bucket))->number,
            receipts().of_storage(storage(half))->number);
  EXPECT_FALSE(receipts().carry(bucket, bucket.view({2, 2})));
}

}  // namespace
}  // namespace nanscope::torch_adapter
