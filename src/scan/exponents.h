// How large the numbers of a tensor are, as a histogram over powers of two: a look at it tells an
// overflow that grew for long from a single wild element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scan/view.h"

namespace nanscope {

// Zeros, subnormals, Inf and NaN stand in no bin: Statistics counts them. A complex element counts
// by its larger part.
struct ExponentHistogram {
  int first = 0;                   // the first bin begins at 2^first
  int width = 1;                   // powers of two in one bin
  std::vector<std::int64_t> bins;  // from the smallest numbers to the largest; at most kMostBins
  std::int64_t looked_at = 0;      // elements, all kinds of them; of a large tensor a part

  static constexpr std::size_t kMostBins = 64;

  friend bool operator==(const ExponentHistogram&, const ExponentHistogram&) = default;
};

// `view.dtype` must be scannable. Of a tensor above 2^22 elements every n-th is looked at.
[[nodiscard]] ExponentHistogram exponents_of(const TensorView& view);

}  // namespace nanscope
