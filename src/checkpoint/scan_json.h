// What a scan found, and what became of it since another, as one JSON object: docs/scan.md.
#pragma once

#include <string>

#include "checkpoint/compare.h"
#include "checkpoint/scan_result.h"

namespace nanscope::checkpoint {

[[nodiscard]] std::string scan_json(const ScanResult& result);
// The same with one more field, `against`: the other's path, as the user wrote it.
[[nodiscard]] std::string compare_json(const ScanResult& now, const Comparison& comparison,
                                       const std::string& against);

}  // namespace nanscope::checkpoint
