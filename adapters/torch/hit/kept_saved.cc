#include "adapters/torch/hit/kept_saved.h"

#include <algorithm>

#include "adapters/torch/watch/threads.h"

namespace nanscope::torch_adapter {

// Held by those that wait with it: where they are done with, it is gone.
class RunningNode {
 public:
  static std::weak_ptr<const KeptSaved>& kept() {
    auto& mine = this_thread().running_node_;
    if (mine == nullptr) mine = {new RunningNode, [](RunningNode* node) { delete node; }};
    return mine->kept_;
  }

 private:
  std::weak_ptr<const KeptSaved> kept_;
};

KeptSaved::KeptSaved(const NodePtr& node) : node_(node), address_(node.get()) {
  Saved saved = saved_by(node);
  numbers_ = std::move(saved.numbers);
  for (const auto& [name, tensor] : saved.tensors) tensors_.emplace_back(name, KeptTensor(tensor));
}

bool KeptSaved::holds_any() const {
  return std::any_of(tensors_.begin(), tensors_.end(),
                     [](const auto& named) { return named.second.is_held(); });
}

Saved KeptSaved::revived() const {
  Saved saved;
  saved.numbers = numbers_;
  for (const auto& [name, tensor] : tensors_) saved.tensors.emplace_back(name, tensor.revived());
  return saved;
}

std::shared_ptr<const KeptSaved> saved_of_running_node(const NodePtr& node) {
  std::weak_ptr<const KeptSaved>& kept = RunningNode::kept();
  if (auto known = kept.lock(); known != nullptr && known->living_node() == node) return known;
  auto fresh = std::make_shared<const KeptSaved>(node);
  kept = fresh;
  return fresh;
}

}  // namespace nanscope::torch_adapter
