// Looks at tensors of one CUDA context, by a kernel of our own.
//
// A look is a launch on the stream of the op that wrote the tensor, and a word of pinned memory
// that the kernel writes (cuda_probe.cu). Each look has a place of its own in both memories until
// its word was read, so that threads and streams do not meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapters/torch/device/cuda_cubins.h"
#include "adapters/torch/device/cuda_libraries.h"
#include "adapters/torch/watch/locks.h"
#include "scan/layout.h"

namespace nanscope::torch_adapter {

// As the kernel takes it.
struct CudaShape {
  static constexpr int kMostDims = 8;
  std::int32_t dims;
  std::uint32_t size[kMostDims];
  std::int64_t stride[kMostDims];
};
static_assert(offsetof(CudaShape, size) == 4 && offsetof(CudaShape, stride) == 40 &&
              sizeof(CudaShape) == 104);

// Everything of it may throw what went wrong.
class CudaProbe {
 public:
  struct Look {
    std::uint32_t place = 0;
    std::uint32_t number = 0;
  };
  static constexpr std::uint32_t kMostLooks = 1024;  // at a time

  // Is made for the context that is current on this thread, and its device. Waits for the device.
  CudaProbe(const CudaDriver& driver, const CudaCubins& cubins, Lock& lock);
  ~CudaProbe();
  CudaProbe(const CudaProbe&) = delete;

  [[nodiscard]] int architecture() const noexcept { return architecture_; }
  // At which the kernel is fetched or compiled, the first time it is asked for this type. The view
  // is not empty; its data is an address of the device. Nothing where the kernel cannot read such a
  // view or no place is free.
  [[nodiscard]] std::optional<Look> launch(const TensorView& view, CudaDriver::Stream stream);
  // Its ceiling (scan/finite.h), once; nothing while the kernel has not run.
  [[nodiscard]] std::optional<int> poll(Look look, DType dtype);
  // The same, and waits for the stream.
  [[nodiscard]] int wait(Look look, DType dtype, CudaDriver::Stream stream);

 private:
  struct Kernels {
    const char* type;
    CudaDriver::Module module;
    CudaDriver::Function dense;
    CudaDriver::Function strided;
  };
  Kernels kernels_of(DType dtype);
  Kernels load(const char* type);
  std::optional<Look> take_place();
  void start(CudaDriver::Function kernel, std::uint64_t threads, void** parameters,
             CudaDriver::Stream stream) const;
  void give_back_memory() noexcept;

  const CudaDriver& driver_;
  const CudaCubins& cubins_;
  int architecture_ = 0;
  unsigned most_blocks_ = 0;
  CudaDriver::Address slots_ = 0;            // two words for each look
  void* homes_ = nullptr;                    // one for each look, on the host
  CudaDriver::Address homes_on_device_ = 0;  // the same, as the kernel calls it
  Lock& lock_;                               // of what follows; probes may share one
  std::vector<Kernels> kernels_;
  std::vector<std::uint32_t> free_;
  std::uint32_t last_number_ = 0;
};

// The ceiling that the kernel's maximum stands for.
[[nodiscard]] int ceiling_of_largest(std::uint32_t largest, DType dtype) noexcept;
// How the kernel walks this, component by component; nothing where it has too many dimensions or
// too many elements in one.
struct CudaWalk {
  const void* data = nullptr;
  std::uint64_t elements = 0;
  std::uint32_t width = 0;           // bytes of a component
  std::optional<CudaShape> shape{};  // none for a run without gaps
};
[[nodiscard]] std::optional<CudaWalk> walk_of(const TensorView& view) noexcept;

}  // namespace nanscope::torch_adapter
