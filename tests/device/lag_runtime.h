// What torch asks of a device beside its kernels: streams and events, generators, sizes of
// storages.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <algorithm>

#include "lag_memory.h"

namespace lag {

// One device with one stream.
class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  [[nodiscard]] c10::DeviceType type() const override { return kDevice; }
  [[nodiscard]] c10::Device exchangeDevice(c10::Device) const override { return getDevice(); }
  [[nodiscard]] c10::Device getDevice() const override { return {kDevice, 0}; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  [[nodiscard]] c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  [[nodiscard]] c10::Stream getStream(c10::Device) const override { return stream(); }
  [[nodiscard]] c10::Stream getDefaultStream(c10::Device) const override { return stream(); }
  [[nodiscard]] c10::Stream getNewStream(c10::Device, int) const override { return stream(); }
  [[nodiscard]] c10::Stream exchangeStream(c10::Stream) const override { return stream(); }
  // Before 2.12 torch does not ask for it.
  [[nodiscard]] void* getStreamNativeHandle(const c10::Stream) const { return nullptr; }
  void synchronizeStream(const c10::Stream&) const override { Queue::get().wait(); }
  void synchronizeDevice(c10::DeviceIndex) const override { Queue::get().wait(); }
  [[nodiscard]] bool queryStream(const c10::Stream&) const override {
    return Queue::get().waiting() == 0;
  }
  // In one stream everything is in order.
  void destroyEvent(void*, c10::DeviceIndex) const noexcept override {}
  void record(void**, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  [[nodiscard]] bool queryEvent(void*) const override { return Queue::get().waiting() == 0; }
  void synchronizeEvent(void*) const override { Queue::get().wait(); }

 private:
  static c10::Stream stream() {
    return c10::Stream(c10::Stream::UNSAFE, c10::Device(kDevice, 0), 0);
  }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

// A generator that belongs to the device and draws the CPU's numbers.
class Generator final : public at::CPUGeneratorImpl {
 public:
  explicit Generator(std::uint64_t seed) : CPUGeneratorImpl(seed) {
    device_ = c10::Device(kDevice, 0);
    key_set_ = c10::DispatchKeySet(c10::DispatchKey::PrivateUse1);
  }
};

inline at::Generator& default_generator() {
  static auto& generator =
      *new at::Generator(at::make_generator<Generator>(c10::detail::getNonDeterministicRandom()));
  return generator;
}

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  [[nodiscard]] bool isBuilt() const override { return true; }
  [[nodiscard]] bool isAvailable() const override { return true; }
  [[nodiscard]] bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  [[nodiscard]] c10::DeviceIndex deviceCount() const override { return 1; }
  [[nodiscard]] c10::DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
  [[nodiscard]] c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
  [[nodiscard]] c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }
  [[nodiscard]] const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    return default_generator();
  }
  [[nodiscard]] at::Generator getNewGenerator(c10::DeviceIndex) const override {
    return at::make_generator<Generator>(c10::default_rng_seed_val);
  }
  [[nodiscard]] c10::Device getDeviceFromPtr(void*) const override { return {kDevice, 0}; }
  void resizePrivateUse1Bytes(const c10::Storage& storage, std::size_t bytes) const override {
    c10::DataPtr grown = Allocator::get().allocate(bytes);
    const std::size_t kept = std::min(bytes, storage.nbytes());
    if (kept > 0) Allocator::get().copy_data(grown.get(), storage.data(), kept);
    storage.set_data_ptr_noswap(std::move(grown));
    storage.unsafeGetStorageImpl()->set_nbytes(bytes);
  }
};

}  // namespace lag
