#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {

Watcher* const Watcher::instance_ = new Watcher;

}  // namespace nanscope::torch_adapter
