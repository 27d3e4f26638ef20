// Where our own time goes, in ticks of the time-stamp counter: for bench/, off otherwise.
//
// While the level is 0 a Timed costs one load and a branch that is never taken. Level 1 times
// what stands around a call and a moment as a whole; level 2 its parts as well.
#pragma once

#include <x86intrin.h>

#include <array>
#include <cstdint>

namespace nanscope::torch_adapter {

enum class Part : std::uint8_t {
  kBegin,    // before the kernel: is it ours to judge, what is kept of its operands
  kReturn,   // after it: everything that follows
  kMoment,   // backward begins and ends, an optimizer steps
  kNodes,    // of kReturn: sites of new autograd nodes
  kOutputs,  // of kReturn: the scan and the marks
  kInputs,   // of kReturn: look-ups, and scans of what came from outside
  kHit,      // of kReturn: something was not finite
  kAside,    // of kReturn: guards of half precision
  kHistory,  // of kMoment: the sample of gradients and parameters
};
inline constexpr std::size_t kParts = 9;

// Counts for all threads together, and may be used by one at a time.
class Ticks {
 public:
  using ByPart = std::array<std::uint64_t, kParts>;

  // Counts from nothing, at level 0, 1 or 2.
  void begin(int level) noexcept { *this = Ticks(level); }
  [[nodiscard]] bool counts(int level) const noexcept { return level_ >= level; }
  void add(Part part, std::uint64_t ticks) noexcept {
    spent_[static_cast<std::size_t>(part)] += ticks;
    ++times_[static_cast<std::size_t>(part)];
  }
  [[nodiscard]] const ByPart& spent() const noexcept { return spent_; }
  [[nodiscard]] const ByPart& times() const noexcept { return times_; }

  Ticks() = default;

 private:
  explicit Ticks(int level) noexcept : level_(level) {}

  int level_ = 0;
  ByPart spent_{};
  ByPart times_{};
};
extern Ticks ticks;

template <int kLevel = 1>
class Timed {
 public:
  explicit Timed(Part part) noexcept : part_(part) {
    if (__builtin_expect(ticks.counts(kLevel), 0)) begin_ = __rdtsc();
  }
  ~Timed() {
    if (__builtin_expect(begin_ != 0, 0)) ticks.add(part_, __rdtsc() - begin_);
  }
  Timed(const Timed&) = delete;

 private:
  Part part_;
  std::uint64_t begin_ = 0;
};

}  // namespace nanscope::torch_adapter
