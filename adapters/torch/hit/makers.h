// Who made the inputs of the op that failed: one look back along the autograd graph.
//
// In forward the graph behind the inputs is walked, in backward the one behind the running
// node. Nothing is recorded for this while the program is healthy; without a graph (no_grad,
// data) nothing is known.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/seams/torch_api.h"
#include "adapters/torch/hit/tensor_facts.h"

namespace nanscope::torch_adapter {

struct MakerWalk {
  // The inputs by their names in the schema; in backward the running node is asked instead.
  std::vector<std::pair<std::string, at::Tensor>> inputs;
  bool in_backward = false;
  std::vector<at::Tensor> roots = {};  // or from here: the loss of a healthy step
  double least_share = 0;  // activations below this part of their type's largest are left out
};

// The nodes behind it, nearest first, each once; `visit` says whether to go on.
void each_node_behind(const MakerWalk& walk, const std::function<bool(const NodePtr&)>& visit);
// Fills in the finding's makers, and where each was made.
void describe_makers(const MakerWalk& walk, Facts& facts);
// The same for a tensor that no watched op made: if autograd knows that it was computed (by a
// compiled region, by NumPy inside an autograd.Function), what computed it.
void describe_unwatched_maker(const at::Tensor& tensor, Facts& facts);
// The largest |value| that each op behind the inputs kept, first op of the forward first. At most
// `most`, the nearest.
[[nodiscard]] std::vector<Facts::Activation> activations_behind(const MakerWalk& walk,
                                                                std::size_t most);

}  // namespace nanscope::torch_adapter
