#include "scan/exponents.h"

#include <algorithm>
#include <array>

#include "scan/elements.h"
#include "scan/layout.h"

namespace nanscope {
namespace {

constexpr std::int64_t kMostLookedAt = 1 << 22;
constexpr int kLeast = -1100;  // below the smallest exponent of any type
constexpr int kExponents = 2200;
using Tally = std::array<std::int64_t, kExponents>;  // by exponent - kLeast

// kLeast for zeros, subnormals and what is not finite.
template <class Format>
int exponent_of(typename Format::Bits bits) noexcept {
  const auto magnitude = Format::signless(bits);
  const bool counts = Format::is_finite(bits) && magnitude >= Format::kLeastNormal;
  return counts ? static_cast<int>(magnitude >> Format::kMantissa) - Format::kBias : kLeast;
}

template <class Element>
int exponent_at(const std::byte* at) noexcept {
  using Format = typename Element::Format;
  const int first = exponent_of<Format>(Format::load(at));
  if constexpr (Element::kParts == 1) return first;
  const auto second = Format::load(at + sizeof(typename Format::Bits));
  const bool finite = Format::is_finite(Format::load(at)) && Format::is_finite(second);
  return finite ? std::max(first, exponent_of<Format>(second)) : kLeast;
}

// The bins that hold all that was counted, as narrow as their number allows.
ExponentHistogram folded(const Tally& tally) {
  ExponentHistogram histogram;
  const auto counts = [](std::int64_t count) { return count != 0; };
  const auto begin = std::find_if(tally.begin() + 1, tally.end(), counts);
  if (begin == tally.end()) return histogram;
  const auto end = std::find_if(tally.rbegin(), tally.rend(), counts).base();
  const auto range = static_cast<int>(end - begin);
  const int most = static_cast<int>(ExponentHistogram::kMostBins);
  histogram.first = static_cast<int>(begin - tally.begin()) + kLeast;
  histogram.width = (range + most - 1) / most;
  histogram.bins.resize(static_cast<std::size_t>((range + histogram.width - 1) / histogram.width));
  for (int i = 0; i < range; ++i)
    histogram.bins[static_cast<std::size_t>(i / histogram.width)] += begin[i];
  return histogram;
}

template <class Element>
ExponentHistogram count(const TensorView& view) {
  const Layout layout = layout_in_any_order(view, Element::kWidth);
  const std::int64_t apart = std::max<std::int64_t>(
      1, (view.numel() / std::max<std::int64_t>(layout.repeats, 1)) / kMostLookedAt);
  Tally tally{};
  std::int64_t looked_at = 0;
  std::int64_t next = 0;  // how far into the row the next one lies
  for_each_row(layout, [&](const std::byte* row) {
    for (; next < layout.row.size; next += apart) {
      ++tally[static_cast<std::size_t>(exponent_at<Element>(row + next * layout.row.step) -
                                       kLeast)];
      ++looked_at;
    }
    next -= layout.row.size;
    return true;
  });
  for (std::int64_t& times : tally) times *= layout.repeats;
  ExponentHistogram histogram = folded(tally);
  histogram.looked_at = looked_at * layout.repeats;
  return histogram;
}

}  // namespace

ExponentHistogram exponents_of(const TensorView& view) {
  return with_element(view.dtype, [&](auto element) { return count<decltype(element)>(view); });
}

}  // namespace nanscope
