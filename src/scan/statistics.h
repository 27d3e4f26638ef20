// What a tensor holds: asked only when something was found.
//
// Counts are of elements; a complex element is NaN if either part is, else Inf
// if either part is, with the sign of the first such part. It is zero if both
// parts are, subnormal if one is, and never negative. -0.0 is a zero and not
// negative; -Inf is negative; a NaN has no sign.
//
// Minimum, maximum and mean are over the finite elements' components, and absent
// where there is none. Integers of known width are counted too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "scan/view.h"

namespace nanscope {

// One element, exactly: float64 holds every watched type, and integers to 2^53.
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
// Can value_at read this type? Not integers of unknown width.
[[nodiscard]] bool has_values(const TensorView& view) noexcept;
// Integers are read too, so that labels and masks can be shown. NaN where there
// are no values to read. `index` must lie inside the view.
[[nodiscard]] Value value_at(const TensorView& view, const Index& index);

}  // namespace nanscope
