#include "scan/correspond.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "scan/test_tensor.h"

namespace nanscope {
namespace {

using Sizes = std::vector<std::int64_t>;
using Elements = std::vector<std::vector<std::int64_t>>;

// '.' finite, 'n' NaN, 'i' Inf, 'b' both met; blanks are only to be read by people.
KindMap table(Sizes sizes, std::string_view cells) {
  KindMap map{std::move(sizes), {}};
  for (const char cell : cells) {
    if (cell != ' ') map.kinds.push_back(cell == 'n' ? 1 : cell == 'i' ? 2 : cell == 'b' ? 3 : 0);
  }
  return map;
}

std::string cells_of(const KindMap& map) {
  std::string cells;
  for (const std::uint8_t kind : map.kinds) cells += ".nib"[kind];
  return cells;
}

Correspondence between(const KindMap& output, const std::vector<KindMap>& inputs) {
  const auto found = correspond(output, inputs);
  EXPECT_TRUE(found.has_value());
  return found.value_or(Correspondence{});
}

void expect_feed(const Correspondence::Feed& feed, bool nan_to_nan, bool inf_to_inf,
                 bool inf_to_nan) {
  EXPECT_EQ(feed.nan_to_nan, nan_to_nan);
  EXPECT_EQ(feed.inf_to_inf, inf_to_inf);
  EXPECT_EQ(feed.inf_to_nan, inf_to_nan);
}

TEST(KindMapTest, RowMajorWhateverTheStrides) {
  for (const DType dtype : kScannable) {
    const TestTensor tensor(dtype, {2, 3}, {1, 2});
    tensor.set(tensor.at({0, 2}), patterns_of(dtype).nan[1]);
    tensor.set(tensor.at({1, 0}), patterns_of(dtype).inf[1]);
    const KindMap map = kind_map_of(tensor.view());
    EXPECT_EQ(map.sizes, (Sizes{2, 3}));
    EXPECT_EQ(cells_of(map), patterns_of(dtype).has_inf ? "..ni.." : "..nn..") << name_of(dtype);
  }
}

TEST(KindMapTest, LongDenseRows) {
  for (const DType dtype : kScannable) {
    const TestTensor tensor = TestTensor::dense(dtype, {5, 41});
    std::string expected;
    tensor.for_each([&](std::byte* element, const Sizes& index) {
      const int turn = static_cast<int>(index[0] + index[1]) % 3;
      if (turn == 1) tensor.set(element, patterns_of(dtype).nan[0]);
      if (turn == 2) tensor.set(element, patterns_of(dtype).inf[0]);
      expected += patterns_of(dtype).has_inf ? ".ni"[turn] : ".nn"[turn];
    });
    EXPECT_EQ(cells_of(kind_map_of(tensor.view())), expected) << name_of(dtype);
  }
}

TEST(KindMapTest, AComplexElementHasOneKind) {
  const float parts[] = {1, NAN, INFINITY, 0, INFINITY, NAN};
  const std::int64_t size = 3, stride = 1;
  EXPECT_EQ(cells_of(kind_map_of({parts, DType::kComplex64, {&size, 1}, {&stride, 1}})), "nin");
}

TEST(KindMapTest, ExpandedEmptyScalarAndUnscannable) {
  const float number = NAN;
  const std::int64_t expanded[] = {2, 2}, no_strides[] = {0, 0}, empty[] = {3, 0};
  EXPECT_EQ(cells_of(kind_map_of({&number, DType::kFloat32, expanded, no_strides})), "nnnn");
  EXPECT_EQ(cells_of(kind_map_of({&number, DType::kFloat32, empty, no_strides})), "");
  EXPECT_EQ(cells_of(kind_map_of({&number, DType::kFloat32, {}, {}})), "n");
  EXPECT_EQ(cells_of(kind_map_of({&number, DType::kInteger, expanded, no_strides})), "....");
}

KindMap reduced(const KindMap& map, Sizes dims) { return reduce_kinds(map, dims); }

TEST(ReduceKindsTest, AlongEachDimension) {
  const KindMap map = table({2, 3}, "n.i  .n.");
  EXPECT_EQ(cells_of(reduced(map, {0})), "nni");
  EXPECT_EQ(reduced(map, {0}).sizes, (Sizes{1, 3}));
  EXPECT_EQ(cells_of(reduced(map, {1})), "bn");
  EXPECT_EQ(reduced(map, {1}).sizes, (Sizes{2, 1}));
  EXPECT_EQ(cells_of(reduced(map, {-1})), "bn");
  EXPECT_EQ(cells_of(reduced(map, {-2})), "nni");
}

TEST(ReduceKindsTest, AllDimensions) {
  const KindMap map = table({2, 3}, "n.i  .n.");
  EXPECT_EQ(cells_of(reduced(map, {})), "b");
  EXPECT_EQ(reduced(map, {}).sizes, (Sizes{1, 1}));
  EXPECT_EQ(cells_of(reduced(map, {0, -1})), "b");
}

TEST(ReduceKindsTest, MiddleOfThree) {
  const KindMap map = table({2, 2, 3}, "n.. ..i   ... .n.");
  EXPECT_EQ(reduced(map, {1}).sizes, (Sizes{2, 1, 3}));
  EXPECT_EQ(cells_of(reduced(map, {1})), "n.i.n.");
}

TEST(ReduceKindsTest, ScalarAndEmpty) {
  EXPECT_EQ(cells_of(reduced(table({}, "i"), {-1})), "i");
  EXPECT_EQ(cells_of(reduced(table({}, "i"), {})), "i");
  EXPECT_EQ(cells_of(reduced(table({2, 0}, ""), {1})), "..");
  EXPECT_EQ(cells_of(reduced(table({2, 0}, ""), {0})), "");
}

TEST(CorrespondTest, NanThroughNan) {
  const Correspondence found =
      between(table({4}, ".n.n"), {table({4}, ".n.."), table({4}, "...n")});
  expect_feed(found.feeds[0], true, false, false);
  expect_feed(found.feeds[1], true, false, false);
  EXPECT_FALSE(found.fresh_nan || found.fresh_inf);
  EXPECT_EQ(found.elements, (Elements{{1}, {3}}));
}

TEST(CorrespondTest, NanFromNothing) {
  const Correspondence found = between(table({4}, ".n.n"), {table({4}, ".n..")});
  expect_feed(found.feeds[0], true, false, false);
  EXPECT_TRUE(found.fresh_nan);
  EXPECT_EQ(found.elements, (Elements{{3}}));
}

// inf - inf, 0 * inf: a fresh NaN, and the Inf that met it is named.
TEST(CorrespondTest, NanFromInf) {
  const Correspondence found = between(table({2}, "n."), {table({2}, "ii"), table({2}, "..")});
  expect_feed(found.feeds[0], false, false, true);
  expect_feed(found.feeds[1], false, false, false);
  EXPECT_TRUE(found.fresh_nan);
  EXPECT_EQ(found.elements, (Elements{{0}}));
}

TEST(CorrespondTest, InfBesideANanExplainsNothing) {
  const Correspondence found = between(table({1}, "n"), {table({1}, "i"), table({1}, "n")});
  expect_feed(found.feeds[0], false, false, false);
  expect_feed(found.feeds[1], true, false, false);
  EXPECT_FALSE(found.fresh_nan);
}

TEST(CorrespondTest, InfThroughInfOrNan) {
  const Correspondence found = between(table({3}, "ii."), {table({3}, "in.")});
  expect_feed(found.feeds[0], false, true, false);
  EXPECT_FALSE(found.fresh_nan || found.fresh_inf);
  EXPECT_EQ(found.elements, (Elements{{0}, {1}}));
}

TEST(CorrespondTest, FreshInf) {
  const Correspondence found = between(table({3}, "i.i"), {table({3}, ".ni")});
  expect_feed(found.feeds[0], false, true, false);
  EXPECT_TRUE(found.fresh_inf);
  EXPECT_FALSE(found.fresh_nan);
  EXPECT_EQ(found.elements, (Elements{{0}}));
}

TEST(CorrespondTest, BadInputsThatMeetOnlyGoodOutputsDoNotCount) {
  const Correspondence found = between(table({2}, ".."), {table({2}, "ni")});
  expect_feed(found.feeds[0], false, false, false);
  EXPECT_TRUE(found.elements.empty());
}

TEST(CorrespondTest, Broadcasting) {
  const KindMap output = table({2, 3}, "n.n  i..");
  // A row, a column, a scalar: the first column's NaN comes from the row.
  const Correspondence found =
      between(output, {table({3}, "n.."), table({2, 1}, "i ."), table({}, ".")});
  expect_feed(found.feeds[0], true, false, false);
  expect_feed(found.feeds[1], false, false, true);
  expect_feed(found.feeds[2], false, false, false);
  EXPECT_TRUE(found.fresh_nan);
  EXPECT_FALSE(found.fresh_inf);  // the row's NaN feeds [1, 0]
  EXPECT_EQ(found.elements, (Elements{{0, 2}}));
}

TEST(CorrespondTest, ARowOfSoftmax) {
  const KindMap input = table({2, 3}, "i..  ...");
  const KindMap output = table({2, 3}, "nnn  ..n");
  const Correspondence found = between(output, {reduced(input, {-1})});
  expect_feed(found.feeds[0], false, false, true);
  EXPECT_TRUE(found.fresh_nan);
  EXPECT_EQ(found.elements, (Elements{{0, 0}, {0, 1}, {0, 2}, {1, 2}}));
}

// The output is compared block by block where it may repeat its one input; the answer is the
// same as element by element.
TEST(CorrespondTest, AMaskThatIsAdded) {
  const KindMap mask = table({1, 4, 5}, "..iii ...ii ....i .....");
  KindMap scores = table({3, 4, 5},
                         "..iii ...ii ....i ....."
                         "..iii ...ii ....i ....."
                         "..iii ...ii ....i .....");
  const Correspondence carried = between(scores, {mask});
  EXPECT_FALSE(carried.fresh_nan || carried.fresh_inf);
  expect_feed(carried.feeds[0], false, true, false);
  ASSERT_EQ(carried.elements.size(), 8U);
  EXPECT_EQ(carried.elements[0], (Sizes{0, 0, 2}));
  EXPECT_EQ(carried.elements[7], (Sizes{1, 0, 3}));

  scores.kinds[40] = 2;  // an Inf of its own, in the last block
  const Correspondence fresh = between(scores, {mask});
  EXPECT_TRUE(fresh.fresh_inf);
  EXPECT_EQ(fresh.elements, (Elements{{2, 0, 0}}));
  expect_feed(fresh.feeds[0], false, true, false);

  scores.kinds[40] = 0;
  scores.kinds[42] = 1;  // NaN where the mask has an Inf
  const Correspondence broken = between(scores, {mask});
  EXPECT_TRUE(broken.fresh_nan);
  expect_feed(broken.feeds[0], false, true, true);
}

TEST(CorrespondTest, AMaskBetweenDimensions) {
  const std::string one(20, 'i');
  const std::string none(20, '.');
  const KindMap mask = table({2, 1, 20}, one + none);
  const Correspondence found = between(table({2, 2, 20}, one + one + none + none), {mask});
  EXPECT_FALSE(found.fresh_inf);
  expect_feed(found.feeds[0], false, true, false);
  EXPECT_TRUE(between(table({2, 2, 20}, one + none + one + none), {mask}).fresh_inf);
}

TEST(CorrespondTest, ShapesThatDoNotBroadcast) {
  const KindMap output = table({2, 3}, "......");
  for (const KindMap& input : {table({2}, ".."), table({6}, "......"), table({3, 2}, "......"),
                               table({1, 2, 3}, "......"), table({0}, "")}) {
    EXPECT_FALSE(correspond(output, std::vector{input}).has_value());
    EXPECT_FALSE(correspond(output, std::vector{table({3}, "..."), input}).has_value());
  }
}

TEST(CorrespondTest, AtMostEightElements) {
  const Correspondence explained = between(table({2, 5}, "nnnnn nnnnn"), {table({}, "n")});
  EXPECT_EQ(explained.elements.size(), 8u);
  EXPECT_EQ(explained.elements.front(), (Sizes{0, 0}));
  EXPECT_EQ(explained.elements.back(), (Sizes{1, 2}));
  // A fresh one is shown alone, however late it comes.
  const Correspondence fresh =
      between(table({2, 5}, "nnnnn nnnnn"), {table({2, 5}, "nnnnn nnnn.")});
  EXPECT_EQ(fresh.elements, (Elements{{1, 4}}));
}

TEST(CorrespondTest, ScalarEmptyAndNoInputs) {
  const Correspondence scalar = between(table({}, "n"), {table({}, "i")});
  EXPECT_TRUE(scalar.fresh_nan);
  EXPECT_EQ(scalar.elements, Elements(1));
  EXPECT_TRUE(between(table({0, 3}, ""), {table({3}, "nnn")}).elements.empty());
  const Correspondence alone = between(table({2}, "in"), {});
  EXPECT_TRUE(alone.fresh_nan && alone.fresh_inf);
  EXPECT_EQ(alone.elements, (Elements{{0}, {1}}));
}

}  // namespace
}  // namespace nanscope
