// An upper bound on magnitudes: |x| <= 2^ceiling. Rounding to nearest keeps it.
#pragma once

namespace nanscope {

inline constexpr int kNoCeiling = 2000;  // NaN or Inf, or nobody knows
inline constexpr int kAllZero = -2000;   // below every number there is

// What is known of all numbers of some memory. Nothing, at first.
enum class Sign : unsigned char { kAny, kNotNegative, kNotPositive };
struct Extent {
  int ceiling = kNoCeiling;
  Sign sign = Sign::kAny;
};

}  // namespace nanscope
