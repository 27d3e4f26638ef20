#include "adapters/torch/program/nodes.h"

#include <ATen/record_function.h>
#include <c10/util/SmallVector.h>
#include <pthread.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "adapters/torch/watch/locks.h"
#include "adapters/torch/watch/then.h"
#include "adapters/torch/watch/threads.h"

namespace nanscope::torch_adapter {

// Sites by sequence number, one ring per thread that makes nodes. Sequence numbers
// are per thread; a node remembers both.
//
// One word an entry, so that the thread of a backward never sees the number of one node with the
// stack of another: the stack, and how often the ring had gone round.
struct SiteRing {
  static constexpr std::uint64_t kEntries = 1 << 17;
  using Entry = std::atomic<std::uint64_t>;
  static_assert(sizeof(Entry) == sizeof(std::uint64_t));
  Entry* entries = static_cast<Entry*>(calloc(kEntries, sizeof(Entry)));

  void put(std::uint64_t sequence, StackId stack) {
    entries[sequence % kEntries].store(round_of(sequence) << 32 | stack, std::memory_order_relaxed);
  }
  [[nodiscard]] StackId get(std::uint64_t sequence) const {
    const std::uint64_t entry = entries[sequence % kEntries].load(std::memory_order_relaxed);
    return entry >> 32 == round_of(sequence) ? static_cast<StackId>(entry) : 0;
  }
  static std::uint64_t round_of(std::uint64_t sequence) {
    return static_cast<std::uint32_t>(sequence / kEntries + 1);
  }
  ~SiteRing() { free(entries); }
};

using torch::autograd::Node;

class SiteRings {
 public:
  static SiteRings& get();

  // Keeps the site of each node that the calling thread made since it was here last.
  static void remember_new_nodes(std::uint64_t next);
  [[nodiscard]] StackId site_of(const Node& node) {
    const std::lock_guard guard(lock_);
    return site_in(ring_of(node.thread_id()), node);
  }
  // Those that are known.
  template <class Nodes>
  [[nodiscard]] std::vector<StackId> sites_of(const Nodes& nodes) {
    std::vector<StackId> sites;
    const SiteRing* ring = nullptr;
    std::uint64_t thread = 0;
    const std::lock_guard guard(lock_);
    for (const Node* node : nodes) {
      if (ring == nullptr || node->thread_id() != thread) {
        thread = node->thread_id();
        ring = ring_of(thread);
      }
      if (const StackId site = site_in(ring, *node)) sites.push_back(site);
    }
    return sites;
  }

 private:
  void add(std::uint64_t thread, std::shared_ptr<SiteRing> ring) {
    constexpr std::size_t kMostRings = 64;
    const std::lock_guard guard(lock_);
    if (rings_.size() >= kMostRings) {  // threads that ended
      std::erase_if(rings_, [](const auto& entry) { return entry.second.use_count() == 1; });
    }
    rings_[thread] = std::move(ring);
  }

  [[nodiscard]] const SiteRing* ring_of(std::uint64_t thread) const {
    const auto found = rings_.find(thread);
    return found == rings_.end() ? nullptr : found->second.get();
  }
  static StackId site_in(const SiteRing* ring, const Node& node) {
    return ring == nullptr ? 0 : ring->get(node.sequence_nr());
  }

  Lock lock_{LockRank::kNodes};
  std::unordered_map<std::uint64_t, std::shared_ptr<SiteRing>> rings_;
};

SiteRings& SiteRings::get() {
  static auto& all = *new SiteRings;
  return all;
}

namespace {

using Nodes = c10::SmallVector<Node*, 128>;

// By open addressing, and without an allocation for the few nodes that are asked for at each step.
class SeenNodes {
 public:
  SeenNodes() : slots_(kFirst, nullptr) {}
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // False if it was there.
  bool insert(Node* node) {
    Node*& slot = slot_of(node);
    if (slot == node) return false;
    slot = node;
    if (++size_ * 2 > slots_.size()) grow();
    return true;
  }

 private:
  static constexpr std::size_t kFirst = 256;  // a power of two

