#include "adapters/torch/interpose/kernel_table.h"

#include "adapters/torch/interpose/private_members.h"

namespace nanscope::torch_adapter {

using c10::DispatchKey;

KernelTable::Kernel KernelTable::kernel_at(const c10::OperatorHandle& op, DispatchKey key) {
  const c10::impl::OperatorEntry& entry = (op.*operator_def())->op;
  const int index = c10::DispatchKeySet(key).getDispatchTableIndexForDispatchKeySet();
  const c10::KernelFunction& kernel = (entry.*dispatch_table())[static_cast<std::size_t>(index)];
  const void* function = kernel.*unboxed_function();
  if (function == nullptr) function = kernel.*symbolic_function();
  return {function, ((kernel.*boxed_kernel()).*boxed_functor()).get()};
}

void KernelTable::look_at(const c10::OperatorHandle& op) {
  const Kernel on_cpu = kernel_at(op, DispatchKey::CPU);
  const Kernel of_autograd = kernel_at(op, DispatchKey::AutogradCPU);
  const auto [entry, added] =
      known_.try_emplace(op.operator_name(), Known{op, on_cpu, of_autograd, of_autograd});
  if (added) return;
  entry->second.on_cpu = on_cpu;
  entry->second.of_autograd = of_autograd;
}

std::vector<KernelTable::Changed> KernelTable::changed() {
  std::vector<Changed> found;
  for (auto& [name, known] : known_) {
    const Kernel on_cpu = kernel_at(known.op, DispatchKey::CPU);
    const Kernel of_autograd = kernel_at(known.op, DispatchKey::AutogradCPU);
    if (on_cpu == known.on_cpu && of_autograd == known.of_autograd) continue;
    const bool in_front =
        of_autograd != known.of_autograd && of_autograd != known.of_autograd_at_first;
    if (on_cpu != known.on_cpu || in_front) found.push_back({name, in_front});
    known.on_cpu = on_cpu;
    known.of_autograd = of_autograd;
  }
  return found;
}

}  // namespace nanscope::torch_adapter
