#include "adapters/torch/watch/written_storages.h"

#include <mutex>
#include <utility>
#include <vector>

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
  from_other_devices_.clear();
  for (auto& [impl, lent] : lent_) {
    lent.computed = lent.was_made = false;
    lent.written_as.reset();
  }
}

void WrittenStorages::others_may_write(const at::Tensor& tensor) {
  unmark_made(storage_of(*tensor.unsafeGetTensorImpl()));
  const std::lock_guard guard(allocations_lock_);
  allocations_.erase(storage_id(*tensor.unsafeGetTensorImpl()));
}

void WrittenStorages::lend(const c10::Storage& storage) {
  const c10::StorageImpl* impl = storage.unsafeGetStorageImpl();
  const std::lock_guard guard(allocations_lock_);
  allocations_.erase({reinterpret_cast<std::uint64_t>(impl)});
  if (lent_.size() >= sweep_lent_at_) sweep_lent();
  const auto [entry, added] = lent_.try_emplace(impl, Lent{storage.getWeakStorageImpl()});
  if (added) lent_slots_[slot_of(impl)].store(1, std::memory_order_relaxed);
  entry->second.was_made |= is_made(impl);
  unmark_made(impl);
}

void WrittenStorages::address_given(const c10::Storage& storage) {
  const c10::StorageImpl* impl = storage.unsafeGetStorageImpl();
  const bool computed = is_made(impl);
  lend(storage);
  if (!computed) return;
  const std::lock_guard guard(allocations_lock_);
  lent_.at(impl).computed = true;
}

void WrittenStorages::reinterpret(const c10::Storage& storage, c10::ScalarType from,
                                  c10::ScalarType to) {
  const bool computed = is_made(storage.unsafeGetStorageImpl());
  address_given(storage);
  const std::lock_guard guard(allocations_lock_);
  Lent& lent = lent_.at(storage.unsafeGetStorageImpl());
  if (computed) lent.written_as = from;
  lent.viewed_as = {from, to};
}

void WrittenStorages::put_under(const at::Tensor& tensor) {
  const c10::StorageImpl* impl = storage_of(*tensor.unsafeGetTensorImpl());
  if (impl == nullptr) return;
  if (!is_made(impl) && !is_lent(impl) && !is_allocation(impl)) return others_may_write(tensor);
  address_given(tensor.storage());
  const std::lock_guard guard(allocations_lock_);
  Lent& lent = lent_.at(impl);
  if (!lent.viewed_as) lent.viewed_as = {tensor.scalar_type(), tensor.scalar_type()};
}

void WrittenStorages::remember_type(const c10::StorageImpl* storage,
                                    c10::ScalarType type) noexcept {
  const std::lock_guard guard(allocations_lock_);
  if (const auto found = lent_.find(storage); found != lent_.end()) found->second.written_as = type;
}

void WrittenStorages::note_shared_written(const c10::Storage& storage, c10::ScalarType type) {
  if (!is_lent(storage.unsafeGetStorageImpl())) lend(storage);
  remember_type(storage.unsafeGetStorageImpl(), type);
}

bool WrittenStorages::is_shared_and_was_written(const at::Tensor& tensor) const {
  const std::lock_guard guard(allocations_lock_);
  const auto found = lent_.find(storage_of(*tensor.unsafeGetTensorImpl()));
  if (found == lent_.end()) return false;
  const Lent& lent = found->second;
  return lent.computed || lent.was_made || lent.written_as;
}

std::optional<WrittenStorages::OtherType> WrittenStorages::other_type_of(
    const at::Tensor& tensor) const {
  const auto number = [](c10::ScalarType type) { return c10::toRealValueType(type); };
  const c10::ScalarType own = number(tensor.scalar_type());
  const std::lock_guard guard(allocations_lock_);
  const auto found = lent_.find(storage_of(*tensor.unsafeGetTensorImpl()));
  if (found == lent_.end() || !found->second.viewed_as) return std::nullopt;
  const auto& [viewed, written] = std::pair(*found->second.viewed_as, found->second.written_as);
  if (written && number(*written) != own) return OtherType{*written, true};
  if (number(viewed.first) == own && number(viewed.second) == own) return std::nullopt;
  return OtherType{number(viewed.first) == own ? viewed.second : viewed.first, false};
}

bool WrittenStorages::is_in_lent(const c10::StorageImpl* storage) const noexcept {
  const std::lock_guard guard(allocations_lock_);
  return lent_.contains(storage);
}

// Forgets those that died. A slot is cleared only where no other one lies in it: other threads read
// the slots meanwhile.
void WrittenStorages::sweep_lent() {
  std::erase_if(lent_, [](const auto& entry) { return entry.second.storage.expired(); });
  std::vector<bool> in_use(kSlots);
  for (const auto& [impl, lent] : lent_) in_use[slot_of(impl)] = true;
  for (std::size_t slot = 0; slot < kSlots; ++slot)
    if (!in_use[slot]) lent_slots_[slot].store(0, std::memory_order_relaxed);
  sweep_lent_at_ = std::max(kFirstSweep, 2 * lent_.size());
}

void WrittenStorages::came_from_other_device(const at::Tensor& tensor) {
  others_may_write(tensor);
  const std::lock_guard guard(allocations_lock_);
  if (from_other_devices_.size() >= sweep_other_devices_at_) {
    std::erase_if(from_other_devices_, [](const auto& entry) { return entry.second.expired(); });
    sweep_other_devices_at_ = std::max(kFirstSweep, 2 * from_other_devices_.size());
  }
  from_other_devices_.insert_or_assign(storage_of(*tensor.unsafeGetTensorImpl()),
                                       tensor.storage().getWeakStorageImpl());
}

bool WrittenStorages::is_from_other_device(const at::Tensor& tensor) {
  const c10::StorageImpl* storage = storage_of(*tensor.unsafeGetTensorImpl());
  if (storage == nullptr || is_made(storage)) return false;
  const std::lock_guard guard(allocations_lock_);
  const auto found = from_other_devices_.find(storage);
  return found != from_other_devices_.end() && !found->second.expired();
}

bool WrittenStorages::was_finite(const at::Tensor& tensor) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  const c10::StorageImpl* storage = storage_of(impl);
  if (storage == nullptr || is_foreign(impl)) return false;
  if (is_made(storage)) return true;
  const std::lock_guard guard(allocations_lock_);
  const auto found = lent_.find(storage);
  if (found == lent_.end()) return false;
  const Lent& lent = found->second;
  return lent.computed || (lent.viewed_as && lent.written_as);
}

bool WrittenStorages::is_allocation(const c10::StorageImpl* storage) const {
  const std::lock_guard guard(allocations_lock_);
  const auto found = allocations_.find({reinterpret_cast<std::uint64_t>(storage)});
  return found != allocations_.end() && !found->second.storage.expired();
}

std::optional<OpRecord::Read::Allocation> WrittenStorages::allocation_of(const at::Tensor& tensor) {
  const std::lock_guard guard(allocations_lock_);
  const auto found = allocations_.find(storage_id(*tensor.unsafeGetTensorImpl()));
  if (found == allocations_.end() || found->second.storage.expired()) return std::nullopt;
  return found->second.made_by;
}

}  // namespace nanscope::torch_adapter
