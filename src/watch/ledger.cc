#include "watch/ledger.h"

#include <algorithm>

namespace nanscope {

Ledger::Ledger(StorageKeeper& keeper) : keeper_(keeper) {}

bool Ledger::knows(StorageId storage) const noexcept {
  return !empty() && filter_[slot_of(storage)].load(std::memory_order_relaxed) != 0;
}

std::vector<EventId> Ledger::events_of(const TensorState& tensor) { return look(tensor, false); }

std::vector<EventId> Ledger::marks_of(const TensorState& tensor) {
  return has_marks() ? look(tensor, true) : std::vector<EventId>{};
}

std::vector<EventId> Ledger::look(const TensorState& tensor, bool marks) {
  const auto found = entries_.find(tensor.storage);
  if (found == entries_.end()) return {};
  if (!keeper_.alive(tensor.storage)) {
    erase(found);
    return {};
  }
  found->second.age = ++clock_;
  std::vector<EventId> events;
  for (const Entry& entry : found->second.entries) {
    if (entry.mark == marks && entry.range.overlaps(tensor.range)) events.push_back(entry.event);
  }
  std::sort(events.begin(), events.end());
  events.erase(std::unique(events.begin(), events.end()), events.end());
  return events;
}

void Ledger::put(const TensorState& tensor, EventId event) {
  add(tensor, {tensor.range, event, false});
}

void Ledger::mark(const TensorState& tensor, EventId event) {
  add(tensor, {tensor.range, event, true});
}

void Ledger::add(const TensorState& tensor, Entry entry) {
  auto found = entries_.find(tensor.storage);
  if (found != entries_.end() && !keeper_.alive(tensor.storage)) {
    erase(found);
    found = entries_.end();
  }
  if (found == entries_.end()) {
    make_room();
    keeper_.hold(tensor.storage);
    found = entries_.emplace(tensor.storage, Known{}).first;
    count_in(tensor.storage);
  }
  Known& known = found->second;
  known.age = ++clock_;
  const bool overwrites = tensor.dense && !entry.mark;
  remove(known, [&](const Entry& other) {
    const bool same = other.event == entry.event && other.mark == entry.mark;
    return (overwrites || same) && entry.range.covers(other.range);
  });
  known.entries.push_back(entry);
  marks_ += entry.mark ? 1 : 0;
  if (known.entries.size() <= kMostRanges) return;
  // The oldest mark goes first: losing one loses less than losing a bad range.
  auto victim = std::find_if(known.entries.begin(), known.entries.end(),
                             [](const Entry& other) { return other.mark; });
  if (victim == known.entries.end()) victim = known.entries.begin();
  marks_ -= victim->mark ? 1 : 0;
  known.entries.erase(victim);
  ++evicted_;
}

void Ledger::drop(const TensorState& tensor) {
  if (!tensor.dense) return;
  const auto found = entries_.find(tensor.storage);
  if (found == entries_.end()) return;
  remove(found->second, [&](const Entry& entry) { return tensor.range.covers(entry.range); });
  if (found->second.entries.empty()) erase(found);
}

void Ledger::heal(const TensorState& tensor) {
  const auto found = entries_.find(tensor.storage);
  if (!tensor.dense || found == entries_.end()) return;
  remove(found->second,
         [&](const Entry& entry) { return !entry.mark && tensor.range.covers(entry.range); });
  if (found->second.entries.empty()) erase(found);
}

void Ledger::unmark(const std::function<bool(EventId)>& gone) {
  for (auto at = entries_.begin(); at != entries_.end() && marks_ != 0;) {
    remove(at->second, [&](const Entry& entry) { return entry.mark && gone(entry.event); });
    at = at->second.entries.empty() ? erase(at) : std::next(at);
  }
}

void Ledger::for_each_event(const std::function<void(EventId)>& visit) {
  sweep();
  for (const auto& [storage, known] : entries_) {
    for (const Entry& entry : known.entries) visit(entry.event);
  }
}

template <class Doomed>
void Ledger::remove(Known& known, const Doomed& doomed) {
  std::erase_if(known.entries, [&](const Entry& entry) {
    if (!doomed(entry)) return false;
    marks_ -= entry.mark ? 1 : 0;
    return true;
  });
}

void Ledger::clear() {
  for (auto at = entries_.begin(); at != entries_.end();) {
    remove(at->second, [](const Entry&) { return true; });
    at = erase(at);
  }
}

Ledger::Storages::iterator Ledger::erase(Storages::iterator entry) {
  const StorageId storage = entry->first;
  remove(entry->second, [](const Entry&) { return true; });
  const auto next = entries_.erase(entry);
  count_out(storage);
  keeper_.release(storage);
  return next;
}

void Ledger::sweep() {
  for (auto at = entries_.begin(); at != entries_.end();) {
    at = keeper_.alive(at->first) ? std::next(at) : erase(at);
  }
  sweep_at_ = std::max<std::size_t>(64, 2 * entries_.size());
}

// Room for one more storage: the dead go first, then a sixteenth of the living,
// the marked ones before the bad ones and the oldest before the newest.
void Ledger::make_room() {
  if (entries_.size() >= std::min(sweep_at_, kMostStorages)) sweep();
  if (entries_.size() < kMostStorages) return;
  struct Rank {
    bool bad;
    std::uint64_t age;
    StorageId storage;
    bool operator<(const Rank& other) const { return bad != other.bad ? !bad : age < other.age; }
  };
  std::vector<Rank> ranks;
  ranks.reserve(entries_.size());
  for (const auto& [storage, known] : entries_) {
    const bool bad = std::any_of(known.entries.begin(), known.entries.end(),
                                 [](const Entry& entry) { return !entry.mark; });
    ranks.push_back({bad, known.age, storage});
  }
  const auto end = ranks.begin() + static_cast<std::ptrdiff_t>(kMostStorages / 16);
  std::nth_element(ranks.begin(), end, ranks.end());
  for (auto at = ranks.begin(); at != end; ++at) {
    const auto found = entries_.find(at->storage);
    evicted_ += found->second.entries.size();
    erase(found);
  }
}

std::size_t Ledger::slot_of(StorageId storage) noexcept {
  return (storage.value * 0x9E3779B97F4A7C15ULL) >> 48;  // the top 16 bits: kSlots of them
}

void Ledger::count_in(StorageId storage) noexcept {
  std::atomic<std::uint8_t>& slot = filter_[slot_of(storage)];
  const std::uint8_t now = slot.load(std::memory_order_relaxed);
  if (now != 255) slot.store(static_cast<std::uint8_t>(now + 1), std::memory_order_relaxed);
  count_.store(entries_.size(), std::memory_order_relaxed);
}

void Ledger::count_out(StorageId storage) noexcept {
  std::atomic<std::uint8_t>& slot = filter_[slot_of(storage)];
  const std::uint8_t now = slot.load(std::memory_order_relaxed);
  if (now != 255) slot.store(static_cast<std::uint8_t>(now - 1), std::memory_order_relaxed);
  count_.store(entries_.size(), std::memory_order_relaxed);
}

}  // namespace nanscope
