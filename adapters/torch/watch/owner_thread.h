// A thread of the program as Python knows it; it ends with its state in Python.
#pragma once

#include <atomic>

struct _ts;

namespace nanscope::torch_adapter {

// Ends before others can have joined the thread.
class OwnerThread {
 public:
  explicit OwnerThread(_ts* state) : state_(state) {}
  [[nodiscard]] bool runs() const noexcept { return runs_.load(std::memory_order_acquire); }
  void end() noexcept { runs_.store(false, std::memory_order_release); }
  // With the GIL held, while it runs.
  [[nodiscard]] _ts* state() const noexcept { return state_; }

 private:
  std::atomic<bool> runs_{true};
  _ts* state_;
};

}  // namespace nanscope::torch_adapter
