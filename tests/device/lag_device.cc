// A device for tests, at PrivateUse1: it computes what the CPU computes, later.
//
// Every op without a kernel below goes through one function. Shapes of its results are asked of the
// kernel for Meta at once; the CPU's kernel, on the device's memory, is put into the queue. What
// has no kernel for Meta, or a shape that depends on values, waits for the device and runs at once.
// Random numbers are drawn at the launch. `import lag` in Python compiles and loads this.
#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include "lag_autocast.h"
#include "lag_values.h"

namespace lag {
namespace {

REGISTER_ALLOCATOR(kDevice, &Allocator::get());

std::atomic<std::uint64_t> waited_for_shape{0};

at::Tensor make(c10::IntArrayRef sizes, c10::IntArrayRef strides, c10::ScalarType type) {
  return at::detail::empty_strided_generic(
      sizes, strides, &Allocator::get(), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), type);
}

at::Tensor for_shape(const at::Tensor& tensor) {
  if (!is_here(tensor)) return tensor;
  at::Tensor meta =
      at::detail::empty_strided_meta(tensor.sizes(), tensor.strides(), tensor.scalar_type(),
                                     std::nullopt, c10::Device(c10::kMeta), std::nullopt);
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number())
    meta.unsafeGetTensorImpl()->set_wrapped_number(true);
  return meta;
}

void copy_into(const c10::IValue& target, const c10::IValue& source) {
  if (target.isTensor()) {
    if (target.toTensor().defined() && source.toTensor().defined())
      target.toTensor().copy_(source.toTensor());
    return;
  }
  const std::vector<at::Tensor> to = target.toTensorVector();
  const std::vector<at::Tensor> from = source.toTensorVector();
  for (std::size_t i = 0; i < to.size(); ++i) to[i].copy_(from[i]);
}

// What Meta says of the results, and out= made as large as it says; none where it cannot say.
std::optional<Values> shapes_of(const c10::OperatorHandle& op, const Values& given) {
  const c10::FunctionSchema& schema = op.schema();
  for (const c10::Argument& result : schema.returns()) {
    const c10::TypeKind kind = result.type()->kind();
    if (kind != c10::TypeKind::TensorType && kind != c10::TypeKind::ListType) return std::nullopt;
  }
  if (!op.hasKernelForDispatchKey(c10::DispatchKey::Meta)) return std::nullopt;
  Values asked;
  for (const c10::IValue& value : given)
    asked.push_back(value.isGenerator() ? c10::IValue()
                                        : exchanged(value, c10::Device(c10::kMeta), &for_shape));
  c10::Stack stack = asked;
  try {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::Meta), &stack);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!is_written(schema.arguments()[i]) || !given[i].isTensor() || !is_here(given[i].toTensor()))
      continue;
    const at::Tensor target = given[i].toTensor();
    const c10::IntArrayRef wanted = asked[i].toTensor().sizes();
    if (target.sizes() != wanted) at::native::resize_(target, wanted, std::nullopt);
  }
  return Values(stack);
}

Values launch(const c10::OperatorHandle& op, const Values& given, const Values& shapes) {
  const c10::FunctionSchema& schema = op.schema();
  Values results;
  std::vector<std::pair<std::size_t, c10::IValue>> fresh;
  for (std::size_t i = 0; i < schema.returns().size(); ++i) {
    if (const auto argument = argument_returned(schema, i)) {
      results.push_back(given[*argument]);
      continue;
    }
    results.push_back(exchanged(shapes[i], c10::kCPU, [](const at::Tensor& shape) {
      return shape.defined() ? make(shape.sizes(), shape.strides(), shape.scalar_type()) : shape;
    }));
    fresh.emplace_back(i, exchanged(results.back(), c10::kCPU,
                                    [](const at::Tensor& tensor) { return for_kernel(tensor); }));
  }
  Queue::get().put([op, values = ForKernel(schema, given).values, fresh = std::move(fresh)] {
    c10::Stack stack = values;
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
    for (const auto& [result, target] : fresh) copy_into(target, stack[result]);
  });
  return results;
}

