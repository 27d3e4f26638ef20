#include "scan/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "scan/test_tensor.h"

namespace nanscope {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();

// A dense float64 vector as a view.
struct Doubles {
  std::vector<double> numbers;
  std::int64_t size = static_cast<std::int64_t>(numbers.size());
  std::int64_t stride = 1;

  [[nodiscard]] TensorView view() const {
    return {numbers.data(), DType::kFloat64, {&size, 1}, {&stride, 1}};
  }
};

double mean_of(std::vector<double> numbers) {
  return statistics_of(Doubles{std::move(numbers)}.view()).mean.value();
}

// The same facts, one element at a time.
Statistics naive_statistics(const TestTensor& tensor, double least_normal, double& mean_magnitude) {
  const DType dtype = tensor.view().dtype;
  const std::size_t width = patterns_of(dtype).width;
  Statistics s;
  long double sum = 0, magnitudes = 0, count = 0;
  tensor.for_each([&](const std::byte* element, const TestTensor::Sizes&) {
    std::vector<double> parts{number_of(get(element, width), dtype)};
    if (is_complex(dtype)) parts.push_back(number_of(get(element + width, width), dtype));
    ++s.numel;
    bool nan = false, subnormal = false, zero = true;
    const double* infinite = nullptr;
    for (const double& part : parts) {
      nan |= std::isnan(part);
      if (std::isinf(part) && infinite == nullptr) infinite = &part;
      zero &= part == 0;
      subnormal |= part != 0 && std::fabs(part) < least_normal;
    }
    s.nan += nan;
    if (!is_complex(dtype)) s.negatives += parts[0] < 0;
    if (nan) return;
    if (infinite != nullptr) {
      ++(*infinite > 0 ? s.pos_inf : s.neg_inf);
      return;
    }
    s.zeros += zero;
    s.subnormals += subnormal;
    for (const double part : parts) {
      s.min = std::min(part, s.min.value_or(part));
      s.max = std::max(part, s.max.value_or(part));
      sum += part;
      magnitudes += std::fabs(part);
      ++count;
    }
  });
  if (count != 0) {
    s.mean = static_cast<double>(sum / count);
    mean_magnitude = static_cast<double>(magnitudes / count);
  }
  return s;
}

void expect_right_statistics(const TestTensor& tensor) {
  const DType dtype = tensor.view().dtype;
  double magnitude = 0;
  const Statistics expected =
      naive_statistics(tensor, number_of(patterns_of(dtype).finite[6], dtype), magnitude);
  const Statistics actual = statistics_of(tensor.view());
  EXPECT_EQ(actual.numel, expected.numel);
  EXPECT_EQ(actual.nan, expected.nan);
  EXPECT_EQ(actual.pos_inf, expected.pos_inf);
  EXPECT_EQ(actual.neg_inf, expected.neg_inf);
  EXPECT_EQ(actual.zeros, expected.zeros);
  EXPECT_EQ(actual.negatives, expected.negatives);
  EXPECT_EQ(actual.subnormals, expected.subnormals);
  EXPECT_EQ(actual.min, expected.min);
  EXPECT_EQ(actual.max, expected.max);
  ASSERT_EQ(actual.mean.has_value(), expected.mean.has_value());
  EXPECT_NEAR(actual.mean.value_or(0), expected.mean.value_or(0), 1e-13 * magnitude);
}

// Any bits, with more than their share of zeros, subnormals, NaN and Inf.
void scatter(const TestTensor& tensor, std::mt19937_64& random) {
  const Patterns& patterns = patterns_of(tensor.view().dtype);
  const auto any = [&]() -> std::uint64_t {
    const auto one_of = [&](const auto& from) { return from[random() % from.size()]; };
    switch (random() % 8) {
      case 0:
        return one_of(patterns.nan);
      case 1:
        return one_of(patterns.inf);
      case 2:
        return one_of(patterns.finite);
      default:
        return random();
    }
  };
  tensor.for_each([&](std::byte* element, const TestTensor::Sizes&) {
    put(element, any(), patterns.width);
    if (is_complex(tensor.view().dtype)) put(element + patterns.width, any(), patterns.width);
  });
}

TEST(StatisticsTest, AnyViewAgreesWithTheNaiveCount) {
  std::mt19937 shapes(11);
  std::mt19937_64 random(12);
  for (int i = 0; i < 2400; ++i) {
    const TestTensor tensor = TestTensor::random(kScannable[i % std::size(kScannable)], shapes);
    scatter(tensor, random);
    expect_right_statistics(tensor);
    if (testing::Test::HasFailure()) FAIL() << "view " << i << ", " << name_of(tensor.view().dtype);
  }
}

TEST(StatisticsTest, ManyBlocks) {
  std::mt19937_64 random(13);
  for (const DType dtype : kScannable) {
    for (const std::int64_t numel : {2047, 2048, 2049, 10000}) {
      const TestTensor dense = TestTensor::dense(dtype, {numel});
      scatter(dense, random);
      expect_right_statistics(dense);
      const TestTensor strided(dtype, {numel / 7, 7}, {15, 2});
      scatter(strided, random);
      expect_right_statistics(strided);
    }
  }
}

// More of one kind in a block than a byte counts to.
TEST(StatisticsTest, CountsOfOneByteElements) {
  const std::int64_t size = 5000, stride = 1;
  const auto of = [&](std::uint8_t pattern, DType dtype) {
    const std::vector<std::uint8_t> same(5000, pattern);
    return statistics_of({same.data(), dtype, {&size, 1}, {&stride, 1}});
  };
  EXPECT_EQ(of(0x80, DType::kFloat8E4M3FNUZ).nan, 5000);
  EXPECT_EQ(of(0x80, DType::kFloat8E4M3FN).zeros, 5000);
  EXPECT_EQ(of(0xfc, DType::kFloat8E5M2).neg_inf, 5000);
  EXPECT_EQ(of(0x81, DType::kFloat8E5M2FNUZ).negatives, 5000);
  EXPECT_EQ(of(0x81, DType::kFloat8E5M2FNUZ).subnormals, 5000);
  EXPECT_EQ(of(0x00, DType::kFloat8E8M0FNU).zeros, 0);
  EXPECT_EQ(of(0x00, DType::kFloat8E8M0FNU).mean, 0x1p-127);
}

TEST(StatisticsTest, NothingFiniteHasNoRange) {
  const Statistics s = statistics_of(Doubles{{NAN, kInf, -kInf, -NAN}}.view());
  EXPECT_EQ(s.numel, 4);
  EXPECT_EQ(s.nan, 2);
  EXPECT_EQ(s.pos_inf, 1);
  EXPECT_EQ(s.neg_inf, 1);
  EXPECT_EQ(s.negatives, 1);
  EXPECT_FALSE(s.min || s.max || s.mean);
}

TEST(StatisticsTest, NegativeZeroIsAZeroAndNotNegative) {
  const Statistics s = statistics_of(Doubles{{-0.0, 0.0, -0.0}}.view());
  EXPECT_EQ(s.zeros, 3);
  EXPECT_EQ(s.negatives, 0);
  EXPECT_EQ(s.subnormals, 0);
  EXPECT_FALSE(std::signbit(*s.min));
}

TEST(StatisticsTest, EmptyAndZeroDim) {
  const Statistics empty = statistics_of(Doubles{{}}.view());
  EXPECT_EQ(empty.numel, 0);
  EXPECT_FALSE(empty.mean);
  const double x = -3.5;
  const Statistics one = statistics_of({&x, DType::kFloat64, {}, {}});
  EXPECT_EQ(one.numel, 1);
  EXPECT_EQ(one.negatives, 1);
  EXPECT_EQ(one.mean, -3.5);
}

TEST(StatisticsTest, MeanNearTheLargestDoubleStaysFinite) {
  EXPECT_EQ(mean_of({kLargest, kLargest, kLargest}), kLargest);
  EXPECT_EQ(mean_of(std::vector<double>(9999, -kLargest)), -kLargest);
  EXPECT_EQ(mean_of({kLargest, -kLargest}), 0.0);
  EXPECT_NEAR(mean_of({kLargest, kLargest, -kLargest}) / (kLargest / 3), 1.0, 1e-15);
  EXPECT_DOUBLE_EQ(mean_of({kLargest, 1.0}), kLargest / 2);
}

TEST(StatisticsTest, MeanKeepsWhatALargeSumWouldSwallow) {
  std::vector<double> numbers(3 * 2048, 0.0);
  numbers[0] = 1e20;
  for (int i = 2048; i < 2 * 2048; ++i) numbers[static_cast<std::size_t>(i)] = 1.0;
  numbers[2 * 2048] = -1e20;
  EXPECT_DOUBLE_EQ(mean_of(numbers), 1.0 / 3);
  EXPECT_EQ(mean_of({5e-324, 5e-324, 5e-324}), 5e-324);
}

TEST(StatisticsTest, IntegersAreCountedWhenTheirWidthIsKnown) {
  const std::int32_t labels[] = {3, -100, 0, 0, 7};
  const std::int64_t size = 5, stride = 1;
  TensorView view{labels, DType::kInteger, {&size, 1}, {&stride, 1}};
  EXPECT_EQ(statistics_of(view).numel, 5);
  EXPECT_FALSE(statistics_of(view).mean);
  view.int_width = 4;
  const Statistics s = statistics_of(view);
  EXPECT_EQ(s.zeros, 2);
  EXPECT_EQ(s.negatives, 1);
  EXPECT_EQ(s.min, -100);
  EXPECT_EQ(s.max, 7);
  EXPECT_EQ(s.mean, -18);
}

TEST(FirstBadTest, RowMajorWhateverTheStrides) {
  std::mt19937 shapes(21);
  std::mt19937_64 random(22);
  for (int i = 0; i < 1200; ++i) {
    const TestTensor tensor = TestTensor::random(kScannable[i % std::size(kScannable)], shapes);
    scatter(tensor, random);
    const DType dtype = tensor.view().dtype;
    const std::size_t width = patterns_of(dtype).width;
    std::vector<Index> expected;
    tensor.for_each([&](const std::byte* element, const Index& index) {
      bool bad = !std::isfinite(number_of(get(element, width), dtype));
      if (is_complex(dtype)) bad |= !std::isfinite(number_of(get(element + width, width), dtype));
      if (bad) expected.push_back(index);
    });
    EXPECT_EQ(first_bad(tensor.view(), 1000000), expected);
    expected.resize(std::min<std::size_t>(expected.size(), 3));
    EXPECT_EQ(first_bad(tensor.view(), 3), expected);
    EXPECT_TRUE(first_bad(tensor.view(), 0).empty());
  }
}

TEST(FirstBadTest, FarInALargeTensor) {
  const TestTensor tensor = TestTensor::dense(DType::kFloat16, {100, 700});
  tensor.set(tensor.at({41, 699}), patterns_of(DType::kFloat16).inf[0]);
  tensor.set(tensor.at({99, 699}), patterns_of(DType::kFloat16).nan[1]);
  EXPECT_EQ(first_bad(tensor.view(), 8), (std::vector<Index>{{41, 699}, {99, 699}}));
}

TEST(ValueAtTest, FloatsAreExact) {
  for (const DType dtype : kScannable) {
    const TestTensor tensor(dtype, {3, 3}, {1, -4});
    tensor.for_each([&](const std::byte* element, const Index& index) {
      const double expected = number_of(get(element, patterns_of(dtype).width), dtype);
      const Value value = value_at(tensor.view(), index);
      EXPECT_EQ(value.real, expected);
      EXPECT_EQ(value.imag, is_complex(dtype) ? expected : 0.0);
      EXPECT_EQ(value.is_complex, is_complex(dtype));
    });
  }
}

TEST(ValueAtTest, IntegersOfEveryWidth) {
  const std::int64_t numbers[] = {-2, 200, -1};
  const std::int64_t size = 3;
  for (std::uint8_t width = 1; width <= 8; width = static_cast<std::uint8_t>(2 * width)) {
    const std::int64_t stride = 8 / width;  // the low bytes of each number
    const TensorView is_signed{numbers, DType::kInteger, {&size, 1}, {&stride, 1}, width, true};
    const TensorView is_unsigned{numbers, DType::kInteger, {&size, 1}, {&stride, 1}, width, false};
    EXPECT_EQ(value_at(is_signed, {0}).real, -2);
    EXPECT_EQ(value_at(is_signed, {1}).real, width == 1 ? 200 - 256 : 200);
    EXPECT_EQ(value_at(is_unsigned, {1}).real, 200);
    EXPECT_EQ(value_at(is_unsigned, {2}).real,
              width == 8 ? 0x1p64 : std::ldexp(1.0, 8 * width) - 1);
    EXPECT_TRUE(has_values(is_signed));
  }
}

TEST(ValueAtTest, UnreadableIsNan) {
  const std::uint64_t number = 1;
  EXPECT_TRUE(std::isnan(value_at({&number, DType::kInteger, {}, {}}, {}).real));
  EXPECT_FALSE(has_values({&number, DType::kInteger, {}, {}}));
}

}  // namespace
}  // namespace nanscope
