// What a tensor holds: asked only when something was found.
//
// Counts are of elements; a complex element is NaN if either part is, else Inf
// if either part is. Minimum, maximum and mean are over the finite elements'
// components, and absent where there is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "scan/view.h"

namespace nanscope {

// One element, exactly (float64 holds every watched type).
struct Value {
  double real = 0;
  double imag = 0;
  bool is_complex = false;

  friend bool operator==(const Value&, const Value&) = default;
};

struct Statistics {
  std::int64_t numel = 0;
  std::int64_t nan = 0;
  std::int64_t pos_inf = 0;
  std::int64_t neg_inf = 0;
  std::int64_t zeros = 0;
  std::int64_t negatives = 0;
  std::int64_t subnormals = 0;
  std::optional<double> min;
  std::optional<double> max;
  std::optional<double> mean;
};

using Index = std::vector<std::int64_t>;

[[nodiscard]] Statistics statistics_of(const TensorView& view);
// The first `limit` non-finite elements in row-major order.
[[nodiscard]] std::vector<Index> first_bad(const TensorView& view, std::size_t limit);
// Integers are read too (`width` bytes, signed), so that labels and masks can be shown.
[[nodiscard]] Value value_at(const TensorView& view, const Index& index);

}  // namespace nanscope
