// The ledger: which storages are known to hold something non-finite, and which
// event put it there.
//
// Asked before every op whose inputs might be bad, so `knows` is lock-free and
// costs one load while the ledger is empty. All else runs under the judge's lock.
// A hint, not a truth: the caller confirms by scanning. Bounded; what is evicted
// is counted.
//
// It also keeps marks: a finite tensor that lost its value to an absorbed Inf. A
// marked storage is known too, so that ops which read it are reported to the judge.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "watch/tensor_state.h"

namespace nanscope {

using EventId = std::uint64_t;  // counts from 1; 0 is no event

// Keeps storage numbers from being reused, and knows when a storage died.
class StorageKeeper {
 public:
  virtual ~StorageKeeper() = default;
  virtual void hold(StorageId storage) = 0;
  virtual void release(StorageId storage) = 0;
  virtual bool alive(StorageId storage) = 0;
};

class Ledger {
 public:
  explicit Ledger(StorageKeeper& keeper);

  [[nodiscard]] bool empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }
  // Might this storage hold something bad? Any thread, no lock; rarely true in error, never
  // false in error for what was put before on this thread.
  [[nodiscard]] bool knows(StorageId storage) const noexcept;

  // The events of the ranges that overlap this tensor's, oldest first.
  [[nodiscard]] std::vector<EventId> events_of(const TensorState& tensor);
  // This event wrote the tensor. A dense write covers what lay inside its range.
  void put(const TensorState& tensor, EventId event);
  // A finite dense write: whatever was known of that range is gone, marks too.
  void drop(const TensorState& tensor);

  // A scan found this tensor finite: the hint was wrong. Marks stay.
  void heal(const TensorState& tensor);

  // Nothing is known of any storage: nobody has looked for a while.
  void clear();

  // This finite tensor was computed from an Inf of that event, absorbed on the way.
  void mark(const TensorState& tensor, EventId event);
  [[nodiscard]] std::vector<EventId> marks_of(const TensorState& tensor);
  // Forgets the marks of these events everywhere.
  void unmark(const std::function<bool(EventId)>& gone);
  [[nodiscard]] bool has_marks() const noexcept { return marks_ != 0; }

  // Every event that is still in some living storage. Forgets the dead ones first.
  void for_each_event(const std::function<void(EventId)>& visit);

  [[nodiscard]] std::uint64_t evicted() const noexcept { return evicted_; }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

  static constexpr std::size_t kMostStorages = 4096;
  static constexpr std::size_t kMostRanges = 16;

 private:
  struct Entry {
    ByteRange range;
    EventId event = 0;
    bool mark = false;
  };
  struct Known {
    std::vector<Entry> entries;
    std::uint64_t age = 0;
  };

  using Storages = std::unordered_map<StorageId, Known>;

  [[nodiscard]] std::vector<EventId> look(const TensorState& tensor, bool marks);
  void add(const TensorState& tensor, Entry entry);
  template <class Doomed>
  void remove(Known& known, const Doomed& doomed);
  Storages::iterator erase(Storages::iterator entry);
  void sweep();
  void make_room();
  void count_in(StorageId storage) noexcept;
  void count_out(StorageId storage) noexcept;

  // A counting filter in front of the map: readers look at one byte. A slot that
  // is full stays full; with 4096 storages that takes 255 in one slot of 65536.
  static constexpr std::size_t kSlots = 1 << 16;
  [[nodiscard]] static std::size_t slot_of(StorageId storage) noexcept;

  StorageKeeper& keeper_;
  Storages entries_;
  std::array<std::atomic<std::uint8_t>, kSlots> filter_{};
  std::atomic<std::size_t> count_{0};
  std::uint64_t clock_ = 0;
  std::uint64_t evicted_ = 0;
  std::size_t marks_ = 0;      // entries that are marks
  std::size_t sweep_at_ = 64;  // look for dead storages when there are so many
};

}  // namespace nanscope
