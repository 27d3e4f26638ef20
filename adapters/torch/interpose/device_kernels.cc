#include "adapters/torch/interpose/device_kernels.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>

#include "adapters/torch/interpose/private_members.h"
#include "adapters/torch/interpose/schemas.h"
#include "adapters/torch/interpose/wrap.h"
#include "adapters/torch/ops/op_table.h"

namespace nanscope::torch_adapter {
namespace {

using c10::BackendComponent;
using c10::DispatchKey;

constexpr DispatchKey kFunctionalities[] = {DispatchKey::Dense, DispatchKey::Quantized,
                                            DispatchKey::Sparse, DispatchKey::SparseCsr,
                                            DispatchKey::NestedTensor};

// Computes with numbers, or hands them to the host.
bool is_counted(const c10::OperatorName& name, const c10::impl::OperatorEntry& entry,
                const c10::FunctionSchema& schema) {
  const bool aten = name.name.starts_with("aten::");
  if (!aten && is_plumbing(name.name)) return false;
  const std::string_view base = std::string_view(name.name).substr(name.name.find("::") + 2);
  const bool moves = is_list_op(name.name) || base.starts_with("_copy_from");
  if (aten && !moves && has(known_op(base).flags, OpFlags::kUnwatched)) return false;
  const ScanRule rule = aten ? scan_rule_of(base, name.overload_name) : ScanRule::kScan;
  if (rule == ScanRule::kReadsHost || rule == ScanRule::kLifts || rule == ScanRule::kReinterprets)
    return true;
  for (const at::Tag tag : entry.getTags()) {
    if (tag == at::Tag::inplace_view) return false;
  }
  if (is_view(schema)) return false;
  if (has_tensor_result(schema)) return true;
  for (const c10::Argument& argument : schema.arguments()) {
    if (is_write(argument)) return true;
  }
  return false;
}

// What is called there for this op: a kernel of the device's own, its fallback for all ops, or one
// of torch's that stands for an op on every device, as on the CPU. The parts of a composite that
// autograd sees are ops themselves.
bool has_kernel_at(const c10::OperatorName& name, const c10::impl::OperatorEntry& entry,
                   DispatchKey functionality, DispatchKey key) {
  if (entry.hasKernelForDispatchKey(key)) return true;
  if (entry.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd)) return false;
  const bool of_torch = name.name.starts_with("aten::") && !is_list_op(name.name);
  if (of_torch && functionality == DispatchKey::Dense)
    return entry.hasComputedKernelForDispatchKey(key);
  for (const DispatchKey composite : {DispatchKey::CompositeExplicitAutograd,
                                      DispatchKey::CompositeExplicitAutogradNonFunctional}) {
    if (entry.hasKernelForDispatchKey(composite)) return false;
  }
  return c10::Dispatcher::singleton().hasBackendFallbackForDispatchKey(key);
}

void wrap(const c10::OperatorName& name, BackendComponent backend, OtherDevices& devices) {
  const auto handle = c10::Dispatcher::singleton().findSchema(name);
  if (!handle) return;
  const c10::impl::OperatorEntry& entry = ((*handle).*operator_def())->op;
  if (!is_counted(name, entry, handle->schema())) return;
  for (const DispatchKey functionality : kFunctionalities) {
    const DispatchKey key = c10::toRuntimePerBackendFunctionalityKey(functionality, backend);
    if (has_kernel_at(name, entry, functionality, key) &&
        wrap_at(*handle, key, /*late=*/false, /*other_device=*/true))
      devices.count_kernel(backend);
  }
}

}  // namespace

bool count_kernels_of_new(OtherDevices& devices) {
  const std::vector<BackendComponent> fresh = devices.take_new();
  if (__builtin_expect(fresh.empty(), 1)) return false;
  const NoWarnings no_warnings;
  for (const BackendComponent backend : fresh) {
    for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames())
      wrap(name, backend, devices);
  }
  return true;
}

void count_kernels_of(const c10::OperatorName& name, OtherDevices& devices) {
  for (const BackendComponent backend : devices.known()) wrap(name, backend, devices);
}

}  // namespace nanscope::torch_adapter
