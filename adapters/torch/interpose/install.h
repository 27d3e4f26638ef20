// Putting the wrappers in front of the kernels.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "adapters/torch/interpose/new_ops.h"

namespace nanscope::torch_adapter {

struct Installed {
  int of_torch = 0;
  int of_others = 0;  // ops of other libraries
};

// Puts a wrapper in front of every kernel worth watching. Once per process; never undone. What is
// registered from then on is noted in `new_ops`.
Installed install_wrappers(NewOps& new_ops);
// Ops of torch that a rule speaks of, with their schemas: for scripts/known_schemas.py.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> ops_with_rules();
// Wraps what was registered since: Note [Ops that come late].
int sweep(NewOps& new_ops);

}  // namespace nanscope::torch_adapter
