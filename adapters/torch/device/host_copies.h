// What lies on a device, copied to the host while one call or one moment is looked at.
//
// Code that reads numbers (facts, correspondence, experiments) asks for an address and gets that of
// a copy. It stays until the thread's next op on a device, or until the moment is over. The storage
// is held weakly: its address is not another's meanwhile, and nobody's count of references shows
// that we looked.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "watch/tensor_state.h"

namespace nanscope::torch_adapter {

class HostCopies {
 public:
  // Those of the calling thread.
  static HostCopies& mine();
  static void forget();

  // These bytes of the tensor's storage. `calls`: how many ops on devices have returned; what was
  // copied before the last one may have been written since. Waits for the device.
  const std::byte* bytes(const c10::TensorImpl& tensor, ByteRange range, std::uint64_t calls);

 private:
  struct Copy {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    ByteRange range;
    std::uint64_t calls;
    at::Tensor on_host;
  };
  std::vector<Copy> copies_;
};

// All bytes of the range, in a tensor of the host.
[[nodiscard]] at::Tensor copied_to_host(const c10::TensorImpl& tensor, ByteRange range);

}  // namespace nanscope::torch_adapter
