// What a large dense buffer holds, at the speed of reading: for files of many gigabytes.
//
// The same counts as scan/statistics.h, without negatives and mean. Blocks that are finite, which
// are nearly all, are counted by a wide kernel; any other by statistics_of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/dtype.h"

namespace nanscope {

struct Census {
  std::int64_t elements = 0;
  std::int64_t nan = 0;
  std::int64_t pos_inf = 0;
  std::int64_t neg_inf = 0;
  std::int64_t zeros = 0;
  std::int64_t subnormals = 0;
  // Of the finite elements' components; `least` is above `most` where there is none.
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  [[nodiscard]] std::int64_t non_finite() const noexcept { return nan + pos_inf + neg_inf; }
  [[nodiscard]] bool has_finite() const noexcept { return least <= most; }
  // The largest of the finite ones; 0 if there is none.
  [[nodiscard]] double largest_magnitude() const noexcept;
  void add(const Census& other) noexcept;
  // As if each element were there that often: expanded dimensions.
  void repeat(std::int64_t times) noexcept;
};

// `dtype` must be scannable; any alignment.
[[nodiscard]] Census census_of(const void* data, std::size_t elements, DType dtype);

}  // namespace nanscope
