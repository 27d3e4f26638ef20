#include "adapters/torch/binding/python_forks.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "adapters/python/native.h"
#include "adapters/torch/session/fork.h"
#include "adapters/torch/watch/locks.h"

namespace nb = nanobind;
using nanscope::python::Native;

namespace nanscope::torch_adapter {
namespace {

Lock& lock_called(const std::string& name) {
  const auto found = std::find(kLockNames.begin(), kLockNames.end(), name);
  Lock* lock = found == kLockNames.end()
                   ? nullptr
                   : lock_of(static_cast<LockRank>(found - kLockNames.begin()));
  if (lock == nullptr) throw nb::key_error(name.c_str());
  return *lock;
}

std::vector<std::string> names_of_locks() {
  std::vector<std::string> names;
  for (std::size_t rank = 0; rank < kLockNames.size(); ++rank) {
    if (lock_of(static_cast<LockRank>(rank)) != nullptr) names.emplace_back(kLockNames[rank]);
  }
  return names;
}

// Another thread holds the lock during the call, until it is over or somebody waits for the lock.
nb::object call_while_held(const std::string& name, nb::handle function) {
  Lock& lock = lock_called(name);
  std::atomic<bool> held{false};
  std::atomic<bool> over{false};
  std::thread holder([&] {
    lock.lock();
    held = true;
    while (!over && !lock.is_waited_for()) std::this_thread::yield();
    lock.unlock();
  });
  while (!held) std::this_thread::yield();
  nb::object result = nb::borrow(function)();
  over = true;
  holder.join();
  return result;
}

bool can_take(const std::string& name) {
  Lock& lock = lock_called(name);
  if (!lock.try_lock()) return false;
  lock.unlock();
  return true;
}

}  // namespace

void add_forks(nb::module_& module) {
  module.def("fork_begins", &fork_begins);
  module.def("fork_ended", &fork_ended);
  module.def("fork_ended_in_child",
             [](const Native& capture, const Native& news, std::int64_t pid) {
               return fork_ended_in_child(capture.bytes, news.bytes, pid);
             });
  // For tests.
  module.def("names_of_locks", &names_of_locks);
  module.def("call_while_held", &call_while_held);
  module.def("can_take_lock", &can_take);
}

}  // namespace nanscope::torch_adapter
