#include "adapters/torch/hit/makers.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <unordered_set>

#include "adapters/seams/torch_api.h"
#include "adapters/torch/hit/saved.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/ops/op_table.h"
#include "adapters/torch/ops/operands.h"
#include "adapters/torch/program/nodes.h"

namespace nanscope::torch_adapter {
namespace {

using torch::autograd::Node;

constexpr std::size_t kMostMakers = 8;
constexpr std::size_t kMostNodesWalked = 32;
constexpr int kFurthest = 2;  // links back
constexpr std::size_t kMostNodesDeep = 512;
constexpr std::int64_t kLargestLookedAt = 4 << 20;  // elements of a kept activation

// LogBackward0 -> Log
std::string forward_name(const Node& node) {
  const std::string name = node.name();
  return name.substr(0, name.find("Backward"));
}

struct Visit {
  NodePtr node;
  int links_back = 0;
  bool aligned = true;  // the node's output has the elements of the failing op's output
  std::string makes;
};

std::vector<Visit> beginnings(const MakerWalk& walk) {
  std::vector<Visit> first;
  if (walk.in_backward) {
    const NodePtr node = running_node();
    if (!node) return first;
    std::size_t place = 0;
    for (const torch::autograd::Edge& edge : node->next_edges()) {
      const char* names[] = {"self", "other"};
      if (edge.function) first.push_back({edge.function, 0, true, place < 2 ? names[place] : ""});
      ++place;
    }
    return first;
  }
  for (const at::Tensor& root : walk.roots) {
    Node* node = torch::autograd::impl::grad_fn_unsafe(root);
    if (node != nullptr) first.push_back({shared(node), 0, false, ""});
  }
  for (const auto& [argument, tensor] : walk.inputs) {
    Node* node = torch::autograd::impl::grad_fn_unsafe(tensor);
    if (node != nullptr) first.push_back({shared(node), 0, true, argument});
  }
  return first;
}

// By what is known, else by a quick look.
bool is_below(const at::Tensor& tensor, double limit) {
  return std::ldexp(1.0, known_extent(tensor).ceiling) < limit ||
         std::ldexp(1.0, ceiling_of(*tensor.unsafeGetTensorImpl())) < limit;
}

std::optional<double> largest_in(const at::Tensor& tensor, double least_share) {
  if (sight_of(*tensor.unsafeGetTensorImpl()) != Sight::kWatched ||
      tensor.numel() > kLargestLookedAt)
    return std::nullopt;
  if (least_share > 0 && is_below(tensor, least_share * largest_of(dtype_of(tensor.scalar_type()))))
    return std::nullopt;
  const Statistics seen = statistics_of(OwnedView(tensor).view());
  if (!seen.min || !seen.max) return std::nullopt;
  return std::max(std::fabs(*seen.min), std::fabs(*seen.max));
}

void describe_maker(const Visit& visit, const std::string& forward, Facts& facts) {
  const Saved saved = saved_by(visit.node);
  const bool is_elementwise = has(flags_of_node(forward), OpFlags::kElementwise);
  Maker maker;
  maker.node = visit.node->name();
  maker.links_back = visit.links_back;
  maker.makes = visit.makes;
  Facts::MadeAt made_at{site_of(*visit.node), {}};
  for (const auto& [name, tensor] : saved.tensors) {
    if (tensor.numel() > kLargestLookedAt) continue;
    const bool aligned = visit.aligned && (name == "result" || is_elementwise);
    maker.tensors.push_back(describe_saved(name, tensor, facts.finding, aligned));
    made_at.arguments.push_back({name, -1, true});
  }
  for (const auto& [name, value] : saved.numbers)
    maker.scalars.push_back({name, format_number(value)});
  facts.finding.makers.push_back(std::move(maker));
  facts.made_at.push_back(std::move(made_at));
}

}  // namespace

void describe_makers(const MakerWalk& walk, Facts& facts) {
  std::deque<Visit> queue;
  std::unordered_set<Node*> seen;
  for (Visit& visit : beginnings(walk)) queue.push_back(std::move(visit));
  while (!queue.empty() && facts.finding.makers.size() < kMostMakers &&
         seen.size() < kMostNodesWalked) {
    const Visit visit = std::move(queue.front());
    queue.pop_front();
    if (!seen.insert(visit.node.get()).second) continue;
    const std::string forward = forward_name(*visit.node);
    const OpFlags flags = flags_of_node(forward);
    const bool copies = has(flags, OpFlags::kCopies);
    const bool passes = has(flags, OpFlags::kOnlyMoves) || copies;
    if (!passes) describe_maker(visit, forward, facts);
    const int links_back = visit.links_back + (passes ? 0 : 1);
    if (links_back > kFurthest) continue;
    const bool aligned = visit.aligned && (copies || has(flags, OpFlags::kElementwise));
    for (const torch::autograd::Edge& edge : visit.node->next_edges()) {
      if (edge.function)
        queue.push_back({edge.function, links_back, aligned, passes ? visit.makes : ""});
    }
  }
}

void describe_unwatched_maker(const at::Tensor& tensor, Facts& facts) {
  Node* const last = torch::autograd::impl::grad_fn_unsafe(tensor);
  if (last == nullptr) return;
  NodePtr node = shared(last);
  // Of data, or of what was computed.
  while (node && has(flags_of_node(forward_name(*node)), OpFlags::kOnlyMoves)) {
    const auto& edges = node->next_edges();
    node = edges.empty() ? NodePtr() : edges[0].function;
  }
  if (!node || node->num_inputs() == 0 || node->next_edges().empty()) return;  // a leaf
  describe_maker({node, 0, false, "self"}, forward_name(*node), facts);
  facts.made_at.back().stack = 0;  // nobody saw it being made
}

void each_node_behind(const MakerWalk& walk, const std::function<bool(const NodePtr&)>& visit) {
  std::unordered_set<Node*> seen;
  std::deque<NodePtr> queue;
  for (Visit& first : beginnings(walk)) queue.push_back(std::move(first.node));
  while (!queue.empty()) {
    const NodePtr node = std::move(queue.front());
    queue.pop_front();
    if (!seen.insert(node.get()).second) continue;
    if (!visit(node)) return;
    for (const torch::autograd::Edge& edge : node->next_edges())
      if (edge.function) queue.push_back(edge.function);
  }
}

std::vector<Facts::Activation> activations_behind(const MakerWalk& walk, std::size_t most) {
  std::vector<Facts::Activation> found;
  std::optional<double> last;
  std::size_t seen = 0;
  each_node_behind(walk, [&](const NodePtr& node) {
    for (const auto& [name, tensor] : saved_by(node).tensors) {
      if (!is_kept_activation(name)) continue;
      if (tensor.requires_grad() && tensor.is_leaf()) continue;
      const std::optional<double> largest = largest_in(tensor, walk.least_share);
      if (largest && largest != last)
        found.push_back({site_of(*node), node->name(), dtype_of(tensor.scalar_type()), *largest,
                         name != "result"});
      last = largest;
      break;
    }
    return ++seen < kMostNodesDeep && found.size() < most;
  });
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace nanscope::torch_adapter
