// A view's dimensions with all that does not matter taken away: size-1 dimensions
// dropped, neighbours that run on merged. What is left is a few outer dimensions
// around one row, and for most tensors just the row.
//
// Lives on the stack and allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "scan/view.h"

namespace nanscope {

// What torch allows.
inline constexpr int kMaxDims = 64;

struct Layout {
  struct Dim {
    std::int64_t size;
    std::int64_t step;  // in bytes
  };

  const std::byte* data = nullptr;  // the first element of the walk
  bool empty = false;
  std::int64_t repeats = 1;  // elements of the view that each visit stands for
  Dim row;                   // the innermost dimension; one element if there is none
  int outer_rank = 0;
  Dim outer[kMaxDims];  // outermost first; only the first outer_rank are set
};

// Visits every address in the order that suits memory best. Expanded dimensions
// are walked once and counted in `repeats`; reversed ones are turned round.
[[nodiscard]] Layout layout_in_any_order(const TensorView& view, std::size_t width) noexcept;
// Visits every element, in row-major order.
[[nodiscard]] Layout layout_in_row_major(const TensorView& view, std::size_t width) noexcept;

// Calls `fn(const std::byte* row)` for each row until it returns false.
template <class Fn>
void for_each_row(const Layout& layout, Fn&& fn) {
  if (layout.empty) return;
  std::int64_t at[kMaxDims];
  for (int dim = 0; dim < layout.outer_rank; ++dim) at[dim] = 0;

  const std::byte* row = layout.data;
  while (fn(row)) {
    int dim = layout.outer_rank - 1;
    for (; dim >= 0; --dim) {
      const auto [size, step] = layout.outer[dim];
      row += step;
      if (++at[dim] < size) break;
      row -= size * step;
      at[dim] = 0;
    }
    if (dim < 0) return;
  }
}

}  // namespace nanscope
