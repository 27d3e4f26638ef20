// Autograd nodes: which one is running, and where in the forward it was made.
#pragma once

#include <ATen/SequenceNumber.h>
#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/function.h>

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/seams/torch_api.h"
#include "adapters/torch/program/frames.h"
#include "adapters/torch/watch/threads.h"

namespace nanscope::torch_adapter {

// Called after every op: if a node was made since the last one, its site is here.
void remember_new_nodes(std::uint64_t next);
inline void remember_new_nodes() {
  const std::uint64_t next = at::sequence_number::peek();
  if (__builtin_expect(this_thread().made_nodes(next), 0)) remember_new_nodes(next);
}

struct NodeInfo {
  bool running = false;  // a backward node is being evaluated on this thread
  std::string name;      // SqrtBackward0
  StackId forward = 0;   // where the node was made; 0 if not known
};
[[nodiscard]] NodeInfo current_node();
// Null outside a backward, and where it died since: Note [Judged as it was then].
[[nodiscard]] NodePtr running_node();
// The calling thread is one that the engine has for a device: Note [Threads of the engine].
[[nodiscard]] bool is_engine_thread() noexcept;
// Where in the forward a node was made; 0 if not known.
[[nodiscard]] StackId site_of(const torch::autograd::Node& node);

// The leaves a backward from these roots can reach. Walks at most `limit` nodes.
[[nodiscard]] std::vector<at::Tensor> leaves_of(const std::vector<at::Tensor>& roots,
                                                std::size_t limit);
// The forward sites of the nearest nodes, the root's own first.
[[nodiscard]] std::vector<StackId> sites_on_the_way(const std::vector<at::Tensor>& roots,
                                                    std::size_t limit);

}  // namespace nanscope::torch_adapter
