// A fork, before and after. Note [Locks and forks] in locks.h.
#pragma once

#include <cstdint>
#include <string>

namespace nanscope::torch_adapter {

void fork_begins();
void fork_ended();
// In the child: false if it cannot be watched.
[[nodiscard]] bool fork_ended_in_child(const std::string& capture_path, const std::string& news,
                                       std::int64_t pid);

}  // namespace nanscope::torch_adapter
