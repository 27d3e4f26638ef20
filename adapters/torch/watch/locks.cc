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

  // One thread at a time: it has the judge's lock.
  void begin_fork(std::unique_lock<std::mutex> judge) {
    judge_ = std::move(judge);
    forker_ = ::pthread_self();
  }
  [[nodiscard]] bool is_forking() const noexcept { return forker_ == ::pthread_self(); }
  void end_fork() {
    forker_ = kNobody;
    const std::unique_lock<std::mutex> given_back = std::move(judge_);
  }

  // Another thread may fork in the meantime, of itself or inside our own work: it takes nothing and
  // gives back nothing.
  void take() {
    if (!is_forking()) return;
    for (Entry& entry : entries_) {
      Lock* lock = entry.lock;
      if (lock == nullptr) continue;
      lock->lock();
      entry.taken = true;
    }
  }
  void give_back() noexcept {
    if (!is_forking()) return;
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
      if (std::exchange(entry->taken, false)) entry->lock.load()->unlock();
    }
  }

 private:
  struct Entry {
    std::atomic<Lock*> lock{nullptr};
    bool taken = false;  // by the thread that forks
  };
  static constexpr pthread_t kNobody = 0;
  std::array<Entry, kLockNames.size()> entries_;
  std::unique_lock<std::mutex> judge_;
  std::atomic<pthread_t> forker_{kNobody};
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
  all_locks().begin_fork(std::move(judge));
}

bool is_forking() noexcept { return all_locks().is_forking(); }

void end_fork() {
  if (is_forking()) all_locks().end_fork();
}

}  // namespace nanscope::torch_adapter
