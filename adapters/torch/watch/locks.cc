#include "adapters/torch/watch/locks.h"

#include <pthread.h>

#include <cstdlib>
#include <utility>

namespace nanscope::torch_adapter {
namespace {

class AllLocks {
 public:
  void add(Lock& lock, LockRank rank) {
    Lock* nobody = nullptr;
    std::atomic<Lock*>& place = entries_[static_cast<std::size_t>(rank)].lock;
    if (!place.compare_exchange_strong(nobody, &lock)) std::abort();  // two locks of one rank
  }
  [[nodiscard]] Lock* find(LockRank rank) const noexcept {
    return entries_[static_cast<std::size_t>(rank)].lock;
  }
  // Held by the thread that forks: one at a time.
  std::unique_lock<std::mutex>& judge() noexcept { return judge_; }

  void take() {
    if (!judge_.owns_lock()) return;
    for (Entry& entry : entries_) {
      Lock* lock = entry.lock;
      if (lock == nullptr) continue;
      lock->lock();
      entry.taken = true;
    }
  }
  void give_back() noexcept {
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
      if (std::exchange(entry->taken, false)) entry->lock.load()->unlock();
    }
  }

 private:
  struct Entry {
    std::atomic<Lock*> lock{nullptr};
    bool taken = false;  // by the thread that forks
  };
  std::array<Entry, kLockNames.size()> entries_;
  std::unique_lock<std::mutex> judge_;
};

AllLocks& all_locks() {
  static auto& all = *new AllLocks;
  return all;
}

}  // namespace

Lock::Lock(LockRank rank) { all_locks().add(*this, rank); }

Lock* lock_of(LockRank rank) noexcept { return all_locks().find(rank); }

void begin_fork(std::unique_lock<std::mutex> judge) {
  static const int registered = ::pthread_atfork([] { all_locks().take(); },       // before
                                                 [] { all_locks().give_back(); },  // in the parent
                                                 [] { all_locks().give_back(); });
  (void)registered;
  all_locks().judge() = std::move(judge);
}

bool is_forking() noexcept { return all_locks().judge().owns_lock(); }

void end_fork() {
  if (is_forking()) all_locks().judge().unlock();
}

}  // namespace nanscope::torch_adapter
