#include "adapters/torch/watch/world.h"

#include <mutex>

#include "adapters/torch/interpose/tensors.h"

namespace nanscope::torch_adapter {
namespace {

constexpr std::size_t kMostHeld = 1 << 16;

// Of one that is alive; without a strong reference on the way, which may ask for the GIL.
c10::weak_intrusive_ptr<c10::StorageImpl> weakly(StorageId storage) {
  auto* impl = reinterpret_cast<c10::StorageImpl*>(storage.value);
  c10::raw::weak_intrusive_ptr::incref(impl);
  return c10::weak_intrusive_ptr<c10::StorageImpl>::reclaim(impl);
}

at::Tensor strongly(const WeakTensor& tensor) {
  auto strong = tensor.lock();
  return strong ? at::Tensor(std::move(strong)) : at::Tensor();
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

struct Kept {
  TensorId id;
  WeakTensor tensor;
  StorageId storage;
};

template <class Map>
std::vector<Kept> kept_in(const Map& map) {
  std::vector<Kept> kept;
  kept.reserve(map.size());
  for (const auto& [id, entry] : map) kept.push_back({id, entry.tensor, entry.storage});
  return kept;
}

std::vector<at::Tensor> living(const std::vector<Kept>& kept) {
  std::vector<at::Tensor> alive;
  for (const Kept& entry : kept) {
    if (at::Tensor tensor = strongly(entry.tensor); tensor.defined())
      alive.push_back(std::move(tensor));
  }
  return alive;
}

}  // namespace

// Note [No strong reference under a lock]
// A strong reference that is taken or given back may ask for the GIL: a tensor that Python knows
// keeps its object alive as long as C++ holds it. So under our lock there are weak ones only.
template <class Map>
std::vector<at::Tensor> TorchWorld::living_in(const Map& map) {
  std::vector<Kept> kept;
  {
    const std::lock_guard guard(lock_);
    kept = kept_in(map);
  }
  return living(kept);
}

// Those that lie in another storage than when they were last looked at.
template <class Map>
std::vector<at::Tensor> TorchWorld::replaced_in(Map& map) {
  std::vector<Kept> kept;
  {
    const std::lock_guard guard(lock_);
    kept = kept_in(map);
  }
  std::vector<at::Tensor> replaced;
  for (const Kept& entry : kept) {
    at::Tensor tensor = strongly(entry.tensor);
    if (!tensor.defined()) continue;
    const StorageId now = storage_id(*tensor.unsafeGetTensorImpl());
    if (now == entry.storage) continue;
    replaced.push_back(std::move(tensor));
    const std::lock_guard guard(lock_);
    const auto found = map.find(entry.id);
    if (found != map.end()) found->second.storage = now;
  }
  return replaced;
}

std::vector<World::Replaced> TorchWorld::replaced_values() {
  const std::vector<at::Tensor> leaves = replaced_in(leaves_);
  const std::vector<at::Tensor> buffers = replaced_in(buffers_);
  std::vector<Replaced> replaced;
  const auto add = [&](const at::Tensor& tensor, Target target) {
    register_target(tensor, target);
    replaced.push_back({state_of(tensor), named_by_storage(tensor), target});
  };
  for (const at::Tensor& leaf : leaves) add(leaf, Target::kParameter);
  for (const at::Tensor& buffer : buffers) add(buffer, Target::kBuffer);
  return replaced;
}

at::Tensor TorchWorld::living_leaf(TensorId leaf) {
  std::optional<WeakTensor> tensor;
  {
    const std::lock_guard guard(lock_);
    const auto found = leaves_.find(leaf);
    if (found != leaves_.end()) tensor = found->second.tensor;
  }
  return tensor ? strongly(*tensor) : at::Tensor();
}

std::optional<LeafGrad> TorchWorld::peek(TensorId leaf) {
  const at::Tensor tensor = living_leaf(leaf);
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
  const at::Tensor tensor = living_leaf(leaf);
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

std::vector<at::Tensor> TorchWorld::live_leaves() { return living_in(leaves_); }

std::vector<at::Tensor> TorchWorld::live_buffers() { return living_in(buffers_); }

}  // namespace nanscope::torch_adapter
