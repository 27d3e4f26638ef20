#include "adapters/torch/watch/proofs.h"

#include <algorithm>
#include <cmath>

#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/watch/locks.h"
#include "scan/statistics.h"

namespace nanscope::torch_adapter {
namespace {

Lock proofs_lock{LockRank::kProofs};

}  // namespace

Proofs proofs;

void check_proof(const Hook& hook, const at::Tensor& output, Extent proved) {
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
  const std::lock_guard guard(proofs_lock);
  if (holds) {
    ++proofs.held;
  } else {
    proofs.broken.push_back(hook.info.name + ": 2^" + std::to_string(found) + " above 2^" +
                            std::to_string(proved.ceiling) + ", sign " +
                            std::to_string(static_cast<int>(proved.sign)));
  }
}

}  // namespace nanscope::torch_adapter
