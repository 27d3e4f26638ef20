// Where and when something happened.
#pragma once

#include <cstdint>
#include <string>

#include "records/kinds.h"

namespace nanscope {

// Where and when an op ran. `line` names the user's own line that led there (for a
// backward node: the line of its forward expression); equal lines have equal numbers.
struct Place {
  std::uint32_t stack = 0;        // interned by the adapter: site, library site, frames
  std::uint32_t line = 0;         // 0: unknown
  Phase phase = Phase::kForward;  // of the call: never kData
  std::string node;               // SqrtBackward0, or empty
  std::uint32_t call_stack = 0;   // in backward: where backward() itself was called
  std::int64_t step = 0;
  bool in_scaler = false;        // inside torch.amp.GradScaler
  bool printing = false;         // inside torch's tensor printing
  std::uint32_t allowed_by = 0;  // the nanscope.allow() block around it; 0: none
};

}  // namespace nanscope
