#include "adapters/torch/device/cuda_probe.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>
#include <stdexcept>

#include "scan/elements.h"

namespace nanscope::torch_adapter {
namespace {

constexpr unsigned kThreads = 256;       // of a block
constexpr std::uint64_t kPerThread = 4;  // loads
constexpr unsigned kBlocksPerProcessor = 4;

}  // namespace

int ceiling_of_largest(std::uint32_t largest, DType dtype) noexcept {
  return with_element(dtype, [&](auto element) {
    using Format = typename decltype(element)::Format;
    using Bits = typename Format::Bits;
    if constexpr (sizeof(Bits) == 8) {
      return Format::ceiling(Bits{largest} << 32);
    } else {
      return Format::ceiling(static_cast<Bits>(largest));
    }
  });
}

std::optional<CudaWalk> walk_of(const TensorView& view) noexcept {
  const std::size_t element = scannable_width(view.dtype);
  const std::size_t parts = is_complex(view.dtype) ? 2 : 1;
  const std::size_t width = element / parts;
  const Layout layout = layout_in_any_order(view, element);
  if (reinterpret_cast<std::uintptr_t>(layout.data) % width != 0) return std::nullopt;
  CudaWalk walk{layout.data, 1, static_cast<std::uint32_t>(width), std::nullopt};
  if (layout.outer_rank == 0 && layout.row.step == static_cast<std::int64_t>(element)) {
    walk.elements = parts * layout.row.size;
    return walk;
  }
  CudaShape shape{};
  const auto add = [&](const Layout::Dim& dim) {
    if (shape.dims == CudaShape::kMostDims || dim.size > std::numeric_limits<std::uint32_t>::max())
      return false;
    walk.elements *= dim.size;
    shape.size[shape.dims] = static_cast<std::uint32_t>(dim.size);
    shape.stride[shape.dims++] = dim.step / static_cast<std::int64_t>(width);
    return true;
  };
  for (int dim = 0; dim < layout.outer_rank; ++dim) {
    if (!add(layout.outer[dim])) return std::nullopt;
  }
  if (!add(layout.row)) return std::nullopt;
  if (parts == 2 && !add({2, static_cast<std::int64_t>(width)})) return std::nullopt;
  walk.shape = shape;
  return walk;
}

CudaProbe::CudaProbe(const CudaDriver& driver, const CudaCubins& cubins, Lock& lock)
    : driver_(driver), cubins_(cubins), lock_(lock) {
  CudaDriver::Device device = 0;
  driver_.check(driver_.ctx_get_device(&device), "cuCtxGetDevice");
  const auto attribute = [&](int which) {
    int value = 0;
    driver_.check(driver_.device_get_attribute(&value, which, device), "cuDeviceGetAttribute");
    return value;
  };
  architecture_ = 10 * attribute(CudaDriver::kMajor) + attribute(CudaDriver::kMinor);
  most_blocks_ =
      kBlocksPerProcessor * static_cast<unsigned>(std::max(1, attribute(CudaDriver::kProcessors)));
  try {
    constexpr std::size_t kSlots = kMostLooks * 2 * sizeof(std::uint32_t);
    constexpr std::size_t kHomes = kMostLooks * sizeof(std::uint64_t);
    driver_.check(driver_.mem_alloc(&slots_, kSlots), "cuMemAlloc");
    driver_.check(driver_.memset_d8(slots_, 0, kSlots), "cuMemsetD8");
    driver_.check(
        driver_.mem_host_alloc(&homes_, kHomes, CudaDriver::kPortable | CudaDriver::kMapped),
        "cuMemHostAlloc");
    std::memset(homes_, 0, kHomes);
    driver_.check(driver_.mem_host_get_device_pointer(&homes_on_device_, homes_, 0),
                  "cuMemHostGetDevicePointer");
    // The zeros are there before a kernel of any stream is.
    driver_.check(driver_.stream_synchronize(nullptr), "cuStreamSynchronize");
  } catch (...) {
    give_back_memory();
    throw;
  }
  for (std::uint32_t place = kMostLooks; place > 0; --place) free_.push_back(place - 1);
}

CudaProbe::~CudaProbe() {
  give_back_memory();  // which waits for kernels that may be at work
  for (const Kernels& kernels : kernels_) driver_.module_unload(kernels.module);
}

void CudaProbe::give_back_memory() noexcept {
  if (homes_ != nullptr) driver_.mem_free_host(homes_);
  if (slots_ != 0) driver_.mem_free(slots_);
}

CudaProbe::Kernels CudaProbe::load(const char* type) {
  const std::string cubin = cubins_.cubin(type, architecture_);
  Kernels kernels{type, nullptr, nullptr, nullptr};
  driver_.check(driver_.module_load_data(&kernels.module, cubin.data()), "cuModuleLoadData");
  const auto find = [&](CudaDriver::Function& function, const char* name) {
    const auto status = driver_.module_get_function(&function, kernels.module, name);
    if (status != 0) driver_.module_unload(kernels.module);
    driver_.check(status, "cuModuleGetFunction");
  };
  find(kernels.dense, "dense");
  find(kernels.strided, "strided");
  return kernels;
}

CudaProbe::Kernels CudaProbe::kernels_of(DType dtype) {
  const char* const type = cuda_probe_type(dtype);
  if (type == nullptr) throw std::runtime_error("no kernel for this type");
  const std::lock_guard guard(lock_);
  for (const Kernels& kernels : kernels_) {
    if (std::strcmp(kernels.type, type) == 0) return kernels;
  }
  kernels_.push_back(load(type));
  return kernels_.back();
}

// Numbers are not zero: a home that nobody wrote is no answer.
std::optional<CudaProbe::Look> CudaProbe::take_place() {
  const std::lock_guard guard(lock_);
  if (free_.empty()) return std::nullopt;
  if (++last_number_ == 0) ++last_number_;
  const Look look{free_.back(), last_number_};
  free_.pop_back();
  return look;
}

void CudaProbe::start(CudaDriver::Function kernel, std::uint64_t threads, void** parameters,
                      CudaDriver::Stream stream) const {
  const std::uint64_t blocks = (threads + kThreads - 1) / kThreads;
  const auto grid = static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, most_blocks_));
  driver_.check(
      driver_.launch_kernel(kernel, grid, 1, 1, kThreads, 1, 1, 0, stream, parameters, nullptr),
      "cuLaunchKernel");
}

