// Where the non-finite elements of a tensor lie, on a small grid: a whole row, one column, or
// scattered. The pattern says why.
#pragma once

#include <cstdint>
#include <vector>

#include "scan/view.h"

namespace nanscope {

// The last two dimensions are rows and columns, those before them are added up; a vector has one
// row. Large dimensions are divided evenly.
struct BadMap {
  int rows = 0;                     // of cells, at most kMostCells
  int columns = 0;                  // the same
  std::vector<std::int64_t> cells;  // bad elements in each, row by row

  static constexpr int kMostCells = 48;

  friend bool operator==(const BadMap&, const BadMap&) = default;
};

// Without cells where the tensor has no dimension or no element. `view.dtype` must be scannable.
[[nodiscard]] BadMap bad_map_of(const TensorView& view);

}  // namespace nanscope
