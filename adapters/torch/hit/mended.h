// What if this operand had been well? The failing element, with one operand mended.
#pragma once

#include "adapters/torch/interpose/arguments.h"
#include "adapters/torch/watch/before.h"
#include "records/finding.h"

namespace nanscope::torch_adapter {

// Adds an experiment for each operand whose value may be to blame: at the failing element it gets
// another of its values (finite, above 0, no larger), else 1. A row of a softmax gets one key
// unmasked, an empty tensor an element, a spread one more element, a target that is ignored a
// class.
void mend_operands(const Wrapper& wrapper, const Call& call, const Before* before,
                   Finding& finding);

}  // namespace nanscope::torch_adapter
