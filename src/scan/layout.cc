#include "scan/layout.h"

namespace nanscope {
namespace {

// Where `inner` runs on into `outer`, they are one dimension.
bool run_on(const Layout::Dim& outer, const Layout::Dim& inner) noexcept {
  return outer.step == inner.size * inner.step;
}

// Merges the `rank` dimensions in `layout.outer` and makes the last one the row.
void merge(Layout& layout, int rank, std::size_t width) noexcept {
  int kept = 0;
  for (int dim = 0; dim < rank; ++dim) {
    const Layout::Dim inner = layout.outer[dim];
    if (kept > 0 && run_on(layout.outer[kept - 1], inner)) {
      layout.outer[kept - 1] = {layout.outer[kept - 1].size * inner.size, inner.step};
    } else {
      layout.outer[kept++] = inner;
    }
  }
  layout.row = kept > 0 ? layout.outer[kept - 1] : Layout::Dim{1, static_cast<std::int64_t>(width)};
  layout.outer_rank = kept > 0 ? kept - 1 : 0;
}

// A valid view has at most 62 dimensions above size 1: their product fits 63 bits.
bool is_full(int rank) noexcept { return rank == kMaxDims; }

}  // namespace

Layout layout_in_any_order(const TensorView& view, std::size_t width) noexcept {
  Layout layout;
  layout.data = static_cast<const std::byte*>(view.data);
  int rank = 0;
  for (std::size_t dim = 0; dim < view.sizes.size(); ++dim) {
    const std::int64_t size = view.sizes[dim];
    std::int64_t step = view.strides[dim] * static_cast<std::int64_t>(width);
    if (size == 0) layout.empty = true;
    if (size <= 1 || is_full(rank)) continue;
    if (step == 0) {
      layout.repeats *= size;
      continue;
    }
    if (step < 0) {
      layout.data += (size - 1) * step;
      step = -step;
    }
    int place = rank++;
    for (; place > 0 && layout.outer[place - 1].step < step; --place)
      layout.outer[place] = layout.outer[place - 1];
    layout.outer[place] = {size, step};
  }
  merge(layout, rank, width);
  return layout;
}

Layout layout_in_row_major(const TensorView& view, std::size_t width) noexcept {
  Layout layout;
  layout.data = static_cast<const std::byte*>(view.data);
  int rank = 0;
  for (std::size_t dim = 0; dim < view.sizes.size(); ++dim) {
    const std::int64_t size = view.sizes[dim];
    if (size == 0) layout.empty = true;
    if (size <= 1 || is_full(rank)) continue;
    layout.outer[rank++] = {size, view.strides[dim] * static_cast<std::int64_t>(width)};
  }
  merge(layout, rank, width);
  return layout;
}

}  // namespace nanscope
