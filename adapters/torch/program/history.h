// The last training steps in six numbers each: what tells a divergence from a bad batch.
//
// Once a step, before the optimizer acts. Of each gradient and parameter only a fixed sample
// is read (at most 256 elements in 16 stretches), so that the cost stays far below that of
// the step whatever the size of the model. With the GIL held, like all moments.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "records/step.h"

namespace nanscope::torch_adapter {

void loss_seen(const std::vector<at::Tensor>& roots);
void loss_scale_seen(double scale) noexcept;
void weights_known(const std::vector<at::Tensor>& parameters);  // an optimizer was made
void step_seen(const std::vector<at::Tensor>& parameters, std::optional<double> learning_rate);

// The tensor is about to be exchanged for another: whose optimizer it was begins anew.
void let_go_of(const at::Tensor& tensor);

// Another stretch of the program is watched from here on.
void forget_history();

// The first few and the last steps of the optimizer that stepped last, and the one under way.
[[nodiscard]] std::vector<StepRecord> history_so_far();

// The largest |gradient| of each parameter of that optimizer, in their order; those without one
// are left out.
[[nodiscard]] std::vector<double> gradients_now();

// A weight that an optimizer was given, as it stands now against its beginning.
struct Weight {
  at::Tensor tensor;
  std::int64_t steps = 0;
  bool changed = true;
};
[[nodiscard]] std::vector<Weight> trained_weights();

}  // namespace nanscope::torch_adapter
