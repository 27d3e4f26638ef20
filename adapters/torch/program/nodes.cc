#include "adapters/torch/program/nodes.h"

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <pthread.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "adapters/torch/watch/locks.h"
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
  static void remember_new_nodes();
  [[nodiscard]] StackId site_of(const Node& node) {
    const std::lock_guard guard(lock_);
    const auto found = rings_.find(node.thread_id());
    return found == rings_.end() ? 0 : found->second->get(node.sequence_nr());
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

  Lock lock_{LockRank::kNodes};
  std::unordered_map<std::uint64_t, std::shared_ptr<SiteRing>> rings_;
};

SiteRings& SiteRings::get() {
  static auto& all = *new SiteRings;
  return all;
}

namespace {

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

void SiteRings::remember_new_nodes() {
  const std::uint64_t next = at::sequence_number::peek();
  ThreadWatch& thread = this_thread();
  const std::uint64_t seen = thread.last_sequence_;
  if (__builtin_expect(next == seen, 1)) return;
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

void remember_new_nodes() { SiteRings::remember_new_nodes(); }

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
