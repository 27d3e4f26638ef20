#include "adapters/torch/program/nodes.h"

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <deque>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "adapters/torch/watch/locks.h"

namespace nanscope::torch_adapter {
namespace {

using torch::autograd::Node;

// Sites by sequence number, one ring per thread that makes nodes. Sequence numbers
// are per thread; a node remembers both.
struct SiteRing {
  static constexpr std::uint64_t kEntries = 1 << 17;
  struct Entry {
    std::uint64_t sequence;
    StackId stack;
  };
  Entry* entries = static_cast<Entry*>(calloc(kEntries, sizeof(Entry)));

  void put(std::uint64_t sequence, StackId stack) {
    entries[sequence % kEntries] = {sequence + 1, stack};
  }
  [[nodiscard]] StackId get(std::uint64_t sequence) const {
    const Entry& entry = entries[sequence % kEntries];
    return entry.sequence == sequence + 1 ? entry.stack : 0;
  }
  ~SiteRing() { free(entries); }
};

Lock rings_lock{LockRank::kNodes};
std::unordered_map<std::uint64_t, std::shared_ptr<SiteRing>>& rings() {
  static auto& all = *new std::unordered_map<std::uint64_t, std::shared_ptr<SiteRing>>;
  return all;
}
constexpr std::size_t kMostRings = 64;

struct ThreadSites {
  std::uint64_t seen = ~std::uint64_t{0};  // the last sequence number whose site is known
  std::shared_ptr<SiteRing> ring;
};
thread_local ThreadSites sites;

void make_ring() {
  sites.ring = std::make_shared<SiteRing>();
  const std::lock_guard guard(rings_lock);
  if (rings().size() >= kMostRings) {  // threads that ended
    std::erase_if(rings(), [](const auto& entry) { return entry.second.use_count() == 1; });
  }
  rings()[at::RecordFunction::currentThreadId()] = sites.ring;
}

// Breadth first from the roots' nodes.
template <class Visit>
void walk(const std::vector<at::Tensor>& roots, std::size_t limit, Visit visit) {
  std::deque<Node*> queue;
  std::unordered_set<Node*> seen;
  auto push = [&](Node* node) {
    if (node != nullptr && seen.size() < limit && seen.insert(node).second) queue.push_back(node);
  };
  for (const at::Tensor& root : roots) {
    if (!root.defined()) continue;
    push(torch::autograd::impl::gradient_edge(root).function.get());
  }
  while (!queue.empty()) {
    Node* node = queue.front();
    queue.pop_front();
    visit(*node);
    for (const torch::autograd::Edge& edge : node->next_edges()) push(edge.function.get());
  }
}

}  // namespace

void remember_new_nodes() {
  const std::uint64_t next = at::sequence_number::peek();
  if (__builtin_expect(next == sites.seen, 1)) return;
  const std::uint64_t from = sites.seen < next && next - sites.seen <= 64 ? sites.seen : next - 1;
  if (next != 0) {
    if (sites.ring == nullptr) make_ring();
    const StackId stack = current_stack();
    // View nodes made since the last kernel take the same line.
    for (std::uint64_t sequence = from; sequence < next; ++sequence)
      sites.ring->put(sequence, stack);
  }
  sites.seen = next;
}

StackId site_of(const Node& node) {
  const std::lock_guard guard(rings_lock);
  const auto found = rings().find(node.thread_id());
  return found == rings().end() ? 0 : found->second->get(node.sequence_nr());
}

NodeInfo current_node() {
  NodeInfo info;
  const auto node = torch::autograd::get_current_node();
  if (!node) return info;
  info.running = true;
  info.name = node->name();
  info.forward = site_of(*node);
  return info;
}

std::vector<at::Tensor> leaves_of(const std::vector<at::Tensor>& roots, std::size_t limit) {
  std::vector<at::Tensor> leaves;
  walk(roots, limit, [&](Node& node) {
    auto* leaf = dynamic_cast<torch::autograd::AccumulateGrad*>(&node);
    if (leaf != nullptr && leaf->variable.defined()) leaves.push_back(leaf->variable);
  });
  return leaves;
}

std::vector<StackId> sites_on_the_way(const std::vector<at::Tensor>& roots, std::size_t limit) {
  std::vector<StackId> stacks;
  walk(roots, limit, [&](Node& node) {
    if (const StackId stack = site_of(node)) stacks.push_back(stack);
  });
  return stacks;
}

}  // namespace nanscope::torch_adapter
