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
  // Whether they are checked; read on every op.
  std::atomic<bool> checked{false};

  void check(const Wrapper& wrapper, const at::Tensor& output, Extent proved);
  // How many held, and those that did not.
  [[nodiscard]] std::pair<std::uint64_t, std::vector<std::string>> results() const;

 private:
  mutable Lock lock_{LockRank::kProofs};
  std::uint64_t held_ = 0;
  std::vector<std::string> broken_;
};

}  // namespace nanscope::torch_adapter
