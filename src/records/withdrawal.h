// An error that was undone: the state it had spoilt was put back before it was used again.
#pragma once

#include <cstdint>
#include <string>

namespace nanscope {

// The last one of a finding counts.
struct Withdrawal {
  std::int64_t finding = 0;  // its number in the order in which findings were recorded
  std::string undone;        // how; empty: the same did harm again, and the error stands
};

}  // namespace nanscope