// A result of the CPU as one of the device, while nothing waits in the queue.
at::Tensor brought_here(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  at::Tensor here = make(tensor.sizes(), tensor.strides(), tensor.scalar_type());
  Queue::get().wait();
  const InKernel in_kernel;
  for_kernel(here).copy_(tensor);
  return here;
}

Values run_at_once(const c10::OperatorHandle& op, const Values& given) {
  const c10::FunctionSchema& schema = op.schema();
  ++waited_for_shape;
  Queue::get().wait();
  c10::Stack stack;
  {
    const InKernel in_kernel;
    ForKernel arguments(schema, given);
    stack = arguments.values;
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
    arguments.keep_drawn();
  }
  Values results;
  for (std::size_t i = 0; i < schema.returns().size(); ++i) {
    const auto argument = argument_returned(schema, i);
    if (!argument) {
      results.push_back(exchanged(stack[i], c10::Device(kDevice, 0), &brought_here));
      continue;
    }
    results.push_back(given[*argument]);
    if (!given[*argument].isTensor() || !is_here(given[*argument].toTensor())) continue;
    const at::Tensor target = given[*argument].toTensor();
    const at::Tensor computed = stack[i].toTensor();
    if (target.sizes() == computed.sizes()) continue;  // it is in the device's memory already
    at::native::resize_(target, computed.sizes(), std::nullopt);
    Queue::get().wait();
    const InKernel in_kernel;
    for_kernel(target).copy_(computed);
  }
  return results;
}

// Fills one tensor with random numbers and reads none: they are drawn now, and copied later.
bool fills_at_random(const c10::OperatorHandle& op, const Values& given) {
  const std::vector<c10::Argument>& arguments = op.schema().arguments();
  if (!draws_numbers(op) || !is_written(arguments[0]) || !given[0].isTensor()) return false;
  for (std::size_t i = 1; i < given.size(); ++i)
    if (given[i].isTensor()) return false;
  return true;
}

Values fill_at_random(const c10::OperatorHandle& op, const Values& given) {
  const at::Tensor target = given[0].toTensor();
  const InKernel in_kernel;
  ForKernel arguments(op.schema(), given);
  c10::Stack stack = arguments.values;
  at::Tensor drawn = at::empty_strided(target.sizes(), target.strides(),
                                       target.options().device(c10::kCPU).requires_grad(false));
  stack[0] = drawn;
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
  arguments.keep_drawn();
  Queue::get().put(
      [target = for_kernel(target), drawn = std::move(drawn)] { target.copy_(drawn); });
  return {given[0]};
}

void any_op(const c10::OperatorHandle& op, c10::DispatchKeySet, c10::Stack* stack) {
  const auto taken = static_cast<std::ptrdiff_t>(op.schema().arguments().size());
  const Values given(stack->end() - taken, stack->end());
  Values results;
  if (fills_at_random(op, given)) {
    results = fill_at_random(op, given);
  } else {
    const std::optional<Values> shapes = draws_numbers(op) ? std::nullopt : shapes_of(op, given);
    results = shapes ? launch(op, given, *shapes) : run_at_once(op, given);
  }
  stack->erase(stack->end() - taken, stack->end());
  for (c10::IValue& result : results) stack->push_back(std::move(result));
}

at::Tensor empty(c10::IntArrayRef sizes, std::optional<c10::ScalarType> type,
                 std::optional<c10::Layout>, std::optional<c10::Device>, std::optional<bool>,
                 std::optional<c10::MemoryFormat> format) {
  return at::detail::empty_generic(sizes, &Allocator::get(),
                                   c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   c10::dtype_or_default(type), format);
}

at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides,
                         std::optional<c10::ScalarType> type, std::optional<c10::Layout>,
                         std::optional<c10::Device>, std::optional<bool>) {
  return make(sizes, strides, c10::dtype_or_default(type));
}

// To the device: the host's memory is read before the call returns. To the host: it waits.
at::Tensor copy_from(const at::Tensor& source, const at::Tensor& target, bool) {
  if (!is_here(target)) {
    Queue::get().wait();
    const InKernel in_kernel;
    target.copy_(for_kernel(source));
    return target;
  }
  at::Tensor from;
  {
    const InKernel in_kernel;
    from = is_here(source) ? for_kernel(source) : source.clone();
  }
  Queue::get().put([from = std::move(from), to = for_kernel(target)] { to.copy_(from); });
  return target;
}

