#include "before.h"

#include <cmath>
#include <cstring>

#include "watcher.h"

namespace nanscope::torch_adapter {
namespace {

// An update of a large parameter keeps no copy: what breaks it are its other operands.
constexpr std::size_t kMostOfUpdate = 16 << 10;
constexpr std::size_t kMostOfOperand = 64 << 20;

// Dividing by an ordinary number breaks nothing that the result does not show.
bool divides_by_ordinary_number(const Hook& hook, const Call& call) {
  if (hook.rule != ScanRule::kDivides || call.arguments == nullptr) return false;
  const at::Tensor& divisor = by_reference<at::Tensor>(call.arguments[1]);
  if (!divisor.defined() || !is_number(divisor)) return false;
  const double size = std::fabs(number_in(divisor));
  return size >= 1e-3 && std::isfinite(size);
}

std::unique_ptr<Before::Kept> keep(const Hook& hook, const at::Tensor& tensor, std::size_t argument,
                                   int item) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (sight_of(impl) != Sight::kWatched) return nullptr;
  const ByteRange range = range_of(impl);
  const std::size_t size = range.hi - range.lo;
  const bool update = hook.info.name == "aten::addcdiv_";
  if (size > (update ? kMostOfUpdate : kMostOfOperand) || size > 2 * impl.numel() * impl.itemsize())
    return nullptr;
  auto kept = std::make_unique<Before::Kept>();
  kept->argument = argument;
  kept->item = item;
  kept->bytes.resize(size);
  std::memcpy(kept->bytes.data(), data_of(impl), size);
  kept->view = OwnedView(tensor);
  kept->view.data = kept->bytes.data();
  return kept;
}

}  // namespace

const Before::Bad* Before::find(std::size_t argument, int item) const {
  for (const Bad& entry : bad) {
    if (entry.argument == argument && entry.item == item) return &entry;
  }
  return nullptr;
}

std::unique_ptr<Before> look_before(const Hook& hook, const Call& call) {
  Watcher& watcher = Watcher::get();
  std::unique_ptr<Before> before;
  auto made = [&]() -> Before& {
    if (before == nullptr) before = std::make_unique<Before>();
    return *before;
  };
  const bool copies = hook.destroys && !divides_by_ordinary_number(hook, call);
  each_tensor(hook, call, [&](const at::Tensor& tensor, std::size_t argument, int item) {
    const ArgumentInfo& info = hook.arguments[argument];
    const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
    if (copies && info.written && (before == nullptr || before->kept == nullptr)) {
      if (auto kept = keep(hook, tensor, argument, item)) made().kept = std::move(kept);
    }
    if (sight_of(impl) != Sight::kWatched) return;
    const bool known = watcher.ledger.knows(storage_id(impl));
    const bool imported = (info.written || info.hidden_write) && !watcher.is_made(storage_of(impl));
    if (!known && (!imported || hook.partial_write)) return;
    if (is_finite(impl)) return;
    Before::Bad bad{argument, item, state_of(tensor), {}, kind_map_of(OwnedView(tensor).view()),
                    {}};
    {
      const WithoutGil without_gil;
      bad.known = watcher.judge.events_of(bad.state);
    }
    if (bad.known.empty()) bad.allocation = watcher.allocation_of(tensor);
    made().bad.push_back(std::move(bad));
  });
  return before;
}

}  // namespace nanscope::torch_adapter
