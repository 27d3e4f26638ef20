#include "scan/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

#include "scan/careful_mean.h"
#include "scan/elements.h"
#include "scan/finite.h"
#include "scan/layout.h"

namespace nanscope {
namespace {

// Elements are copied to a small dense block first, whatever their strides, and
// looked at there in a few plain loops that the compiler turns into SIMD. Counts
// within a block are as wide as an element for the same reason, but hold a block.
constexpr int kBlock = 2048;
template <class Bits>
using BlockCount = std::conditional_t<sizeof(Bits) == 1, std::uint16_t, Bits>;

// Minimum, maximum and mean of components, of which the non-finite are left out.
template <class Format>
class Range {
  using Bits = typename Format::Bits;
  using Key = std::make_signed_t<Bits>;  // orders like the numbers

 public:
  // `finite`: how many of them are.
  void add(const Bits* bits, int count, std::int64_t finite) noexcept {
    add_to_ends(bits, count);
    double numbers[kBlock];
    for (int i = 0; i < count; ++i) {
      numbers[i] = Format::number(bits[i]);
    }
    mean_.add(numbers, count, finite);
  }

  void report(Statistics& statistics) const {
    if (mean_.count() == 0) return;
    statistics.min = number_of(least_);
    statistics.max = number_of(most_);
    // The mean lies between them; its last rounding may not.
    statistics.mean = std::clamp(mean_.value(), *statistics.min, *statistics.max);
  }

 private:
  void add_to_ends(const Bits* bits, int count) noexcept {
    Key least = least_;
    Key most = most_;
    for (int i = 0; i < count; ++i) {
      const auto if_bad = all_ones_if<Bits>(!Format::is_finite(bits[i]));
      const auto key = static_cast<Bits>(Format::in_order(bits[i]) & ~if_bad);
      least = std::min(least, static_cast<Key>(key | (if_bad & kHighest)));
      most = std::max(most, static_cast<Key>(key | (if_bad & kLowest)));
    }
    least_ = least;
    most_ = most;
  }

  static double number_of(Key key) noexcept {
    return Format::value(Format::in_order(static_cast<Bits>(key))) + 0.0;  // -0.0 becomes 0.0
  }

