// Do the rows of a table of probabilities sum to one?
//
// A row runs along the last dimension; a 0-dim tensor has none. Sums are taken in float64, and
// what rounding in the tensor's own type explains is forgiven.
#pragma once

#include <cstdint>
#include <optional>

#include "scan/statistics.h"

namespace nanscope {

struct RowSums {
  std::int64_t rows = 0;
  std::int64_t off = 0;        // rows that do not sum to one
  std::optional<Index> first;  // the first such row: all but the last dimension
  double sum = 0;              // of that row
};

// A row with a non-finite element is not counted as off: another question finds it.
[[nodiscard]] RowSums row_sums_of(const TensorView& view);

}  // namespace nanscope
