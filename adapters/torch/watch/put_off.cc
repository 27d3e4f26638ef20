#include "adapters/torch/watch/put_off.h"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>

#include <algorithm>
#include <optional>

#include "adapters/torch/device/host_copies.h"
#include "adapters/torch/device/kept_call.h"
#include "adapters/torch/interpose/boxed_call.h"
#include "adapters/torch/ops/domains.h"
#include "adapters/torch/program/nodes.h"
#include "adapters/torch/watch/places.h"
#include "adapters/torch/watch/then.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {
namespace {

bool is_on_device(const at::Tensor& tensor) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  return storage_of(impl) != nullptr && !is_on_host(impl) && address_of(impl) != nullptr;
}

// A number or a small tensor of the host is looked at at once; a device's by what the ledger knows.
bool is_harmless(const at::Tensor& tensor) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  const Sight sight = sight_of(impl);
  if (sight != Sight::kWatched) return sight == Sight::kNothing;
  if (Watcher::get().ledger().knows(storage_id(impl))) return false;
  return !is_on_host(impl) || is_finite(impl);
}

bool may_be_put_off(const Wrapper& wrapper, const Call& call) {
  Watcher& watcher = Watcher::get();
  if (wrapper.info.traits.zeroes && watcher.judge().awaits_gradients()) return false;
  if (wrapper.has_scalars && has_nonfinite_number(wrapper, call)) return false;
  if (wrapper.writes && writes_what_is_not_known(wrapper, call)) return false;
  bool may = true;
  std::optional<c10::Device> device;
  each_tensor(wrapper, call, [&](const at::Tensor& tensor, std::size_t argument, int) {
    if (!may) return;
    const ArgumentInfo& info = wrapper.arguments[argument];
    may = KeptTensor::is_possible(tensor) && is_harmless(tensor);
    if (!is_on_device(tensor)) {
      may &= !info.written && !info.hidden_write;
      return;
    }
    may &= !device || *device == tensor.device();
    device = tensor.device();
  });
  return may && device;
}

// Its operand can be made again: hit/remade.h.
bool asks_its_frame(const Wrapper& wrapper, const Call& call) {
  return wrapper.pointwise && !wrapper.random && !running_node() &&
         has_a_domain(bare_name(wrapper.info.name)) && !divides_by_ordinary_number(wrapper, call);
}

// Copies what the op overwrites and somebody needs. Not if it is too much.
bool keep_overwritten(const Wrapper& wrapper, const Call& call, PutOff& kept) {
  KeptMemory& memory = KeptMemory::get();
  const std::size_t most = Watcher::get().window().most_bytes();
  bool fits = true;
  each_tensor(wrapper, call, [&](const at::Tensor& target, std::size_t argument, int) {
    const ArgumentInfo& info = wrapper.arguments[argument];
    if ((!info.written && !info.hidden_write) || !fits) return;
    const std::shared_ptr<KeptPiece> piece =
        memory.piece_of(*storage_of(*target.unsafeGetTensorImpl()));
    if (piece == nullptr) {
      fits = false;
      return;
    }
    const bool needed_by_another = piece.use_count() > 1;
    const bool needed_here = info.written && info.read && keeps_copy_of(wrapper, call, target);
    if (!needed_by_another && !needed_here) return;
    if (memory.bytes() + piece->bytes() > most) {
      fits = false;
      return;
    }
    memory.copy(*piece);
    kept.overwritten.push_back(piece);
  });
  return fits;
}

