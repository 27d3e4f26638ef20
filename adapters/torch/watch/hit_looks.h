// How often more may be read at a hit than the verdict needs: what modules kept, a large result.
//
// It is due at the first two hits of an op at one place, and no more than `most` times: a program
// that makes an Inf in every step pays for it twice.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "origin/op_record.h"

namespace nanscope::torch_adapter {

// Under the judge's lock.
class HitLooks {
 public:
  explicit HitLooks(int most) : most_(most) {}

  // Counts the hit. `stack`: of the Python frames.
  [[nodiscard]] bool is_due(const OpInfo& op, std::uint32_t stack) {
    if (taken_ >= most_ || ++hits_[{&op, stack}] > kMostAtOnePlace) return false;
    ++taken_;
    return true;
  }

 private:
  static constexpr int kMostAtOnePlace = 2;

  std::map<std::pair<const OpInfo*, std::uint32_t>, int> hits_;
  int most_;
  int taken_ = 0;
};

}  // namespace nanscope::torch_adapter
