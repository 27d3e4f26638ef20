#include "adapters/torch/device/reader.h"

#include "adapters/torch/device/host_copies.h"
#include "adapters/torch/device/probe.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {
namespace {

bool is_readable(const c10::TensorImpl& tensor) {
  return tensor.layout() == c10::kStrided && is_asked_for(tensor.device_type()) &&
         Watcher::get().readable_devices().is_readable(tensor.device(),
                                                       c10::typeMetaToScalarType(tensor.dtype()));
}

// What runs before it in the program is judged before it: Note [The window].
int ceiling(const c10::TensorImpl& tensor) {
  if (this_thread().then() != nullptr) return ceiling_on_device(tensor);
  Watcher::get().window().settle();
  const auto found = Watcher::get().readable_devices().cuda_looks().ceilings({&tensor});
  return found ? found->front() : ceiling_on_device(tensor);
}

const std::byte* bytes(const c10::TensorImpl& tensor, ByteRange range) {
  if (this_thread().then() == nullptr) Watcher::get().window().settle();
  return HostCopies::mine().bytes(tensor, range, Watcher::get().readable_devices().calls());
}

}  // namespace

const DeviceReader& device_reader() {
  static const DeviceReader reader{&is_readable, &ceiling, &bytes};
  return reader;
}

}  // namespace nanscope::torch_adapter
