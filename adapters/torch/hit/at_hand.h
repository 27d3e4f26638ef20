// Bad tensors that the judge is about to be shown, at hand for the facts of their events.
//
// The judge knows tensors by number; when it makes an event of one that no op made, the facts are
// taken from the tensor itself, which this thread keeps until the judge is done.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "origin/event_facts.h"
#include "watch/tensor_state.h"

namespace nanscope::torch_adapter {

// The state of a tensor that the judge is about to be shown. A bad one that no op made is kept at
// hand.
[[nodiscard]] TensorState look_at(const at::Tensor& tensor);
void keep_at_hand(const at::Tensor& tensor, const TensorState& state);

// Lets go of the tensors at hand when the judge is done, with the GIL held: one may be the last.
class LetGoAfterwards {
 public:
  LetGoAfterwards() = default;
  ~LetGoAfterwards();
  LetGoAfterwards(const LetGoAfterwards&) = delete;
};

// Null where the tensor is not at hand.
[[nodiscard]] std::shared_ptr<const EventFacts> facts_at_hand(const TensorState& state);

}  // namespace nanscope::torch_adapter