at::Tensor copy_from_and_resize(const at::Tensor& source, const at::Tensor& target) {
  at::native::resize_(target, source.sizes(), std::nullopt);
  return copy_from(source, target, false);
}

at::Scalar number_of(const at::Tensor& tensor) {
  Queue::get().wait();
  return at::native::_local_scalar_dense_cpu(for_kernel(tensor));
}

const at::Tensor& resize(const at::Tensor& tensor, c10::IntArrayRef sizes,
                         std::optional<c10::MemoryFormat> format) {
  return at::native::resize_(tensor, sizes, format);
}

// Convolutions come to a device that torch does not know under names of their own.
void convolution(const c10::OperatorHandle&, c10::DispatchKeySet keys, c10::Stack* stack) {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::convolution", "");
  any_op(op, keys, stack);
}

void convolution_backward(const c10::OperatorHandle&, c10::DispatchKeySet keys, c10::Stack* stack) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("aten::convolution_backward", "");
  const auto channels = (*stack)[stack->size() - 10].toTensor().size(1);
  stack->insert(stack->end() - 7, c10::IValue(std::vector<std::int64_t>{channels}));  // bias_sizes
  any_op(op, keys, stack);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&any_op>());
}
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("_copy_from", &copy_from);
  m.impl("_copy_from_and_resize", &copy_from_and_resize);
  m.impl("_local_scalar_dense", &number_of);
  m.impl("resize_", &resize);
  m.impl("as_strided", &at::native::as_strided_tensorimpl);
  m.impl("view", &at::native::view);
  m.impl("_reshape_alias", &at::native::_reshape_alias);
  m.impl("unfold", &at::native::unfold);
  m.impl("view_as_real", &at::native::view_as_real);
  m.impl("view_as_complex", &at::native::view_as_complex);
  m.impl("set_.source_Tensor", &at::native::set_tensor_);
  m.impl("set_.source_Storage",
         static_cast<at::Tensor& (*)(at::Tensor&, at::Storage)>(&at::native::set_));
  m.impl("set_.source_Storage_storage_offset", &at::native::set_storage_cpu_);
  m.impl("convolution_overrideable", torch::CppFunction::makeFromBoxedFunction<&convolution>());
  m.impl("convolution_backward_overrideable",
         torch::CppFunction::makeFromBoxedFunction<&convolution_backward>());
}
TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) { register_autocast(m); }

const bool hooks_are_known = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  return true;
}();

}  // namespace
}  // namespace lag

extern "C" {
#define LAG_EXPORT __attribute__((visibility("default")))
LAG_EXPORT void lag_work_as(int mode) { lag::Queue::get().work_as(static_cast<lag::Mode>(mode)); }
LAG_EXPORT void lag_own_kernels(void* function) {
  lag::own_kernels() = reinterpret_cast<lag::OwnKernels>(function);
}
LAG_EXPORT void lag_ask_for_memory(void* function) {
  lag::ask_for_memory() = reinterpret_cast<lag::AskForMemory>(function);
}
// For a driver that works in this device's stream: fake_cuda.cc.
LAG_EXPORT void* lag_to_kernel(void* place) {
  return lag::Memory::get().to_kernel(static_cast<char*>(place));
}
LAG_EXPORT void lag_put(void (*task)(void*), void* given) {
  lag::Queue::get().put([task, given] { task(given); });
}
LAG_EXPORT void lag_wait() { lag::Queue::get().wait(); }
LAG_EXPORT std::uint64_t lag_waits() { return lag::Queue::get().waits(); }
LAG_EXPORT std::uint64_t lag_launched() { return lag::Queue::get().launched(); }
LAG_EXPORT std::uint64_t lag_waiting() { return lag::Queue::get().waiting(); }
LAG_EXPORT std::uint64_t lag_bytes_in_use() { return lag::Memory::get().in_use(); }
LAG_EXPORT std::uint64_t lag_waited_for_shape() { return lag::waited_for_shape; }
}
