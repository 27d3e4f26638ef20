// Note [Locks and forks] in locks.h.
#include <pthread.h>

#include <mutex>

#include "adapters/torch/interpose/hook.h"
#include "adapters/torch/session/session.h"
#include "adapters/torch/watch/locks.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {
namespace {

// The judge's lock, held by the thread that forks: one at a time, since it has that or the GIL.
std::unique_lock<std::mutex>& judge_held() {
  static auto& lock = *new std::unique_lock<std::mutex>;
  return lock;
}

void take_locks() {
  // A fork of somebody's C: its child is not Python's.
  if (judge_held().owns_lock()) take_every_lock();
}

}  // namespace

void fork_begins() {
  static const int registered =
      ::pthread_atfork(take_locks, give_every_lock_back, give_every_lock_back);
  (void)registered;
  if (this_thread().busy) return;
  const WithoutGil without_gil;
  auto judge = Watcher::get().judge.pause();
  judge_held() = std::move(judge);
}

void fork_ended() {
  if (judge_held().owns_lock()) judge_held().unlock();
}

bool fork_ended_in_child(const std::string& capture_path, const std::string& news,
                         std::int64_t pid) {
  if (!judge_held().owns_lock()) {
    watching = 0;
    return false;
  }
  session_forked(capture_path, news, pid);
  count_anew();
  judge_held().unlock();
  Watcher::get().judge.forked();
  return true;
}

}  // namespace nanscope::torch_adapter
