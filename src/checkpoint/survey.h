// Looks at every element of every tensor, with several threads, at the speed of reading.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/contents.h"
#include "scan/census.h"

namespace nanscope::checkpoint {

struct SurveyedTensor {
  Census census;
  std::vector<std::int64_t> bad_index;  // of the first bad element in memory; if there is one
  bool has_extremes = false;            // else the census counts, and knows no sizes
  std::optional<std::string> left_out;  // why it was not looked at
  std::optional<Error> error;           // reading failed

  [[nodiscard]] bool is_bad() const { return census.non_finite() > 0; }
};

// Called about ten times a second, from the calling thread, with bytes done and to do.
using ByteProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;

struct SurveyOptions {
  unsigned threads = 0;  // 0: as many as there are processors
  ByteProgress progress;
};

struct Survey {
  std::vector<SurveyedTensor> facts;  // one for each tensor, in their order
  std::uint64_t bytes = 0;            // that were looked at
};

[[nodiscard]] Survey survey(std::span<const StoredTensor* const> tensors,
                            const SurveyOptions& options);

}  // namespace nanscope::checkpoint
