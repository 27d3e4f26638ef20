#include "adapters/torch/watch/world.h"

#include <algorithm>
#include <mutex>

#include "adapters/torch/interpose/tensors.h"

namespace nanscope::torch_adapter {
namespace {

constexpr std::size_t kMostHeld = 1 << 16;

// Note [No strong reference under a lock]
// A strong reference that is taken or given back may ask for the GIL: a tensor that Python knows
// keeps its object alive as long as C++ holds it. So under our lock there are weak ones only.

// Holds one that is alive.
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

std::optional<World::Receipt> TorchWorld::receipt_of(const TensorState& state) {
  return answers_.receipt(state);
}

bool TorchWorld::forget(const at::Tensor& tensor) {
  const std::lock_guard guard(lock_);
  gradients_.erase(tensor_id(tensor));
  targets_.erase(tensor_id(tensor));
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
  return describe_for(this_owner(), leaf, gradient_of(leaf));
}

LeafGrad TorchWorld::describe_for(const Owner& owner, const at::Tensor& leaf,
                                  const at::Tensor& grad) {
  LeafGrad described;
  described.leaf = tensor_id(leaf);
  described.name = named_by_storage(leaf);
  // Before the lock: of a subclass Python is asked.
  if (grad.defined()) described.state = answers_.state(grad);
  const std::uint64_t whereabouts = is_known(described.leaf) ? 0 : whereabouts_of(leaf);
  const std::lock_guard guard(lock_);
  keep_small(leaves_, [](const auto& entry) { return entry.second.tensor.expired(); });
  const Leaf seen{WeakTensor(leaf.getIntrusivePtr()), whereabouts, false, owner};
  const auto [entry, added] = leaves_.try_emplace(described.leaf, seen);
  if (!added && entry->second.tensor.expired()) entry->second = seen;
  entry->second.owner = owner;
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

bool TorchWorld::is_known(TensorId leaf) {
  const std::lock_guard guard(lock_);
  const auto found = leaves_.find(leaf);
  return found != leaves_.end() && !found->second.tensor.expired();
}

void TorchWorld::in_optimizer(const at::Tensor& leaf) {
  const std::uint64_t whereabouts = whereabouts_of(leaf);  // asks Python, so before the lock
  const Owner owner = this_owner();
  const std::lock_guard guard(lock_);
  leaves_.insert_or_assign(tensor_id(leaf),
                           Leaf{WeakTensor(leaf.getIntrusivePtr()), whereabouts, true, owner});
}

void TorchWorld::used_here(const std::vector<at::Tensor>& leaves) {
  const Owner owner = this_owner();
  if (!are_several_owners()) return;  // it owns them all
  const std::lock_guard guard(lock_);
  for (const at::Tensor& leaf : leaves) {
    if (!leaf.defined()) continue;
    if (const auto found = leaves_.find(tensor_id(leaf)); found != leaves_.end())
      found->second.owner = owner;
    if (const auto found = targets_.find(tensor_id(leaf)); found != targets_.end())
      found->second.owner = owner;
  }
}

std::size_t TorchWorld::take_from_waiting() {
  const Owner here = this_owner();
  if (!are_several_owners()) return 0;
  std::size_t at_work = 0;
  const auto take = [&](auto& entries) {
    for (auto& [id, entry] : entries) {
      if (!is_another_thread(entry.owner) || entry.tensor.expired()) continue;
      if (is_another_at_work(entry.owner)) {
        ++at_work;
      } else {
        entry.owner = here;
      }
    }
  };
  const std::lock_guard guard(lock_);
  take(leaves_);
  take(targets_);
  return at_work;
}

bool TorchWorld::has_leaves_elsewhere() {
  if (!are_several_owners()) return false;
  const std::lock_guard guard(lock_);
  return std::any_of(leaves_.begin(), leaves_.end(), [](const auto& entry) {
    return is_another_thread(entry.second.owner) && !entry.second.tensor.expired();
  });
}

// Every parameter, buffer and other leaf that is alive and no other thread's, with where it was
// when it was last looked at.
std::vector<TorchWorld::LiveTarget> TorchWorld::all_alive() {
  std::vector<Registered> held;
  {
    const std::lock_guard guard(lock_);
    held.reserve(leaves_.size() + targets_.size());
    for (const auto& [id, entry] : leaves_) {
      if (!is_another_thread(entry.owner))
        held.push_back({entry.tensor, entry.whereabouts, Target::kParameter, entry.owner});
    }
    for (const auto& [id, entry] : targets_) {
      if (!leaves_.contains(id) && !is_another_thread(entry.owner)) held.push_back(entry);
    }
  }
  std::vector<LiveTarget> alive;
  for (const Registered& entry : held) {
    if (at::Tensor tensor = strongly(entry.tensor); tensor.defined())
      alive.push_back({std::move(tensor), entry.target, entry.whereabouts, entry.owner});
  }
  return alive;
}

void TorchWorld::move_to(TensorId tensor, std::uint64_t whereabouts) {
  const std::lock_guard guard(lock_);
  if (const auto found = leaves_.find(tensor); found != leaves_.end())
    found->second.whereabouts = whereabouts;
  if (const auto found = targets_.find(tensor); found != targets_.end())
    found->second.whereabouts = whereabouts;
}

std::vector<World::Replaced> TorchWorld::replaced_values() {
  std::vector<Replaced> replaced;
  for (const LiveTarget& value : all_alive()) {
    const std::uint64_t now = whereabouts_of(value.tensor);
    if (now == value.whereabouts) continue;
    move_to(tensor_id(value.tensor), now);
    register_for(value.owner, value.tensor, value.target);
    replaced.push_back({state_of(value.tensor), named_by_storage(value.tensor), value.target});
  }
  return replaced;
}

TorchWorld::Living TorchWorld::living(TensorId leaf) {
  std::optional<Leaf> known;
  {
    const std::lock_guard guard(lock_);
    const auto found = leaves_.find(leaf);
    if (found != leaves_.end()) known = found->second;
  }
  if (!known) return {};
  return {strongly(known->tensor), known->owner};
}

std::optional<LeafGrad> TorchWorld::peek(TensorId leaf) {
  const Living living_leaf = living(leaf);
  if (!living_leaf.tensor.defined()) return std::nullopt;
  LeafGrad described;
  described.leaf = leaf;
  const std::optional<at::Tensor> grad = try_gradient_of(living_leaf.tensor);
  described.unanswered = !grad;
  if (grad && grad->defined()) {
    described.grad = tensor_id(*grad);
    described.version = grad->unsafeGetTensorImpl()->is_inference() ? 0 : grad->_version();
  }
  return described;
}

std::optional<LeafGrad> TorchWorld::leaf(TensorId leaf) {
  const Living living_leaf = living(leaf);
  if (!living_leaf.tensor.defined()) return std::nullopt;
  if (!is_another_thread(living_leaf.owner)) {
    if (const std::optional<at::Tensor> grad = try_gradient_of(living_leaf.tensor))
      return describe_for(living_leaf.owner, living_leaf.tensor, *grad);
  }
  LeafGrad unanswered;
  unanswered.leaf = leaf;
  unanswered.unanswered = true;
  return unanswered;
}

void TorchWorld::register_target(const at::Tensor& tensor, Target target) {
  register_for(this_owner(), tensor, target);
}

void TorchWorld::register_for(const Owner& owner, const at::Tensor& tensor, Target target) {
  // Both ask Python, so before the lock.
  const std::vector<at::Tensor> parts = parts_of(tensor);
  const std::uint64_t whereabouts = whereabouts_of(tensor);
  const std::lock_guard guard(lock_);
  keep_small(targets_, [](const auto& entry) { return entry.second.tensor.expired(); });
  targets_.insert_or_assign(tensor_id(tensor), Registered{WeakTensor(tensor.getIntrusivePtr()),
                                                          whereabouts, target, owner});
  keep_small(target_storages_, [](const auto& entry) { return entry.second.storage.expired(); });
  for (const at::Tensor& part : parts) {
    const c10::TensorImpl& impl = *part.unsafeGetTensorImpl();
    if (storage_of(impl) == nullptr) continue;
    target_storages_.insert_or_assign(storage_id(impl),
                                      TargetStorage{weakly(storage_id(impl)), target});
  }
}

bool TorchWorld::is_registered(const at::Tensor& tensor) {
  const std::lock_guard guard(lock_);
  const auto found = targets_.find(tensor_id(tensor));
  return found != targets_.end() && !found->second.tensor.expired();
}

Target TorchWorld::target_of(const at::Tensor& tensor) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  {
    const std::lock_guard guard(lock_);
    const auto found = target_storages_.find(storage_id(impl));
    if (found != target_storages_.end() && !found->second.storage.expired())
      return found->second.target;
  }
  return tensor.requires_grad() && tensor.is_leaf() ? Target::kParameter : Target::kNone;
}

std::vector<at::Tensor> TorchWorld::live_leaves() {
  std::vector<WeakTensor> held;
  {
    const std::lock_guard guard(lock_);
    held.reserve(leaves_.size());
    for (const auto& [id, entry] : leaves_) {
      if (!is_another_thread(entry.owner)) held.push_back(entry.tensor);
    }
  }
  std::vector<at::Tensor> alive;
  for (const WeakTensor& entry : held) {
    if (at::Tensor tensor = strongly(entry); tensor.defined()) alive.push_back(std::move(tensor));
  }
  return alive;
}

std::vector<TorchWorld::LiveTarget> TorchWorld::live_targets() {
  std::vector<LiveTarget> alive = all_alive();
  // Another leaf is no parameter if it lies in a buffer's memory.
  for (LiveTarget& value : alive) {
    if (value.target == Target::kParameter) value.target = target_of(value.tensor);
  }
  std::erase_if(alive, [](const LiveTarget& value) { return value.target == Target::kNone; });
  return alive;
}

}  // namespace nanscope::torch_adapter
