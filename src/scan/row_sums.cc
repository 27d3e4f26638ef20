#include "scan/row_sums.h"

#include <algorithm>
#include <cmath>

#include "scan/elements.h"

namespace nanscope {
namespace {

// Adding n rounded numbers is off by about the root of n roundings.
template <class Format>
double tolerance(std::int64_t size) noexcept {
  const double rounding = std::ldexp(1.0, -Format::kMantissa);
  return std::max(1e-6, 4 * rounding * std::sqrt(static_cast<double>(size)));
}

template <class Format>
double sum_of(const std::byte* at, std::int64_t size, std::int64_t step) noexcept {
  double sum = 0;
  for (std::int64_t i = 0; i < size; ++i) sum += Format::value(Format::load(at + i * step));
  return sum;
}

template <class Format>
RowSums of_rows(const TensorView& view) {
  constexpr auto kWidth = static_cast<std::int64_t>(sizeof(typename Format::Bits));
  const std::size_t outer = view.sizes.size() - 1;
  const double allowed = tolerance<Format>(view.sizes[outer]);
  RowSums found;
  Index at(outer, 0);
  if (view.numel() == 0) return found;
  while (true) {
    std::int64_t offset = 0;
    for (std::size_t dim = 0; dim < outer; ++dim) offset += at[dim] * view.strides[dim];
    const double sum = sum_of<Format>(static_cast<const std::byte*>(view.data) + offset * kWidth,
                                      view.sizes[outer], view.strides[outer] * kWidth);
    ++found.rows;
    if (std::abs(sum - 1) > allowed && std::isfinite(sum)) {
      if (found.off++ == 0) {
        found.first = at;
        found.sum = sum;
      }
    }
    std::size_t dim = outer;
    for (; dim > 0; --dim) {
      if (++at[dim - 1] < view.sizes[dim - 1]) break;
      at[dim - 1] = 0;
    }
    if (dim == 0) return found;
  }
}

}  // namespace

RowSums row_sums_of(const TensorView& view) {
  if (view.sizes.empty() || is_complex(view.dtype)) return {};
  return with_element(
      view.dtype, [&](auto element) { return of_rows<typename decltype(element)::Format>(view); });
}

}  // namespace nanscope
