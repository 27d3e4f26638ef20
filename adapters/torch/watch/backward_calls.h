// Who asked for the backward that runs.
//
// Note [Threads of the engine]
// For each device the autograd engine has a thread of its own: an op there has no frame of the call
// it works for, and is in no block of `allow` there. While one backward runs, it is that one's; of
// several at once nobody can tell.
#pragma once

#include <atomic>
#include <cstdint>

namespace nanscope::torch_adapter {

class BackwardCalls {
 public:
  // `allowed_by`: the block of `allow` it was called in, or 0. One whose number is too large to
  // keep allows nothing there.
  void begin(std::uint32_t stack, std::uint32_t allowed_by = 0) noexcept {
    const std::uint64_t block = allowed_by <= kMostBlocks ? allowed_by : 0;
    change([&](std::uint64_t now) {
      return count_in(now) == 0 ? kOne | block << 32 | stack : (now & kCount) + kOne;
    });
  }
  void end() noexcept {
    change([](std::uint64_t now) { return count_in(now) <= 1 ? 0 : now - kOne; });
  }
  // The stack of the only one; 0 if there is none, or were several.
  [[nodiscard]] std::uint32_t only() const noexcept {
    return static_cast<std::uint32_t>(state_.load(std::memory_order_relaxed));
  }
  // The block of `allow` of the only one; 0: of none.
  [[nodiscard]] std::uint32_t allowed_by() const noexcept {
    return state_.load(std::memory_order_relaxed) >> 32 & kMostBlocks;
  }

  // While one lives, a backward runs.
  class Running {
   public:
    Running(BackwardCalls& calls, std::uint32_t stack, std::uint32_t allowed_by = 0)
        : calls_(calls) {
      calls_.begin(stack, allowed_by);
    }
    ~Running() { calls_.end(); }
    Running(const Running&) = delete;

   private:
    BackwardCalls& calls_;
  };

 private:
  // How many run; block and stack of the first while no other has begun.
  static constexpr std::uint64_t kOne = std::uint64_t{1} << 48;
  static constexpr std::uint64_t kCount = ~(kOne - 1);
  static constexpr std::uint64_t kMostBlocks = 0xffff;
  static std::uint64_t count_in(std::uint64_t state) { return state >> 48; }
  template <class Change>
  void change(Change next) noexcept {
    std::uint64_t now = state_.load(std::memory_order_relaxed);
    while (!state_.compare_exchange_weak(now, next(now), std::memory_order_relaxed)) {
    }
  }

  std::atomic<std::uint64_t> state_{0};
};

}  // namespace nanscope::torch_adapter
