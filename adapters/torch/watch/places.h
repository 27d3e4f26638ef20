// Where and when the calling thread is: step, phase, line, running autograd node.
#pragma once

#include "adapters/torch/program/frames.h"
#include "origin/place.h"

namespace nanscope::torch_adapter {

[[nodiscard]] Place current_place();
// The frames from which the op was called that is judged now.
[[nodiscard]] StackId stack_of_call();

}  // namespace nanscope::torch_adapter
