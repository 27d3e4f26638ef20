#include "adapters/torch/interpose/wrapper.h"

#include <utility>

#include "adapters/torch/interpose/boxed_call.h"

namespace nanscope::torch_adapter {

void Wrapper::operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                         c10::Stack* stack) {
  if (!is_looked_at()) {
    original.callBoxed(op, keys, stack);
    return;
  }
  const std::size_t taken = op.schema().arguments().size();
  const std::size_t given = op.schema().returns().size();
  // Before there is a call: one that was never entered must not be unwound.
  std::vector<c10::IValue> values(stack->end() - static_cast<std::ptrdiff_t>(taken), stack->end());
  BoxedCall call;
  call.values = std::move(values);
  call.enter(this, nullptr);
  original.callBoxed(op, keys, stack);
  call.results.assign(stack->end() - static_cast<std::ptrdiff_t>(given), stack->end());
  call.leave(nullptr);
}

}  // namespace nanscope::torch_adapter
