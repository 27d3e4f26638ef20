#include "adapters/torch/device/host_copies.h"

#include <ATen/ops/from_blob.h>

#include "adapters/torch/device/unowned.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/watch/kernels_only.h"
#include "adapters/torch/watch/threads.h"

namespace nanscope::torch_adapter {

// What is kept of the calling thread.
class CopiesOfThread {
 public:
  static std::unique_ptr<HostCopies, void (*)(HostCopies*)>& mine() {
    return this_thread().host_copies_;
  }
};

HostCopies& HostCopies::mine() {
  auto& kept = CopiesOfThread::mine();
  if (kept == nullptr) kept = {new HostCopies, [](HostCopies* copies) { delete copies; }};
  return *kept;
}

void HostCopies::forget() {
  if (auto& kept = CopiesOfThread::mine(); kept != nullptr) kept->copies_.clear();
}

at::Tensor copied_to_host(const c10::TensorImpl& tensor, ByteRange range) {
  const KernelsOnly kernels_only;
  return unowned_bytes(tensor, range.lo, range.hi - range.lo)
      .to(c10::kCPU, /*non_blocking=*/false, /*copy=*/true);
}

const std::byte* HostCopies::bytes(const c10::TensorImpl& tensor, ByteRange range,
                                   std::uint64_t calls) {
  c10::StorageImpl* const storage = storage_of(tensor);
  for (const Copy& copy : copies_) {
    if (copy.storage._unsafe_get_target() == storage && copy.range == range && copy.calls == calls)
      return static_cast<const std::byte*>(copy.on_host.const_data_ptr());
  }
  at::Tensor on_host = copied_to_host(tensor, range);
  c10::raw::weak_intrusive_ptr::incref(storage);
  copies_.push_back({c10::weak_intrusive_ptr<c10::StorageImpl>::reclaim(storage), range, calls,
                     std::move(on_host)});
  return static_cast<const std::byte*>(copies_.back().on_host.const_data_ptr());
}

}  // namespace nanscope::torch_adapter
