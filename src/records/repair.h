// What `fix` made of a finding: a patch, what was tried, and what running it showed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/fix.h"

namespace nanscope {

// What running a patched program showed.
struct Verification {
  std::string status;  // verified, not_exercised, failed, inconclusive, not_run
  std::int64_t steps = 0;
  std::optional<bool> healthy_steps_unchanged;
  std::string detail;
  std::vector<std::string> checks;  // what was measured, a line each
  // Losses around the error, without and with the patch; absent where a loss is no number.
  std::int64_t first_loss = 0;  // which one of the run the lists begin with, from 0
  std::vector<std::optional<double>> losses_before;
  std::vector<std::optional<double>> losses_after;
};

// A candidate that was run.
struct Attempt {
  std::string id;  // clamp_before_log
  std::string status;
  std::string detail;
};

// What `fix` made of one finding: a patch of the source, and what running it showed.
struct Repair {
  std::int64_t finding = 0;  // its number in Capture::findings
  std::optional<Fix> fix;    // none was found, if absent
  std::optional<Verification> verification;
  std::vector<Attempt> tried;
};

}  // namespace nanscope
