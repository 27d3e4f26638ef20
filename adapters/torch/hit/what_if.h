// What if it had been computed in a wider type? The failing elements, computed again.
#pragma once

#include "adapters/torch/watch/before.h"
#include "records/finding.h"

namespace nanscope::torch_adapter {

// Fills in the finding's recomputed values: in float64, and for half precision in float32
// too. Only the failing elements of a pointwise op are computed; other ops as a whole, if they
// are small. Never an op that draws random numbers, nor one of another library.
void recompute(const Wrapper& wrapper, const Call& call, const Before* before, Finding& finding);

}  // namespace nanscope::torch_adapter
