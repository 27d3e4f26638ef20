// For tests: every proof of rule M is checked by a scan, however small the result.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "adapters/torch/interpose/wrapper.h"
#include "adapters/torch/watch/locks.h"
#include "scan/ceiling.h"

namespace nanscope::torch_adapter {

class Proofs {
 public:
  // Asked on every op.
  [[nodiscard]] bool are_checked() const noexcept {
    return checked_.load(std::memory_order_relaxed);
  }
  void check_all(bool on) noexcept { checked_.store(on, std::memory_order_relaxed); }

  void check(const Wrapper& wrapper, const at::Tensor& output, Extent proved);
  // How many held, and those that did not.
  [[nodiscard]] std::pair<std::uint64_t, std::vector<std::string>> results() const;

 private:
  std::atomic<bool> checked_{false};
  mutable Lock lock_{LockRank::kProofs};
  std::uint64_t held_ = 0;
  std::vector<std::string> broken_;
};

}  // namespace nanscope::torch_adapter
