// What `nanscope scan` found, as plain values: made once, told as text or as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/open.h"
#include "checkpoint/survey.h"

namespace nanscope::checkpoint {

struct ScanResult {
  Opened opened;
  std::vector<SurveyedTensor> facts;  // of all tensors of all checkpoints, in their order
  std::uint64_t bytes = 0;            // of elements that were looked at
  double seconds = 0;
};

// One tensor with all that is known of it. `file` counts the checkpoints.
struct TensorRow {
  std::size_t file = 0;
  const StoredTensor* tensor = nullptr;
  const SurveyedTensor* facts = nullptr;
};

// Opens and looks. Every error is in the result: the others were read.
[[nodiscard]] ScanResult scan_checkpoints(const std::vector<std::string>& paths,
                                          const SurveyOptions& options);

// The worst first: NaN before Inf, many before few; then the largest numbers.
[[nodiscard]] std::vector<TensorRow> rows_by_badness(const ScanResult& result);

struct ScanCounts {
  std::size_t tensors = 0;   // those left out included
  std::size_t bad = 0;       // hold NaN or Inf
  std::size_t left_out = 0;  // were not looked at, or not wholly
};
[[nodiscard]] ScanCounts counts_of(const ScanResult& result);

// All that was not looked at, with the reasons, by file.
struct LeftOutRow {
  std::size_t file = 0;
  std::string name;
  std::string why;
};
[[nodiscard]] std::vector<LeftOutRow> left_out_of(const ScanResult& result);

// By how much the largest number could grow before float16 overflows; nothing if all are zero or
// the sizes are not known.
[[nodiscard]] std::optional<double> float16_room(const SurveyedTensor& facts);

// 0: all is finite; 3: something is not; 2: something could not be read.
[[nodiscard]] int exit_status(const ScanResult& result);

}  // namespace nanscope::checkpoint
