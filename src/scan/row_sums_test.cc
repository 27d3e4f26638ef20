#include "scan/row_sums.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace nanscope {
namespace {

RowSums of(const std::vector<float>& numbers, const Index& sizes, const Index& strides) {
  return row_sums_of({numbers.data(), DType::kFloat32, sizes, strides});
}

TEST(RowSums, NamesTheFirstRowThatIsOff) {
  const RowSums found = of({0.5, 0.5, 0.25, 0.25, 1, 0, 2, 2}, {2, 2, 2}, {4, 2, 1});
  EXPECT_EQ(found.rows, 4);
  EXPECT_EQ(found.off, 2);
  EXPECT_EQ(found.first, (Index{0, 1}));
  EXPECT_FLOAT_EQ(static_cast<float>(found.sum), 0.5F);
}

TEST(RowSums, FollowsStrides) {
  // Columns of a row-major matrix, seen as rows.
  EXPECT_EQ(of({0.5, 1, 0.5, 0}, {2, 2}, {1, 2}).off, 0);
  EXPECT_EQ(of({0.5, 1, 0.5, 0}, {2, 2}, {2, 1}).off, 2);
}

TEST(RowSums, ForgivesRounding) {
  EXPECT_EQ(of(std::vector<float>(10'000, 1.0F / 10'000), {10'000}, {1}).off, 0);
}

TEST(RowSums, LeavesNonFiniteRowsToOthers) {
  EXPECT_EQ(of({std::numeric_limits<float>::quiet_NaN(), 1}, {1, 2}, {2, 1}).off, 0);
}

TEST(RowSums, NothingHasNoRows) {
  EXPECT_EQ(of({}, {0, 3}, {3, 1}).rows, 0);
  EXPECT_EQ(of({1}, {}, {}).rows, 0);
}

}  // namespace
}  // namespace nanscope
