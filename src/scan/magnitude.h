// How large the numbers of a tensor are: what a table of parameters shows.
//
// Over the finite elements alone; a complex element counts by its absolute value. The norm is
// exact to float64's precision even where the squares leave its range.
#pragma once

#include <cstdint>
#include <optional>

#include "scan/view.h"

namespace nanscope {

struct Magnitudes {
  double norm = 0;                 // the root of the sum of squares
  std::optional<double> largest;   // absent where nothing is finite
  std::optional<double> smallest;  // of those that are not zero
  std::int64_t extreme = 0;        // above `limits.extreme`
  std::int64_t near_zero = 0;      // below `limits.near_zero`, zeros included
};

struct MagnitudeLimits {
  double extreme = 100;
  double near_zero = 1e-6;
};

[[nodiscard]] Magnitudes magnitudes_of(const TensorView& view, const MagnitudeLimits& limits);

}  // namespace nanscope
