// Which patch a report shows with a finding.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "records/capture.h"

namespace nanscope::report {

// What `fix` made of finding number `number`. Where `fix` was not asked, the proposal that `run`
// left for the first error.
[[nodiscard]] inline Repair repair_of(const Capture& capture, std::size_t number) {
  for (const Repair& repair : capture.repairs)
    if (repair.finding == static_cast<std::int64_t>(number)) return repair;
  const auto first_error =
      std::find_if(capture.findings.begin(), capture.findings.end(),
                   [](const Finding& finding) { return finding.level == Level::kError; });
  Repair repair;
  if (capture.repairs.empty() && first_error != capture.findings.end() &&
      first_error == capture.findings.begin() + static_cast<std::ptrdiff_t>(number))
    repair.fix = capture.proposal;
  return repair;
}

}  // namespace nanscope::report
