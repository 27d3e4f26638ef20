// Putting the wrappers in front of the kernels.
#pragma once

#include "adapters/torch/interpose/new_ops.h"

namespace nanscope::torch_adapter {

struct Installed {
  int of_torch = 0;
  int of_others = 0;  // ops of other libraries
};

// Puts a wrapper in front of every kernel worth watching. Once per process; never undone. What is
// registered from then on is noted in `new_ops`.
Installed install_wrappers(NewOps& new_ops);
// Wraps what other libraries registered since. At a quiet moment: a step boundary.
int sweep(NewOps& new_ops);

}  // namespace nanscope::torch_adapter
