#include "scan/correspond.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "scan/elements.h"
#include "scan/finite_kernels.h"
#include "scan/layout.h"

namespace nanscope {
namespace {

constexpr std::size_t kShownElements = 8;
constexpr std::size_t kLeastBlock = 16;  // elements worth comparing at once

template <class Element>
std::uint8_t kind_at(const std::byte* at) noexcept {
  using Format = typename Element::Format;
  bool nan = false;
  bool inf = false;
  for (int part = 0; part < Element::kParts; ++part) {
    const auto bits = Format::load(at + part * sizeof(typename Format::Bits));
    nan |= Format::is_nan(bits);
    inf |= Format::is_inf(bits);
  }
  return static_cast<std::uint8_t>(nan ? kNanBit : inf ? kInfBit : 0);
}

template <class Element>
bool fill_kinds(const TensorView& view, std::uint8_t* kinds) noexcept {
  const Layout layout = layout_in_row_major(view, Element::kWidth);
  const bool dense = layout.row.step == Element::kWidth;
  for_each_row(layout, [&](const std::byte* row) {
    // The same loop twice: with a constant step it becomes SIMD.
    for (std::int64_t i = 0; dense && i < layout.row.size; ++i)
      kinds[i] = kind_at<Element>(row + i * Element::kWidth);
    for (std::int64_t i = 0; !dense && i < layout.row.size; ++i)
      kinds[i] = kind_at<Element>(row + i * layout.row.step);
    kinds += layout.row.size;
    return true;
  });
  return true;
}

std::int64_t numel_of(std::span<const std::int64_t> sizes) noexcept {
  std::int64_t n = 1;
  for (const std::int64_t size : sizes) n *= size;
  return n;
}

// Steps through `map` along the dimensions of `sizes`, whose last ones it has;
// 0 along those it is repeated over. Nothing if it does not broadcast.
std::optional<std::vector<std::int64_t>> steps_through(const KindMap& map,
                                                       std::span<const std::int64_t> sizes) {
  if (map.sizes.size() > sizes.size()) return std::nullopt;
  std::vector<std::int64_t> steps(sizes.size(), 0);
  const std::size_t padding = sizes.size() - map.sizes.size();
  std::int64_t step = 1;
  for (std::size_t dim = map.sizes.size(); dim-- > 0;) {
    const std::int64_t size = map.sizes[dim];
    if (size != sizes[padding + dim] && size != 1) return std::nullopt;
    if (size != 1) steps[padding + dim] = step;
    step *= size;
  }
  return steps;
}

// Goes forward through the elements of a shape in row-major order and keeps, for
// each of several maps, the place that feeds the current element.
class Walk {
 public:
  Walk(std::span<const std::int64_t> sizes, std::vector<std::vector<std::int64_t>> steps)
      : sizes_(sizes),
        steps_(std::move(steps)),
        index_(sizes.size(), 0),
        places_(steps_.size(), 0) {}

  [[nodiscard]] const std::vector<std::int64_t>& index() const noexcept { return index_; }
  [[nodiscard]] std::size_t place(std::size_t map) const noexcept {
    return static_cast<std::size_t>(places_[map]);
  }

  void go_to(std::int64_t ordinal) noexcept {
    if (ordinal == ordinal_) return;
    ordinal_ == ordinal - 1 ? step() : jump(ordinal);
    ordinal_ = ordinal;
  }

 private:
  void step() noexcept {
    for (std::size_t dim = sizes_.size(); dim-- > 0;) {
      const bool carries = index_[dim] + 1 == sizes_[dim];
      move(dim, carries ? 0 : index_[dim] + 1);
      if (!carries) return;
    }
  }

  void jump(std::int64_t ordinal) noexcept {
    for (std::size_t dim = sizes_.size(); dim-- > 0; ordinal /= sizes_[dim])
      move(dim, ordinal % sizes_[dim]);
  }

  void move(std::size_t dim, std::int64_t to) noexcept {
    const std::int64_t by = to - index_[dim];
    for (std::size_t map = 0; map < steps_.size(); ++map) places_[map] += by * steps_[map][dim];
    index_[dim] = to;
  }

