// What a scan found, for a reader at two in the morning: the answer first, then the table.
#pragma once

#include <cstddef>
#include <string>

#include "checkpoint/scan_result.h"

namespace nanscope::checkpoint {

struct ScanTextOptions {
  std::size_t columns = 100;
  bool color = false;
  bool quiet = false;    // the answer alone
  bool verbose = false;  // every tensor
};

[[nodiscard]] std::string scan_text(const ScanResult& result, const ScanTextOptions& options);

// A name as it may be printed.
[[nodiscard]] std::string shown_name(const StoredTensor& tensor);
// "2 NaN, 1 +Inf"
[[nodiscard]] std::string kinds_of_bad(const Census& census);

}  // namespace nanscope::checkpoint
