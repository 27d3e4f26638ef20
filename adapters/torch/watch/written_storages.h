// The storages that watched ops wrote, and what is known of the numbers in each.
//
// A hint: what is not marked is looked at. Asked and marked on every op, on any thread and without
// a lock; what is rare (memory taken and not written, memory lent) is under one.
//
// Note [Memory that others share]
// NumPy, DLPack, a C library that was given an address can write a storage at any time, and no op
// shows it. Such a storage is never marked, whatever op writes it: its numbers are looked at
// whenever they are read. It is lent for as long as it lives, since nobody says when the array or
// the address is gone. Memory that torch did not allocate itself (is_foreign) needs no list. So is
// memory that the program views as numbers of another type: what is finite as one may be bad as the
// other, whoever writes it.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "adapters/torch/watch/locks.h"
#include "origin/op_record.h"
#include "origin/place.h"
#include "scan/ceiling.h"

namespace nanscope::torch_adapter {

class WrittenStorages {
 public:
  // A watched op wrote it. With it goes what is known of all its numbers, read as this type.
  void mark_made(const c10::StorageImpl* storage, c10::ScalarType type, Extent extent) noexcept {
    if (__builtin_expect(is_lent(storage), 0)) return;
    if (!has_extent(type)) extent = {};
    made_[slot_of(storage)].store(Made(storage, type, extent).word, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_made(const c10::StorageImpl* storage) const noexcept {
    return made_at(storage).is(storage);
  }
  // Note [Memory that others share]
  [[nodiscard]] bool is_lent(const c10::StorageImpl* storage) const noexcept {
    return lent_slots_[slot_of(storage)].load(std::memory_order_relaxed) != 0 &&
           is_in_lent(storage);
  }
  void lend(const c10::Storage& storage);
  [[nodiscard]] Extent extent_of(const c10::StorageImpl* storage,
                                 c10::ScalarType type) const noexcept {
    const Made made = made_at(storage);
    return has_extent(type) && is_made(storage) && made.is(type) ? made.extent() : Extent{};
  }

  void unmark_made(const c10::StorageImpl* storage) noexcept {
    if (is_made(storage)) made_[slot_of(storage)].store(0, std::memory_order_relaxed);
  }

  // Storages may have been written, freed and taken again while nobody watched.
  void forget();

  // Memory that the program itself took without writing it, by storage.
  void note_allocation(const OpInfo* op, const at::Tensor& tensor, Place place);
  [[nodiscard]] std::optional<OpRecord::Read::Allocation> allocation_of(const at::Tensor& tensor);
  // Somebody who is not watched may write it from now on: NumPy, a collective.
  void others_may_write(const at::Tensor& tensor);
  // Its address is in other hands: it is lent. What was computed stays known as such.
  void address_given(const c10::Storage& storage);
  // What holds numbers of type `from` is viewed as `to`.
  void reinterpret(const c10::Storage& storage, c10::ScalarType from, c10::ScalarType to);
  // A storage is put under a tensor, by set_. One that the program had before may be under another,
  // of another type.
  void put_under(const at::Tensor& tensor);
  // A watched op writes it, as numbers of this type.
  void note_written(const c10::StorageImpl* storage, c10::ScalarType type) noexcept {
    if (__builtin_expect(is_lent(storage), 0)) remember_type(storage, type);
  }
  // Memory that torch did not allocate: its owner may write it at any time, and an op did now.
  void note_shared_written(const c10::Storage& storage, c10::ScalarType type);
  // Others share it, and a watched op wrote it once: what it holds that no op wrote, they wrote.
  [[nodiscard]] bool is_shared_and_was_written(const at::Tensor& tensor) const;
  // The other type that it is viewed as, and whether the last watched op wrote it as another than
  // the tensor's own.
  struct OtherType {
    c10::ScalarType viewed_as;
    bool written = false;
  };
  [[nodiscard]] std::optional<OtherType> other_type_of(const at::Tensor& tensor) const;
  // A kernel of a device that is not watched wrote it: what is in it was computed there.
  void came_from_other_device(const at::Tensor& tensor);
  [[nodiscard]] bool is_from_other_device(const at::Tensor& tensor);
  // A watched op wrote it last, and it was finite then.
  [[nodiscard]] bool was_finite(const at::Tensor& tensor);

 private:
  static constexpr std::size_t kSlots = 1 << 16;
  static std::size_t slot_of(const c10::StorageImpl* storage) noexcept {
    return (reinterpret_cast<std::uintptr_t>(storage) * 0x9E3779B97F4A7C15ull) >> 48;
  }
  // One word, so that no thread sees the storage of one entry with the ceiling of another.
  struct Made {
    std::uint64_t word;
    explicit Made(std::uint64_t kept) noexcept : word(kept) {}
    Made(const c10::StorageImpl* storage, c10::ScalarType type, Extent extent) noexcept
        : word(reinterpret_cast<std::uint64_t>(storage) << 16 |
               static_cast<std::uint64_t>(extent.sign) << 14 | code_of(type) << 12 |
               static_cast<std::uint64_t>(std::max(extent.ceiling, kAllZero) - kAllZero)) {}
    [[nodiscard]] bool is(const c10::StorageImpl* storage) const noexcept {
      return word >> 16 == reinterpret_cast<std::uint64_t>(storage);
    }
    [[nodiscard]] bool is(c10::ScalarType type) const noexcept {
      return (word >> 12 & 3) == code_of(type);
    }
    [[nodiscard]] Extent extent() const noexcept {
      return {static_cast<int>(word & 0xfff) + kAllZero, static_cast<Sign>(word >> 14 & 3)};
    }
    static std::uint64_t code_of(c10::ScalarType type) noexcept {
      return type == at::kFloat ? 0 : type == at::kDouble ? 1 : type == at::kHalf ? 2 : 3;
    }
  };
  static bool has_extent(c10::ScalarType type) noexcept {
    return type == at::kFloat || type == at::kDouble || type == at::kHalf || type == at::kBFloat16;
  }
  [[nodiscard]] Made made_at(const c10::StorageImpl* storage) const noexcept {
    return Made(made_[slot_of(storage)].load(std::memory_order_relaxed));
  }
  struct Allocation {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    OpRecord::Read::Allocation made_by;
  };

  // Memory that was taken and not written.
  [[nodiscard]] bool is_allocation(const c10::StorageImpl* storage) const;
  [[nodiscard]] bool is_in_lent(const c10::StorageImpl* storage) const noexcept;
  void remember_type(const c10::StorageImpl* storage, c10::ScalarType type) noexcept;
  void sweep_lent();

  std::atomic<std::uint64_t> made_[kSlots] = {};
  std::atomic<std::uint8_t> lent_slots_[kSlots] = {};  // of those lent, so that few are asked for
  mutable Lock allocations_lock_{LockRank::kStorages};
  static constexpr std::size_t kFirstSweep = 4096;
  std::size_t sweep_at_ = kFirstSweep;  // so that what is alive bounds it
  std::unordered_map<StorageId, Allocation> allocations_;
  // Held weakly, so that no other storage gets its address.
  struct Lent {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    bool computed = false;  // a watched op had written it when its address was given
    bool was_made = false;  // or when it was lent, to NumPy
    // Where it is viewed as numbers of two types: these, and as which an op wrote it last.
    std::optional<std::pair<c10::ScalarType, c10::ScalarType>> viewed_as = {};
    std::optional<c10::ScalarType> written_as = {};
  };
  std::unordered_map<const c10::StorageImpl*, Lent> lent_;
  std::size_t sweep_lent_at_ = kFirstSweep;
  std::unordered_map<const c10::StorageImpl*, c10::weak_intrusive_ptr<c10::StorageImpl>>
      from_other_devices_;
  std::size_t sweep_other_devices_at_ = kFirstSweep;
};

}  // namespace nanscope::torch_adapter
