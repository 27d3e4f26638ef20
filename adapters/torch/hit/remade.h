// The operand that broke the op, made again in float64 from what the source computes it of.
//
// Python reads the source and evaluates it on copies (telling/remade.py). Asked before the judge is
// told, on the thread of the op, while its frame stands: what an expression is computed of is
// alive there, with or without a graph.
#pragma once

#include <optional>

#include "adapters/torch/interpose/arguments.h"
#include "adapters/torch/watch/before.h"
#include "records/experiment.h"

struct _object;

namespace nanscope::torch_adapter {

// The function of remade.py. With the GIL held.
void configure_remaking(_object* make_again);

// For a pointwise op with a domain or a pole. `output`: its bad result.
[[nodiscard]] std::optional<Experiment> make_operand_again(const Wrapper& wrapper, const Call& call,
                                                           const Before* before,
                                                           const at::Tensor& output);

}  // namespace nanscope::torch_adapter
