// Memory of devices, kept for ops in flight without a reference that the program could see.
//
// Note [Memory outlives its storage]
// A reference of ours would change the program: autograd adds a gradient in place only where nobody
// else holds it, and FSDP's resize_(0) would empty what we hold. So a storage lives and dies as it
// would; but while an op in flight needs its memory, the deleter of that memory is ours. When the
// program lets go of it, it is not given back to the allocator before the last op that needs it is
// done with. Only memory of the device's own allocator is taken over: others' deleters mean more
// than they say. What is about to be overwritten is copied on the device first, by whoever writes.
//
// The storage itself is held weakly. Its address, by which the judge knows it, is then not given to
// another meanwhile, and where a look goes wrong it can be brought back for as long as the op is
// judged.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <unordered_map>

#include "adapters/torch/watch/locks.h"

namespace nanscope::torch_adapter {

class KeptMemory;

// The memory of one storage, with what it holds between two writes.
class KeptPiece {
 public:
  KeptPiece(KeptMemory& owner, c10::StorageImpl& storage);
  ~KeptPiece();
  KeptPiece(const KeptPiece&) = delete;

  // Where what it held lies now, on the device.
  [[nodiscard]] const std::byte* place() const;
  // The storage, brought back if it has died. For as long as this piece lives.
  [[nodiscard]] const c10::intrusive_ptr<c10::StorageImpl>& revive();
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  friend class KeptMemory;
  [[nodiscard]] c10::intrusive_ptr<c10::StorageImpl> living() const { return storage_.lock(); }

  KeptMemory& owner_;
  c10::weak_intrusive_ptr<c10::StorageImpl> storage_;
  c10::intrusive_ptr<c10::StorageImpl> revived_;
  std::byte* begin_;
  void* context_;
  std::size_t bytes_;
  c10::Device device_;
  at::Tensor copy_;                        // of what it held, if it was overwritten since
  c10::DeleterFnPtr give_back_ = nullptr;  // the program has let go of it: how it is given back
};

class KeptMemory {
 public:
  static KeptMemory& get();

  // Of all that the storage holds now; null where it cannot be kept.
  [[nodiscard]] std::shared_ptr<KeptPiece> piece_of(c10::StorageImpl& storage);
  // What this piece holds is about to be overwritten: it is copied, by an op of the device.
  void copy(KeptPiece& piece);

  // Kept although the program has let go of it, and copies.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return bytes_.load(std::memory_order_relaxed);
  }
  // A deleter of ours.
  [[nodiscard]] static bool is_deleter(c10::DeleterFnPtr deleter) noexcept {
    return deleter == &let_go;
  }

 private:
  friend class KeptPiece;
  struct Taken {
    c10::DeleterFnPtr deleter;  // of the allocator
    std::weak_ptr<KeptPiece> piece;
  };

  KeptMemory() = default;
  // Stands in for the allocator's: the program needs this memory no longer.
  static void let_go(void* context);
  void give_back_deleter(const KeptPiece& piece) noexcept;

  Lock lock_{LockRank::kKeptMemory};
  std::unordered_map<void*, Taken> taken_;  // by the context of the deleter
  std::atomic<std::size_t> bytes_{0};
};

}  // namespace nanscope::torch_adapter
