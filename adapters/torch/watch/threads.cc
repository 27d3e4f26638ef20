#include "adapters/torch/watch/threads.h"

#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <string_view>

namespace nanscope::torch_adapter {
namespace {

void add(Counters& to, const Counters& from) {
  to.ops += from.ops;
  to.bytes += from.bytes;
  to.own_ticks += from.own_ticks;
  for (std::size_t i = 0; i < std::size(to.unseen); ++i) to.unseen[i] += from.unseen[i];
}

// From the name that torch gives those of gloo, before the first op.
bool is_named_by_backend() noexcept {
  char name[16] = {};
  return ::pthread_getname_np(::pthread_self(), name, sizeof name) == 0 &&
         std::string_view(name).starts_with("pt_gloo");
}

}  // namespace

__thread ThreadWatch* current_thread = nullptr;

void ThreadWatch::forget_counts() noexcept {
  ops_.clear();
  bytes_.clear();
  own_time_.forget();
  for (Counter& counter : unseen_) counter.clear();
}

Counters ThreadWatch::counters() const noexcept {
  Counters now{ops_.value(), bytes_.value(), own_time_.ticks()};
  for (std::size_t i = 0; i < std::size(unseen_); ++i) now.unseen[i] = unseen_[i].value();
  return now;
}

Threads& Threads::get() noexcept {
  static auto& threads = *new Threads;
  return threads;
}

ThreadWatch& begin_thread() { return Threads::get().begin(); }

// Not the destructor of a thread_local: ops that run in others of these would find it gone.
Threads::Threads() {
  pthread_key_create(&at_end_, [](void* thread) { get().end(static_cast<ThreadWatch*>(thread)); });
}

ThreadWatch& Threads::begin() {
  auto* thread = new ThreadWatch;
  thread->is_of_backend_ = is_named_by_backend();
  pthread_setspecific(at_end_, thread);
  current_thread = thread;
  const std::lock_guard guard(lock_);
  threads_.push_back(thread);
  return *thread;
}

void Threads::end(ThreadWatch* thread) {
  current_thread = nullptr;
  {
    const std::lock_guard guard(lock_);
    add(of_ended_, thread->counters());
    std::erase(threads_, thread);
  }
  delete thread;
}

Counters Threads::counters() const {
  const std::lock_guard guard(lock_);
  Counters sum = of_ended_;
  for (const ThreadWatch* thread : threads_) add(sum, thread->counters());
  return sum;
}

void Threads::begin_anew() {
  threads_ = {&this_thread()};
  of_ended_ = {};
  this_thread().forget_counts();
}

}  // namespace nanscope::torch_adapter
