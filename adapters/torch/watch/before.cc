#include "adapters/torch/watch/before.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "adapters/torch/watch/allocations.h"
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

bool is_too_large_to_keep(const Wrapper& wrapper, const c10::TensorImpl& impl) {
  const ByteRange range = range_of(impl);
  const std::size_t size = range.hi - range.lo;
  const bool update = has(wrapper.flags, OpFlags::kUpdatesWeights);
  const std::size_t most = update ? kMostOfUpdate : kMostOfOperand;
  const bool scattered = size > 2 * impl.numel() * impl.itemsize();
  return size > (scattered ? kMostScattered : most);
}

void keep(const Wrapper& wrapper, const at::Tensor& tensor, std::size_t argument, int item,
          Before& before) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (is_too_large_to_keep(wrapper, impl)) return;
  const ByteRange range = range_of(impl);
  const std::size_t size = range.hi - range.lo;
  before.copy.argument = argument;
  before.copy.item = item;
  before.copy.same = 0;
  const auto* data = static_cast<const std::byte*>(data_of(impl));
  before.copy.bytes.assign(data, data + size);
  before.copy.view.take(tensor);
  before.copy.view.data = before.copy.bytes.data();
  before.kept = &before.copy;
}

// The memory of one storage. NumPy and DLPack make a second storage over the same memory, so that
// storages are compared by where they lie.
struct Memory {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
};

Memory memory_of(const at::Tensor& tensor) {
  c10::StorageImpl* storage = storage_of(*tensor.unsafeGetTensorImpl());
  if (storage == nullptr) return {};
  const auto* begin = static_cast<const std::byte*>(storage->_mutable_data_ptr_no_checks().get());
  return begin == nullptr ? Memory{} : Memory{begin, begin + storage->nbytes()};
}

bool meet(const Memory& one, const Memory& other) {
  return one.begin < other.end && other.begin < one.end;
}

// One look at the operands, which is all that most calls need.
struct Glance {
  bool may_overlap = false;  // an operand may lie in memory that is written
  bool targets_made = true;  // watched ops wrote all that is about to be written
};

Glance glance_at(const Wrapper& wrapper, const Call& call, const WrittenStorages& storages) {
  constexpr std::size_t kMost = 4;  // of each kind: more are looked at with care
  Memory written[kMost];
  Memory others[kMost];
  std::size_t writes = 0;
  std::size_t reads = 0;
  Glance glance;
  each_tensor(wrapper, call, [&](const at::Tensor& tensor, std::size_t argument, int) {
    const ArgumentInfo& info = wrapper.arguments[argument];
    if (info.written || info.hidden_write)
      glance.targets_made &= storages.is_made(storage_of(*tensor.unsafeGetTensorImpl()));
    Memory* kind = info.written ? written : others;
    std::size_t& count = info.written ? writes : reads;
    if (count == kMost)
      glance.may_overlap = true;
    else
      kind[count++] = memory_of(tensor);
  });
  for (std::size_t i = 0; i < writes; ++i)
    for (std::size_t j = 0; j < reads; ++j) glance.may_overlap |= meet(written[i], others[j]);
  return glance;
}

// What the op writes: in order, and each piece once, for a fused optimizer writes thousands.
class WrittenMemory {
 public:
  WrittenMemory(const Wrapper& wrapper, const Call& call) {
    each_tensor(wrapper, call, [&](const at::Tensor& tensor, std::size_t argument, int) {
      if (!wrapper.arguments[argument].written) return;
      const Memory memory = memory_of(tensor);
      if (memory.begin != memory.end) pieces_.push_back(memory);
    });
    if (pieces_.size() < 2) return;
    std::sort(pieces_.begin(), pieces_.end(),
              [](const Memory& a, const Memory& b) { return a.begin < b.begin; });
    std::size_t last = 0;
    for (std::size_t i = 1; i < pieces_.size(); ++i) {
      if (pieces_[i].begin < pieces_[last].end)
        pieces_[last].end = std::max(pieces_[last].end, pieces_[i].end);
      else
        pieces_[++last] = pieces_[i];
    }
    pieces_.resize(last + 1);
  }

