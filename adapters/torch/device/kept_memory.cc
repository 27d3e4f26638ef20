#include "adapters/torch/device/kept_memory.h"

#include <ATen/ops/from_blob.h>

#include <mutex>

#include "adapters/torch/watch/kernels_only.h"

namespace nanscope::torch_adapter {
namespace {

c10::weak_intrusive_ptr<c10::StorageImpl> weakly(c10::StorageImpl& storage) {
  c10::raw::weak_intrusive_ptr::incref(&storage);
  return c10::weak_intrusive_ptr<c10::StorageImpl>::reclaim(&storage);
}

// One that has died and is held weakly lives again. All that hold it strongly hold it weakly once.
c10::intrusive_ptr<c10::StorageImpl> brought_back(c10::StorageImpl* storage) {
  c10::raw::weak_intrusive_ptr::incref(storage);
  c10::raw::intrusive_ptr::incref(storage);
  return c10::intrusive_ptr<c10::StorageImpl>::reclaim(storage);
}

bool is_allocators_own(const c10::DataPtr& data) {
  const c10::Allocator* const allocator = c10::GetAllocator(data.device().type());
  return allocator != nullptr && data.get_deleter() == allocator->raw_deleter();
}

}  // namespace

KeptMemory& KeptMemory::get() {
  static auto& memory = *new KeptMemory;
  return memory;
}

KeptPiece::KeptPiece(KeptMemory& owner, c10::StorageImpl& storage)
    : owner_(owner),
      storage_(weakly(storage)),
      begin_(static_cast<std::byte*>(storage._mutable_data_ptr_no_checks().get())),
      context_(storage._mutable_data_ptr_no_checks().get_context()),
      bytes_(storage.nbytes()),
      device_(storage.device()) {}

KeptPiece::~KeptPiece() {
  revived_.reset();
  if (copy_.defined()) {
    owner_.bytes_ -= bytes_;
  } else if (give_back_ != nullptr) {
    owner_.bytes_ -= bytes_;
    give_back_(context_);
  } else {
    owner_.give_back_deleter(*this);
  }
}

const std::byte* KeptPiece::place() const {
  return copy_.defined() ? static_cast<const std::byte*>(copy_.storage().data()) : begin_;
}

const c10::intrusive_ptr<c10::StorageImpl>& KeptPiece::revive() {
  if (revived_) return revived_;
  revived_ = living();
  const bool has_died = !revived_;
  if (has_died) revived_ = brought_back(storage_._unsafe_get_target());
  if (has_died) {
    revived_->set_data_ptr_noswap(c10::DataPtr(begin_, device_));
  } else if (revived_->_mutable_data_ptr_no_checks().get() == nullptr) {
    // It lives on and holds nothing: FSDP's resize_(0).
    revived_ = c10::make_intrusive<c10::StorageImpl>(
        c10::StorageImpl::use_byte_size_t(), static_cast<std::int64_t>(bytes_),
        c10::DataPtr(begin_, device_), nullptr, /*resizable=*/false);
  }
  return revived_;
}

std::shared_ptr<KeptPiece> KeptMemory::piece_of(c10::StorageImpl& storage) {
  c10::DataPtr& data = storage._mutable_data_ptr_no_checks();
  std::shared_ptr<KeptPiece> known;  // let go of outside the lock
  const std::lock_guard guard(lock_);
  if (is_deleter(data.get_deleter())) {
    Taken& taken = taken_.at(data.get_context());
    known = taken.piece.lock();
    if (known != nullptr && known->storage_._unsafe_get_target() == &storage) return known;
    if (known != nullptr) return nullptr;  // it went over to another storage
    const auto piece = std::make_shared<KeptPiece>(*this, storage);
    taken.piece = piece;
    return piece;
  }
  if (data.get() == nullptr || !is_allocators_own(data)) return nullptr;
  const auto piece = std::make_shared<KeptPiece>(*this, storage);
  taken_[data.get_context()] = {data.get_deleter(), piece};
  (void)data.compare_exchange_deleter(data.get_deleter(), &let_go);
  return piece;
}

void KeptMemory::copy(KeptPiece& piece) {
  const KernelsOnly kernels_only;
  const std::int64_t sizes[] = {static_cast<std::int64_t>(piece.bytes_)};
  const at::Tensor held = at::for_blob(piece.begin_, sizes)
                              .options(at::TensorOptions(piece.device_).dtype(at::kByte))
                              .target_device(piece.device_)
                              .make_tensor();
  at::Tensor copied = held.clone();
  {
    const std::lock_guard guard(lock_);
    taken_.at(piece.context_).piece.reset();  // the next piece is of what is written now
  }
  piece.copy_ = std::move(copied);
  bytes_ += piece.bytes_;
}

void KeptMemory::let_go(void* context) {
  KeptMemory& memory = get();
  std::shared_ptr<KeptPiece> piece;
  c10::DeleterFnPtr deleter = nullptr;
  {
    const std::lock_guard guard(memory.lock_);
    const auto found = memory.taken_.find(context);
    deleter = found->second.deleter;
    piece = found->second.piece.lock();
    memory.taken_.erase(found);
    if (piece != nullptr) {
      piece->give_back_ = deleter;
      memory.bytes_ += piece->bytes_;
    }
  }
  if (piece == nullptr) deleter(context);
}

// Where the program still has the memory, and no op in flight needs it any more.
void KeptMemory::give_back_deleter(const KeptPiece& piece) noexcept {
  const c10::intrusive_ptr<c10::StorageImpl> storage = piece.living();
  if (!storage) return;
  const std::lock_guard guard(lock_);
  c10::DataPtr& data = storage->_mutable_data_ptr_no_checks();
  const auto found = taken_.find(piece.context_);
  if (found == taken_.end() || !found->second.piece.expired() ||
      data.get_context() != piece.context_)
    return;
  (void)data.compare_exchange_deleter(&let_go, found->second.deleter);
  taken_.erase(found);
}

}  // namespace nanscope::torch_adapter