std::optional<CudaProbe::Look> CudaProbe::launch(const TensorView& view,
                                                 CudaDriver::Stream stream) {
  std::optional<CudaWalk> walk = walk_of(view);
  if (!walk) return std::nullopt;
  const Kernels kernels = kernels_of(view.dtype);
  std::optional<Look> look = take_place();
  if (!look) return std::nullopt;
  CudaDriver::Address slot = slots_ + look->place * 2 * sizeof(std::uint32_t);
  CudaDriver::Address home = homes_on_device_ + look->place * sizeof(std::uint64_t);
  std::uint32_t number = look->number;
  if (walk->shape) {
    void* parameters[] = {&walk->data, &walk->elements, &*walk->shape, &slot, &home, &number};
    start(kernels.strided, walk->elements / kPerThread, parameters, stream);
  } else {
    std::uint64_t bytes = walk->elements * walk->width;
    void* parameters[] = {&walk->data, &bytes, &slot, &home, &number};
    start(kernels.dense, bytes / (16 * kPerThread), parameters, stream);
  }
  return look;
}

std::optional<int> CudaProbe::poll(Look look, DType dtype) {
  auto* const homes = static_cast<std::uint64_t*>(homes_);
  const std::uint64_t word = std::atomic_ref(homes[look.place]).load(std::memory_order_acquire);
  if (word >> 32 != look.number) return std::nullopt;
  {
    const std::lock_guard guard(lock_);
    free_.push_back(look.place);
  }
  return ceiling_of_largest(static_cast<std::uint32_t>(word), dtype);
}

int CudaProbe::wait(Look look, DType dtype, CudaDriver::Stream stream) {
  if (const std::optional<int> ceiling = poll(look, dtype)) return *ceiling;
  driver_.check(driver_.stream_synchronize(stream), "cuStreamSynchronize");
  if (const std::optional<int> ceiling = poll(look, dtype)) return *ceiling;
  throw std::runtime_error("the kernel ran and left no word");
}

}  // namespace nanscope::torch_adapter
