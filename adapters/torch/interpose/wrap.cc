// Note [Installed once, never removed]
// A thread may be inside a wrapper, or have just loaded its address, at any moment:
// taking one out again crashes. So wrappers and registrations are leaked on purpose and
// the watch is switched by a flag.
#include "adapters/torch/interpose/wrap.h"

#include <ATen/core/enum_tag.h>

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

#include "adapters/torch/device/readable_devices.h"
#include "adapters/torch/interpose/private_members.h"
#include "adapters/torch/interpose/schemas.h"
#include "adapters/torch/interpose/wrapper.h"
#include "adapters/torch/ops/ceiling_rule.h"
#include "adapters/torch/ops/known_schemas.h"
#include "adapters/torch/ops/op_table.h"
#include "adapters/torch/ops/sign_rule.h"
#include "adapters/torch/watch/put_off.h"
#include "adapters/torch/watch/quick_look.h"
#include "origin/op_traits.h"

namespace nanscope::torch_adapter {
namespace {

static_assert(offsetof(Wrapper, former) == 16, "NANSCOPE_FORMER_KERNEL_OFFSET in trampoline.cc");

using c10::DispatchKey;

const std::unordered_map<std::string, void*>& trampolines() {
  static const auto& by_class = *[] {
    auto* table = new std::unordered_map<std::string, void*>;
    for (int i = 0; i < kAbiClassCount; ++i)
      table->emplace(kAbiClasses[i].name, kAbiClasses[i].trampoline);
    return table;
  }();
  return by_class;
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
bool lay_out_results(Wrapper& wrapper, const c10::FunctionSchema& schema, char return_class,
                     bool symbolic) {
  const std::size_t count = schema.returns().size();
  if (return_class == 'V' || return_class == 'R' || return_class == 'Q') {
    wrapper.shape = ResultShape::kWrittenArguments;
    return true;
  }
  std::uint16_t offset = 0;
  wrapper.results.resize(count);
  for (std::size_t i = count; i-- > 0;) {
    const c10::Type& type = *schema.returns()[i].type();
    ResultItem& item = wrapper.results[i];
    item.offset = offset;
    if (is_tensor(type)) {
      item.kind = ResultItem::kTensor;
    } else if (is_tensor_list(type)) {
      item.kind = ResultItem::kTensorVector;
    } else if (type.kind() == c10::TypeKind::SymIntType) {
      item.kind = symbolic ? ResultItem::kSymInt : ResultItem::kOther;
    } else if (type.kind() == c10::TypeKind::IntType) {
      item.kind = ResultItem::kOther;
    } else if (wrapper.rule == ScanRule::kReadsHost) {
      item.kind = ResultItem::kOther;
    } else {
      return false;
    }
    offset +=
        item.kind == ResultItem::kTensorVector ? sizeof(std::vector<at::Tensor>) : sizeof(void*);
  }
  wrapper.shape = wrapper.rule == ScanRule::kReadsHost ? ResultShape::kNone
                  : count == 1 && wrapper.results[0].kind == ResultItem::kTensor
                      ? ResultShape::kOne
                      : ResultShape::kMany;
  return true;
}

// The trampoline for this op, or nothing: then it is wrapped boxed.
void* choose_trampoline(Wrapper& wrapper, const c10::impl::OperatorEntry& entry,
                        const c10::FunctionSchema& schema) {
  const bool symbolic = (wrapper.original.*unboxed_function()) == nullptr;
  if (symbolic && (wrapper.original.*symbolic_function()) == nullptr) return nullptr;
  const auto& kept = symbolic ? entry.*symbolic_signature() : entry.*cpp_signature();
  if (!kept) return nullptr;
  const Signature signature = read_signature(kept->signature.name());
  const auto found = trampolines().find(signature.abi_class);
  if (found == trampolines().end() || signature.slots.size() != wrapper.arguments.size())
    return nullptr;
  if (!lay_out_results(wrapper, schema, signature.abi_class[0], symbolic)) return nullptr;
  for (std::size_t i = 0; i < signature.slots.size(); ++i)
    wrapper.arguments[i].kind = signature.slots[i];
  return found->second;
}

void learn(Wrapper& wrapper, const std::string& base, const std::string& overload, bool aten,
           const c10::impl::OperatorEntry& entry, const c10::FunctionSchema& schema) {
  wrapper.info.traits = aten ? traits_of(base) : OpTraits{};
  wrapper.rule = aten ? scan_rule_of(base, overload) : ScanRule::kScan;
  if (wrapper.rule == ScanRule::kReinterprets) wrapper.info.traits.views = false;
  wrapper.flags = aten ? known_op(base).flags : OpFlags::kPlain;
  wrapper.transparent = !aten || has(wrapper.flags, OpFlags::kWritesItself);
  wrapper.collective = is_collective(wrapper.info.name);
  wrapper.rows_alike =
      has(wrapper.flags, OpFlags::kRowsAlike) && wrapper.rule == ScanRule::kBounded;
  wrapper.destroys = has(wrapper.flags, OpFlags::kDestroys);
  wrapper.partial_write = has(wrapper.flags, OpFlags::kWritesPartly);
  wrapper.adds_guard = has(wrapper.flags, OpFlags::kAddsGuard);
  wrapper.looks_aside = wrapper.adds_guard || has(wrapper.flags, OpFlags::kUpdatesScale);
  wrapper.pointwise = has(wrapper.flags, OpFlags::kPointwise);
  wrapper.arguments = describe_arguments(schema, wrapper.info.traits.overwrites,
                                         has(wrapper.flags, OpFlags::kReadsShapeOnly));
  for (const at::Tag tag : entry.getTags()) {
    wrapper.pointwise |= tag == at::Tag::pointwise;
    wrapper.random |= tag == at::Tag::nondeterministic_seeded;
  }
  for (const c10::Argument& argument : schema.arguments()) {
    wrapper.argument_names.push_back(argument.name());
    wrapper.random |= draws_random(argument.name());
  }
  for (std::size_t i = 0; i < wrapper.arguments.size(); ++i) {
    ArgumentInfo& argument = wrapper.arguments[i];
    argument.kind = boxed_kind(schema.arguments()[i]);
    wrapper.writes |= argument.written || argument.hidden_write;
    wrapper.in_place |= (argument.written && argument.read) || argument.hidden_write;
    wrapper.hidden_writes |= argument.hidden_write;
  }
}

// The rules were written for this very schema, or there are none.
bool is_as_known(const Wrapper& wrapper, const c10::OperatorName& name,
                 const c10::FunctionSchema& schema) {
  if (!is_proof(wrapper.rule) && wrapper.ceiling_rule == nullptr && wrapper.sign_rule == nullptr)
    return true;
  return is_known_schema(c10::toString(name), c10::toString(schema));
}

void scan_always(Wrapper& wrapper) {
  if (is_proof(wrapper.rule)) wrapper.rule = ScanRule::kScan;
  wrapper.rows_alike = false;
  wrapper.ceiling_rule = nullptr;
  wrapper.sign_rule = nullptr;
}

c10::DeviceType device_of(DispatchKey key) {
  return c10::dispatchKeyToDeviceType(
      c10::toRuntimePerBackendFunctionalityKey(DispatchKey::Dense, c10::toBackendComponent(key)));
}

// Ours already: an op is noted again when it gets a kernel for another key.
bool is_wrapper(const c10::KernelFunction& kernel) {
  const c10::OperatorKernel* functor = ((kernel.*boxed_kernel()).*boxed_functor()).get();
  return dynamic_cast<const Wrapper*>(functor) != nullptr;
}

}  // namespace

bool wrap_at(const c10::OperatorHandle& handle, DispatchKey key, bool late, bool other_device) {
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  const c10::OperatorName& name = handle.operator_name();
  const c10::impl::OperatorEntry& entry = (handle.*operator_def())->op;
  const c10::FunctionSchema& schema = handle.schema();
  const bool aten = name.name.starts_with("aten::");
  const std::string base = name.name.substr(name.name.find("::") + 2);
  const bool composite = key == DispatchKey::CompositeExplicitAutograd ||
                         key == DispatchKey::CompositeImplicitAutograd;
  const DispatchKey served = composite ? DispatchKey::CPU : key;
  const c10::KernelFunction& kernel = entry.lookup(c10::DispatchKeySet(served));
  if (kernel.isFallthrough() || is_wrapper(kernel)) return false;
  auto wrapper = std::make_unique<Wrapper>(name.name, kernel);
  wrapper->handle = handle;
  wrapper->other_device = other_device;
  wrapper->untried_device = other_device && is_untried(device_of(key));
  learn(*wrapper, base, name.overload_name, aten, entry, schema);
  if (aten && key == DispatchKey::CPU) {
    wrapper->ceiling_rule = ceiling_rule_of(base, name.overload_name);
    wrapper->sign_rule = sign_rule_of(base, name.overload_name);
  }
  if (other_device) wrapper->rows_alike = false;  // it would be copied for it
  // The program's own kernel for an op of torch: nothing that is known of torch's holds for it.
  const bool replaced = late && aten;
  wrapper->transparent |= replaced;
  if (replaced || !is_as_known(*wrapper, name, schema)) scan_always(*wrapper);
  void* trampoline = aten ? choose_trampoline(*wrapper, entry, schema) : nullptr;
  wrapper->typed = trampoline != nullptr;
  for (const ArgumentInfo& argument : wrapper->arguments) {
    wrapper->has_scalars |=
        argument.kind == SlotKind::kScalar || argument.kind == SlotKind::kOptionalScalar ||
        argument.kind == SlotKind::kDouble || argument.kind == SlotKind::kOptionalDouble ||
        argument.kind == SlotKind::kScalarList;
  }
  if (!wrapper->typed) wrapper->shape = ResultShape::kWrittenArguments;
  learn_quick_look(*wrapper);
  wrapper->can_wait = can_be_put_off(*wrapper);

  Wrapper* raw = wrapper.get();
  c10::KernelFunction wrapped = c10::KernelFunction::makeFromBoxedFunctor(std::move(wrapper));
  if (trampoline != nullptr) {
    const bool symbolic = (raw->original.*unboxed_function()) == nullptr;
    raw->former.function =
        symbolic ? raw->original.*symbolic_function() : raw->original.*unboxed_function();
    raw->former.functor = ((raw->original.*boxed_kernel()).*boxed_functor()).get();
    (symbolic ? wrapped.*symbolic_function() : wrapped.*unboxed_function()) = trampoline;
  }
  new c10::KernelFunction(wrapped);  // Note [Installed once, never removed]
  new c10::RegistrationHandleRAII(
      dispatcher.registerImpl(name, key, std::move(wrapped), std::nullopt, nullptr, "nanscope"));
  return true;
}

}  // namespace nanscope::torch_adapter
