// How a stored tensor's elements lie in its storage: the way to visit them all, in the order of
// memory, and back from a place to an index.
#pragma once

#include <cstdint>
#include <vector>

#include "checkpoint/contents.h"

namespace nanscope::checkpoint {

struct ViewOrder {
  struct Dim {
    std::int64_t size;
    std::int64_t stride;
    std::size_t index;  // which dimension of the tensor
  };

  std::vector<Dim> dims;     // larger than 1, the widest stride first
  std::int64_t repeats = 1;  // expanded dimensions: each element stands for so many
  bool empty = false;
  bool dense = false;     // all elements between the first and the last
  bool overlaps = false;  // two indices share an element; not visited then

  // Elements to visit.
  [[nodiscard]] std::int64_t count() const;
  // The index of the element that lies `distance` elements behind the first.
  [[nodiscard]] std::vector<std::int64_t> index_at(std::int64_t distance, std::size_t rank) const;
};

[[nodiscard]] ViewOrder order_of(const StoredTensor& tensor);

}  // namespace nanscope::checkpoint
