// Which inputs explain which bad outputs, element by element.
//
// For ops whose output element depends on known input elements (pointwise with
// broadcasting; row by row for softmax and reductions) a birth can be seen
// exactly: NaN where no input that feeds this element is NaN, Inf where none is
// NaN or Inf.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scan/finite.h"
#include "scan/view.h"

namespace nanscope {

// The kind of every element, kept densely in row-major order: bit 0 NaN, bit 1 Inf.
// Taken of an operand before an in-place op destroys it. A complex element has one
// kind: NaN if either part is, else Inf.
struct KindMap {
  std::vector<std::int64_t> sizes;
  std::vector<std::uint8_t> kinds;
};

[[nodiscard]] KindMap kind_map_of(const TensorView& view);
// The kinds met along `dims`, which keep size 1: what feeds a row of softmax or a reduction.
// No dims means all of them. Negative dims count from the end.
[[nodiscard]] KindMap reduce_kinds(const KindMap& map, std::span<const std::int64_t> dims);

struct Correspondence {
  // Per input, in the order given: does one of its bad elements meet a bad output?
  struct Feed {
    bool nan_to_nan = false;
    bool inf_to_inf = false;
    bool inf_to_nan = false;  // met a NaN that no input NaN explains
  };
  std::vector<Feed> feeds;
  bool fresh_nan = false;  // a NaN that no input NaN explains, whether or not an Inf met it
  bool fresh_inf = false;  // an Inf that no input NaN or Inf explains
  // Up to eight output elements, row-major: the fresh ones, or if none is fresh, the bad ones.
  std::vector<std::vector<std::int64_t>> elements;
};

// Inputs of lower rank are padded with leading 1s. Nothing if an input does not
// broadcast to the output's shape.
[[nodiscard]] std::optional<Correspondence> correspond(const KindMap& output,
                                                       std::span<const KindMap> inputs);

}  // namespace nanscope
