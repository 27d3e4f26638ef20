#include "checkpoint/worker_threads.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace nanscope::checkpoint {
namespace {

constexpr unsigned kMostThreads = 32;
constexpr auto kBetweenLooks = std::chrono::milliseconds(100);

}  // namespace

unsigned usual_threads() {
  return std::min(std::max(1U, std::thread::hardware_concurrency()), kMostThreads);
}

void run_in_threads(unsigned threads, const std::function<void()>& work,
                    const std::function<void()>& look) {
  if (threads <= 1 && !look) return work();
  std::mutex mutex;
  std::condition_variable ended;
  unsigned running = 0;
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < threads; ++i) {
    const std::lock_guard lock(mutex);
    try {
      workers.emplace_back([&] {
        work();
        const std::lock_guard inner(mutex);
        --running;
        ended.notify_one();
      });
      ++running;
    } catch (const std::system_error&) {
      break;  // no more threads to be had
    }
  }
  if (workers.empty()) return work();
  {
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, kBetweenLooks, [&] { return running == 0; }))
      if (look) look();
  }
  for (std::thread& worker : workers) worker.join();
}

}  // namespace nanscope::checkpoint
