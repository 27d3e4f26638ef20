// Where and when the calling thread is: step, phase, line, running autograd node.
#pragma once

#include "origin/place.h"

namespace nanscope::torch_adapter {

[[nodiscard]] Place current_place();

}  // namespace nanscope::torch_adapter
