#include "adapters/torch/binding/adapter.h"

namespace nanscope::torch_adapter {

Adapter& Adapter::get() {
  static auto& one = *new Adapter;
  return one;
}

}  // namespace nanscope::torch_adapter
