#include "adapters/torch/interpose/install.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>

#include "adapters/torch/interpose/device_kernels.h"
#include "adapters/torch/interpose/private_members.h"
#include "adapters/torch/interpose/schemas.h"
#include "adapters/torch/interpose/wrap.h"
#include "adapters/torch/ops/ceiling_rule.h"
#include "adapters/torch/ops/op_table.h"
#include "adapters/torch/ops/sign_rule.h"

namespace nanscope::torch_adapter {
namespace {

using c10::DispatchKey;

// Whether this op is worth a wrapper at all.
bool is_watched(const c10::OperatorName& name, const c10::impl::OperatorEntry& entry,
                const c10::FunctionSchema& schema, ScanRule rule, OpFlags flags) {
  const bool aten = name.name.starts_with("aten::");
  if (!aten && is_plumbing(name.name)) return false;
  if (is_collective(name.name)) return true;
  if (rule == ScanRule::kReadsHost || rule == ScanRule::kLifts || rule == ScanRule::kBorrows ||
      rule == ScanRule::kReinterprets || rule == ScanRule::kAllocates)
    return true;
  for (const at::Tag tag : entry.getTags()) {
    if (tag == at::Tag::inplace_view) return false;
  }
  // The flag of the list ops holds for loops over ops that are watched; a kernel of their own is
  // not.
  const bool is_kernel = entry.hasKernelForDispatchKey(DispatchKey::CPU);
  if (aten && has(flags, OpFlags::kUnwatched) && !(is_list_op(name.name) && is_kernel))
    return false;
  if (is_view(schema)) return false;
  if (has_tensor_result(schema)) return true;
  for (const c10::Argument& argument : schema.arguments()) {
    if (is_write(argument)) return schema.returns().empty();
  }
  return false;
}

// Note [At the kernel's own key]
// A wrapper holds the kernel it was put over. For ops of other libraries it must sit at
// that kernel's own key: one registered later (a notebook cell run again) then goes in
// front of it. At the CPU key it would go on calling the old function.
std::optional<DispatchKey> dense_key_for(const c10::impl::OperatorEntry& entry, bool aten,
                                         OpFlags flags) {
  // A composite has no kernel of its own, and its parts are watched. silu_backward has both.
  const bool own = entry.hasKernelForDispatchKey(DispatchKey::CPU);
  if (!own && entry.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd))
    return aten && has(flags, OpFlags::kWritesItself)
               ? std::optional(DispatchKey::CompositeImplicitAutograd)
               : std::nullopt;
  if (!entry.hasComputedKernelForDispatchKey(DispatchKey::CPU)) return std::nullopt;
  if (aten || own) return DispatchKey::CPU;
  if (entry.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd)) {
    return DispatchKey::CompositeExplicitAutograd;
  }
  return std::nullopt;
}

// Other layouts have kernels of their own; their results are looked into or counted.
constexpr DispatchKey kOtherLayouts[] = {DispatchKey::SparseCPU, DispatchKey::SparseCsrCPU,
                                         DispatchKey::NestedTensorCPU, DispatchKey::QuantizedCPU,
                                         DispatchKey::MkldnnCPU};

bool wrap(const c10::OperatorName& name, bool late) {
  const auto handle = c10::Dispatcher::singleton().findSchema(name);
  if (!handle) return false;
  const bool aten = name.name.starts_with("aten::");
  const c10::impl::OperatorEntry& entry = ((*handle).*operator_def())->op;
  const c10::FunctionSchema& schema = handle->schema();
  const std::string base = name.name.substr(name.name.find("::") + 2);
  const ScanRule rule = aten ? scan_rule_of(base, name.overload_name) : ScanRule::kScan;
  if (!is_watched(name, entry, schema, rule, known_op(base).flags)) return false;
  bool wrapped = false;
  for (const DispatchKey key : kOtherLayouts) {
    if (aten && entry.hasKernelForDispatchKey(key)) wrapped |= wrap_at(*handle, key, late);
  }
  const auto dense = dense_key_for(entry, aten, known_op(base).flags);
  return (dense && wrap_at(*handle, *dense, late)) || wrapped;
}

