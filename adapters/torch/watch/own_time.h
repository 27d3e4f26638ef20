// About how long the watch itself takes, in ticks of the time-stamp counter.
//
// What stands around a kernel is measured for about one call of 64 and multiplied; moments and hits
// are measured whole, each: a hit that becomes a finding takes a million times as long as a call
// that is well, and would spoil the estimate. Belongs to one thread; the
// others may ask for the sum.
#pragma once

#include <x86intrin.h>

#include <atomic>
#include <cstdint>

namespace nanscope::torch_adapter {

class OwnTime {
 public:
  [[nodiscard]] std::uint64_t ticks() const noexcept { return ticks_.load(kRelaxed); }
  void forget() noexcept { ticks_.store(0, kRelaxed); }

  // Around what every call does.
  class Sampled {
   public:
    explicit Sampled(OwnTime& of) noexcept : of_(of) {
      if (__builtin_expect(--of.left_ == 0, 0)) begin();
    }
    ~Sampled() {
      if (__builtin_expect(began_ != 0, 0)) end();
    }
    Sampled(const Sampled&) = delete;

   private:
    void begin() noexcept {
      // An uneven gap: a step of the training may have as many calls as the gap is long.
      of_.random_ = of_.random_ * 1664525 + 1013904223;
      of_.left_ = kEvery / 2 + 1 + (of_.random_ >> 16) % (kEvery - 1);
      whole_before_ = of_.whole_;
      began_ = __rdtsc();
    }
    void end() noexcept {
      const std::uint64_t all = __rdtsc() - began_;
      const std::uint64_t measured = of_.whole_ - whole_before_;
      of_.add(all > measured ? (all - measured) * kEvery : 0);
    }
    OwnTime& of_;
    std::uint64_t began_ = 0;
    std::uint64_t whole_before_ = 0;
  };

  // Around what is rare. Inside another of its kind it counts once.
  class Whole {
   public:
    explicit Whole(OwnTime& of) noexcept : of_(of), outermost_(!of.in_whole_) {
      of.in_whole_ = true;
      began_ = __rdtsc();
    }
    ~Whole() {
      if (!outermost_) return;
      of_.in_whole_ = false;
      const std::uint64_t all = __rdtsc() - began_;
      of_.whole_ += all;
      of_.add(all);
    }
    Whole(const Whole&) = delete;

   private:
    OwnTime& of_;
    bool outermost_;
    std::uint64_t began_ = 0;
  };

 private:
  static constexpr std::uint32_t kEvery = 64;  // the mean of the gaps
  static constexpr std::memory_order kRelaxed = std::memory_order_relaxed;

  void add(std::uint64_t more) noexcept { ticks_.store(ticks() + more, kRelaxed); }

  std::uint32_t left_ = kEvery;
  std::uint32_t random_ = 1;
  std::atomic<std::uint64_t> ticks_{0};
  std::uint64_t whole_ = 0;
  bool in_whole_ = false;
};

}  // namespace nanscope::torch_adapter
