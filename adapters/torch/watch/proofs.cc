#include "adapters/torch/watch/proofs.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "adapters/torch/interpose/tensors.h"
#include "scan/statistics.h"

namespace nanscope::torch_adapter {

void Proofs::check(const Wrapper& wrapper, const at::Tensor& output, Extent proved) {
  if (proved.ceiling == kNoCeiling) return;
  const int found = ceiling_of(*output.unsafeGetTensorImpl());
  bool holds = found <= proved.ceiling;
  if (found != kNoCeiling && (!holds || proved.sign != Sign::kAny)) {
    // A scan tells powers of two and subnormals apart late.
    const Statistics seen = statistics_of(OwnedView(output).view());
    holds = std::max(-*seen.min, *seen.max) <= std::ldexp(1.0, proved.ceiling) &&
            (proved.sign != Sign::kNotNegative || *seen.min >= 0) &&
            (proved.sign != Sign::kNotPositive || *seen.max <= 0);
  }
  const std::lock_guard guard(lock_);
  if (holds) {
    ++held_;
  } else {
    broken_.push_back(wrapper.info.name + ": 2^" + std::to_string(found) + " above 2^" +
                      std::to_string(proved.ceiling) + ", sign " +
                      std::to_string(static_cast<int>(proved.sign)));
  }
}

std::pair<std::uint64_t, std::vector<std::string>> Proofs::results() const {
  const std::lock_guard guard(lock_);
  return {held_, broken_};
}

}  // namespace nanscope::torch_adapter