  [[nodiscard]] bool meets(const Memory& memory) const {
    const auto piece =
        std::partition_point(pieces_.begin(), pieces_.end(),
                             [&](const Memory& other) { return other.end <= memory.begin; });
    return piece != pieces_.end() && piece->begin < memory.end;
  }

 private:
  c10::SmallVector<Memory, 4> pieces_;
};

// Operands in memory that the op writes; of the written ones themselves only those it also reads.
std::uint64_t overwritten_arguments(const Wrapper& wrapper, const Call& call) {
  const WrittenMemory written(wrapper, call);
  std::uint64_t overwritten = 0;
  each_tensor(wrapper, call, [&](const at::Tensor& tensor, std::size_t argument, int) {
    if (wrapper.arguments[argument].written || argument >= 64) return;
    if (written.meets(memory_of(tensor))) overwritten |= std::uint64_t{1} << argument;
  });
  return overwritten;
}

// An operand lies in the memory that is written, and is not what is written itself.
bool is_tangled(const Wrapper& wrapper, const Call& call, std::uint64_t overwritten) {
  c10::SmallVector<at::Tensor, 4> targets;  // by value: a list in a stack gives what soon is gone
  each_tensor(wrapper, call, [&](const at::Tensor& tensor, std::size_t argument, int) {
    if (wrapper.arguments[argument].written) targets.push_back(tensor);
  });
  bool tangled = false;
  each_tensor(wrapper, call, [&](const at::Tensor& tensor, std::size_t argument, int) {
    if (!Before::has_bit(overwritten, argument)) return;
    tangled |= std::none_of(targets.begin(), targets.end(), [&](const at::Tensor& target) {
      return is_same_memory(target, tensor);
    });
  });
  return tangled;
}

