// The mean of many numbers, right to nearly the last bit and without overflow.
#pragma once

#include <cmath>
#include <cstdint>

namespace nanscope {

// Adds without losing what the running sum is too large to hold (Neumaier).
class CarefulSum {
 public:
  void add(double x) noexcept {
    const double next = sum_ + x;
    lost_ += std::fabs(sum_) >= std::fabs(x) ? (sum_ - next) + x : (x - next) + sum_;
    sum_ = next;
  }
  [[nodiscard]] double value() const noexcept { return sum_ + lost_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

// The mean of finite numbers, given in blocks. Those that could overflow a sum are summed
// apart and scaled down, which loses nothing: they have no small bits.
class CarefulMean {
 public:
  // `counted` of the numbers matter; the others must be zero.
  void add(const double* numbers, int count, std::int64_t counted) noexcept {
    double small = sum_of(numbers, count);
    double scaled = 0;
    if (!(std::fabs(small) < kLarge)) {  // too large, or overflowed on the way
      small = 0;
      for (int i = 0; i < count; ++i) {
        const bool large = std::fabs(numbers[i]) >= kLarge;
        (large ? scaled : small) += large ? numbers[i] * kScale : numbers[i];
      }
    }
    small_.add(small);
    scaled_.add(scaled);
    count_ += counted;
  }
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  [[nodiscard]] double value() const noexcept {
    const auto n = static_cast<double>(count_);
    return small_.value() / n + scaled_.value() / n / kScale;
  }

 private:
  static constexpr double kLarge = 0x1p960;  // 2^63 numbers below this do not overflow,
  static constexpr double kScale = 0x1p-64;  // nor do as many of any size times this

  static double sum_of(const double* numbers, int count) noexcept {
    double lanes[8] = {};
    int i = 0;
    for (; i + 8 <= count; i += 8) {
      for (int lane = 0; lane < 8; ++lane) lanes[lane] += numbers[i + lane];
    }
    for (; i < count; ++i) lanes[i % 8] += numbers[i];
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  }

  CarefulSum small_;
  CarefulSum scaled_;
  std::int64_t count_ = 0;
};

}  // namespace nanscope
