// A call through the boxed wrapper: its arguments and results are values on torch's stack.
#pragma once

#include <ATen/core/ivalue.h>

#include <vector>

#include "adapters/torch/interpose/trampoline.h"

namespace nanscope::torch_adapter {

// A boxed call keeps its arguments here: the kernel takes them off the stack. They come before
// the call, and so outlive it: a call that is unwound looks at them once more.
struct BoxedValues {
  std::vector<c10::IValue> values;
  std::vector<c10::IValue> results;
};
struct BoxedCall : BoxedValues, Call {};

}  // namespace nanscope::torch_adapter
