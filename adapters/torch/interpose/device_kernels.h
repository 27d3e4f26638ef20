// Wrappers in front of the kernels of other devices: Note [Other devices are counted].
#pragma once

#include <ATen/core/operator_name.h>

#include "adapters/torch/interpose/other_devices.h"

namespace nanscope::torch_adapter {

// For devices that came since; whether any did. Costs little where none did.
bool count_kernels_of_new(OtherDevices& devices);
// For one op that came late, on the devices that are known.
void count_kernels_of(const c10::OperatorName& name, OtherDevices& devices);

}  // namespace nanscope::torch_adapter
