#include "adapters/torch/binding/python_devices.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <utility>

#include "adapters/torch/binding/python_objects.h"
#include "adapters/torch/device/cuda_cubins.h"
#include "adapters/torch/device/kept_memory.h"
#include "adapters/torch/device/probe.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/watch/gil.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"

namespace nb = nanobind;

namespace nanscope::torch_adapter {
namespace {

std::optional<double> largest_where_it_is(nb::handle tensor) {
  const c10::TensorImpl& impl = *unwrap(tensor).unsafeGetTensorImpl();
  const Busy busy;
  const WithoutGil without_gil;
  if (sight_of(impl) != Sight::kWatched || is_on_host(impl)) return std::nullopt;
  return largest_on_device(impl);
}

std::string trouble_where_it_is(nb::handle tensor) {
  const at::Tensor& sample = unwrap(tensor);
  const c10::Device device = sample.device();
  const c10::ScalarType type = sample.scalar_type();
  const Busy busy;
  const WithoutGil without_gil;
  return trouble_with(device, type);
}

}  // namespace

void add_devices(nb::module_& module) {
  // Devices other than the CPU, with the kernels that have a wrapper: [("cuda", kernels)].
  module.def("other_devices", [] {
    nb::list devices;
    for (const auto& [name, kernels] : Watcher::get().other_devices().list())
      devices.append(nb::make_tuple(name, kernels));
    return devices;
  });
  // The largest magnitude, found where the tensor is; None where that device cannot be looked into.
  module.def("largest_on_device", &largest_where_it_is);
  // What is wrong with looking at tensors of this type on the device of this one; empty if nothing.
  module.def("trouble_on_device", &trouble_where_it_is);
  // How tensors on CUDA are looked at: the architecture that a kernel of our own is compiled for,
  // as 90, or 0; why there is none, or "". Neither if no look was asked for.
  module.def("cuda_looks", [] {
    CudaLooks::State state = Watcher::get().readable_devices().cuda_looks().state();
    return std::pair(state.architecture, std::move(state.why_not));
  });
  // For tests: devices of this type, by these libraries.
  module.def("look_by_cuda_libraries",
             [](const std::string& type, const std::string& driver, const std::string& compiler) {
               Watcher::get().readable_devices().cuda_looks().serve(c10::Device(type).type(),
                                                                    driver, compiler);
             });
  // For tests: ops that were put off, waits for their looks, ops that were judged late.
  module.def("window_counts", [] {
    const Window::Counts counts = Watcher::get().window().counts();
    return nb::make_tuple(counts.put_off, counts.waits, counts.judged);
  });
  // For an allocator that has no memory left: the address of a function that gives back what is
  // kept for ops in flight, and says whether that was anything.
  module.def("kept_memory_switch", [] {
    bool (*const give_back)() = [] {
      const bool kept = KeptMemory::get().bytes() != 0;
      Watcher::get().window().settle();
      return kept;
    };
    return reinterpret_cast<std::uintptr_t>(give_back);
  });
  // For tests: the kernel of a type, compiled for an architecture by this NVRTC.
  module.def(
      "cuda_cubin", [](const std::string& compiler, int architecture, const std::string& type) {
        const std::string cubin = CudaCubins({compiler}, "").cubin(type.c_str(), architecture);
        return nb::bytes(cubin.data(), cubin.size());
      });
  // For a device that computes by the CPU's kernels: the address of a function that says, on the
  // calling thread, whether the ops from here on are the device's own, and gives back what held.
  module.def("own_kernels_switch", [] {
    bool (*const exchange)(bool) = [](bool own) { return this_thread().exchange_busy(own); };
    return reinterpret_cast<std::uintptr_t>(exchange);
  });
}

}  // namespace nanscope::torch_adapter
