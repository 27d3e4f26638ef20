// The few private members of torch that are needed: of the dispatcher, and the lock of a node.
//
// An explicit instantiation may name private members; nothing else is touched, and
// nothing is written but a KernelFunction of our own. They have
// the same names from torch 2.7 to 2.15; a torch without one does not compile.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/function.h>

#include <type_traits>

namespace nanscope::torch_adapter {

template <auto Member, int Number>
struct Expose {
  friend auto member(std::integral_constant<int, Number>) { return Member; }
};
#define NANSCOPE_EXPOSE(number, name, pointer)      \
  auto member(std::integral_constant<int, number>); \
  template struct Expose<pointer, number>;          \
  inline auto name() { return member(std::integral_constant<int, number>()); }

NANSCOPE_EXPOSE(0, operator_def, &c10::OperatorHandle::operatorDef_)
NANSCOPE_EXPOSE(1, unboxed_function, &c10::KernelFunction::unboxed_kernel_func_)
NANSCOPE_EXPOSE(2, symbolic_function, &c10::KernelFunction::sym_unboxed_kernel_func_)
NANSCOPE_EXPOSE(3, boxed_kernel, &c10::KernelFunction::boxed_kernel_func_)
NANSCOPE_EXPOSE(4, boxed_functor, &c10::BoxedKernel::functor_)
NANSCOPE_EXPOSE(5, cpp_signature, &c10::impl::OperatorEntry::cpp_signature_)
NANSCOPE_EXPOSE(6, symbolic_signature, &c10::impl::OperatorEntry::sym_cpp_signature_)
NANSCOPE_EXPOSE(8, dispatch_table, &c10::impl::OperatorEntry::dispatchTable_)
NANSCOPE_EXPOSE(7, node_mutex, &torch::autograd::Node::mutex_)
#undef NANSCOPE_EXPOSE

}  // namespace nanscope::torch_adapter
