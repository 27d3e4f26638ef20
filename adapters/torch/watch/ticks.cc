#include "adapters/torch/watch/ticks.h"

namespace nanscope::torch_adapter {

Ticks ticks;

}  // namespace nanscope::torch_adapter
