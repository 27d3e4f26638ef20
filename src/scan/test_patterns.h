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
  bool has_inf = true;
};

// finite: 0, -0, 1, -1, least and greatest subnormal, least normal, largest, -largest.
// nan: quiet, signalling, both negative, all mantissa bits, all ones, one high payload bit.
// Where a format has none of a kind, another of its patterns stands there; one without Inf has
// NaN in its list of Inf.
inline const Patterns& patterns_of_float8(DType dtype) {
  static const Patterns kFloat8E5M2{1,
                                    {0, 0x80, 0x3c, 0xbc, 1, 0x03, 0x04, 0x7b, 0xfb},
                                    {0x7e, 0x7d, 0xfe, 0xfd, 0x7f, 0xff},
                                    {0x7c, 0xfc}};
  static const Patterns kFloat8E4M3FN{1,
                                      {0, 0x80, 0x38, 0xb8, 1, 0x07, 0x08, 0x7e, 0xfe},
                                      {0x7f, 0xff, 0x7f, 0xff},
                                      {0x7f, 0xff},
                                      false};
  static const Patterns kFloat8E4M3FNUZ{1,
                                        {0, 0x01, 0x40, 0xc0, 1, 0x07, 0x08, 0x7f, 0xff},
                                        {0x80, 0x80, 0x80, 0x80},
                                        {0x80, 0x80},
                                        false};
  static const Patterns kFloat8E5M2FNUZ{1,
                                        {0, 0x01, 0x40, 0xc0, 1, 0x03, 0x04, 0x7f, 0xff},
                                        {0x80, 0x80, 0x80, 0x80},
                                        {0x80, 0x80},
                                        false};
  static const Patterns kFloat8E8M0FNU{1,
                                       {0x00, 0x01, 0x7f, 0x80, 0x40, 0x81, 0x00, 0xfd, 0xfe},
                                       {0xff, 0xff, 0xff, 0xff},
                                       {0xff, 0xff},
                                       false};
  switch (dtype) {
    case DType::kFloat8E5M2:
      return kFloat8E5M2;
    case DType::kFloat8E4M3FN:
      return kFloat8E4M3FN;
    case DType::kFloat8E4M3FNUZ:
      return kFloat8E4M3FNUZ;
    case DType::kFloat8E5M2FNUZ:
      return kFloat8E5M2FNUZ;
    default:
      return kFloat8E8M0FNU;
  }
}

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
    case DType::kFloat8E5M2:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2FNUZ:
    case DType::kFloat8E8M0FNU:
      return patterns_of_float8(dtype);
    default:
      return kFloat32;
  }
}

inline void put(std::byte* at, std::uint64_t pattern, std::size_t width) {
  std::memcpy(at, &pattern, width);
}

inline std::uint64_t get(const std::byte* at, std::size_t width) {
  std::uint64_t pattern = 0;
  std::memcpy(&pattern, at, width);
  return pattern;
}

// How the bits of a format narrower than float32 are shared out.
struct Shares {
  int mantissa_bits;
  int bias;
  int width = 8;
};

inline Shares shares_of(DType dtype) {
  switch (dtype) {
    case DType::kBFloat16:
      return {7, 127, 16};
    case DType::kFloat8E5M2:
      return {2, 15};
    case DType::kFloat8E4M3FN:
      return {3, 7};
    case DType::kFloat8E4M3FNUZ:
      return {3, 8};
    case DType::kFloat8E5M2FNUZ:
      return {2, 16};
    default:
      return {10, 15, 16};
  }
}

inline bool is_fnuz(DType dtype) {
  return dtype == DType::kFloat8E4M3FNUZ || dtype == DType::kFloat8E5M2FNUZ;
}

// NaN, if memory is full of it.
inline std::byte filler_of(DType dtype) {
  return is_fnuz(dtype) ? std::byte{0x80} : std::byte{0xff};
}

// A component as a number, from the definition of its format.
inline double number_of(std::uint64_t pattern, DType dtype) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::size_t width = patterns_of(dtype).width;
  if (width == 8) return std::bit_cast<double>(pattern);
  if (width == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(pattern));
  if (width == 1) pattern &= 0xff;
  if (dtype == DType::kFloat8E8M0FNU)
    return pattern == 0xff ? kNan : std::ldexp(1.0, static_cast<int>(pattern) - 127);
  if (is_fnuz(dtype) && pattern == 0x80) return kNan;
  if (dtype == DType::kFloat8E4M3FN && (pattern & 0x7f) == 0x7f) return kNan;
  const auto [mantissa_bits, bias, bits] = shares_of(dtype);
  const std::uint64_t sign_bit = std::uint64_t{1} << (bits - 1);
  const int exponent = static_cast<int>(pattern & (sign_bit - 1)) >> mantissa_bits;
  const int mantissa = static_cast<int>(pattern) & ((1 << mantissa_bits) - 1);
  const double sign = (pattern & sign_bit) != 0 ? -1.0 : 1.0;
  if (patterns_of(dtype).has_inf && exponent == 2 * bias + 1)
    return mantissa != 0 ? kNan : sign * std::numeric_limits<double>::infinity();
  const double significand = mantissa + (exponent != 0 ? 1 << mantissa_bits : 0);
  return sign * std::ldexp(significand, std::max(exponent, 1) - bias - mantissa_bits);
}

}  // namespace nanscope
