// What became of a checkpoint since another, as text.
#pragma once

#include <string>

#include "checkpoint/compare.h"
#include "checkpoint/scan_text.h"

namespace nanscope::checkpoint {

// `against`: the other's path, as the user wrote it.
[[nodiscard]] std::string compare_text(const Comparison& comparison, const std::string& against,
                                       const ScanTextOptions& options);

}  // namespace nanscope::checkpoint
