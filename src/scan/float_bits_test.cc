#include "scan/float_bits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "scan/elements.h"
#include "scan/test_patterns.h"

namespace nanscope {
namespace {

template <class Format>
void expect_all_values(DType dtype) {
  using Bits = typename Format::Bits;
  for (std::uint32_t pattern = 0; pattern <= std::numeric_limits<Bits>::max(); ++pattern) {
    const auto bits = static_cast<Bits>(pattern);
    const double expected = number_of(bits, dtype);
    const double actual = Format::value(bits);
    ASSERT_EQ(Format::is_nan(bits), std::isnan(expected)) << pattern;
    ASSERT_EQ(Format::is_inf(bits), std::isinf(expected)) << pattern;
    ASSERT_EQ(Format::is_finite(bits), std::isfinite(expected)) << pattern;
    ASSERT_EQ(std::isnan(actual), std::isnan(expected)) << pattern;
    ASSERT_EQ(Format::number(bits), std::isfinite(expected) ? expected : 0) << pattern;
    if (std::isnan(expected)) continue;
    ASSERT_EQ(actual, expected) << pattern;
    ASSERT_EQ(std::signbit(actual), std::signbit(expected)) << pattern;
  }
}

TEST(FloatBitsTest, EveryFloat16) { expect_all_values<Float16>(DType::kFloat16); }
TEST(FloatBitsTest, EveryBFloat16) { expect_all_values<BFloat16>(DType::kBFloat16); }
TEST(FloatBitsTest, EveryFloat8) {
  expect_all_values<Float8E5M2>(DType::kFloat8E5M2);
  expect_all_values<Float8E4M3FN>(DType::kFloat8E4M3FN);
  expect_all_values<Float8E4M3FNUZ>(DType::kFloat8E4M3FNUZ);
  expect_all_values<Float8E5M2FNUZ>(DType::kFloat8E5M2FNUZ);
  expect_all_values<Float8E8M0FNU>(DType::kFloat8E8M0FNU);
}

template <class Format>
void expect_order() {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const auto x = static_cast<std::uint8_t>(a), y = static_cast<std::uint8_t>(b);
      if (!(Format::value(x) < Format::value(y))) continue;
      ASSERT_LT(static_cast<std::int8_t>(Format::in_order(x)),
                static_cast<std::int8_t>(Format::in_order(y)));
    }
  }
}

TEST(FloatBitsTest, Float8InOrder) {
  expect_order<Float8E5M2>();
  expect_order<Float8E4M3FN>();
  expect_order<Float8E4M3FNUZ>();
  expect_order<Float8E5M2FNUZ>();
  expect_order<Float8E8M0FNU>();
}

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
  EXPECT_EQ(scannable_width(DType::kInteger), 0u);
}

}  // namespace
}  // namespace nanscope
