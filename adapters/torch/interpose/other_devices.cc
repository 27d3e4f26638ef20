#include "adapters/torch/interpose/other_devices.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/DeviceType.h>

#include "adapters/torch/interpose/private_members.h"

namespace nanscope::torch_adapter {

using c10::BackendComponent;
using c10::DispatchKey;

std::vector<BackendComponent> OtherDevices::take_new() {
  static const c10::impl::OperatorEntry& empty =
      (c10::Dispatcher::singleton().findSchemaOrThrow("aten::empty", "memory_format").*
       operator_def())
          ->op;
  std::vector<BackendComponent> fresh;
  for (int place = 1; place < kBackends; ++place) {
    const auto backend = static_cast<BackendComponent>(place);
    if (is_known(place) || backend == BackendComponent::CPUBit ||
        backend == BackendComponent::MetaBit)
      continue;
    const DispatchKey dense = c10::toRuntimePerBackendFunctionalityKey(DispatchKey::Dense, backend);
    if (!empty.hasKernelForDispatchKey(dense)) continue;
    const std::uint32_t bit = 1u << place;
    if ((known_.fetch_or(bit) & bit) == 0) fresh.push_back(backend);
  }
  return fresh;
}

std::vector<BackendComponent> OtherDevices::known() const {
  std::vector<BackendComponent> backends;
  for (int place = 1; place < kBackends; ++place) {
    if (is_known(place)) backends.push_back(static_cast<BackendComponent>(place));
  }
  return backends;
}

std::vector<OtherDevices::Device> OtherDevices::list() const {
  std::vector<Device> devices;
  for (int place = 1; place < kBackends; ++place) {
    if (!is_known(place)) continue;
    const DispatchKey key = c10::toRuntimePerBackendFunctionalityKey(
        DispatchKey::Dense, static_cast<BackendComponent>(place));
    devices.push_back({c10::DeviceTypeName(c10::dispatchKeyToDeviceType(key), /*lower_case=*/true),
                       kernels_[place]});
  }
  return devices;
}

}  // namespace nanscope::torch_adapter
