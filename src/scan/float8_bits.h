// The float8 formats that IEEE-754 does not know, with the interface of FloatBits.
//
// They trade Inf for range: e4m3fn has NaN where all bits but the sign are ones; the fnuz kinds
// have one NaN, in the place of -0; e8m0fnu is an exponent alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "scan/ceiling.h"

namespace nanscope {

// What the three have in common, from how they read 256 patterns.
template <class Format>
struct Float8Bits {
  using Bits = std::uint8_t;

  static constexpr bool kHasInf = false;

  static constexpr bool is_inf(Bits) noexcept { return false; }
  static constexpr bool is_finite(Bits bits) noexcept { return !Format::is_nan(bits); }
  static constexpr double value(Bits bits) noexcept { return kValues[bits]; }
  static constexpr double number(Bits bits) noexcept { return is_finite(bits) ? value(bits) : 0; }
  static Bits load(const std::byte* at) noexcept { return static_cast<Bits>(*at); }

 private:
  static constexpr double power_of_two(int exponent) {
    double power = 1;
    for (; exponent > 0; --exponent) power *= 2;
    for (; exponent < 0; ++exponent) power /= 2;
    return power;
  }
  static constexpr double read(Bits bits) {
    if (Format::is_nan(bits)) return std::numeric_limits<double>::quiet_NaN();
    constexpr int kHidden = 1 << Format::kMantissa;
    const int magnitude = Format::signless(bits);
    const int exponent = magnitude >> Format::kMantissa;
    const int fraction = magnitude & (kHidden - 1);
    const bool normal = exponent > 0 || !Format::kHasZero;
    const double digits = fraction + (normal ? kHidden : 0);
    const double size =
        digits * power_of_two((normal ? exponent : 1) - Format::kBias - Format::kMantissa);
    return Format::has_sign(bits) ? -size : size;
  }
  static constexpr std::array<double, 256> read_all() {
    std::array<double, 256> all{};
    for (std::size_t bits = 0; bits < all.size(); ++bits) all[bits] = read(static_cast<Bits>(bits));
    return all;
  }
  static const std::array<double, 256> kValues;
};

template <class Format>
constexpr std::array<double, 256> Float8Bits<Format>::kValues = read_all();

// A sign before the magnitude.
template <class Format>
struct SignedFloat8Bits : Float8Bits<Format> {
  using Bits = std::uint8_t;

  static constexpr Bits kSignless = 0x7f;
  static constexpr Bits kLeastNormal = 1 << Format::kMantissa;
  static constexpr bool kHasZero = true;

  static constexpr bool has_sign(Bits bits) noexcept { return bits > kSignless; }
  static constexpr Bits in_order(Bits bits) noexcept {
    return has_sign(bits) ? static_cast<Bits>(bits ^ kSignless) : bits;
  }
};

struct Float8E4M3FN : SignedFloat8Bits<Float8E4M3FN> {
  static constexpr int kMantissa = 3;
  static constexpr int kBias = 7;
  static constexpr Bits kLeastBad = 0x7f;

  static constexpr Bits signless(Bits bits) noexcept { return bits & kSignless; }
  static constexpr bool is_nan(Bits bits) noexcept { return signless(bits) == kLeastBad; }
  static constexpr int ceiling(Bits bits) noexcept {
    if (is_nan(bits)) return kNoCeiling;
    return signless(bits) == 0 ? kAllZero : (signless(bits) >> kMantissa) - kBias + 1;
  }
};

template <int kMantissaBits>
struct Float8FNUZ : SignedFloat8Bits<Float8FNUZ<kMantissaBits>> {
  using Bits = std::uint8_t;

  static constexpr int kMantissa = kMantissaBits;
  static constexpr int kBias = 1 << (6 - kMantissa);
  static constexpr Bits kNan = 0x80;
  static constexpr Bits kLeastBad = kNan;

  static constexpr bool is_nan(Bits bits) noexcept { return bits == kNan; }
  // NaN is above all others here too.
  static constexpr Bits signless(Bits bits) noexcept { return is_nan(bits) ? kNan : bits & 0x7f; }
  // That of the largest number of the type: NaN is found in one operation, sizes would take three.
  static constexpr int ceiling(Bits bits) noexcept { return is_nan(bits) ? kNoCeiling : kBias; }
};

using Float8E4M3FNUZ = Float8FNUZ<3>;
using Float8E5M2FNUZ = Float8FNUZ<2>;

struct Float8E8M0FNU : Float8Bits<Float8E8M0FNU> {
  static constexpr int kMantissa = 0;
  static constexpr int kBias = 127;
  static constexpr bool kHasZero = false;
  static constexpr Bits kSignless = 0xff;
  static constexpr Bits kLeastNormal = 0;
  static constexpr Bits kLeastBad = 0xff;

  static constexpr Bits signless(Bits bits) noexcept { return bits; }
  static constexpr bool is_nan(Bits bits) noexcept { return bits == kLeastBad; }
  static constexpr bool has_sign(Bits) noexcept { return false; }
  static constexpr Bits in_order(Bits bits) noexcept { return bits ^ 0x80; }
  static constexpr int ceiling(Bits bits) noexcept {
    return is_nan(bits) ? kNoCeiling : bits - kBias + 1;
  }
};

}  // namespace nanscope
