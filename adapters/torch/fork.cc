// Note [Locks and forks] in watcher.h.
#include <mutex>
#include <vector>

#include "frames.h"
#include "hook.h"
#include "nodes.h"
#include "session.h"
#include "watcher.h"

namespace nanscope::torch_adapter {
namespace {

using Lock = std::unique_lock<std::mutex>;

// By the thread that forks, under the GIL: one fork at a time.
std::vector<Lock>& held() {
  static auto& locks = *new std::vector<Lock>;
  return locks;
}

// In the order in which they are taken one inside the other.
std::vector<Lock> pause_everything() {
  std::vector<Lock> locks;
  {
    const WithoutGil without_gil;
    locks.push_back(Watcher::get().judge.pause());
  }
  locks.push_back(pause_session());
  locks.push_back(Watcher::get().world.pause());
  locks.push_back(Watcher::get().pause());
  locks.push_back(pause_frames());
  locks.push_back(pause_nodes());
  locks.push_back(pause_new_ops());
  locks.push_back(pause_disarming());
  locks.push_back(pause_threads());
  return locks;
}

}  // namespace

void fork_begins() {
  if (!this_thread().busy) held() = pause_everything();
}

void fork_ended() { held().clear(); }

bool fork_ended_in_child(const std::string& capture_path, const std::string& news,
                         std::int64_t pid) {
  if (held().empty()) {
    watching = 0;
    return false;
  }
  session_forked(capture_path, news, pid);
  count_anew();
  held().clear();
  Watcher::get().judge.forked();
  return true;
}

}  // namespace nanscope::torch_adapter
