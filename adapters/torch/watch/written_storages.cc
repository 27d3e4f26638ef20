#include "adapters/torch/watch/written_storages.h"

#include <mutex>
#include <utility>

#include "adapters/torch/interpose/tensors.h"

namespace nanscope::torch_adapter {

void WrittenStorages::note_allocation(const OpInfo* op, const at::Tensor& tensor, Place place) {
  const StorageId storage = storage_id(*tensor.unsafeGetTensorImpl());
  if (storage.value == 0) return;
  const std::lock_guard guard(allocations_lock_);
  if (allocations_.size() >= sweep_at_) {
    std::erase_if(allocations_, [](const auto& entry) { return entry.second.storage.expired(); });
    sweep_at_ = std::max(kFirstSweep, 2 * allocations_.size());
  }
  allocations_.insert_or_assign(
      storage, Allocation{tensor.storage().getWeakStorageImpl(), {op, std::move(place)}});
}

void WrittenStorages::forget() {
  for (auto& slot : made_) slot.store(0, std::memory_order_relaxed);
  const std::lock_guard guard(allocations_lock_);
  allocations_.clear();
  given_away_.clear();
}

void WrittenStorages::others_may_write(const at::Tensor& tensor) {
  unmark_made(storage_of(*tensor.unsafeGetTensorImpl()));
  const std::lock_guard guard(allocations_lock_);
  allocations_.erase(storage_id(*tensor.unsafeGetTensorImpl()));
}

void WrittenStorages::lend(const at::Tensor& tensor) {
  const c10::StorageImpl* storage = storage_of(*tensor.unsafeGetTensorImpl());
  if (storage == nullptr) return;
  others_may_write(tensor);
  made_[slot_of(storage)].store(Made::lent(storage).word, std::memory_order_relaxed);
}

void WrittenStorages::address_given(const at::Tensor& tensor) {
  const c10::StorageImpl* storage = storage_of(*tensor.unsafeGetTensorImpl());
  const bool computed = storage != nullptr && is_made(storage);
  others_may_write(tensor);
  if (!computed) return;
  const std::lock_guard guard(allocations_lock_);
  if (given_away_.size() >= kMostGivenAway) given_away_.pop_front();
  given_away_.emplace_back(tensor.storage().getWeakStorageImpl());
}

bool WrittenStorages::was_finite(const at::Tensor& tensor) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  const c10::StorageImpl* storage = storage_of(impl);
  if (storage == nullptr || is_foreign(impl)) return false;
  if (is_made(storage)) return true;
  const std::lock_guard guard(allocations_lock_);
  return std::any_of(given_away_.begin(), given_away_.end(), [&](const auto& given) {
    return !given.expired() && given._unsafe_get_target() == storage;
  });
}

std::optional<OpRecord::Read::Allocation> WrittenStorages::allocation_of(const at::Tensor& tensor) {
  const std::lock_guard guard(allocations_lock_);
  const auto found = allocations_.find(storage_id(*tensor.unsafeGetTensorImpl()));
  if (found == allocations_.end() || found->second.storage.expired()) return std::nullopt;
  return found->second.made_by;
}

}  // namespace nanscope::torch_adapter
