#include "adapters/torch/session/fork.h"

#include "adapters/torch/interpose/trampoline.h"
#include "adapters/torch/session/session.h"
#include "adapters/torch/watch/gil.h"
#include "adapters/torch/watch/locks.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {

void fork_begins() {
  if (this_thread().is_busy()) return;
  Watcher::get().window().settle();
  const WithoutGil without_gil;
  begin_fork(Watcher::get().judge().pause());
}

void fork_ended() { end_fork(); }

bool fork_ended_in_child(const std::string& capture_path, const std::string& news,
                         std::int64_t pid) {
  if (!is_forking()) {
    watching = 0;
    return false;
  }
  session_forked(capture_path, news, pid);
  Threads::get().begin_anew();
  Watcher::get().stopping().begin_anew();
  end_fork();
  Watcher::get().judge().forked();
  return true;
}

}  // namespace nanscope::torch_adapter
