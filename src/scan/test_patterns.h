// Bit patterns of the tests, written out by hand so that they do not lean on the
// constants they test.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "base/dtype.h"

namespace nanscope {

struct Patterns {
  std::size_t width;  // of a component
  std::vector<std::uint64_t> finite;
  std::vector<std::uint64_t> nan;
  std::vector<std::uint64_t> inf;
};

// finite: 0, -0, 1, -1, least and greatest subnormal, least normal, largest, -largest.
// nan: quiet, signalling, both negative, all mantissa bits, all ones, one high payload bit.
inline const Patterns& patterns_of(DType dtype) {
  static const Patterns kFloat64{
      8,
      {0, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 1, 0x000fffffffffffff,
       0x0010000000000000, 0x7fefffffffffffff, 0xffefffffffffffff},
      {0x7ff8000000000000, 0x7ff0000000000001, 0xfff8000000000000, 0xfff0000000000001,
       0x7fffffffffffffff, 0xffffffffffffffff, 0x7ff4000000000000, 0xfff0000080000000},
      {0x7ff0000000000000, 0xfff0000000000000}};
  static const Patterns kFloat32{
      4,
      {0, 0x80000000, 0x3f800000, 0xbf800000, 1, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff},
      {0x7fc00000, 0x7f800001, 0xffc00000, 0xff800001, 0x7fffffff, 0xffffffff, 0x7fa00000},
      {0x7f800000, 0xff800000}};
  static const Patterns kFloat16{2,
                                 {0, 0x8000, 0x3c00, 0xbc00, 1, 0x03ff, 0x0400, 0x7bff, 0xfbff},
                                 {0x7e00, 0x7c01, 0xfe00, 0xfc01, 0x7fff, 0xffff, 0x7d00},
                                 {0x7c00, 0xfc00}};
  static const Patterns kBFloat16{2,
                                  {0, 0x8000, 0x3f80, 0xbf80, 1, 0x007f, 0x0080, 0x7f7f, 0xff7f},
                                  {0x7fc0, 0x7f81, 0xffc0, 0xff81, 0x7fff, 0xffff, 0x7fa0},
                                  {0x7f80, 0xff80}};
  switch (dtype) {
    case DType::kFloat64:
    case DType::kComplex128:
      return kFloat64;
    case DType::kFloat16:
    case DType::kComplex32:
      return kFloat16;
    case DType::kBFloat16:
      return kBFloat16;
    default:
      return kFloat32;
  }
}

inline constexpr DType kScannable[] = {DType::kFloat64,  DType::kFloat32,   DType::kFloat16,
                                       DType::kBFloat16, DType::kComplex64, DType::kComplex128,
                                       DType::kComplex32};

inline void put(std::byte* at, std::uint64_t pattern, std::size_t width) {
  std::memcpy(at, &pattern, width);
}

inline std::uint64_t get(const std::byte* at, std::size_t width) {
  std::uint64_t pattern = 0;
  std::memcpy(&pattern, at, width);
  return pattern;
}

// A component as a number, from the definition of its format.
inline double number_of(std::uint64_t pattern, DType dtype) {
  const std::size_t width = patterns_of(dtype).width;
  if (width == 8) return std::bit_cast<double>(pattern);
  if (width == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(pattern));
  const int mantissa_bits = dtype == DType::kBFloat16 ? 7 : 10;
  const int bias = (1 << (14 - mantissa_bits)) - 1;
  const int exponent = static_cast<int>(pattern & 0x7fff) >> mantissa_bits;
  const int mantissa = static_cast<int>(pattern) & ((1 << mantissa_bits) - 1);
  const double sign = (pattern & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 2 * bias + 1) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  const double significand = mantissa + (exponent != 0 ? 1 << mantissa_bits : 0);
  return sign * std::ldexp(significand, std::max(exponent, 1) - bias - mantissa_bits);
}

}  // namespace nanscope