  static constexpr Key kHighest = std::numeric_limits<Key>::max();
  static constexpr Key kLowest = std::numeric_limits<Key>::min();
  Key least_ = kHighest;
  Key most_ = kLowest;
  CarefulMean mean_;
};

// Returns how many are finite.
template <class Format>
int count_reals(const typename Format::Bits* all, int count, Statistics& statistics) noexcept {
  using Bits = typename Format::Bits;
  using Count = BlockCount<Bits>;
  Count nan = 0, inf = 0, neg_inf = 0, zeros = 0, negatives = 0, below_normal = 0;
  for (int i = 0; i < count; ++i) {
    const Bits magnitude = Format::signless(all[i]);
    const bool sign = Format::has_sign(all[i]);
    const bool is_nan = Format::is_nan(all[i]);
    const bool is_inf = Format::is_inf(all[i]);
    nan = static_cast<Count>(nan + is_nan);
    inf = static_cast<Count>(inf + is_inf);
    neg_inf = static_cast<Count>(neg_inf + (sign & is_inf));
    zeros = static_cast<Count>(zeros + (Format::kHasZero & (magnitude == 0)));
    negatives = static_cast<Count>(negatives + (sign & (magnitude != 0) & !is_nan));
    below_normal = static_cast<Count>(below_normal + (magnitude < Format::kLeastNormal));
  }
  statistics.nan += nan;
  statistics.pos_inf += inf - neg_inf;
  statistics.neg_inf += neg_inf;
  statistics.zeros += zeros;
  statistics.negatives += negatives;
  statistics.subnormals += below_normal - zeros;
  return count - static_cast<int>(nan + inf);
}

// Moves the finite elements to the front and returns how many components they are.
template <class Format>
int count_complexes(typename Format::Bits* parts, int count, Statistics& statistics) noexcept {
  using Bits = typename Format::Bits;
  const auto is_subnormal = [](Bits bits) {
    return Format::signless(bits) != 0 && Format::signless(bits) < Format::kLeastNormal;
  };
  int kept = 0;
  for (int i = 0; i < count; i += 2) {
    const Bits real = parts[i];
    const Bits imag = parts[i + 1];
    if (Format::is_nan(real) || Format::is_nan(imag)) {
      ++statistics.nan;
    } else if (Format::is_inf(real) || Format::is_inf(imag)) {
      const bool negative = Format::has_sign(Format::is_inf(real) ? real : imag);
      ++(negative ? statistics.neg_inf : statistics.pos_inf);
    } else {
      statistics.zeros += Format::signless(real) == 0 && Format::signless(imag) == 0;
      statistics.subnormals += is_subnormal(real) || is_subnormal(imag);
      parts[kept++] = real;
      parts[kept++] = imag;
    }
  }
  return kept;
}

// Calls `fn(components, count)` with blocks of whole elements.
template <class Element, class Fn>
void for_each_block(const Layout& layout, Fn&& fn) {
  using Bits = typename Element::Format::Bits;
  constexpr int kFull = kBlock / Element::kParts;
  Bits block[kBlock];
  int filled = 0;  // elements
  for_each_row(layout, [&](const std::byte* at) {
    for (std::int64_t left = layout.row.size; left > 0;) {
      const int taken = static_cast<int>(std::min<std::int64_t>(left, kFull - filled));
      Bits* to = block + filled * Element::kParts;
      if (layout.row.step == Element::kWidth) {
        std::memcpy(to, at, static_cast<std::size_t>(taken) * Element::kWidth);
      } else {
        for (int i = 0; i < taken; ++i)
          std::memcpy(to + i * Element::kParts, at + i * layout.row.step, Element::kWidth);
      }
      at += taken * layout.row.step;
      left -= taken;
      filled += taken;
      if (filled == kFull) {
        fn(block, kBlock);
        filled = 0;
      }
    }
    return true;
  });
  if (filled != 0) fn(block, filled * Element::kParts);
}

template <class Element>
Statistics of_floats(const TensorView& view) {
  using Format = typename Element::Format;
  const Layout layout = layout_in_any_order(view, Element::kWidth);
  Statistics statistics;
  Range<Format> range;
  for_each_block<Element>(layout, [&](typename Format::Bits* parts, int count) {
    if constexpr (Element::kParts == 2) {
      count = count_complexes<Format>(parts, count, statistics);
      range.add(parts, count, count);
    } else {
      range.add(parts, count, count_reals<Format>(parts, count, statistics));
    }
  });
  range.report(statistics);
  for (std::int64_t* tally : {&statistics.nan, &statistics.pos_inf, &statistics.neg_inf,
                              &statistics.zeros, &statistics.negatives, &statistics.subnormals}) {
    *tally *= layout.repeats;
  }
  return statistics;
}

double integer_at(const std::byte* at, const TensorView& view) noexcept {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, view.int_width);  // little-endian, as every machine torch runs on
  const int unused = 64 - 8 * view.int_width;
  if (!view.int_signed) return static_cast<double>(bits);
  return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
}

Statistics of_integers(const TensorView& view) {
  const Layout layout = layout_in_any_order(view, view.int_width);
  Statistics statistics;
  CarefulSum sum;
  std::int64_t count = 0;
  for_each_row(layout, [&](const std::byte* row) {
    for (std::int64_t i = 0; i < layout.row.size; ++i) {
      const double x = integer_at(row + i * layout.row.step, view);
      statistics.zeros += layout.repeats * (x == 0);
      statistics.negatives += layout.repeats * (x < 0);
      statistics.min = std::min(x, statistics.min.value_or(x));
      statistics.max = std::max(x, statistics.max.value_or(x));
      sum.add(x);
      ++count;
    }
    return true;
  });
  if (count != 0) statistics.mean = sum.value() / static_cast<double>(count);
  return statistics;
}

bool is_known_integer(const TensorView& view) noexcept {
  return view.dtype == DType::kInteger && view.int_width >= 1 && view.int_width <= 8;
}

template <class Element>
bool is_bad(const std::byte* at) noexcept {
  using Format = typename Element::Format;
  bool bad = false;
  for (int part = 0; part < Element::kParts; ++part) {
    bad |= !Format::is_finite(Format::load(at + part * sizeof(typename Format::Bits)));
  }
  return bad;
}

Index index_of(std::int64_t ordinal, std::span<const std::int64_t> sizes) {
  Index index(sizes.size());
  for (std::size_t dim = sizes.size(); dim-- > 0;) {
    index[dim] = ordinal % sizes[dim];
    ordinal /= sizes[dim];
  }
  return index;
}

template <class Element>
std::vector<Index> first_bad_of(const TensorView& view, std::size_t limit) {
  const Layout layout = layout_in_row_major(view, Element::kWidth);
  const bool dense = layout.row.step == Element::kWidth;
  std::vector<Index> found;
  std::int64_t row_start = 0;  // ordinal of the row's first element
  const auto look_at_row = [&](const std::byte* row) {
    for (std::int64_t begin = 0; begin < layout.row.size; begin += kBlock) {
      const std::int64_t end = std::min(begin + kBlock, layout.row.size);
      const auto bytes = static_cast<std::size_t>(end - begin) * Element::kWidth;
      if (dense && all_finite(row + begin * layout.row.step, bytes, view.dtype)) continue;
      for (std::int64_t i = begin; i < end; ++i) {
        if (!is_bad<Element>(row + i * layout.row.step)) continue;
        found.push_back(index_of(row_start + i, view.sizes));
        if (found.size() == limit) return false;
      }
    }
    row_start += layout.row.size;
    return true;
  };
  if (limit != 0) for_each_row(layout, look_at_row);
  return found;
}

template <class Element>
Value value_of(const std::byte* at) noexcept {
  using Format = typename Element::Format;
  Value value;
  value.real = Format::value(Format::load(at));
  if constexpr (Element::kParts == 2) {
    value.imag = Format::value(Format::load(at + sizeof(typename Format::Bits)));
    value.is_complex = true;
  }
  return value;
}

}  // namespace

Statistics statistics_of(const TensorView& view) {
  Statistics statistics =
      is_known_integer(view) ? of_integers(view) : with_element(view.dtype, [&](auto element) {
        return of_floats<decltype(element)>(view);
      });
  statistics.numel = view.numel();
  return statistics;
}

std::vector<Index> first_bad(const TensorView& view, std::size_t limit) {
  return with_element(view.dtype,
                      [&](auto element) { return first_bad_of<decltype(element)>(view, limit); });
}

bool has_values(const TensorView& view) noexcept {
  return is_scannable(view.dtype) || is_known_integer(view);
}

Value value_at(const TensorView& view, const Index& index) {
  if (!has_values(view)) return {.real = std::numeric_limits<double>::quiet_NaN()};
  std::int64_t offset = 0;
  for (std::size_t dim = 0; dim < index.size(); ++dim) offset += index[dim] * view.strides[dim];
  const auto* data = static_cast<const std::byte*>(view.data);
  if (is_known_integer(view)) return {.real = integer_at(data + offset * view.int_width, view)};
  return with_element(view.dtype, [&](auto element) {
    using Element = decltype(element);
    return value_of<Element>(data + offset * static_cast<std::int64_t>(Element::kWidth));
  });
}

}  // namespace nanscope
