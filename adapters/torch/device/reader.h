// What interpose/tensors asks of devices: Note [Tensors on devices].
#pragma once

#include "adapters/torch/interpose/tensors.h"

namespace nanscope::torch_adapter {

[[nodiscard]] const DeviceReader& device_reader();

}  // namespace nanscope::torch_adapter
