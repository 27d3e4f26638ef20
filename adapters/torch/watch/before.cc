#include "adapters/torch/watch/before.h"

#include <cmath>
#include <cstring>

#include "adapters/torch/watch/gil.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {
namespace {

// An update of a large parameter keeps no copy: what breaks it are its other operands.
constexpr std::size_t kMostOfUpdate = 16 << 10;
constexpr std::size_t kMostOfOperand = 64 << 20;
constexpr std::size_t kMostScattered = 64 << 10;  // a diagonal: mostly gaps
constexpr std::size_t kMostSpare = 1 << 20;       // of a copy, kept for the next

// Dividing by an ordinary number breaks nothing that the result does not show.
bool divides_by_ordinary_number(const Wrapper& wrapper, const Call& call) {
  if (wrapper.rule != ScanRule::kDivides || call.arguments == nullptr) return false;
  const at::Tensor& divisor = by_reference<at::Tensor>(call.arguments[1]);
  if (!divisor.defined() || !is_number(divisor)) return false;
  const double size = std::fabs(number_in(divisor));
  return size >= 1e-3 && std::isfinite(size);
}

void keep(const Wrapper& wrapper, const at::Tensor& tensor, std::size_t argument, int item,
          Before& before) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  const ByteRange range = range_of(impl);
  const std::size_t size = range.hi - range.lo;
  const bool update = has(wrapper.flags, OpFlags::kUpdatesWeights);
  const std::size_t most = update ? kMostOfUpdate : kMostOfOperand;
  const bool scattered = size > 2 * impl.numel() * impl.itemsize();
  if (size > (scattered ? kMostScattered : most)) return;
  before.copy.argument = argument;
  before.copy.item = item;
  const auto* data = static_cast<const std::byte*>(data_of(impl));
  before.copy.bytes.assign(data, data + size);
  before.copy.view.take(tensor);
  before.copy.view.data = before.copy.bytes.data();
  before.kept = &before.copy;
}

}  // namespace

Before* Before::take_spare() {
  auto& spare = this_thread().spare_before_;
  return spare != nullptr ? spare.release() : new Before;
}

const Before::Bad* Before::find(std::size_t argument, int item) const {
  for (const Bad& entry : bad) {
    if (entry.argument == argument && entry.item == item) return &entry;
  }
  return nullptr;
}

void Before::give_back(Before* before) noexcept {
  before->bad.clear();
  before->kept = nullptr;
  if (before->copy.bytes.capacity() > kMostSpare) before->copy.bytes = {};
  this_thread().spare_before_ = {before, [](Before* spare) { delete spare; }};
}

KeptBefore look_before(const Wrapper& wrapper, const Call& call) {
  Watcher& watcher = Watcher::get();
  KeptBefore before;
  auto made = [&]() -> Before& {
    if (before == nullptr) before.reset(Before::take_spare());
    return *before;
  };
  const bool copies = wrapper.destroys && !divides_by_ordinary_number(wrapper, call);
  const bool nothing_known = watcher.ledger().empty();
  each_tensor(wrapper, call, [&](const at::Tensor& tensor, std::size_t argument, int item) {
    const ArgumentInfo& info = wrapper.arguments[argument];
    const bool target = info.written || info.hidden_write;
    const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
    // The usual case first: nothing is bad, and what is about to be written was written by an op.
    if (nothing_known && (!target || (!copies && watcher.storages().is_made(storage_of(impl)))))
      return;
    if (sight_of(impl) != Sight::kWatched) return;
    if (copies && info.written && (before == nullptr || before->kept == nullptr)) {
      keep(wrapper, tensor, argument, item, made());
    }
    const bool known = watcher.ledger().knows(storage_id(impl));
    const bool imported = target && !watcher.storages().is_made(storage_of(impl));
    if (!known && (!imported || wrapper.partial_write)) return;
    if (is_finite(impl)) return;
    Before::Bad bad{argument, item, state_of(tensor), {}, kind_map_of(OwnedView(tensor).view()),
                    {}};
    {
      const WithoutGil without_gil;
      bad.known = watcher.judge().events_of(bad.state);
    }
    if (bad.known.empty()) bad.allocation = watcher.storages().allocation_of(tensor);
    // Of 0 * inf in place only this copy can tell.
    if (info.written && (before == nullptr || before->kept == nullptr))
      keep(wrapper, tensor, argument, item, made());
    made().bad.push_back(std::move(bad));
  });
  return before;
}

}  // namespace nanscope::torch_adapter
