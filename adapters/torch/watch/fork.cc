// Note [Locks and forks] in watcher.h.
//
// Between Python's own preparations and the fork other threads may run: they wait for the
// judge without the GIL, so that its lock can be held all the while. Some of the small locks
// are waited for with the GIL held; these are taken inside fork() itself, where the GIL is not
// given up any more, and nobody who holds one waits for the GIL.
#include <pthread.h>

#include <mutex>
#include <vector>

#include "adapters/torch/interpose/hook.h"
#include "adapters/torch/program/frames.h"
#include "adapters/torch/program/nodes.h"
#include "adapters/torch/session/session.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {
namespace {

using Lock = std::unique_lock<std::mutex>;

// By the thread that forks: one at a time, since it has the judge's lock or the GIL.
struct Held {
  Lock judge;
  std::vector<Lock> small;
};
Held& held() {
  static auto& locks = *new Held;
  return locks;
}

// In the order in which they are taken one inside the other.
void take_small_locks() {
  if (!held().judge.owns_lock()) return;  // a fork of somebody's C: its child is not Python's
  std::vector<Lock>& locks = held().small;
  locks.push_back(pause_session());
  locks.push_back(Watcher::get().world.pause());
  locks.push_back(Watcher::get().pause());
  locks.push_back(pause_frames());
  locks.push_back(pause_nodes());
  locks.push_back(pause_new_ops());
  locks.push_back(pause_disarming());
  locks.push_back(pause_threads());
}

void give_small_locks_back() { held().small.clear(); }

}  // namespace

void fork_begins() {
  static const int registered =
      ::pthread_atfork(take_small_locks, give_small_locks_back, give_small_locks_back);
  (void)registered;
  if (this_thread().busy) return;
  const WithoutGil without_gil;
  Lock judge = Watcher::get().judge.pause();
  held().judge = std::move(judge);
}

void fork_ended() {
  if (held().judge.owns_lock()) held().judge.unlock();
}

bool fork_ended_in_child(const std::string& capture_path, const std::string& news,
                         std::int64_t pid) {
  if (!held().judge.owns_lock()) {
    watching = 0;
    return false;
  }
  session_forked(capture_path, news, pid);
  count_anew();
  held().judge.unlock();
  Watcher::get().judge.forked();
  return true;
}

}  // namespace nanscope::torch_adapter
