#include "scan/magnitude.h"

#include <algorithm>
#include <cmath>

#include "scan/elements.h"
#include "scan/layout.h"

namespace nanscope {
namespace {

template <class Element>
double absolute(const std::byte* at) noexcept {
  using Format = typename Element::Format;
  const double real = Format::value(Format::load(at));
  if constexpr (Element::kParts == 1) return std::abs(real);
  return std::hypot(real, Format::value(Format::load(at + sizeof(typename Format::Bits))));
}

template <class Element, class Fn>
void for_each_magnitude(const Layout& layout, Fn&& fn) {
  for_each_row(layout, [&](const std::byte* at) {
    for (std::int64_t i = 0; i < layout.row.size; ++i, at += layout.row.step) {
      const double magnitude = absolute<Element>(at);
      if (std::isfinite(magnitude)) fn(magnitude);
    }
    return true;
  });
}

// The squares of float64's ends do not fit float64; those of `long double` do.
template <class Element>
double careful_norm(const Layout& layout) {
  long double sum = 0;
  for_each_magnitude<Element>(
      layout, [&](double x) { sum += static_cast<long double>(x) * static_cast<long double>(x); });
  return static_cast<double>(std::sqrt(sum * static_cast<long double>(layout.repeats)));
}

template <class Element>
Magnitudes of_floats(const TensorView& view, const MagnitudeLimits& limits) {
  const Layout layout = layout_in_any_order(view, Element::kWidth);
  Magnitudes found;
  double squares = 0;
  for_each_magnitude<Element>(layout, [&](double x) {
    squares += x * x;
    found.largest = std::max(x, found.largest.value_or(x));
    if (x != 0) found.smallest = std::min(x, found.smallest.value_or(x));
    found.extreme += x > limits.extreme;
    found.near_zero += x < limits.near_zero;
  });
  found.extreme *= layout.repeats;
  found.near_zero *= layout.repeats;
  constexpr double kRoom = 1e-280;  // below it squares have lost digits, or are gone
  const bool exact = std::isfinite(squares) && (squares > kRoom || !found.smallest);
  found.norm = exact ? std::sqrt(squares * static_cast<double>(layout.repeats))
                     : careful_norm<Element>(layout);
  return found;
}

}  // namespace

Magnitudes magnitudes_of(const TensorView& view, const MagnitudeLimits& limits) {
  return with_element(view.dtype,
                      [&](auto element) { return of_floats<decltype(element)>(view, limits); });
}

}  // namespace nanscope