// Marks the operands that are the very tensor that was copied: x * x into x.
void note_same(const Wrapper& wrapper, const Call& call, const at::Tensor& copied, Before& before) {
  each_tensor(wrapper, call, [&](const at::Tensor& tensor, std::size_t argument, int item) {
    if (argument < 64 && item < 0 && is_same_memory(tensor, copied))
      before.copy.same |= std::uint64_t{1} << argument;
  });
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

const Before::Kept* Before::kept_of(std::size_t argument, int item) const {
  if (kept == nullptr) return nullptr;
  const bool copied = kept->argument == argument && kept->item == item;
  return copied || (item < 0 && has_bit(kept->same, argument)) ? kept : nullptr;
}

void Before::give_back(Before* before) noexcept {
  before->bad.clear();
  before->kept = nullptr;
  before->overwritten = 0;
  before->tangled = false;
  before->storage_bytes = 0;
  before->put_off.reset();
  if (before->copy.bytes.capacity() > kMostSpare) before->copy.bytes = {};
  this_thread().spare_before_ = {before, [](Before* spare) { delete spare; }};
}

namespace {

// So that memory which grows is known: what is new in it was written by nobody.
KeptBefore before_resize(const Wrapper& wrapper, const Call& call) {
  KeptBefore before(Before::take_spare());
  each_tensor(wrapper, call, [&](const at::Tensor& tensor, std::size_t argument, int) {
    if (wrapper.arguments[argument].written && tensor.has_storage())
      before->storage_bytes = tensor.storage().nbytes();
  });
  return before;
}

}  // namespace

bool divides_by_ordinary_number(const Wrapper& wrapper, const Call& call) {
  if (wrapper.rule != ScanRule::kDivides) return false;
  const auto is_ordinary = [](const at::Tensor& divisor) {
    if (!divisor.defined() || !is_number(divisor)) return false;
    const double size = std::fabs(number_in(divisor));
    return size >= 1e-3 && std::isfinite(size);
  };
  if (call.arguments != nullptr) return is_ordinary(by_reference<at::Tensor>(call.arguments[1]));
  const c10::IValue& divisor = static_cast<const BoxedCall&>(call).values[1];
  return divisor.isTensor() && is_ordinary(divisor.toTensor());
}

bool keeps_copy_of(const Wrapper& wrapper, const Call& call, const at::Tensor& target) {
  return wrapper.destroys && !divides_by_ordinary_number(wrapper, call) &&
         !is_too_large_to_keep(wrapper, *target.unsafeGetTensorImpl());
}

bool writes_what_is_not_known(const Wrapper& wrapper, const Call& call) {
  const Glance glance = glance_at(wrapper, call, Watcher::get().storages());
  return (glance.may_overlap && overwritten_arguments(wrapper, call) != 0) ||
         (!glance.targets_made && wrapper.in_place);
}

KeptBefore look_before(const Wrapper& wrapper, const Call& call) {
  if (wrapper.rule == ScanRule::kAllocates) return before_resize(wrapper, call);
  Watcher& watcher = Watcher::get();
  const Glance glance = glance_at(wrapper, call, watcher.storages());
  const bool copies = wrapper.destroys && !divides_by_ordinary_number(wrapper, call);
  const bool nothing_known = watcher.ledger().empty();
  // The usual case first: nothing is bad, and what is about to be written was written by an op.
  if (!glance.may_overlap && !copies &&
      ((nothing_known && glance.targets_made) || (!wrapper.in_place && !wrapper.destroys)))
    return nullptr;
  const std::uint64_t overwritten =
      glance.may_overlap ? overwritten_arguments(wrapper, call) : std::uint64_t{0};
  if (overwritten == 0 && !wrapper.in_place && !wrapper.destroys) return nullptr;
  KeptBefore before;
  auto made = [&]() -> Before& {
    if (before == nullptr) before.reset(Before::take_spare());
    return *before;
  };
  if (overwritten != 0) {
    made().overwritten = overwritten;
    made().tangled = is_tangled(wrapper, call, overwritten);
  }
  each_tensor(wrapper, call, [&](const at::Tensor& tensor, std::size_t argument, int item) {
    const ArgumentInfo& info = wrapper.arguments[argument];
    const bool shared = Before::has_bit(overwritten, argument);
    const bool target = info.written || info.hidden_write || shared;
    const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
    if (nothing_known &&
        (!target || (!copies && !shared && watcher.storages().is_made(storage_of(impl)))))
      return;
    if (info.written && !info.read) return;  // holds nothing that goes in
    if (sight_of(impl) != Sight::kWatched) return;
    if (((copies && info.written) || shared) && (before == nullptr || before->kept == nullptr)) {
      keep(wrapper, tensor, argument, item, made());
      if (overwritten != 0) note_same(wrapper, call, tensor, made());
    }
    const bool known = watcher.ledger().knows(storage_id(impl));
    const bool imported = target && !watcher.storages().is_made(storage_of(impl));
    if (!known && (!imported || wrapper.partial_write)) return;
    if (is_finite(impl)) return;
    Before::Bad bad{argument, item, state_of(tensor), {}, kind_map_of(OwnedView(tensor).view()),
                    {},       false};
    {
      const WithoutGil without_gil;
      bad.known = watcher.judge().events_of(bad.state);
    }
    if (bad.known.empty()) {
      bad.allocation = allocation_under(tensor);
      bad.from_other_device = watcher.storages().is_from_other_device(tensor);
    }
    // Of 0 * inf in place only this copy can tell.
    if (target && (before == nullptr || before->kept == nullptr))
      keep(wrapper, tensor, argument, item, made());
    made().bad.push_back(std::move(bad));
  });
  return before;
}

}  // namespace nanscope::torch_adapter
