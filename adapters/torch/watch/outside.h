// What goes on beside torch in this process: how often NumPy has made something non-finite, how
// many batches data loaders have fetched.
//
// Counted by Python as it happens; a value that comes in remembers the counts, so that only what
// was there before can have brought it.
#pragma once

#include <atomic>
#include <cstdint>

namespace nanscope::torch_adapter {

class Outside {
 public:
  void numpy_births(std::uint64_t count) noexcept { births_.store(count); }
  [[nodiscard]] std::uint64_t numpy_births() const noexcept { return births_.load(); }
  void batches(std::uint64_t count) noexcept { batches_.store(count); }
  [[nodiscard]] std::uint64_t batches() const noexcept { return batches_.load(); }

 private:
  std::atomic<std::uint64_t> births_{0};
  std::atomic<std::uint64_t> batches_{0};
};

}  // namespace nanscope::torch_adapter
