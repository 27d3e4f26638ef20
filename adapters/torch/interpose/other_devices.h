// The devices other than the CPU that this torch has kernels for.
//
// Note [Other devices are counted]
// A wrapper stands in front of the kernels of every other device too. Where the device can be
// looked into (Note [A device is tried before it is believed]), its ops are judged as those of the
// CPU are. Where not, their results are counted, so that silence is never taken for health, and
// what such a kernel writes to the CPU is remembered as not watched. A device may come when torch
// has long been imported (PrivateUse1): moments of the program ask for new ones.
#pragma once

#include <c10/core/DispatchKey.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace nanscope::torch_adapter {

class OtherDevices {
 public:
  struct Device {
    std::string name;  // cuda
    int kernels = 0;   // that have a wrapper
  };

  // Those that can make a tensor now, and could not before. Each is given out once.
  [[nodiscard]] std::vector<c10::BackendComponent> take_new();
  [[nodiscard]] std::vector<c10::BackendComponent> known() const;
  void count_kernel(c10::BackendComponent backend) { ++kernels_[static_cast<int>(backend)]; }
  [[nodiscard]] std::vector<Device> list() const;

 private:
  static constexpr int kBackends = static_cast<int>(c10::BackendComponent::EndOfBackendKeys) + 1;
  static_assert(kBackends <= 32);

  [[nodiscard]] bool is_known(int place) const { return (known_ >> place & 1) != 0; }

  std::atomic<std::uint32_t> known_{0};  // by bit: the place among the backends
  std::atomic<int> kernels_[kBackends] = {};
};

}  // namespace nanscope::torch_adapter
