// Which devices can be looked into, found out on the device itself.
//
// Note [A device is tried before it is believed]
// Whether an op of somebody's backend keeps a NaN cannot be known from here: a maximum that drops
// it would turn every report into a false all-clear. So the first tensor of each device and type
// that is seen makes us try: numbers, NaN and Inf planted in memory of that device must be found,
// in whole tensors and in strided ones, and bytes must come back as they went. What fails stays
// counted and not watched: Note [Other devices are counted].
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "adapters/torch/device/cuda_looks.h"
#include "adapters/torch/watch/locks.h"

namespace nanscope::torch_adapter {

class ReadableDevices {
 public:
  // Tries it the first time it is asked. Never while the program captures a graph.
  [[nodiscard]] bool is_readable(c10::Device device, c10::ScalarType type);
  // Some device was tried and is.
  [[nodiscard]] bool any() const noexcept { return any_.load(std::memory_order_relaxed); }
  // Why some is not; empty if none failed.
  [[nodiscard]] std::string why_not() const;

  // A look of our own, on CUDA.
  [[nodiscard]] CudaLooks& cuda_looks() noexcept { return cuda_looks_; }

  // An op on a device returned: copies that were made before may be old.
  void count_call() noexcept { calls_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t calls() const noexcept {
    return calls_.load(std::memory_order_relaxed);
  }

 private:
  enum class Answer : std::uint8_t { kNotAsked, kYes, kNo };
  static constexpr int kTypes = static_cast<int>(c10::ScalarType::NumOptions);

  std::atomic<Answer> answers_[c10::COMPILE_TIME_MAX_DEVICE_TYPES][kTypes] = {};
  std::atomic<bool> any_{false};
  std::atomic<std::uint64_t> calls_{0};
  mutable Lock lock_{LockRank::kDevices};
  std::string why_not_;
  CudaLooks cuda_looks_;
};

// Tries it: what is wrong with looking at tensors of this type there; empty if nothing is.
[[nodiscard]] std::string trouble_with(c10::Device device, c10::ScalarType type);

// Nobody has seen nanscope work on such a device; what is found there is found, but silence proves
// nothing. Only the test device of this project is at PrivateUse1, with those that others bring.
[[nodiscard]] inline bool is_untried(c10::DeviceType type) noexcept {
  return type != c10::DeviceType::CPU && type != c10::DeviceType::PrivateUse1;
}

// Each look waits for the device, so one that is untried is looked into only where the user asks
// for it by name: NANSCOPE_DEVICES=cuda,xpu.
[[nodiscard]] bool is_asked_for(c10::DeviceType type);

}  // namespace nanscope::torch_adapter
