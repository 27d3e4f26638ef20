// What a tensor is to the program, and what the program calls it.
#pragma once

#include <cstdint>
#include <string>

#include "watch/tensor_state.h"

namespace nanscope {

enum class Target : std::uint8_t { kNone, kParameter, kBuffer };

// The judge passes names on and never reads them. A parameter or buffer goes by its storage until
// the living modules are asked for its name, once, when the verdict becomes a finding.
struct TargetName {
  std::string text = {};  // a variable; or a part of an optimizer's state: exp_avg
  StorageId storage =
      {};  // of the parameter or buffer that is meant, or whose state it is; 0: none

  [[nodiscard]] bool empty() const { return text.empty() && storage == StorageId{}; }
  friend bool operator==(const TargetName&, const TargetName&) = default;
};

}  // namespace nanscope
