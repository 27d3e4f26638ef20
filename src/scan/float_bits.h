// The IEEE-754 formats as bit patterns: where NaN, Inf and the subnormals begin. The float8
// formats that are not of IEEE's kind are in scan/float8_bits.h.
//
// All questions are answered with integer arithmetic, so the answers do not
// depend on the caller's floating-point environment (flush-to-zero, traps) and
// leave no exception flags behind.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "scan/ceiling.h"

namespace nanscope {

// A choice without a branch: the compiler vectorises loops of these.
template <class Bits>
constexpr Bits all_ones_if(bool condition) noexcept {
  return static_cast<Bits>(Bits{0} - static_cast<Bits>(condition));
}

template <class BitsType, int kMantissaBits>
struct FloatBits {
  using Bits = BitsType;

  static constexpr int kMantissa = kMantissaBits;
  // A pattern without its sign is NaN above kInf, subnormal between 0 and kLeastNormal.
  static constexpr Bits kSignless = static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1);
  static constexpr Bits kLeastNormal = static_cast<Bits>(Bits{1} << kMantissa);
  static constexpr Bits kInf = static_cast<Bits>(kSignless & ~(kLeastNormal - 1));
  static constexpr bool kHasInf = true;
  static constexpr bool kHasZero = true;
  static constexpr Bits kLeastBad = kInf;
  static constexpr int kBias = static_cast<int>(kInf >> (kMantissa + 1));

  static constexpr Bits signless(Bits bits) noexcept { return static_cast<Bits>(bits & kSignless); }
  static constexpr bool is_nan(Bits bits) noexcept { return signless(bits) > kInf; }
  static constexpr bool is_inf(Bits bits) noexcept { return signless(bits) == kInf; }
  static constexpr bool is_finite(Bits bits) noexcept { return signless(bits) < kInf; }
  static constexpr bool has_sign(Bits bits) noexcept { return bits > kSignless; }
  // As signed integers these are in the order of the numbers. Its own inverse.
  static constexpr Bits in_order(Bits bits) noexcept {
    return static_cast<Bits>(bits ^ (kSignless & all_ones_if<Bits>(has_sign(bits))));
  }

  // The least n with |x| < 2^n; subnormals share one.
  static constexpr int ceiling(Bits bits) noexcept {
    if (!is_finite(bits)) return kNoCeiling;
    return signless(bits) == 0 ? kAllZero
                               : static_cast<int>(signless(bits) >> kMantissa) - kBias + 1;
  }
  // The same number as a float64; a NaN stays some NaN.
  static constexpr double value(Bits bits) noexcept {
    return is_finite(bits) ? finite_value<double, std::uint64_t, 52>(bits) : non_finite_value(bits);
  }
  // The same number as the narrowest of float32 and float64 that holds it; 0 if it is not finite.
  static constexpr auto number(Bits bits) noexcept {
    bits = static_cast<Bits>(bits & all_ones_if<Bits>(is_finite(bits)));
    if constexpr (sizeof(Bits) == 8) return std::bit_cast<double>(bits);
    if constexpr (sizeof(Bits) == 4) return std::bit_cast<float>(bits);
    if constexpr (sizeof(Bits) <= 2) return finite_value<float, std::uint32_t, 23>(bits);
  }

  static Bits load(const std::byte* at) noexcept {
    Bits bits;
    std::memcpy(&bits, at, sizeof bits);
    return bits;
  }

 private:
  // Without branches, so that a loop over it becomes SIMD. A subnormal that is
  // normal in `Wide` is read as if it had the hidden bit, which is then taken away.
  template <class Wide, class WideBits, int kWideMantissa>
  static constexpr Wide finite_value(Bits bits) noexcept {
    constexpr int kWiden = kWideMantissa - kMantissa;
    constexpr int kWideBias = (1 << (8 * sizeof(WideBits) - 2 - kWideMantissa)) - 1;
    constexpr WideBits kOne = WideBits{1} << kWideMantissa;
    constexpr WideBits kRebias = kOne * (kWideBias - kBias);

    const WideBits magnitude = static_cast<WideBits>(signless(bits)) << kWiden;
    const WideBits sign = static_cast<WideBits>(bits & ~kSignless)
                          << (8 * (sizeof(WideBits) - sizeof(Bits)));
    if constexpr (kRebias == 0) return std::bit_cast<Wide>(magnitude | sign);
    const WideBits if_subnormal = all_ones_if<WideBits>(signless(bits) < kLeastNormal);
    const Wide read = std::bit_cast<Wide>(magnitude + kRebias + (kOne & if_subnormal));
    const Wide hidden = std::bit_cast<Wide>((kRebias + kOne) & if_subnormal);
    return std::bit_cast<Wide>(std::bit_cast<WideBits>(read - hidden) | sign);
  }

  static constexpr double non_finite_value(Bits bits) noexcept {
    const std::uint64_t magnitude = static_cast<std::uint64_t>(signless(bits)) << (52 - kMantissa);
    const std::uint64_t sign = std::uint64_t{has_sign(bits)} << 63;
    return std::bit_cast<double>(magnitude | std::uint64_t{2047} << 52 | sign);
  }
};

using Float64 = FloatBits<std::uint64_t, 52>;
using Float32 = FloatBits<std::uint32_t, 23>;
using Float16 = FloatBits<std::uint16_t, 10>;
using BFloat16 = FloatBits<std::uint16_t, 7>;
using Float8E5M2 = FloatBits<std::uint8_t, 2>;

}  // namespace nanscope