std::vector<c10::IValue> boxed(const Wrapper& wrapper, const Call& call) {
  if (call.arguments == nullptr) return static_cast<const BoxedCall&>(call).values;
  std::vector<c10::IValue> values;
  const auto list = [](const auto& tensors) {
    c10::List<at::Tensor> kept;
    for (const at::Tensor& tensor : tensors) kept.push_back(tensor);
    return kept;
  };
  for (std::size_t i = 0; i < wrapper.arguments.size(); ++i) {
    const void* slot = call.arguments[i];
    switch (wrapper.arguments[i].kind) {
      case SlotKind::kTensor:
        values.emplace_back(by_reference<at::Tensor>(slot));
        break;
      case SlotKind::kOptionalTensor:
        values.emplace_back(by_reference<std::optional<at::Tensor>>(slot));
        break;
      case SlotKind::kTensorList:
        values.emplace_back(list(by_value<at::TensorList>(slot)));
        break;
      case SlotKind::kTensorListRef:
        values.emplace_back(list(by_reference<at::ITensorListRef>(slot)));
        break;
      case SlotKind::kOptionalTensorList:
        values.emplace_back(c10::List<std::optional<at::Tensor>>());
        break;
      case SlotKind::kScalar:
        values.emplace_back(by_reference<c10::Scalar>(slot));
        break;
      case SlotKind::kOptionalScalar:
        values.emplace_back(by_reference<std::optional<c10::Scalar>>(slot));
        break;
      case SlotKind::kDouble:
        values.emplace_back(by_value<double>(slot));
        break;
      case SlotKind::kOptionalDouble:
        values.emplace_back(by_value<std::optional<double>>(slot));
        break;
      case SlotKind::kInt:
        values.emplace_back(by_value<std::int64_t>(slot));
        break;
      case SlotKind::kOptionalInt:
        values.emplace_back(by_value<std::optional<std::int64_t>>(slot));
        break;
      case SlotKind::kIntList:
        values.emplace_back(by_value<at::IntArrayRef>(slot).vec());
        break;
      case SlotKind::kOptionalIntList: {
        const auto& given = by_value<at::OptionalIntArrayRef>(slot);
        values.push_back(given ? c10::IValue(given->vec()) : c10::IValue());
        break;
      }
      case SlotKind::kBool:
        values.emplace_back(by_value<bool>(slot));
        break;
      default:
        values.emplace_back();
        break;
    }
  }
  return values;
}

std::vector<c10::IValue> boxed_results(const Wrapper& wrapper, const Call& call, void* result) {
  if (call.arguments == nullptr) return static_cast<const BoxedCall&>(call).results;
  std::vector<c10::IValue> values;
  if (wrapper.shape == ResultShape::kWrittenArguments) return values;
  each_output(wrapper, call, result,
              [&](const at::Tensor& output, int) { values.emplace_back(output); });
  return values;
}

// While it lives, this thread judges an op as it was then.
class AsThen {
 public:
  explicit AsThen(const Then& then)
      : grad_mode_(then.grad), before_(this_thread().judge_as_then(&then)) {
    HostCopies::forget();
  }
  ~AsThen() {
    HostCopies::forget();
    this_thread().judge_as_then(before_);
  }
  AsThen(const AsThen&) = delete;

 private:
  const c10::AutoGradMode grad_mode_;
  const Then* before_;
};

class SavedInTime final : public SavedThen {
 public:
  explicit SavedInTime(const SavedByNode& saved) : saved_(saved) {}
  bool find(const torch::autograd::Node* node, Saved& saved) const override {
    const auto found = saved_.find(node);
    if (found == saved_.end()) return false;
    saved = found->second->revived();
    return true;
  }

 private:
  const SavedByNode& saved_;
};

class LateCall final : public OpInFlight {
 public:
  LateCall(Wrapper& wrapper, const Call& call, void* result, PutOff& kept)
      : wrapper_(wrapper),
        values_(boxed(wrapper, call)),
        results_(boxed_results(wrapper, call, result)),
        overwritten_(std::move(kept.overwritten)),
        saved_(std::move(kept.saved)) {
    looks = std::move(kept.looks);
    then_.is_now = kept.to_its_end;
    then_.place = current_place();
    then_.stack = current_stack();
    then_.grad = c10::GradMode::is_enabled();
    if (const NodePtr node = running_node()) {
      then_.node.emplace(node);
      then_.forward = site_of(*node);
    }
  }

