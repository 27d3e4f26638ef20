// Warnings before the fact: what is finite now and may not stay so.
#pragma once

#include <ATen/core/Tensor.h>

#include <deque>
#include <vector>

#include "adapters/torch/interpose/arguments.h"
#include "records/step.h"

namespace nanscope::torch_adapter {

// A number added as a guard that half precision rounds to 0. Warned of once per line.
void watch_guard(const Wrapper& wrapper, const Call& call);
// The gradient norm multiplied by thousands within a few steps, each of which grew.
void watch_growth(const std::deque<StepRecord>& last);
// How near the values that the forward kept are to the end of their type. Looked at in steps
// 0, 1, 2, 4, 8, ... and every 512th.
void watch_headroom(const std::vector<at::Tensor>& roots);
// Weights of two dimensions and more, when the program has ended.
void watch_weights();

}  // namespace nanscope::torch_adapter
