#include "adapters/torch/watch/quick_look.h"

#include <algorithm>

#include "adapters/torch/interpose/arguments.h"
#include "adapters/torch/ranks/collectives.h"
#include "adapters/torch/watch/watcher.h"
#include "scan/finite.h"

namespace nanscope::torch_adapter {
namespace {

// Its rule does not ask what went in: only the operands show what came from outside.
bool passes_on(const Wrapper& wrapper) {
  return wrapper.rule != ScanRule::kScan && wrapper.rule != ScanRule::kBounded;
}

// The argument that is the one result; -1 if there is none or more.
int only_written_argument(const Wrapper& wrapper) {
  int only = -1;
  for (std::size_t i = 0; i < wrapper.arguments.size(); ++i) {
    if (!wrapper.arguments[i].written) continue;
    if (only >= 0 || wrapper.arguments[i].kind != SlotKind::kTensor) return -1;
    only = static_cast<int>(i);
  }
  return only;
}

bool gives_one_tensor(const Wrapper& wrapper) {
  if (wrapper.shape == ResultShape::kWrittenArguments) return only_written_argument(wrapper) >= 0;
  return wrapper.shape == ResultShape::kOne &&
         std::none_of(wrapper.arguments.begin(), wrapper.arguments.end(),
                      [](const ArgumentInfo& argument) { return argument.written; });
}

const at::Tensor& result_of(const Wrapper& wrapper, const Call& call, void* result) {
  return wrapper.shape == ResultShape::kOne
             ? *static_cast<const at::Tensor*>(result)
             : by_reference<at::Tensor>(call.arguments[wrapper.written_argument]);
}

// Whether it is float32, dense, in memory that the allocator of the CPU gave.
bool is_quickly_read(const c10::TensorImpl& tensor) {
  return tensor.key_set().has(c10::DispatchKey::CPU) && sight_of(tensor) == Sight::kWatched &&
         tensor.dtype() == caffe2::TypeMeta::Make<float>() && !has_parts(tensor) &&
         tensor.is_non_overlapping_and_dense() && !is_foreign(tensor);
}

// Watched ops made what is read, or it is small and finite.
bool takes_what_is_well(const Wrapper& wrapper, const Call& call, std::int64_t results) {
  const WrittenStorages& storages = Watcher::get().storages();
  bool well = true;
  each_tensor(wrapper, call, [&](const at::Tensor& input, std::size_t argument, int) {
    const c10::TensorImpl& impl = *input.unsafeGetTensorImpl();
    const c10::StorageImpl* storage = storage_of(impl);
    if (storage == nullptr || !wrapper.arguments[argument].read || storages.is_made(storage))
      return;
    if (sight_of(impl) != Sight::kWatched) return;
    well = well && impl.numel() <= 4 * results && is_finite(impl);
  });
  return well;
}

void mark(const c10::TensorImpl& output, std::size_t bytes, int ceiling) {
  WrittenStorages& storages = Watcher::get().storages();
  const c10::StorageImpl* storage = storage_of(output);
  if (bytes != storage->nbytes()) {
    if (!storages.is_made(storage)) return;  // nobody knows the rest
    ceiling = std::max(ceiling, storages.extent_of(storage, at::kFloat).ceiling);
  }
  storages.mark_made(storage, at::kFloat, {ceiling, Sign::kAny});
}

}  // namespace

void learn_quick_look(Wrapper& wrapper) {
  const OpTraits& traits = wrapper.info.traits;
  wrapper.asks_operands =
      passes_on(wrapper) || traits.tests || traits.compares || traits.deliberate;
  wrapper.asks_numbers = passes_on(wrapper) && wrapper.has_scalars;
  wrapper.written_argument = static_cast<std::uint8_t>(std::max(only_written_argument(wrapper), 0));
  wrapper.quick = wrapper.typed && (wrapper.rule == ScanRule::kScan || is_proof(wrapper.rule)) &&
                  gives_one_tensor(wrapper) && wrapper.arguments.size() < 256 &&
                  !wrapper.other_device && !wrapper.transparent && !wrapper.collective &&
                  !wrapper.hidden_writes && !wrapper.partial_write && !traits.zeroes;
}

bool looks_well(const Wrapper& wrapper, const Call& call, void* result, const Before* before,
                ThreadWatch& thread) {
  if (!wrapper.quick || call.arguments == nullptr) return false;
  const Watcher& watcher = Watcher::get();
  if (!watcher.ledger().empty() || watcher.checks_proofs() || !thread.is_of_python() ||
      (before != nullptr && !before->bad.empty()) || is_inside_collective(call))
    return false;
  const c10::TensorImpl& output = *result_of(wrapper, call, result).unsafeGetTensorImpl();
  if (!is_quickly_read(output)) return false;
  const std::size_t bytes = output.numel() * sizeof(float);
  if (bytes > kSmallResult) return false;
  if (wrapper.asks_operands && !takes_what_is_well(wrapper, call, output.numel())) return false;
  if (wrapper.asks_numbers && has_nonfinite_number(wrapper, call)) return false;
  const int ceiling = nanscope::ceiling_of(address_of(output), bytes, DType::kFloat32);
  if (ceiling == kNoCeiling) return false;
  mark(output, bytes, ceiling);
  thread.count_bytes(bytes);
  return true;
}

}  // namespace nanscope::torch_adapter