// Defined, and without a kernel that could be called on the CPU.
bool is_waiting(const c10::OperatorName& name) {
  const auto handle = c10::Dispatcher::singleton().findSchema(name);
  if (!handle) return false;
  const c10::impl::OperatorEntry& entry = ((*handle).*operator_def())->op;
  return !entry.hasComputedKernelForDispatchKey(DispatchKey::CPU);
}

void remember_kernels(NewOps& new_ops, const std::vector<c10::OperatorName>& names) {
  std::vector<c10::OperatorHandle> ops;
  for (const c10::OperatorName& name : names) {
    if (const auto op = c10::Dispatcher::singleton().findSchema(name)) ops.push_back(*op);
  }
  new_ops.are_known(ops);
}

// Called at the op's definition, before it has a kernel and with the dispatcher's mutex
// held: only the name is noted.
class Listener final : public c10::OpRegistrationListener {
 public:
  explicit Listener(NewOps& ops) : ops_(ops) {}
  void onOperatorRegistered(const c10::OperatorHandle& op) override {
    ops_.note(op.operator_name());
  }
  void onOperatorDeregistered(const c10::OperatorHandle& op) override {
    ops_.is_gone(op.operator_name());
  }

 private:
  NewOps& ops_;
};

}  // namespace

Installed install_wrappers(NewOps& new_ops, OtherDevices& other_devices) {
  static const Installed installed = [&] {
    Installed counts;
    const NoWarnings no_warnings;
    const std::vector<c10::OperatorName> names = c10::Dispatcher::singleton().getAllOpNames();
    for (const c10::OperatorName& name : names) {
      if (wrap(name, /*late=*/false))
        ++(name.name.starts_with("aten::") ? counts.of_torch : counts.of_others);
    }
    new c10::RegistrationHandleRAII(
        c10::Dispatcher::singleton().addRegistrationListener(std::make_unique<Listener>(new_ops)));
    (void)new_ops.take();  // the listener is given every op that exists already
    count_kernels_of_new(other_devices);
    remember_kernels(new_ops, names);
    (void)new_ops.has_new_libraries();
    return counts;
  }();
  return installed;
}

std::vector<std::pair<std::string, std::string>> ops_with_rules() {
  std::vector<std::pair<std::string, std::string>> ops;
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (!name.name.starts_with("aten::")) continue;
    const std::string base = name.name.substr(6);
    const std::string& overload = name.overload_name;
    const auto handle = c10::Dispatcher::singleton().findSchema(name);
    if (!handle ||
        (!is_proof(scan_rule_of(base, overload)) && ceiling_rule_of(base, overload) == nullptr &&
         sign_rule_of(base, overload) == nullptr))
      continue;
    ops.emplace_back(c10::toString(name), c10::toString(handle->schema()));
  }
  return ops;
}

int sweep(NewOps& new_ops, OtherDevices& other_devices) {
  count_kernels_of_new(other_devices);
  const NoWarnings no_warnings;
  int wrapped = 0;
  std::vector<c10::OperatorName> names;
  for (const c10::OperatorName& name : new_ops.take()) {
    count_kernels_of(name, other_devices);
    if (is_waiting(name)) {
      new_ops.put_back(name);
    } else {
      wrapped += wrap(name, /*late=*/true);
    }
    names.push_back(name);
  }
  remember_kernels(new_ops, names);
  return wrapped;
}

void wrap_unnoticed_kernels(NewOps& new_ops, OtherDevices& other_devices, bool called) {
  new_ops.note_changed(called);
  if (count_kernels_of_new(other_devices) && called) new_ops.count_unwatched();
  if (new_ops.any()) sweep(new_ops, other_devices);
}

}  // namespace nanscope::torch_adapter
