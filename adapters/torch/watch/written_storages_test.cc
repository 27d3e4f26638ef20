#include "adapters/torch/watch/written_storages.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {
namespace {

const c10::StorageImpl* storage(const at::Tensor& tensor) {
  return storage_of(*tensor.unsafeGetTensorImpl());
}

class WrittenStoragesTest : public ::testing::Test {
 protected:
  // That of the process: a second one would have a second lock of the same rank.
  WrittenStorages& storages = Watcher::get().storages();
  void SetUp() override { storages.forget(); }
  void TearDown() override { storages.forget(); }
};

TEST_F(WrittenStoragesTest, WhatWasMarkedIsKnownWithItsExtent) {
  const at::Tensor made = at::ones({4});
  EXPECT_FALSE(storages.is_made(storage(made)));
  EXPECT_EQ(storages.extent_of(storage(made), at::kFloat).ceiling, kNoCeiling);
  storages.mark_made(storage(made), at::kFloat, {3, Sign::kNotNegative});
  EXPECT_TRUE(storages.is_made(storage(made)));
  const Extent extent = storages.extent_of(storage(made), at::kFloat);
  EXPECT_EQ(extent.ceiling, 3);
  EXPECT_EQ(extent.sign, Sign::kNotNegative);
}

TEST_F(WrittenStoragesTest, EveryCeilingAndSignSurvivesTheWord) {
  const at::Tensor made = at::ones({4});
  for (const c10::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    for (const Sign sign : {Sign::kAny, Sign::kNotNegative, Sign::kNotPositive}) {
      for (int ceiling = kAllZero; ceiling <= kNoCeiling; ceiling += 125) {
        storages.mark_made(storage(made), type, {ceiling, sign});
        const Extent extent = storages.extent_of(storage(made), type);
        ASSERT_EQ(extent.ceiling, ceiling);
        ASSERT_EQ(extent.sign, sign);
        ASSERT_TRUE(storages.is_made(storage(made)));
        ASSERT_FALSE(storages.is_lent(storage(made)));
      }
    }
  }
  storages.mark_made(storage(made), at::kFloat, {kAllZero - 50, Sign::kAny});
  EXPECT_EQ(storages.extent_of(storage(made), at::kFloat).ceiling, kAllZero);
}

// The same memory read as another type holds other numbers.
TEST_F(WrittenStoragesTest, AnExtentHoldsForTheTypeItWasSeenAs) {
  const at::Tensor made = at::ones({4});
  storages.mark_made(storage(made), at::kFloat, {3, Sign::kNotNegative});
  for (const c10::ScalarType type : {at::kDouble, at::kHalf, at::kBFloat16, at::kLong})
    EXPECT_EQ(storages.extent_of(storage(made), type).ceiling, kNoCeiling) << toString(type);
  storages.mark_made(storage(made), at::kLong, {3, Sign::kNotNegative});
  EXPECT_TRUE(storages.is_made(storage(made)));
  for (const c10::ScalarType type : {at::kFloat, at::kBFloat16, at::kLong})
    EXPECT_EQ(storages.extent_of(storage(made), type).ceiling, kNoCeiling) << toString(type);
}

TEST_F(WrittenStoragesTest, AMarkIsOfOneStorage) {
  const at::Tensor made = at::ones({4});
  const at::Tensor other = at::ones({4});
  storages.mark_made(storage(made), at::kFloat, {3, Sign::kAny});
  EXPECT_FALSE(storages.is_made(storage(other)));
  EXPECT_TRUE(storages.is_made(storage(made.slice(0, 1, 3))));  // a view
  storages.unmark_made(storage(other));
  EXPECT_TRUE(storages.is_made(storage(made)));
  storages.unmark_made(storage(made));
  EXPECT_FALSE(storages.is_made(storage(made)));
}

TEST_F(WrittenStoragesTest, NothingIsKnownOfWhatNumPyWasLent) {
  const at::Tensor lent = at::ones({4});
  storages.mark_made(storage(lent), at::kFloat, {1, Sign::kNotNegative});
  storages.lend(lent.storage());
  EXPECT_TRUE(storages.is_lent(storage(lent)));
  EXPECT_FALSE(storages.is_made(storage(lent)));
  EXPECT_EQ(storages.extent_of(storage(lent), at::kFloat).ceiling, kNoCeiling);
  EXPECT_FALSE(storages.was_finite(lent));
  storages.unmark_made(storage(lent));
  EXPECT_TRUE(storages.is_lent(storage(lent)));                    // NumPy has it still
  storages.mark_made(storage(lent), at::kFloat, {1, Sign::kAny});  // an op wrote it, and then?
  EXPECT_FALSE(storages.is_made(storage(lent)));
  storages.forget();
  EXPECT_TRUE(storages.is_lent(storage(lent)));
}

TEST_F(WrittenStoragesTest, WhatOthersMayWriteIsNotKnownAnyMore) {
  const at::Tensor tensor = at::ones({4});
  storages.mark_made(storage(tensor), at::kFloat, {1, Sign::kAny});
  EXPECT_TRUE(storages.was_finite(tensor));
  storages.others_may_write(tensor);
  EXPECT_FALSE(storages.is_made(storage(tensor)));
  EXPECT_FALSE(storages.was_finite(tensor));
}

TEST_F(WrittenStoragesTest, WhatWasComputedAndGivenAwayIsStillKnownAsComputed) {
  const at::Tensor computed = at::ones({4});
  const at::Tensor loaded = at::ones({4});
  storages.mark_made(storage(computed), at::kFloat, {1, Sign::kAny});
  storages.address_given(computed.storage());
  storages.address_given(loaded.storage());
  EXPECT_FALSE(storages.is_made(storage(computed)));
  EXPECT_TRUE(storages.was_finite(computed));
  EXPECT_FALSE(storages.was_finite(loaded));
  storages.forget();
  EXPECT_FALSE(storages.was_finite(computed));
}

TEST_F(WrittenStoragesTest, WhatIsSharedAndWasWrittenIsKnown) {
  const at::Tensor computed = at::ones({4});
  const at::Tensor loaded = at::ones({4});
  const at::Tensor of_others = at::ones({4});
  storages.mark_made(storage(computed), at::kFloat, {1, Sign::kAny});
  EXPECT_FALSE(storages.is_shared_and_was_written(computed));  // nobody else has it
  storages.address_given(computed.storage());
  storages.address_given(loaded.storage());
  storages.note_shared_written(of_others.storage(), at::kFloat);
  EXPECT_TRUE(storages.is_shared_and_was_written(computed));
  EXPECT_FALSE(storages.is_shared_and_was_written(loaded));
  EXPECT_TRUE(storages.is_shared_and_was_written(of_others));
  storages.note_written(storage(loaded), at::kFloat);
  EXPECT_TRUE(storages.is_shared_and_was_written(loaded));
  storages.forget();
  for (const at::Tensor& tensor : {computed, loaded, of_others})
    EXPECT_FALSE(storages.is_shared_and_was_written(tensor));
}

TEST_F(WrittenStoragesTest, WhatIsLentIsLentHoweverMuchElseIs) {
  const at::Tensor lent = at::ones({4});
  const at::Tensor own = at::ones({4});
  storages.lend(lent.storage());
  for (int i = 0; i < 20'000; ++i) storages.lend(at::ones({1}).storage());  // these die at once
  EXPECT_TRUE(storages.is_lent(storage(lent)));
  EXPECT_FALSE(storages.is_lent(storage(own)));
  storages.mark_made(storage(own), at::kFloat, {1, Sign::kAny});
  EXPECT_TRUE(storages.is_made(storage(own)));
}

TEST_F(WrittenStoragesTest, MemoryThatNobodyWroteHasAnAllocation) {
  const OpInfo empty{"aten::empty", {}};
  const at::Tensor taken = at::ones({4});
  const at::Tensor other = at::ones({4});
  storages.note_allocation(&empty, taken, Place{});
  ASSERT_TRUE(storages.allocation_of(taken).has_value());
  EXPECT_EQ(storages.allocation_of(taken.slice(0, 1))->op, &empty);
  EXPECT_FALSE(storages.allocation_of(other).has_value());
  storages.others_may_write(taken);
  EXPECT_FALSE(storages.allocation_of(taken).has_value());
}

TEST_F(WrittenStoragesTest, AnAllocationEndsWithItsStorage) {
  const OpInfo empty{"aten::empty", {}};
  const at::Tensor none = at::ones({4}).to_sparse();  // no storage of its own
  storages.note_allocation(&empty, none, Place{});
  EXPECT_FALSE(storages.allocation_of(none).has_value());
  const at::Tensor taken = at::ones({4});
  storages.note_allocation(&empty, taken, Place{});
  storages.forget();
  EXPECT_FALSE(storages.allocation_of(taken).has_value());
}

// Memory of somebody else may be written by them at any time.
TEST_F(WrittenStoragesTest, ForeignMemoryIsNeverKnownToBeFinite) {
  float numbers[4] = {1, 2, 3, 4};
  const at::Tensor foreign = at::from_blob(numbers, {4}, at::kFloat);
  storages.mark_made(storage(foreign), at::kFloat, {3, Sign::kAny});
  EXPECT_EQ(storages.was_finite(foreign), !is_foreign(*foreign.unsafeGetTensorImpl()));
  EXPECT_FALSE(storages.was_finite(foreign));
}

}  // namespace
}  // namespace nanscope::torch_adapter
