#include "scan/bad_map.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "scan/elements.h"
#include "scan/finite.h"
#include "scan/layout.h"

namespace nanscope {
namespace {

constexpr std::int64_t kBlock = 1024;  // elements that are asked about at once

template <class Element>
bool is_bad(const std::byte* at) noexcept {
  using Format = typename Element::Format;
  bool bad = false;
  for (int part = 0; part < Element::kParts; ++part)
    bad |= !Format::is_finite(Format::load(at + part * sizeof(typename Format::Bits)));
  return bad;
}

// The cell of each place along a dimension.
std::vector<int> cells_along(std::int64_t size, int cells) {
  std::vector<int> cell(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i)
    cell[static_cast<std::size_t>(i)] = static_cast<int>(i * cells / size);
  return cell;
}

int cells_for(std::int64_t size) {
  return static_cast<int>(std::min<std::int64_t>(size, BadMap::kMostCells));
}

// One row of the last dimension into one row of cells.
template <class Element>
void count_row(const std::byte* row, std::int64_t step, const std::vector<int>& columns,
               DType dtype, std::int64_t* cells) {
  const auto size = static_cast<std::int64_t>(columns.size());
  for (std::int64_t begin = 0; begin < size; begin += kBlock) {
    const std::int64_t end = std::min(begin + kBlock, size);
    const bool dense = step == static_cast<std::int64_t>(Element::kWidth);
    const auto bytes = static_cast<std::size_t>(end - begin) * Element::kWidth;
    if (dense && all_finite(row + begin * step, bytes, dtype)) continue;
    for (std::int64_t i = begin; i < end; ++i)
      cells[columns[static_cast<std::size_t>(i)]] += is_bad<Element>(row + i * step);
  }
}

template <class Element>
BadMap map_of(const TensorView& view) {
  BadMap map;
  const std::size_t rank = view.sizes.size();
  if (rank == 0 || view.numel() == 0) return map;
  const std::int64_t height = rank > 1 ? view.sizes[rank - 2] : 1;
  map.rows = cells_for(height);
  map.columns = cells_for(view.sizes[rank - 1]);
  map.cells.resize(static_cast<std::size_t>(map.rows) * static_cast<std::size_t>(map.columns));
  const std::vector<int> row_cells = cells_along(height, map.rows);
  const std::vector<int> column_cells = cells_along(view.sizes[rank - 1], map.columns);

  constexpr auto kWidth = static_cast<std::int64_t>(Element::kWidth);
  const std::int64_t column_step = view.strides[rank - 1] * kWidth;
  std::vector<std::int64_t> at(rank - 1);  // of all dimensions but the last
  const auto* row = static_cast<const std::byte*>(view.data);
  for (;;) {
    const int row_cell = rank > 1 ? row_cells[static_cast<std::size_t>(at[rank - 2])] : 0;
    count_row<Element>(row, column_step, column_cells, view.dtype,
                       map.cells.data() + static_cast<std::ptrdiff_t>(row_cell) * map.columns);
    std::size_t dim = rank - 1;
    while (dim > 0) {
      --dim;
      row += view.strides[dim] * kWidth;
      if (++at[dim] < view.sizes[dim]) break;
      row -= view.sizes[dim] * view.strides[dim] * kWidth;
      at[dim] = 0;
      if (dim == 0) return map;
    }
    if (rank == 1) return map;
  }
}

}  // namespace

BadMap bad_map_of(const TensorView& view) {
  return with_element(view.dtype, [&](auto element) { return map_of<decltype(element)>(view); });
}

}  // namespace nanscope
