// What went into the op that failed, and what came out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scan/bad_map.h"
#include "scan/exponents.h"
#include "scan/statistics.h"

namespace nanscope {

// An input or output of the op that failed.
struct TensorFacts {
  std::string name;  // in the source: `p`, `mask.sum()`
  std::string dtype;
  std::string device;  // where it is, if not on the CPU: cuda:0
  std::vector<std::int64_t> shape;
  Statistics statistics;
  std::vector<Value> at_index;  // at the failing elements, in their order; empty if unknown
  // Of the others, at most 32 that are finite, from the smallest in size to the largest: what a
  // proposed patch has to keep. None of a tensor that has only values like the failing ones.
  std::vector<Value> healthy;
  std::string remark;    // e.g. "as it was before the op overwrote it"
  std::string argument;  // its name in the op's schema: self, other, tensors[2]; empty if unknown
  // A backward node kept it since the forward; `argument` is its name there.
  bool saved = false;
  // Of the elements that feed the first failing one, where they are several: the row of a
  // softmax, what a reduction summed.
  std::optional<Statistics> feeding;
  std::optional<Statistics> diagonal;          // of a triangular matrix that the node divides by
  bool parameter = false;                      // a trained weight, or a view of one
  bool requires_grad = false;                  // the training moves it
  std::optional<ExponentHistogram> exponents;  // of floating-point elements
  std::optional<BadMap> bad_map;               // where some are non-finite
};

// For a reader: "self", "saved self".
[[nodiscard]] inline std::string argument_text(const TensorFacts& tensor) {
  return tensor.saved ? "saved " + tensor.argument : tensor.argument;
}

// A scalar argument of the op: eps, exponent, dim.
struct ScalarFact {
  std::string name;
  std::string value;
};

}  // namespace nanscope
