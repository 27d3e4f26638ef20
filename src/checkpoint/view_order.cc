#include "checkpoint/view_order.h"

#include <algorithm>

namespace nanscope::checkpoint {

ViewOrder order_of(const StoredTensor& tensor) {
  ViewOrder order;
  for (std::size_t dim = 0; dim < tensor.sizes.size(); ++dim) {
    const std::int64_t size = tensor.sizes[dim];
    if (size == 0) order.empty = true;
    if (size <= 1) continue;
    if (tensor.strides[dim] == 0)
      order.repeats *= size;
    else
      order.dims.push_back({size, tensor.strides[dim], dim});
  }
  std::stable_sort(order.dims.begin(), order.dims.end(),
                   [](const auto& a, const auto& b) { return a.stride > b.stride; });
  // From the innermost on: each stride must reach over all that lies inside of it.
  std::int64_t reach = 1;
  order.dense = true;
  for (std::size_t i = order.dims.size(); i-- > 0;) {
    const ViewOrder::Dim& dim = order.dims[i];
    if (dim.stride < reach) order.overlaps = true;
    if (dim.stride != reach) order.dense = false;
    reach += (dim.size - 1) * dim.stride;
  }
  return order;
}

std::int64_t ViewOrder::count() const {
  std::int64_t count = empty ? 0 : 1;
  for (const Dim& dim : dims) count *= dim.size;
  return count;
}

std::vector<std::int64_t> ViewOrder::index_at(std::int64_t distance, std::size_t rank) const {
  std::vector<std::int64_t> index(rank, 0);
  for (const Dim& dim : dims) {
    index[dim.index] = distance / dim.stride;
    distance %= dim.stride;
  }
  return index;
}

}  // namespace nanscope::checkpoint
