// The living program as the judge asks for it: storages and leaves held weakly, so that
// their addresses are not reused and their death is seen, and nothing is kept alive.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <unordered_map>

#include "adapters/torch/watch/locks.h"
#include "origin/world.h"

namespace nanscope::torch_adapter {

using WeakTensor = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

class TorchWorld final : public World {
 public:
  void hold(StorageId storage) override;
  void release(StorageId storage) override;
  bool alive(StorageId storage) override;
  std::optional<LeafGrad> leaf(TensorId leaf) override;
  std::optional<LeafGrad> peek(TensorId leaf) override;
  std::vector<Replaced> replaced_values() override;
  std::shared_ptr<const EventFacts> facts_of(const TensorState& state) override;

  // What the world asks of those who know more of tensors than it does; given once, at the start.
  struct Answers {
    TensorState (*state)(const at::Tensor& gradient) = nullptr;
    std::shared_ptr<const EventFacts> (*facts)(const TensorState& state) = nullptr;
  };
  void ask(const Answers& answers) { answers_ = answers; }

  // A leaf and its gradient; both are held weakly from now on.
  [[nodiscard]] LeafGrad describe(const at::Tensor& leaf);
  void in_optimizer(const at::Tensor& leaf);

  // Parameters and buffers by storage, so that `.data` counts; of a subclass, by what it wraps.
  void register_target(const at::Tensor& tensor, Target target);
  [[nodiscard]] Target target_of(const at::Tensor& tensor);

  // Lets go of a tensor; true if it was in an optimizer.
  bool forget(const at::Tensor& tensor);

  // A tensor goes by its storage until its name can be asked of the living modules.
  [[nodiscard]] static TargetName named_by_storage(const at::Tensor& tensor);

  // Forgets gradients that died. Only while the judge awaits none: their addresses are then free
  // to be used again.
  void tidy();

  // Every leaf seen that is alive.
  [[nodiscard]] std::vector<at::Tensor> live_leaves();
  // Every buffer of a module that is alive.
  [[nodiscard]] std::vector<at::Tensor> live_buffers();

 private:
  struct Registered {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    Target target;
  };
  struct Leaf {
    WeakTensor tensor;
    bool in_optimizer = false;
    StorageId storage = {};  // when it was last looked at
  };
  struct Buffer {
    WeakTensor tensor;
    StorageId storage = {};  // when it was last looked at
  };
  [[nodiscard]] at::Tensor living_leaf(TensorId leaf);  // undefined if it died
  template <class Map>
  [[nodiscard]] std::vector<at::Tensor> living_in(const Map& map);
  template <class Map>
  [[nodiscard]] std::vector<at::Tensor> replaced_in(Map& map);
  static Leaf leaf_of(const at::Tensor& tensor, bool in_optimizer = false);
  using HeldTensors = std::unordered_map<TensorId, WeakTensor>;

  Lock lock_{LockRank::kWorld};
  std::unordered_map<StorageId, c10::weak_intrusive_ptr<c10::StorageImpl>> storages_;
  std::unordered_map<StorageId, Registered> targets_;
  std::unordered_map<TensorId, Leaf> leaves_;
  std::unordered_map<TensorId, Buffer> buffers_;
  HeldTensors gradients_;
  std::size_t tidy_at_ = 1024;  // gradients held
  Answers answers_;
};

}  // namespace nanscope::torch_adapter
