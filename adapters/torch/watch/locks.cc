#include "adapters/torch/watch/locks.h"

#include <cstdlib>

namespace nanscope::torch_adapter {
namespace {

struct Entry {
  std::atomic<Lock*> lock{nullptr};
  bool taken = false;  // by the thread that forks
};
constinit std::array<Entry, kLockNames.size()> registry;

}  // namespace

Lock::Lock(LockRank rank) {
  Lock* nobody = nullptr;
  std::atomic<Lock*>& entry = registry[static_cast<std::size_t>(rank)].lock;
  if (!entry.compare_exchange_strong(nobody, this)) std::abort();  // two locks of one rank
}

Lock* lock_of(LockRank rank) noexcept { return registry[static_cast<std::size_t>(rank)].lock; }

void take_every_lock() {
  for (Entry& entry : registry) {
    Lock* lock = entry.lock;
    if (lock == nullptr) continue;
    lock->lock();
    entry.taken = true;
  }
}

void give_every_lock_back() noexcept {
  for (auto entry = registry.rbegin(); entry != registry.rend(); ++entry) {
    if (!entry->taken) continue;
    entry->taken = false;
    entry->lock.load()->unlock();
  }
}

}  // namespace nanscope::torch_adapter
