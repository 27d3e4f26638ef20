#include "adapters/torch/watch/world.h"

#include <mutex>

#include "adapters/torch/interpose/tensors.h"

namespace nanscope::torch_adapter {
namespace {

constexpr std::size_t kMostHeld = 1 << 16;

c10::weak_intrusive_ptr<c10::StorageImpl> weakly(StorageId storage) {
  auto* impl = reinterpret_cast<c10::StorageImpl*>(storage.value);
  return c10::weak_intrusive_ptr<c10::StorageImpl>(
      c10::intrusive_ptr<c10::StorageImpl>::unsafe_reclaim_from_nonowning(impl));
}

template <class Map, class Expired>
void keep_small(Map& map, Expired expired) {
  if (map.size() >= kMostHeld) std::erase_if(map, expired);
}

}  // namespace

std::shared_ptr<const EventFacts> TorchWorld::facts_of(const TensorState& state) {
  return answers_.facts(state);
}

bool TorchWorld::forget(const at::Tensor& tensor) {
  const std::lock_guard guard(lock_);
  gradients_.erase(tensor_id(tensor));
  buffers_.erase(tensor_id(tensor));
  const auto found = leaves_.find(tensor_id(tensor));
  if (found == leaves_.end()) return false;
  const bool in_optimizer = found->second.in_optimizer;
  leaves_.erase(found);
  return in_optimizer;
}

TargetName TorchWorld::named_by_storage(const at::Tensor& tensor) {
  return {.storage = storage_id(*tensor.unsafeGetTensorImpl())};
}

void TorchWorld::hold(StorageId storage) {
  if (storage.value == 0) return;
  const std::lock_guard guard(lock_);
  storages_.try_emplace(storage, weakly(storage));
}

void TorchWorld::release(StorageId storage) {
  const std::lock_guard guard(lock_);
  storages_.erase(storage);
}

bool TorchWorld::alive(StorageId storage) {
  const std::lock_guard guard(lock_);
  const auto found = storages_.find(storage);
  return found != storages_.end() && !found->second.expired();
}

LeafGrad TorchWorld::describe(const at::Tensor& leaf) {
  LeafGrad described;
  described.leaf = tensor_id(leaf);
  described.name = named_by_storage(leaf);
  const at::Tensor& grad = leaf.grad();
  // Before the lock: of a subclass Python is asked.
  if (grad.defined()) described.state = answers_.state(grad);
  const std::lock_guard guard(lock_);
  keep_small(leaves_, [](const auto& entry) { return entry.second.tensor.expired(); });
  const auto [entry, added] = leaves_.try_emplace(described.leaf, leaf_of(leaf));
  if (!added && entry->second.tensor.expired()) entry->second = leaf_of(leaf);
  described.in_optimizer = entry->second.in_optimizer;
  if (grad.defined()) {
    described.grad = tensor_id(grad);
    described.version = grad.unsafeGetTensorImpl()->is_inference() ? 0 : grad._version();
    keep_small(gradients_, [](const auto& held) { return held.second.expired(); });
    gradients_.insert_or_assign(described.grad, WeakTensor(grad.getIntrusivePtr()));
  }
  return described;
}

void TorchWorld::tidy() {
  const std::lock_guard guard(lock_);
  if (gradients_.size() < tidy_at_) return;
  std::erase_if(gradients_, [](const auto& held) { return held.second.expired(); });
  tidy_at_ = std::max<std::size_t>(1024, 2 * gradients_.size());
}

void TorchWorld::in_optimizer(const at::Tensor& leaf) {
  const std::lock_guard guard(lock_);
  leaves_.insert_or_assign(tensor_id(leaf), leaf_of(leaf, true));
}

TorchWorld::Leaf TorchWorld::leaf_of(const at::Tensor& tensor, bool in_optimizer) {
  return {WeakTensor(tensor.getIntrusivePtr()), in_optimizer,
          storage_id(*tensor.unsafeGetTensorImpl())};
}

namespace {

// Those that lie in another storage than when they were last looked at. Let go of after the lock.
template <class Map>
void find_replaced(Map& map, std::vector<at::Tensor>& alive, std::vector<at::Tensor>& replaced) {
  for (auto& [id, entry] : map) {
    auto strong = entry.tensor.lock();
    if (!strong) continue;
    const at::Tensor& tensor = alive.emplace_back(std::move(strong));
    const StorageId now = storage_id(*tensor.unsafeGetTensorImpl());
    if (now == entry.storage) continue;
    entry.storage = now;
    replaced.push_back(tensor);
  }
}

template <class Map>
std::vector<at::Tensor> living_in(const Map& map) {
  std::vector<at::Tensor> alive;
  for (const auto& [id, entry] : map) {
    if (auto strong = entry.tensor.lock()) alive.emplace_back(std::move(strong));
  }
  return alive;
}

}  // namespace

std::vector<World::Replaced> TorchWorld::replaced_values() {
  std::vector<at::Tensor> alive;
  std::vector<at::Tensor> leaves;
  std::vector<at::Tensor> buffers;
  {
    const std::lock_guard guard(lock_);
    find_replaced(leaves_, alive, leaves);
    find_replaced(buffers_, alive, buffers);
  }
  std::vector<Replaced> replaced;
  const auto add = [&](const at::Tensor& tensor, Target target) {
    register_target(tensor, target);
    replaced.push_back({state_of(tensor), named_by_storage(tensor), target});
  };
  for (const at::Tensor& leaf : leaves) add(leaf, Target::kParameter);
  for (const at::Tensor& buffer : buffers) add(buffer, Target::kBuffer);
  return replaced;
}

at::Tensor TorchWorld::living(TensorId leaf) {
  const std::lock_guard guard(lock_);
  const auto found = leaves_.find(leaf);
  if (found == leaves_.end()) return {};
  auto strong = found->second.tensor.lock();
  return strong ? at::Tensor(std::move(strong)) : at::Tensor();
}

std::optional<LeafGrad> TorchWorld::peek(TensorId leaf) {
  const at::Tensor tensor = living(leaf);
  if (!tensor.defined()) return std::nullopt;
  LeafGrad described;
  described.leaf = leaf;
  if (const at::Tensor& grad = tensor.grad(); grad.defined()) {
    described.grad = tensor_id(grad);
    described.version = grad.unsafeGetTensorImpl()->is_inference() ? 0 : grad._version();
  }
  return described;
}

std::optional<LeafGrad> TorchWorld::leaf(TensorId leaf) {
  const at::Tensor tensor = living(leaf);
  return tensor.defined() ? std::optional(describe(tensor)) : std::nullopt;
}

void TorchWorld::register_target(const at::Tensor& tensor, Target target) {
  const std::vector<at::Tensor> parts = parts_of(tensor);  // asks Python, so before the lock
  const std::lock_guard guard(lock_);
  if (target == Target::kBuffer) {
    keep_small(buffers_, [](const auto& entry) { return entry.second.tensor.expired(); });
    const StorageId storage = storage_id(*tensor.unsafeGetTensorImpl());
    buffers_.insert_or_assign(tensor_id(tensor),
                              Buffer{WeakTensor(tensor.getIntrusivePtr()), storage});
  }
  keep_small(targets_, [](const auto& entry) { return entry.second.storage.expired(); });
  for (const at::Tensor& part : parts) {
    const c10::TensorImpl& impl = *part.unsafeGetTensorImpl();
    if (storage_of(impl) == nullptr) continue;
    targets_.insert_or_assign(storage_id(impl), Registered{weakly(storage_id(impl)), target});
  }
}

Target TorchWorld::target_of(const at::Tensor& tensor) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  {
    const std::lock_guard guard(lock_);
    const auto found = targets_.find(storage_id(impl));
    if (found != targets_.end() && !found->second.storage.expired()) return found->second.target;
  }
  return tensor.requires_grad() && tensor.is_leaf() ? Target::kParameter : Target::kNone;
}

std::vector<at::Tensor> TorchWorld::live_leaves() {
  const std::lock_guard guard(lock_);
  return living_in(leaves_);
}

std::vector<at::Tensor> TorchWorld::live_buffers() {
  const std::lock_guard guard(lock_);
  return living_in(buffers_);
}

}  // namespace nanscope::torch_adapter
