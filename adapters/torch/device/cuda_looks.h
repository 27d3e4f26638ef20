// Looks on CUDA by a kernel of our own, where one can be had.
//
// Driver, compiler and kernel are sought at the first look. The kernel is tried before it is
// believed, once for each device and type: numbers, NaN and Inf planted there must be seen as the
// scan of the CPU sees them. What cannot be had or fails once is not asked again; whoever looks
// then takes the look that any device can do (device/probe.h).
#pragma once

#include <c10/core/Device.h>
#include <c10/core/TensorImpl.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/torch/device/cuda_probe.h"
#include "adapters/torch/watch/locks.h"

namespace nanscope::torch_adapter {

class CudaLooks {
 public:
  // Nothing where there is no kernel for one of them. For tensors that `ceiling_on_device` takes,
  // all on one device. Waits once.
  [[nodiscard]] std::optional<std::vector<int>> ceilings(
      const std::vector<const c10::TensorImpl*>& tensors);
  struct State {
    int architecture = 0;  // that the kernel is compiled for: 90
    std::string why_not;   // why there is no kernel
  };
  // Neither if nobody has asked for a kernel.
  [[nodiscard]] State state() const;

  // For tests: devices of another type, by these libraries, with no cache. Before the first look.
  void serve(c10::DeviceType type, const std::string& driver, const std::string& compiler);

 private:
  static constexpr int kMostDevices = 64;
  static constexpr int kTypes = static_cast<int>(DType::kInteger) + 1;
  enum class Answer : std::uint8_t { kNotAsked, kYes, kNo };

  struct Libraries {
    CudaDriver driver;
    CudaCubins cubins;
  };
  struct OfDevice {
    std::unique_ptr<CudaProbe> probe;
    CudaDriver::Context context = nullptr;
  };

  OfDevice& of_device(int index);
  std::optional<std::vector<int>> look(const std::vector<const c10::TensorImpl*>& tensors);
  bool is_served(const c10::TensorImpl& tensor);
  bool is_right(c10::Device device, c10::ScalarType type);
  void give_up(const std::string& why);

  c10::DeviceType type_ = c10::DeviceType::CUDA;
  std::string driver_ = "libcuda.so.1";
  std::vector<std::string> compilers_;  // empty: the usual ones
  std::atomic<bool> given_up_{false};
  std::array<std::array<std::atomic<Answer>, kTypes>, kMostDevices> answers_{};
  Lock lock_of_probes_{LockRank::kCudaProbes};
  mutable Lock lock_{LockRank::kCudaLooks};  // of what follows
  std::unique_ptr<Libraries> libraries_;
  std::array<OfDevice, kMostDevices> devices_;
  State state_;
};

}  // namespace nanscope::torch_adapter