  std::span<const std::int64_t> sizes_;
  std::vector<std::vector<std::int64_t>> steps_;
  std::int64_t ordinal_ = 0;
  std::vector<std::int64_t> index_;
  std::vector<std::int64_t> places_;
};

// Calls `fn(kind)` for each bad element of a map, with `walk` standing on it.
template <class Fn>
void for_each_bad(const KindMap& map, Walk& walk, Fn&& fn) {
  for (std::size_t i = 0; i < map.kinds.size(); ++i) {
    if (map.kinds[i] == 0) continue;
    walk.go_to(static_cast<std::int64_t>(i));
    fn(map.kinds[i]);
  }
}

// Notes what fed one bad output element; true if it is fresh.
bool explain(std::uint8_t kind, std::span<const std::uint8_t> fed, Correspondence& found) noexcept {
  std::uint8_t met = 0;
  for (const std::uint8_t input : fed) met |= input;

  const bool is_nan = (kind & kNanBit) != 0;
  const bool is_inf = (kind & kInfBit) != 0;
  for (std::size_t i = 0; i < fed.size(); ++i) {
    Correspondence::Feed& feed = found.feeds[i];
    feed.nan_to_nan |= is_nan && (fed[i] & kNanBit) != 0;
    feed.inf_to_inf |= is_inf && (fed[i] & kInfBit) != 0;
    feed.inf_to_nan |= is_nan && (fed[i] & kInfBit) != 0 && (met & kNanBit) == 0;
  }
  const bool fresh_nan = is_nan && (met & kNanBit) == 0;
  const bool fresh_inf = is_inf && met == 0;
  found.fresh_nan |= fresh_nan;
  found.fresh_inf |= fresh_inf;
  return fresh_nan || fresh_inf;
}

// The innermost dimensions that an input has in full: so many elements lie side by side in both.
std::size_t full_dims(const KindMap& input, std::span<const std::int64_t> sizes) noexcept {
  std::size_t full = 0;
  while (full < input.sizes.size() &&
         input.sizes[input.sizes.size() - 1 - full] == sizes[sizes.size() - 1 - full])
    ++full;
  return full;
}

// Is the output bad exactly where its one bad input is, and in the same way? A mask that is added
// to scores, compared block by block.
bool repeats(const KindMap& output, const KindMap& input, std::vector<std::int64_t> steps) {
  const std::size_t outer = output.sizes.size() - full_dims(input, output.sizes);
  const std::span<const std::int64_t> sizes(output.sizes);
  const auto block = static_cast<std::size_t>(numel_of(sizes.subspan(outer)));
  if (block < kLeastBlock) return false;
  steps.resize(outer);
  Walk walk(sizes.first(outer), {std::move(steps)});
  const std::uint8_t* out = output.kinds.data();
  for (std::int64_t i = 0; i < numel_of(sizes.first(outer)); ++i, out += block) {
    walk.go_to(i);
    if (std::memcmp(out, input.kinds.data() + walk.place(0), block) != 0) return false;
  }
  return true;
}

// What `explain` finds of an output that repeats its input.
Correspondence carried(const KindMap& output) {
  Correspondence found;
  found.feeds.resize(1);
  std::uint8_t met = 0;
  for (const std::uint8_t kind : output.kinds) met |= kind;
  found.feeds[0].nan_to_nan = (met & kNanBit) != 0;
  found.feeds[0].inf_to_inf = (met & kInfBit) != 0;
  Walk walk(output.sizes, {});
  for (std::size_t i = 0; i < output.kinds.size() && found.elements.size() < kShownElements; ++i) {
    if (output.kinds[i] == 0) continue;
    walk.go_to(static_cast<std::int64_t>(i));
    found.elements.push_back(walk.index());
  }
  return found;
}

}  // namespace

KindMap kind_map_of(const TensorView& view) {
  KindMap map;
  map.sizes.assign(view.sizes.begin(), view.sizes.end());
  map.kinds.resize(static_cast<std::size_t>(view.numel()));
  with_element(view.dtype,
               [&](auto element) { return fill_kinds<decltype(element)>(view, map.kinds.data()); });
  return map;
}

KindMap reduce_kinds(const KindMap& map, std::span<const std::int64_t> dims) {
  KindMap reduced;
  reduced.sizes = map.sizes;
  if (dims.empty()) std::fill(reduced.sizes.begin(), reduced.sizes.end(), 1);
  const auto rank = static_cast<std::int64_t>(map.sizes.size());
  for (const std::int64_t dim : dims) {
    const std::int64_t from_start = dim < 0 ? dim + rank : dim;
    if (from_start >= 0 && from_start < rank)
      reduced.sizes[static_cast<std::size_t>(from_start)] = 1;
  }
  reduced.kinds.resize(static_cast<std::size_t>(numel_of(reduced.sizes)));

  Walk walk(map.sizes, {*steps_through(reduced, map.sizes)});
  for_each_bad(map, walk, [&](std::uint8_t kind) { reduced.kinds[walk.place(0)] |= kind; });
  return reduced;
}

std::optional<Correspondence> correspond(const KindMap& output, std::span<const KindMap> inputs) {
  std::vector<std::vector<std::int64_t>> steps;
  for (const KindMap& input : inputs) {
    auto through = steps_through(input, output.sizes);
    if (!through) return std::nullopt;
    steps.push_back(std::move(*through));
  }

  if (inputs.size() == 1 && repeats(output, inputs[0], steps[0])) return carried(output);

  Correspondence found;
  found.feeds.resize(inputs.size());
  std::vector<std::vector<std::int64_t>> bad;  // shown if none is fresh
  std::vector<std::uint8_t> fed(inputs.size());
  Walk walk(output.sizes, std::move(steps));
  for_each_bad(output, walk, [&](std::uint8_t kind) {
    for (std::size_t i = 0; i < inputs.size(); ++i) fed[i] = inputs[i].kinds[walk.place(i)];
    auto& shown = explain(kind, fed, found) ? found.elements : bad;
    if (shown.size() < kShownElements) shown.push_back(walk.index());
  });
  if (found.elements.empty()) found.elements = std::move(bad);
  return found;
}

}  // namespace nanscope
