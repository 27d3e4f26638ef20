// Who asked for the backward that runs.
//
// Note [Threads of the engine]
// For each device the autograd engine has a thread of its own: an op there has no frame of the call
// it works for. While one backward runs, it is that one's; of several at once nobody can tell.
#pragma once

#include <atomic>
#include <cstdint>

namespace nanscope::torch_adapter {

class BackwardCalls {
 public:
  void begin(std::uint32_t stack) noexcept {
    change([&](std::uint64_t now) {
      return count_in(now) == 0 ? kOne | stack : (now & kCount) + kOne;
    });
  }
  void end() noexcept {
    change([](std::uint64_t now) { return count_in(now) <= 1 ? 0 : now - kOne; });
  }
  // The stack of the only one; 0 if there is none, or were several.
  [[nodiscard]] std::uint32_t only() const noexcept {
    return static_cast<std::uint32_t>(state_.load(std::memory_order_relaxed));
  }

  // While one lives, a backward runs.
  class Running {
   public:
    Running(BackwardCalls& calls, std::uint32_t stack) : calls_(calls) { calls_.begin(stack); }
    ~Running() { calls_.end(); }
    Running(const Running&) = delete;

   private:
    BackwardCalls& calls_;
  };

 private:
  // How many run, and the stack of the first while no other has begun.
  static constexpr std::uint64_t kOne = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kCount = ~(kOne - 1);
  static std::uint64_t count_in(std::uint64_t state) { return state >> 32; }
  template <class Change>
  void change(Change next) noexcept {
    std::uint64_t now = state_.load(std::memory_order_relaxed);
    while (!state_.compare_exchange_weak(now, next(now), std::memory_order_relaxed)) {
    }
  }

  std::atomic<std::uint64_t> state_{0};
};

}  // namespace nanscope::torch_adapter
