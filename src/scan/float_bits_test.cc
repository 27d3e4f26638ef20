#include "scan/float_bits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "scan/test_patterns.h"

namespace nanscope {
namespace {

template <class Format>
void expect_all_values(DType dtype) {
  for (std::uint32_t pattern = 0; pattern < 0x10000; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const double expected = number_of(bits, dtype);
    const double actual = Format::value(bits);
    ASSERT_EQ(Format::is_nan(bits), std::isnan(expected)) << pattern;
    ASSERT_EQ(Format::is_inf(bits), std::isinf(expected)) << pattern;
    ASSERT_EQ(Format::is_finite(bits), std::isfinite(expected)) << pattern;
    ASSERT_EQ(std::isnan(actual), std::isnan(expected)) << pattern;
    if (std::isnan(expected)) continue;
    ASSERT_EQ(actual, expected) << pattern;
    ASSERT_EQ(std::signbit(actual), std::signbit(expected)) << pattern;
  }
}

TEST(FloatBitsTest, EveryFloat16) { expect_all_values<Float16>(DType::kFloat16); }
TEST(FloatBitsTest, EveryBFloat16) { expect_all_values<BFloat16>(DType::kBFloat16); }

TEST(FloatBitsTest, Float32MatchesTheMachine) {
  std::mt19937 random(3);
  for (int i = 0; i < 200000; ++i) {
    auto bits = static_cast<std::uint32_t>(random());
    if (i % 4 == 0) bits &= 0x807fffff;  // subnormal
    const auto x = static_cast<double>(std::bit_cast<float>(bits));
    ASSERT_EQ(std::isnan(Float32::value(bits)), std::isnan(x)) << bits;
    if (std::isnan(x)) continue;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(Float32::value(bits)), std::bit_cast<std::uint64_t>(x))
        << bits;
  }
}

TEST(FloatBitsTest, LimitsOfTheFormats) {
  EXPECT_EQ(Float64::kInf, 0x7ff0000000000000u);
  EXPECT_EQ(Float32::kInf, 0x7f800000u);
  EXPECT_EQ(Float16::kInf, 0x7c00u);
  EXPECT_EQ(BFloat16::kInf, 0x7f80u);
  EXPECT_EQ(Float64::value(0x7fefffffffffffff), std::numeric_limits<double>::max());
  EXPECT_EQ(Float64::value(1), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(Float32::value(1), static_cast<double>(std::numeric_limits<float>::denorm_min()));
}

#if defined(__SSE2__)
TEST(FloatBitsTest, FlushToZeroChangesNothing) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // torch.set_flush_denormal(True)
  const volatile std::uint32_t smallest32 = 1;
  const volatile std::uint16_t smallest16 = 1;
  const double values[] = {Float32::value(smallest32), Float16::value(smallest16),
                           BFloat16::value(smallest16)};
  _mm_setcsr(before);
  EXPECT_EQ(values[0], std::ldexp(1.0, -149));
  EXPECT_EQ(values[1], std::ldexp(1.0, -24));
  EXPECT_EQ(values[2], std::ldexp(1.0, -133));
}
#endif

TEST(FloatBitsTest, ElementsOfTheScannableTypes) {
  for (const DType dtype : kScannable)
    EXPECT_EQ(scannable_width(dtype), width_of(dtype)) << name_of(dtype);
  EXPECT_EQ(scannable_width(DType::kFloat8), 0u);
  EXPECT_EQ(scannable_width(DType::kInteger), 0u);
}

}  // namespace
}  // namespace nanscope
