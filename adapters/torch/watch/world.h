// The living program as the judge asks for it: storages and leaves held weakly, so that
// their addresses are not reused and their death is seen, and nothing is kept alive.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "adapters/torch/watch/locks.h"
#include "adapters/torch/watch/owners.h"
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
  std::optional<Receipt> receipt_of(const TensorState& state) override;

  // What the world asks of those who know more of tensors than it does; given once, at the start.
  struct Answers {
    TensorState (*state)(const at::Tensor& gradient) = nullptr;
    std::shared_ptr<const EventFacts> (*facts)(const TensorState& state) = nullptr;
    std::optional<Receipt> (*receipt)(const TensorState& state) = nullptr;
  };
  void ask(const Answers& answers) { answers_ = answers; }

  // A leaf and its gradient; both are held weakly from now on. The calling thread uses it, as in
  // all that is told of tensors here, and owns it from now on: Note [Leaves of other threads].
  [[nodiscard]] LeafGrad describe(const at::Tensor& leaf);
  // The calling thread uses these leaves.
  void used_here(const std::vector<at::Tensor>& leaves);
  void in_optimizer(const at::Tensor& leaf);

  // Parameters and buffers by storage, so that `.data` counts; of a subclass, by what it wraps.
  void register_target(const at::Tensor& tensor, Target target);
  [[nodiscard]] Target target_of(const at::Tensor& tensor);
  [[nodiscard]] bool is_registered(const at::Tensor& tensor);

  // Lets go of a tensor; true if it was in an optimizer.
  bool forget(const at::Tensor& tensor);

  // A tensor goes by its storage until its name can be asked of the living modules.
  [[nodiscard]] static TargetName named_by_storage(const at::Tensor& tensor);

  // Forgets gradients that died. Only while the judge awaits none: their addresses are then free
  // to be used again.
  void tidy();

  // Every leaf seen that is alive, but for those of other threads.
  [[nodiscard]] std::vector<at::Tensor> live_leaves();
  // Whether there are such: then some leaves of this thread may be missing above, too.
  [[nodiscard]] bool has_leaves_elsewhere();
  // Every parameter and buffer that is alive, but for those of other threads.
  struct LiveTarget {
    at::Tensor tensor;
    Target target;
    std::uint64_t whereabouts;  // when it was last looked at
    Owner owner;
  };
  [[nodiscard]] std::vector<LiveTarget> live_targets();
  // The end: what belongs to threads that wait belongs to this one. How many leaves and targets
  // stay out of reach, since their threads are at work. With the GIL held.
  [[nodiscard]] std::size_t take_from_waiting();

 private:
  struct TargetStorage {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    Target target;
  };
  struct Leaf {
    WeakTensor tensor;
    std::uint64_t whereabouts = 0;  // when it was last looked at
    bool in_optimizer = false;
    Owner owner;
  };
  struct Registered {
    WeakTensor tensor;
    std::uint64_t whereabouts = 0;
    Target target = Target::kNone;
    Owner owner;
  };
  struct Living {
    at::Tensor tensor;  // undefined if it died
    Owner owner;
  };
  [[nodiscard]] Living living(TensorId leaf);
  [[nodiscard]] LeafGrad describe_for(const Owner& owner, const at::Tensor& leaf,
                                      const at::Tensor& grad);
  void register_for(const Owner& owner, const at::Tensor& tensor, Target target);
  [[nodiscard]] bool is_known(TensorId leaf);
  [[nodiscard]] std::vector<LiveTarget> all_alive();
  void move_to(TensorId tensor, std::uint64_t whereabouts);
  using HeldTensors = std::unordered_map<TensorId, WeakTensor>;

  Lock lock_{LockRank::kWorld};
  std::unordered_map<StorageId, c10::weak_intrusive_ptr<c10::StorageImpl>> storages_;
  std::unordered_map<StorageId, TargetStorage> target_storages_;
  std::unordered_map<TensorId, Leaf> leaves_;
  std::unordered_map<TensorId, Registered> targets_;
  HeldTensors gradients_;
  std::size_t tidy_at_ = 1024;  // gradients held
  Answers answers_;
};

}  // namespace nanscope::torch_adapter