  // It holds a tensor of the program.
  [[nodiscard]] bool holds_any() const {
    const auto held = [](const KeptTensor& tensor) { return tensor.is_held(); };
    return std::any_of(values_.tensors().begin(), values_.tensors().end(), held) ||
           std::any_of(results_.tensors().begin(), results_.tensors().end(), held);
  }

  void revive(SavedByNode& saved) override {
    if (saved_ != nullptr) {
      saved.emplace(saved_->node(), saved_.get());
      saved_->each_piece([](const auto& piece) { (void)piece->revive(); });
    }
    for (const KeptValues* values : {&values_, &results_}) {
      for (const KeptTensor& tensor : values->tensors())
        if (tensor.piece() != nullptr) (void)tensor.piece()->revive();
    }
    for (const auto& piece : overwritten_) (void)piece->revive();
  }

  void judge(const SavedByNode& saved) override {
    const SavedInTime saved_then(saved);
    then_.saved = &saved_then;
    BoxedCall call;
    call.returned = true;  // it is not in flight on this thread
    call.outer = innermost_call;
    call.wrapper = &wrapper_;
    call.values = values_.revived();
    call.results = results_.revived();
    for (const KeptValues* values : {&values_, &results_}) {
      for (const KeptTensor& tensor : values->tensors()) add_place(tensor.piece());
    }
    for (const auto& [node, kept] : saved)
      kept->each_piece([&](const auto& piece) { add_place(piece); });
    KeptBefore before;
    if (wrapper_.writes) {
      Then then = then_;
      for (const auto& piece : overwritten_)
        then.places.insert(then.places.begin(), {piece->revive().get(), piece->place()});
      const AsThen as_then(then);
      before = look_before(wrapper_, call);
    }
    const AsThen as_then(then_);
    judge_late(wrapper_, call, before.get());
  }

 private:
  void add_place(const std::shared_ptr<KeptPiece>& piece) {
    if (piece != nullptr) then_.places.emplace_back(piece->revive().get(), piece->place());
  }

  Wrapper& wrapper_;
  KeptValues values_;
  KeptValues results_;
  std::vector<std::shared_ptr<KeptPiece>> overwritten_;
  std::shared_ptr<const KeptSaved> saved_;
  Then then_;
};

}  // namespace

bool can_be_put_off(const Wrapper& wrapper) {
  const bool looks = wrapper.rule == ScanRule::kScan || is_proof(wrapper.rule);
  return wrapper.other_device && looks && !wrapper.transparent && !wrapper.collective &&
         !has(wrapper.flags, OpFlags::kUpdatesScale);
}

KeptBefore begin_to_put_off(const Wrapper& wrapper, const Call& call) {
  const Window& window = Watcher::get().window();
  if (!wrapper.can_wait || !window.is_open() || !may_be_put_off(wrapper, call)) return nullptr;
  KeptBefore before(Before::take_spare());
  before->put_off = {new PutOff, [](PutOff* put_off) { delete put_off; }};
  before->put_off->to_its_end = asks_its_frame(wrapper, call);
  if (const NodePtr node = running_node()) {
    before->put_off->saved = saved_of_running_node(node);
    if (before->put_off->saved->holds_any()) return nullptr;
  }
  if (!wrapper.writes) return before;
  try {
    if (!keep_overwritten(wrapper, call, *before->put_off)) return nullptr;
  } catch (const c10::OutOfMemoryError&) {
    return nullptr;
  }
  return before;
}

void put_off(Wrapper& wrapper, const Call& call, void* result, PutOff& put_off, bool judge_now) {
  Window& window = Watcher::get().window();
  auto late = std::make_unique<LateCall>(wrapper, call, result, put_off);
  if (judge_now) {
    window.settle();
    SavedByNode saved;
    late->revive(saved);
    late->judge(saved);
    return;
  }
  const bool at_once = put_off.to_its_end || late->holds_any();
  window.add(std::move(late));
  if (at_once) window.settle();
}

}  // namespace nanscope::torch_adapter
