#include "adapters/torch/hit/lately_bad.h"

#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {
namespace {

std::uint32_t version_of(const at::Tensor& tensor) {
  return tensor.unsafeGetTensorImpl()->version_counter().current_version();
}

}  // namespace

LatelyBad& LatelyBad::of_this_thread() {
  auto& kept = this_thread().lately_bad_;
  if (kept == nullptr) kept = {new LatelyBad, [](LatelyBad* one) { delete one; }};
  return *kept;
}

void LatelyBad::note(const at::Tensor& tensor, const TensorState& state) {
  if (this_thread().then() != nullptr) return;  // its version may be a later one
  for (Entry& entry : entries_) {
    if (entry.state.storage == state.storage) entry = {};
  }
  if (!state.kinds.any() || !state.dense || tensor.is_inference()) return;
  entries_[next_++ % entries_.size()] = {state, version_of(tensor), tensor.dtype()};
}

std::optional<Kinds> LatelyBad::kinds_of(const at::Tensor& tensor) const {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  const Watcher& watcher = Watcher::get();
  if (this_thread().then() != nullptr) return std::nullopt;
  // Its address may be another storage's by now, or in other hands.
  if (tensor.is_inference() || !watcher.ledger().knows(storage_id(impl)) ||
      !watcher.storages().is_made(storage_of(impl)))
    return std::nullopt;
  for (const Entry& entry : entries_) {
    if (entry.state.storage == storage_id(impl) && entry.version == version_of(tensor) &&
        entry.type == impl.dtype() && impl.is_non_overlapping_and_dense() &&
        entry.state.range == range_of(impl))
      return entry.state.kinds;
  }
  return std::nullopt;
}

}  // namespace nanscope::torch_adapter
