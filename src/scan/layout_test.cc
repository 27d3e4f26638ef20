#include "scan/layout.h"

#include <gtest/gtest.h>

#include <vector>

namespace nanscope {
namespace {

using Numbers = std::vector<std::int64_t>;

// A float32 view over nothing: a layout never touches the data.
struct Shape {
  Numbers sizes;
  Numbers strides;

  [[nodiscard]] Layout in_any_order() const { return layout_in_any_order(view(), 4); }
  [[nodiscard]] Layout in_row_major() const { return layout_in_row_major(view(), 4); }
  [[nodiscard]] TensorView view() const { return {memory + 512, DType::kFloat32, sizes, strides}; }

  static inline std::byte memory[1024];
};

Numbers offsets_of(const Layout& layout) {
  Numbers offsets;
  for_each_row(layout, [&](const std::byte* row) {
    for (std::int64_t i = 0; i < layout.row.size; ++i) {
      offsets.push_back((row + i * layout.row.step - (Shape::memory + 512)) / 4);
    }
    return true;
  });
  return offsets;
}

void expect_one_row(const Shape& shape, std::int64_t size) {
  const Layout layout = shape.in_any_order();
  EXPECT_EQ(layout.outer_rank, 0);
  EXPECT_EQ(layout.row.size, size);
  EXPECT_EQ(layout.row.step, 4);
}

TEST(LayoutTest, DenseMemoryIsOneRowInAnyPermutation) {
  expect_one_row({{}, {}}, 1);
  expect_one_row({{24}, {1}}, 24);
  expect_one_row({{2, 3, 4}, {12, 4, 1}}, 24);
  expect_one_row({{2, 3, 4}, {1, 8, 2}}, 24);
  expect_one_row({{2, 3, 4}, {12, 1, 3}}, 24);
  expect_one_row({{1, 24, 1}, {99, 1, -7}}, 24);
  expect_one_row({{4, 6}, {6, -1}}, 24);
}

TEST(LayoutTest, ExpandedDimensionsAreWalkedOnceAndCounted) {
  const Layout layout = Shape{{5, 3, 7}, {0, 1, 0}}.in_any_order();
  EXPECT_EQ(layout.repeats, 35);
  EXPECT_EQ(offsets_of(layout), (Numbers{0, 1, 2}));
}

TEST(LayoutTest, ReversedDimensionsStartAtTheirLowestAddress) {
  EXPECT_EQ(offsets_of(Shape{{3}, {-2}}.in_any_order()), (Numbers{-4, -2, 0}));
  EXPECT_EQ(offsets_of(Shape{{3}, {-2}}.in_row_major()), (Numbers{0, -2, -4}));
}

TEST(LayoutTest, RowMajorKeepsTheOrderAndEveryElement) {
  EXPECT_EQ(offsets_of(Shape{{2, 3}, {1, 2}}.in_row_major()), (Numbers{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(offsets_of(Shape{{2, 2, 2}, {0, 10, 1}}.in_row_major()),
            (Numbers{0, 1, 10, 11, 0, 1, 10, 11}));
  EXPECT_EQ(Shape({{2, 3, 4}, {12, 4, 1}}).in_row_major().outer_rank, 0);
}

TEST(LayoutTest, OverlappingElementsAreEachVisited) {
  EXPECT_EQ(offsets_of(Shape{{2, 3}, {1, 1}}.in_any_order()), (Numbers{0, 1, 2, 1, 2, 3}));
}

TEST(LayoutTest, EmptyHasNoRows) {
  EXPECT_TRUE(offsets_of(Shape{{2, 0, 3}, {3, 3, 1}}.in_any_order()).empty());
  EXPECT_TRUE(offsets_of(Shape{{0}, {1}}.in_row_major()).empty());
}

TEST(LayoutTest, WalkStopsWhenTold) {
  int rows = 0;
  for_each_row(Shape{{9, 2}, {5, 1}}.in_any_order(), [&](const std::byte*) { return ++rows < 4; });
  EXPECT_EQ(rows, 4);
}

}  // namespace
}  // namespace nanscope
