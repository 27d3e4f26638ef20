// Two checkpoints side by side: which tensors went bad, which moved, and how far.
//
// Tensors are matched by their names. How far one moved is the norm of the difference beside the
// norm it had, over the elements that are finite in both.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/scan_result.h"

namespace nanscope::checkpoint {

enum class ChangeKind {
  kWentBad,    // finite then, not now
  kStayedBad,  // not finite then, and not now
  kHealed,     // not finite then, finite now
  kMoved,
  kSame,      // the same numbers
  kReshaped,  // another shape: the numbers are not compared
  kOnlyNow,
  kOnlyThen,
  kNotCompared,  // whole numbers, or what cannot be set side by side
};

[[nodiscard]] const char* name_of(ChangeKind kind) noexcept;  // "went_bad"

struct Change {
  ChangeKind kind = ChangeKind::kNotCompared;
  std::string name;
  const TensorRow* now = nullptr;  // null if it is not there
  const TensorRow* then = nullptr;
  double moved = 0;         // |now - then| / |then|, norms; infinite if it was all zero
  double largest_step = 0;  // of one element
};

struct Comparison {
  std::vector<TensorRow> now{};  // what the changes point to
  std::vector<TensorRow> then{};
  std::vector<Change> changes{};  // went bad first, then those that moved most
  std::vector<Error> errors{};
  bool complete = true;  // both were read as a whole
};

[[nodiscard]] Comparison compare(const ScanResult& now, const ScanResult& then,
                                 const ByteProgress& progress = {});

}  // namespace nanscope::checkpoint
