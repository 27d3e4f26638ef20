// Steps that nobody watches: what history and the judge are told of them, and how they are ended.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace nanscope::torch_adapter {

// A step of this optimizer; its numbers are taken only for the first few.
void step_counted(const std::vector<at::Tensor>& parameters,
                  const std::function<std::optional<double>()>& learning_rate);
// Steps went by unseen: the next change of a weight is not that of one step.
void forget_samples();

// Raises this exception, as a stop.
[[noreturn]] void raise_stop(void* exception);
// Stops the program when the steps that were asked for are done.
void stop_after_steps(std::int64_t done);

}  // namespace nanscope::torch_adapter
