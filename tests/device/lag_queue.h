// The stream of the test device: kernels that were launched and have not run.
//
// Lazy: a kernel runs only when somebody waits, or when too many are waiting: the latest moment
// that is allowed, and the same in every run. Threaded: a thread of the device's own runs them, as
// soon as it can. At once: when they are launched.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace lag {

enum class Mode { kAtOnce, kLazy, kThreaded };

// The device computes by the CPU's kernels. Whoever watches those is told, by this function, that
// what the calling thread runs is the device's own: it gives back what was said before.
using OwnKernels = bool (*)(bool);
inline OwnKernels& own_kernels() {
  static OwnKernels function = nullptr;
  return function;
}

// While one lives, the calling thread is the device.
class InKernel {
 public:
  InKernel() : before_(own_kernels() != nullptr && own_kernels()(true)) { ++depth(); }
  ~InKernel() {
    --depth();
    if (own_kernels() != nullptr) own_kernels()(before_);
  }
  InKernel(const InKernel&) = delete;
  static bool is_open() { return depth() > 0; }

 private:
  static int& depth() {
    thread_local int open = 0;
    return open;
  }
  bool before_;
  at::AutoDispatchBelowADInplaceOrView below_autograd_;
  c10::impl::ExcludeDispatchKeyGuard no_autocast_{c10::autocast_dispatch_keyset};
  at::NoGradGuard no_grad_;
};

class Queue {
 public:
  using Task = std::function<void()>;

  static Queue& get() {
    static auto& queue = *new Queue;
    return queue;
  }

  void put(Task task) {
    {
      const std::lock_guard guard(lock_);
      tasks_.push_back(std::move(task));
      ++put_;
    }
    changed_.notify_all();
    if (InKernel::is_open()) return;
    if (mode_ == Mode::kAtOnce) {
      run_until(put_);
    } else if (mode_ == Mode::kLazy && put_ - done_ > kMostWaiting) {
      run_until(done_ + kMostWaiting / 2);
    }
  }

  // Until all that was put so far has run. Like a real one, it tells here what went wrong there,
  // and from then on always.
  void wait() {
    std::uint64_t goal = 0;
    {
      const std::lock_guard guard(lock_);
      goal = put_;
      if (done_ < goal) ++waits_;
    }
    if (mode_ == Mode::kThreaded) {
      std::unique_lock guard(lock_);
      changed_.wait(guard, [&] { return done_ >= goal; });
    } else {
      run_until(goal);
    }
    const std::lock_guard guard(lock_);
    TORCH_CHECK(failure_.empty(), failure_);
  }

  void work_as(Mode mode) {
    wait();
    mode_ = mode;
    if (mode == Mode::kThreaded && !std::exchange(has_worker_, true))
      std::thread([this] { work(); }).detach();
  }

  // How often somebody had to wait for the device.
  [[nodiscard]] std::uint64_t waits() const { return waits_; }
  [[nodiscard]] std::uint64_t launched() const { return put_; }
  [[nodiscard]] std::uint64_t waiting() const { return put_ - done_; }

 private:
  static constexpr std::uint64_t kMostWaiting = 1024;

  bool run_one() {
    Task task;
    {
      const std::lock_guard guard(lock_);
      if (tasks_.empty()) return false;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    try {
      const InKernel in_kernel;
      task();
      task = nullptr;
    } catch (const c10::Error& error) {
      fail(error.what_without_backtrace());
    } catch (const std::exception& error) {
      fail(error.what());
    }
    {
      const std::lock_guard guard(lock_);
      ++done_;
    }
    changed_.notify_all();
    return true;
  }

  void fail(const std::string& words) {
    const std::lock_guard guard(lock_);
    if (failure_.empty()) failure_ = words;
  }

  void run_until(std::uint64_t goal) {
    const std::lock_guard one_at_a_time(running_);
    while (done_ < goal && run_one()) {
    }
  }

  [[noreturn]] void work() {
    for (;;) {
      {
        std::unique_lock guard(lock_);
        changed_.wait(guard, [&] { return !tasks_.empty() && mode_ == Mode::kThreaded; });
      }
      const std::lock_guard one_at_a_time(running_);
      run_one();
    }
  }

  std::mutex lock_;     // of all below
  std::mutex running_;  // held while a kernel runs; taken before the other
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::atomic<std::uint64_t> put_{0};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> waits_{0};
  std::atomic<Mode> mode_{Mode::kLazy};
  std::string failure_;
  bool has_worker_ = false;
};

}  // namespace lag
