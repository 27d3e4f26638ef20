// What interpose/tensors asks of devices: Note [Tensors on devices].
#pragma once

#include "adapters/torch/interpose/tensors.h"

namespace nanscope::torch_adapter {

[[nodiscard]] const DeviceReader& device_reader();

// Looks at several results of one call, on one device, and waits once: who asks for their ceilings
// in this call finds them. Of tensors whose sight is kWatched.
void look_together(const std::vector<const c10::TensorImpl*>& results);

}  // namespace nanscope::torch_adapter
