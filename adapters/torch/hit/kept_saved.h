// What autograd's nodes saved, kept for ops of a backward that are judged later.
//
// Note [What nodes saved that have run]
// A node gives back what it saved when it has run, and a finding shows it. So what a node saved is
// kept beside each op of it that is put off, like an operand. While such ops are judged, whoever
// asks what a node saved is answered from there: the nodes behind the failing one may have run too.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "adapters/torch/device/kept_call.h"
#include "adapters/torch/hit/saved.h"

namespace nanscope::torch_adapter {

class KeptSaved {
 public:
  explicit KeptSaved(const NodePtr& node);
  // It holds a tensor of the program: its ops must not be put off.
  [[nodiscard]] bool holds_any() const;
  [[nodiscard]] const torch::autograd::Node* node() const noexcept { return address_; }
  [[nodiscard]] NodePtr living_node() const { return node_.lock(); }
  [[nodiscard]] Saved revived() const;
  template <class Visit>
  void each_piece(Visit visit) const {
    for (const auto& [name, tensor] : tensors_)
      if (tensor.piece() != nullptr) visit(tensor.piece());
  }

 private:
  WeakNode node_;
  const torch::autograd::Node* address_;
  std::vector<std::pair<std::string, KeptTensor>> tensors_;
  std::vector<std::pair<std::string, double>> numbers_;
};

// Of the node that runs on this thread, the same for all its ops that wait together.
[[nodiscard]] std::shared_ptr<const KeptSaved> saved_of_running_node(const NodePtr& node);

}  // namespace nanscope::torch_adapter
