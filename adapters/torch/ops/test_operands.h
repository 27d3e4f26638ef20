// Tensors whose extent is known, as if a watched op had written them: for tests of the rules.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/scalar_tensor.h>

#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/interpose/test_call.h"
#include "adapters/torch/ops/ceiling_rule.h"
#include "adapters/torch/ops/sign_rule.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {

// With the ceiling that a scan finds.
inline at::Tensor known(const at::Tensor& tensor, Sign sign = Sign::kAny) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  Watcher::get().storages().mark_made(storage_of(impl), tensor.scalar_type(),
                                      {ceiling_of(impl), sign});
  return tensor;
}

// Its storage may lie where a known one lay before.
inline at::Tensor unknown(const at::Tensor& tensor) {
  Watcher::get().storages().unmark_made(storage_of(*tensor.unsafeGetTensorImpl()));
  return tensor;
}

// As `x * 0.5` hands over its 0.5.
inline at::Tensor python_number(double value) {
  at::Tensor number = at::scalar_tensor(value, at::kDouble);
  number.unsafeGetTensorImpl()->set_wrapped_number(true);
  return number;
}

inline int ceiling_by_rule(const char* name, const char* overload, TestCall& made,
                           c10::ScalarType type = at::kFloat, int output = 0) {
  made.wrapper().ceiling_rule = ceiling_rule_of(name, overload);
  return proved_ceiling(made.wrapper(), made.call(), output, type);
}

inline Sign sign_by_rule(const char* name, const char* overload, TestCall& made) {
  made.wrapper().sign_rule = sign_rule_of(name, overload);
  return proved_sign(made.wrapper(), made.call());
}

}  // namespace nanscope::torch_adapter
