// What `fix` made of a finding: a patch of the source, and what running it showed. Neither is in a
// capture: a report is given them beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nanscope {

struct Fix {
  std::string id;    // clamp_before_log
  std::string diff;  // unified, for patch -p1; of all files
  std::vector<std::string> files;
  std::string explanation;
  bool changes_training = false;
  bool workaround = false;  // it hides the fault, and is all there is
  bool applied = false;
};

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

}  // namespace nanscope