  Node*& slot_of(Node* node) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (reinterpret_cast<std::uintptr_t>(node) * 0x9E3779B97F4A7C15ull >> 32) & mask;
    while (slots_[at] != nullptr && slots_[at] != node) at = (at + 1) & mask;
    return slots_[at];
  }
  void grow() {
    const std::vector<Node*> before(slots_.begin(), slots_.end());
    slots_.assign(2 * before.size(), nullptr);
    for (Node* node : before) {
      if (node != nullptr) slot_of(node) = node;
    }
  }

  c10::SmallVector<Node*, kFirst> slots_;
  std::size_t size_ = 0;
};

struct Graph {
  // A leaf's edge owns its node where nothing else does.
  c10::SmallVector<torch::autograd::Edge, 4> roots;
  Nodes nodes;
};

// Breadth first from the roots' nodes.
Graph graph_behind(const std::vector<at::Tensor>& roots, std::size_t limit) {
  Graph graph;
  Nodes& nodes = graph.nodes;
  SeenNodes seen;
  const auto add = [&](Node* node) {
    if (node != nullptr && seen.size() < limit && seen.insert(node)) nodes.push_back(node);
  };
  for (const at::Tensor& root : roots) {
    if (!root.defined()) continue;
    graph.roots.push_back(torch::autograd::impl::gradient_edge(root));
    add(graph.roots.back().function.get());
  }
  for (std::size_t i = 0; i < nodes.size() && seen.size() < limit; ++i) {
    for (const torch::autograd::Edge& edge : nodes[i]->next_edges()) add(edge.function.get());
  }
  return graph;
}

}  // namespace

void SiteRings::remember_new_nodes(std::uint64_t next) {
  ThreadWatch& thread = this_thread();
  const std::uint64_t seen = thread.last_sequence_;
  const std::uint64_t from = seen < next && next - seen <= 64 ? seen : next - 1;
  if (next != 0) {
    if (thread.site_ring_ == nullptr) {
      thread.site_ring_ = std::make_shared<SiteRing>();
      get().add(at::RecordFunction::currentThreadId(), thread.site_ring_);
    }
    const StackId stack = current_stack();
    // View nodes made since the last kernel take the same line.
    for (std::uint64_t sequence = from; sequence < next; ++sequence)
      thread.site_ring_->put(sequence, stack);
  }
  thread.last_sequence_ = next;
}

void remember_new_nodes(std::uint64_t next) { SiteRings::remember_new_nodes(next); }

StackId site_of(const Node& node) { return SiteRings::get().site_of(node); }

// By the name that torch gives it.
bool is_engine_thread() noexcept {
  thread_local const bool is_of_engine = [] {
    char name[16] = {};
    return ::pthread_getname_np(::pthread_self(), name, sizeof name) == 0 &&
           std::string_view(name).starts_with("pt_autograd");
  }();
  return is_of_engine;
}

NodePtr running_node() {
  const Then* const then = this_thread().then();
  if (then == nullptr) return torch::autograd::get_current_node();
  return then->node ? then->node->lock() : NodePtr();
}

NodeInfo current_node() {
  NodeInfo info;
  if (const Then* then = this_thread().then()) {
    info.running = then->node.has_value();
    info.name = then->place.node;
    info.forward = then->forward;
    return info;
  }
  const auto node = torch::autograd::get_current_node();
  if (!node) return info;
  info.running = true;
  info.name = node->name();
  info.forward = site_of(*node);
  return info;
}

std::vector<at::Tensor> leaves_of(const std::vector<at::Tensor>& roots, std::size_t limit) {
  std::vector<at::Tensor> leaves;
  const Graph graph = graph_behind(roots, limit);
  for (Node* node : graph.nodes) {
    auto* leaf = dynamic_cast<torch::autograd::AccumulateGrad*>(node);
    if (leaf != nullptr && leaf->variable.defined()) leaves.push_back(leaf->variable);
  }
  return leaves;
}

std::vector<StackId> sites_on_the_way(const std::vector<at::Tensor>& roots, std::size_t limit) {
  return SiteRings::get().sites_of(graph_behind(roots, limit).nodes);
}

}  // namespace nanscope::torch_adapter
