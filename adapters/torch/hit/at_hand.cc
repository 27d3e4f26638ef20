#include "adapters/torch/hit/at_hand.h"

#include "adapters/torch/device/host_copies.h"
#include "adapters/torch/hit/facts.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {
namespace {

constexpr std::size_t kMostAtHand = 64;

}  // namespace

// Those of the calling thread.
class AtHand {
 public:
  static std::vector<at::Tensor>& tensors() { return this_thread().at_hand_; }
};

TensorState look_at(const at::Tensor& tensor) {
  const TensorState state = state_of(tensor);
  keep_at_hand(tensor, state);
  return state;
}

void keep_at_hand(const at::Tensor& tensor, const TensorState& state) {
  const bool news = state.kinds.any() && !Watcher::get().ledger().knows(state.storage);
  std::vector<at::Tensor>& at_hand = AtHand::tensors();
  if (!news || at_hand.size() >= kMostAtHand) return;
  for (const at::Tensor& part : parts_of(tensor)) {
    if (storage_id(*part.unsafeGetTensorImpl()) == state.storage) at_hand.push_back(part);
  }
}

LetGoAfterwards::~LetGoAfterwards() {
  AtHand::tensors().clear();
  HostCopies::forget();
}

std::shared_ptr<const EventFacts> facts_at_hand(const TensorState& state) {
  for (const at::Tensor& tensor : AtHand::tensors()) {
    const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
    if (storage_id(impl) == state.storage && range_of(impl).covers(state.range))
      return facts_of_outsider(tensor);
  }
  return nullptr;
}

}  // namespace nanscope::torch_adapter
