// Puts the wrappers in front of the kernels.
//
// Note [Installed once, never removed]
// A thread may be inside a wrapper, or have just loaded its address, at any moment:
// taking one out again crashes. So hooks and registrations are leaked on purpose and
// the watch is switched by a flag.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <cstddef>
#include <unordered_map>

#include "adapters/torch/interpose/hook.h"
#include "adapters/torch/interpose/private_members.h"
#include "adapters/torch/ops/ceiling_rule.h"
#include "adapters/torch/ops/op_table.h"
#include "adapters/torch/ops/sign_rule.h"
#include "adapters/torch/watch/locks.h"
#include "origin/op_traits.h"

namespace nanscope::torch_adapter {
namespace {

static_assert(offsetof(Hook, former) == 16, "NANSCOPE_FORMER_KERNEL_OFFSET in trampoline.cc");

using c10::DispatchKey;

std::vector<c10::RegistrationHandleRAII>& registrations() {
  static auto& all = *new std::vector<c10::RegistrationHandleRAII>;
  return all;
}

const std::unordered_map<std::string, void*>& trampolines() {
  static const auto& by_class = *[] {
    auto* table = new std::unordered_map<std::string, void*>;
    for (int i = 0; i < kRowCount; ++i) table->emplace(kRows[i].abi_class, kRows[i].trampoline);
    return table;
  }();
  return by_class;
}

bool is_tensor(const c10::Type& type) { return type.kind() == c10::TypeKind::TensorType; }
bool is_tensor_list(const c10::Type& type) {
  return type.kind() == c10::TypeKind::ListType &&
         is_tensor(*type.expect<c10::ListType>()->getElementType());
}

bool is_write(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

bool has_tensor_result(const c10::FunctionSchema& schema) {
  for (const c10::Argument& result : schema.returns()) {
    if (is_tensor(*result.type()) || is_tensor_list(*result.type())) return true;
  }
  return false;
}

// Every result is an alias that is not written: no values are made.
bool is_view(const c10::FunctionSchema& schema) {
  for (const c10::Argument& result : schema.returns()) {
    if (result.alias_info() == nullptr || result.alias_info()->isWrite()) return false;
  }
  return !schema.returns().empty();
}

c10::SmallVector<ArgumentInfo, 8> describe_arguments(const c10::FunctionSchema& schema,
                                                     bool overwrites, bool shape_only) {
  c10::SmallVector<ArgumentInfo, 8> arguments;
  for (const c10::Argument& argument : schema.arguments()) {
    ArgumentInfo info;
    info.written = is_write(argument);
    info.hidden_write = !info.written && is_hidden_write(argument.name());
    info.read = !shape_only && !(info.written && (argument.kwarg_only() || overwrites));
    arguments.push_back(info);
  }
  return arguments;
}

// What each stack value of a boxed call may hold.
SlotKind boxed_kind(const c10::Argument& argument) {
  const c10::Type& type = *argument.type();
  if (is_tensor(type)) return SlotKind::kTensor;
  if (is_tensor_list(type)) return SlotKind::kTensorList;
  if (type.kind() == c10::TypeKind::FloatType) return SlotKind::kDouble;
  if (type.kind() == c10::TypeKind::NumberType) return SlotKind::kScalar;
  return SlotKind::kOther;
}

// libstdc++ keeps the last element of a tuple first.
bool lay_out_results(Hook& hook, const c10::FunctionSchema& schema, char return_class,
                     bool symbolic) {
  const std::size_t count = schema.returns().size();
  if (return_class == 'V' || return_class == 'R' || return_class == 'Q') {
    hook.shape = ResultShape::kWrittenArguments;
    return true;
  }
  std::uint16_t offset = 0;
  hook.results.resize(count);
  for (std::size_t i = count; i-- > 0;) {
    const c10::Type& type = *schema.returns()[i].type();
    ResultItem& item = hook.results[i];
    item.offset = offset;
    if (is_tensor(type)) {
      item.kind = ResultItem::kTensor;
    } else if (is_tensor_list(type)) {
      item.kind = ResultItem::kTensorVector;
    } else if (type.kind() == c10::TypeKind::SymIntType) {
      item.kind = symbolic ? ResultItem::kSymInt : ResultItem::kOther;
    } else if (type.kind() == c10::TypeKind::IntType) {
      item.kind = ResultItem::kOther;
    } else if (hook.rule == ScanRule::kReadsHost) {
      item.kind = ResultItem::kOther;
    } else {
      return false;
    }
    offset +=
        item.kind == ResultItem::kTensorVector ? sizeof(std::vector<at::Tensor>) : sizeof(void*);
  }
  hook.shape = hook.rule == ScanRule::kReadsHost                           ? ResultShape::kNone
               : count == 1 && hook.results[0].kind == ResultItem::kTensor ? ResultShape::kOne
                                                                           : ResultShape::kMany;
  return true;
}

// The trampoline for this op, or nothing: then it is wrapped boxed.
void* choose_trampoline(Hook& hook, const c10::impl::OperatorEntry& entry,
                        const c10::FunctionSchema& schema) {
  const bool symbolic = (hook.original.*unboxed_function()) == nullptr;
  if (symbolic && (hook.original.*symbolic_function()) == nullptr) return nullptr;
  const auto& kept = symbolic ? entry.*symbolic_signature() : entry.*cpp_signature();
  if (!kept) return nullptr;
  const Signature signature = read_signature(kept->signature.name());
  const auto found = trampolines().find(signature.abi_class);
  if (found == trampolines().end() || signature.slots.size() != hook.arguments.size())
    return nullptr;
  if (!lay_out_results(hook, schema, signature.abi_class[0], symbolic)) return nullptr;
  for (std::size_t i = 0; i < signature.slots.size(); ++i)
    hook.arguments[i].kind = signature.slots[i];
  return found->second;
}

// Whether this op is worth a wrapper at all.
bool is_watched(const c10::OperatorName& name, const c10::impl::OperatorEntry& entry,
                const c10::FunctionSchema& schema, ScanRule rule, OpFlags flags) {
  const bool aten = name.name.starts_with("aten::");
  if (!aten && is_plumbing(name.name)) return false;
  if (rule == ScanRule::kReadsHost || rule == ScanRule::kLifts || rule == ScanRule::kBorrows)
    return true;
  for (const at::Tag tag : entry.getTags()) {
    if (tag == at::Tag::inplace_view) return false;
  }
  if (aten && has(flags, OpFlags::kUnwatched)) return false;
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
std::optional<DispatchKey> dense_key_for(const c10::impl::OperatorEntry& entry, bool aten) {
  // A composite has no kernel of its own, and its parts are watched. silu_backward has both.
  const bool own = entry.hasKernelForDispatchKey(DispatchKey::CPU);
  if (!own && entry.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd))
    return std::nullopt;
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

void learn(Hook& hook, const std::string& base, const std::string& overload, bool aten,
           const c10::impl::OperatorEntry& entry, const c10::FunctionSchema& schema) {
  hook.info.traits = aten ? traits_of(base) : OpTraits{};
  hook.rule = aten ? scan_rule_of(base, overload) : ScanRule::kScan;
  hook.transparent = !aten;
  hook.collective = is_collective(hook.info.name);
  hook.flags = aten ? known_op(base).flags : OpFlags::kPlain;
  hook.rows_alike = has(hook.flags, OpFlags::kRowsAlike) && hook.rule == ScanRule::kBounded;
  hook.destroys = has(hook.flags, OpFlags::kDestroys);
  hook.partial_write = has(hook.flags, OpFlags::kWritesPartly);
  hook.adds_guard = has(hook.flags, OpFlags::kAddsGuard);
  hook.looks_aside = hook.adds_guard || has(hook.flags, OpFlags::kUpdatesScale);
  hook.pointwise = has(hook.flags, OpFlags::kPointwise);
  hook.arguments = describe_arguments(schema, hook.info.traits.overwrites,
                                      has(hook.flags, OpFlags::kReadsShapeOnly));
  for (const at::Tag tag : entry.getTags()) {
    hook.pointwise |= tag == at::Tag::pointwise;
    hook.random |= tag == at::Tag::nondeterministic_seeded;
  }
  for (const c10::Argument& argument : schema.arguments()) {
    hook.argument_names.push_back(argument.name());
    hook.random |= draws_random(argument.name());
  }
  for (std::size_t i = 0; i < hook.arguments.size(); ++i) {
    ArgumentInfo& argument = hook.arguments[i];
    argument.kind = boxed_kind(schema.arguments()[i]);
    hook.in_place |= (argument.written && argument.read) || argument.hidden_write;
    hook.hidden_writes |= argument.hidden_write;
  }
}

bool wrap_at(const c10::OperatorHandle& handle, DispatchKey key) {
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  const c10::OperatorName& name = handle.operator_name();
  const c10::impl::OperatorEntry& entry = (handle.*operator_def())->op;
  const c10::FunctionSchema& schema = handle.schema();
  const bool aten = name.name.starts_with("aten::");
  const std::string base = name.name.substr(name.name.find("::") + 2);
  const DispatchKey served = key == DispatchKey::CompositeExplicitAutograd ? DispatchKey::CPU : key;
  const c10::KernelFunction& kernel = entry.lookup(c10::DispatchKeySet(served));
  if (kernel.isFallthrough()) return false;
  auto hook = std::make_unique<Hook>(name.name, kernel);
  hook->handle = handle;
  learn(*hook, base, name.overload_name, aten, entry, schema);
  if (aten && key == DispatchKey::CPU) {
    hook->ceiling_rule = ceiling_rule_of(base, name.overload_name);
    hook->sign_rule = sign_rule_of(base, name.overload_name);
  }
  void* trampoline = aten ? choose_trampoline(*hook, entry, schema) : nullptr;
  hook->typed = trampoline != nullptr;
  for (const ArgumentInfo& argument : hook->arguments) {
    hook->has_scalars |=
        argument.kind == SlotKind::kScalar || argument.kind == SlotKind::kOptionalScalar ||
        argument.kind == SlotKind::kDouble || argument.kind == SlotKind::kOptionalDouble ||
        argument.kind == SlotKind::kScalarList;
  }
  if (!hook->typed) hook->shape = ResultShape::kWrittenArguments;

  Hook* raw = hook.get();
  c10::KernelFunction wrapped = c10::KernelFunction::makeFromBoxedFunctor(std::move(hook));
  if (trampoline != nullptr) {
    const bool symbolic = (raw->original.*unboxed_function()) == nullptr;
    raw->former.function =
        symbolic ? raw->original.*symbolic_function() : raw->original.*unboxed_function();
    raw->former.functor = ((raw->original.*boxed_kernel()).*boxed_functor()).get();
    (symbolic ? wrapped.*symbolic_function() : wrapped.*unboxed_function()) = trampoline;
  }
  new c10::KernelFunction(wrapped);  // Note [Installed once, never removed]
  registrations().push_back(
      dispatcher.registerImpl(name, key, std::move(wrapped), std::nullopt, nullptr, "nanscope"));
  return true;
}

bool wrap(const c10::OperatorName& name) {
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
    if (aten && entry.hasKernelForDispatchKey(key)) wrapped |= wrap_at(*handle, key);
  }
  const auto dense = dense_key_for(entry, aten);
  return (dense && wrap_at(*handle, *dense)) || wrapped;
}

// The dispatcher warns that a kernel is overridden; that is what we are here for.
struct Silence final : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

Lock pending_lock{LockRank::kNewOps};
std::vector<c10::OperatorName>& pending() {
  static auto& names = *new std::vector<c10::OperatorName>;
  return names;
}
std::atomic<int> pending_count{0};

// Told at the op's definition, before it has a kernel and with the dispatcher's mutex
// held: only the name is noted.
struct NewOps final : c10::OpRegistrationListener {
  void onOperatorRegistered(const c10::OperatorHandle& op) override {
    const std::lock_guard guard(pending_lock);
    pending().push_back(op.operator_name());
    pending_count = static_cast<int>(pending().size());
  }
  void onOperatorDeregistered(const c10::OperatorHandle&) override {}
};

}  // namespace

Installed install_hooks() {
  static const Installed installed = [] {
    Installed counts;
    Silence silence;
    const c10::WarningUtils::WarningHandlerGuard guard(&silence);
    registrations().reserve(4096);
    for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
      if (wrap(name)) ++(name.name.starts_with("aten::") ? counts.typed : counts.other_libraries);
    }
    new c10::RegistrationHandleRAII(
        c10::Dispatcher::singleton().addRegistrationListener(std::make_unique<NewOps>()));
    const std::lock_guard lock(pending_lock);
    pending().clear();  // the listener is told of every op that exists already
    pending_count = 0;
    return counts;
  }();
  return installed;
}

bool has_new_ops() noexcept { return pending_count.load(std::memory_order_relaxed) != 0; }

int sweep_new_ops() {
  std::vector<c10::OperatorName> names;
  {
    const std::lock_guard guard(pending_lock);
    names.swap(pending());
    pending_count = 0;
  }
  Silence silence;
  const c10::WarningUtils::WarningHandlerGuard guard(&silence);
  int wrapped = 0;
  for (const c10::OperatorName& name : names) wrapped += wrap(name);
  return wrapped;
}

}  // namespace nanscope::torch_adapter
