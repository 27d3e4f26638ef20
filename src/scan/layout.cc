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

// The dimensions that are longer than 1, each put among the others by `put`, which gives how many
// there are then.
template <class Put>
Layout layout_by(const TensorView& view, std::size_t width, Put put) noexcept {
  Layout layout;
  layout.data = static_cast<const std::byte*>(view.data);
  int rank = 0;
  for (std::size_t dim = 0; dim < view.sizes.size(); ++dim) {
    const std::int64_t size = view.sizes[dim];
    if (size == 0) layout.empty = true;
    if (size <= 1 || is_full(rank)) continue;
    rank = put(layout, rank, {size, view.strides[dim] * static_cast<std::int64_t>(width)});
  }
  merge(layout, rank, width);
  return layout;
}

constexpr auto put_last = [](Layout& layout, int rank, Layout::Dim dim) noexcept {
  layout.outer[rank] = dim;
  return rank + 1;
};

// The longest step first, all of them forwards; a step of 0 only repeats.
constexpr auto put_by_step = [](Layout& layout, int rank, Layout::Dim dim) noexcept {
  if (dim.step == 0) {
    layout.repeats *= dim.size;
    return rank;
  }
  if (dim.step < 0) {
    layout.data += (dim.size - 1) * dim.step;
    dim.step = -dim.step;
  }
  int place = rank;
  for (; place > 0 && layout.outer[place - 1].step < dim.step; --place)
    layout.outer[place] = layout.outer[place - 1];
  layout.outer[place] = dim;
  return rank + 1;
};

}  // namespace

Layout layout_in_any_order(const TensorView& view, std::size_t width) noexcept {
  return layout_by(view, width, put_by_step);
}

Layout layout_in_row_major(const TensorView& view, std::size_t width) noexcept {
  return layout_by(view, width, put_last);
}

}  // namespace nanscope
