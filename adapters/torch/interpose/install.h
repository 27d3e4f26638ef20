// Putting the wrappers in front of the kernels.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "adapters/torch/interpose/new_ops.h"
#include "adapters/torch/interpose/other_devices.h"

namespace nanscope::torch_adapter {

struct Installed {
  int of_torch = 0;
  int of_others = 0;  // ops of other libraries
};

// Puts a wrapper in front of every kernel worth watching. Once per process; never undone. What is
// registered from then on is noted in `new_ops`.
Installed install_wrappers(NewOps& new_ops, OtherDevices& other_devices);
// Ops of torch that a rule speaks of, with their schemas: for scripts/known_schemas.py.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> ops_with_rules();
// Wraps what was registered since: Note [Ops that come late], Note [Other devices are counted].
int sweep(NewOps& new_ops, OtherDevices& other_devices);
// Looks for kernels of which nobody told, and wraps them: Note [Kernels that come late]. `called`:
// they may have been called since they came.
void wrap_unnoticed_kernels(NewOps& new_ops, OtherDevices& other_devices, bool called);

}  // namespace nanscope::torch_adapter
