// What `fix` made of a finding: a patch of the source, and what running it showed. A report is
// given them beside the capture, which holds a proposal at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/capture.h"

namespace nanscope {

struct Verification {
  std::string status;  // verified, failed, inconclusive, not_run
  std::int64_t steps = 0;
  std::optional<bool> healthy_steps_unchanged;
  std::string detail;
  std::vector<std::string> checks;  // what was measured, a line each
};

struct Patch {
  std::optional<Fix> fix;
  std::optional<Verification> verification;
};

// Of the first findings of a capture, in their order.
using Patches = std::vector<Patch>;

// Of finding number `i`: what is given, or else the proposal that `run` left in the capture.
[[nodiscard]] inline Patch patch_of(const Capture& capture, const Patches& patches, std::size_t i) {
  if (i < patches.size()) return patches[i];
  const bool proposed = i == 0 && !capture.findings.empty() &&
                        capture.findings[0].level == Level::kError && patches.empty();
  return proposed ? Patch{.fix = capture.proposal, .verification = {}} : Patch{};
}

}  // namespace nanscope
