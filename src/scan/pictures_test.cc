// Histograms and maps against the plainest way to make them.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "scan/bad_map.h"
#include "scan/exponents.h"
#include "scan/statistics.h"
#include "scan/test_tensor.h"

namespace nanscope {
namespace {

void scatter_bad(const TestTensor& tensor, std::mt19937_64& random) {
  const Patterns& patterns = patterns_of(tensor.view().dtype);
  tensor.for_each([&](std::byte* element, const TestTensor::Sizes&) {
    const bool bad = random() % 6 == 0;
    tensor.set(element, bad ? patterns.nan[random() % patterns.nan.size()] : random());
  });
}

std::vector<double> parts_of(const std::byte* element, DType dtype) {
  const std::size_t width = patterns_of(dtype).width;
  std::vector<double> parts{number_of(get(element, width), dtype)};
  if (is_complex(dtype)) parts.push_back(number_of(get(element + width, width), dtype));
  return parts;
}

void expect_right_histogram(const TestTensor& tensor) {
  const DType dtype = tensor.view().dtype;
  const double least_normal = number_of(patterns_of(dtype).finite[6], dtype);
  const ExponentHistogram histogram = exponents_of(tensor.view());
  EXPECT_EQ(histogram.looked_at, tensor.view().numel());
  ASSERT_LE(histogram.bins.size(), ExponentHistogram::kMostBins);
  std::vector<std::int64_t> expected(histogram.bins.size());
  tensor.for_each([&](const std::byte* element, const TestTensor::Sizes&) {
    double largest = 0;
    for (const double part : parts_of(element, dtype)) {
      if (!std::isfinite(part)) return;
      largest = std::max(largest, std::fabs(part));
    }
    if (largest < least_normal) return;
    const int bin = (std::ilogb(largest) - histogram.first) / histogram.width;
    ASSERT_GE(std::ilogb(largest), histogram.first);
    ASSERT_LT(static_cast<std::size_t>(bin), expected.size());
    ++expected[static_cast<std::size_t>(bin)];
  });
  EXPECT_EQ(histogram.bins, expected);
  if (histogram.bins.empty()) return;
  EXPECT_GT(histogram.bins.front() * histogram.bins.back(), 0);
}

void expect_right_map(const TestTensor& tensor) {
  const TensorView view = tensor.view();
  const BadMap map = bad_map_of(view);
  if (view.sizes.empty() || view.numel() == 0) {
    EXPECT_TRUE(map.cells.empty());
    return;
  }
  std::vector<std::int64_t> expected(map.cells.size());
  const std::int64_t height = view.sizes.size() > 1 ? view.sizes[view.sizes.size() - 2] : 1;
  tensor.for_each([&](const std::byte* element, const TestTensor::Sizes& index) {
    bool bad = false;
    for (const double part : parts_of(element, view.dtype)) bad |= !std::isfinite(part);
    const std::int64_t row = index.size() > 1 ? index[index.size() - 2] * map.rows / height : 0;
    const std::int64_t column = index.back() * map.columns / view.sizes.back();
    expected[static_cast<std::size_t>(row * map.columns + column)] += bad;
  });
  EXPECT_EQ(map.cells, expected);
  const Statistics seen = statistics_of(view);
  EXPECT_EQ(std::accumulate(map.cells.begin(), map.cells.end(), std::int64_t{0}),
            seen.nan + seen.pos_inf + seen.neg_inf);
}

class PicturesOfType : public testing::TestWithParam<DType> {};

TEST_P(PicturesOfType, AreRightWhateverTheStrides) {
  std::mt19937 shapes(7);
  std::mt19937_64 random(11);
  for (int i = 0; i < 60; ++i) {
    const TestTensor tensor = TestTensor::random(GetParam(), shapes);
    scatter_bad(tensor, random);
    expect_right_histogram(tensor);
    expect_right_map(tensor);
  }
}

TEST_P(PicturesOfType, AreRightForLargeDimensions) {
  std::mt19937_64 random(13);
  for (const auto& sizes : std::vector<TestTensor::Sizes>{{5000}, {49, 97}, {3, 130, 47}}) {
    const TestTensor tensor = TestTensor::dense(GetParam(), sizes);
    scatter_bad(tensor, random);
    expect_right_histogram(tensor);
    expect_right_map(tensor);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryType, PicturesOfType, testing::ValuesIn(kScannable),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(PicturesOfTensors, ALargeTensorIsLookedAtInParts) {
  const std::vector<float> numbers(9'000'000, 3.0f);
  const std::int64_t size = 9'000'000, stride = 1;
  const ExponentHistogram seen =
      exponents_of({numbers.data(), DType::kFloat32, {&size, 1}, {&stride, 1}});
  EXPECT_EQ(seen.looked_at, 4'500'000);  // every other
  EXPECT_EQ(seen.bins, std::vector<std::int64_t>{4'500'000});
  EXPECT_EQ(seen.first, 1);
}

TEST(PicturesOfTensors, ARowThatIsBadIsARowOfCells) {
  std::vector<float> numbers(100 * 20, 1.0f);
  for (int i = 0; i < 20; ++i) numbers[40 * 20 + i] = std::nanf("");
  const std::vector<std::int64_t> sizes{100, 20}, strides{20, 1};
  const BadMap map = bad_map_of({numbers.data(), DType::kFloat32, sizes, strides});
  EXPECT_EQ(map.rows, 48);
  EXPECT_EQ(map.columns, 20);
  for (int c = 0; c < 20; ++c) EXPECT_EQ(map.cells[40 * 48 / 100 * 20 + c], 1);
  EXPECT_EQ(std::accumulate(map.cells.begin(), map.cells.end(), 0), 20);
}

}  // namespace
}  // namespace nanscope
