// Mixed precision on the test device: the ops that torch casts on the CPU, cast here.
#pragma once

#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "lag_values.h"

namespace lag {

template <class Choose>
void cast_and_call(const c10::OperatorHandle& op, c10::Stack* stack, Choose choose) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(
      c10::DispatchKeySet(c10::DispatchKey::AutocastPrivateUse1));
  const c10::ScalarType type = choose();
  const std::size_t taken = op.schema().arguments().size();
  for (std::size_t i = stack->size() - taken; i < stack->size(); ++i) {
    (*stack)[i] = exchanged((*stack)[i], c10::Device(kDevice, 0), [&](const at::Tensor& tensor) {
      return at::autocast::cached_cast(type, tensor, kDevice);
    });
  }
  op.callBoxed(stack);
}

inline void in_lower_precision(const c10::OperatorHandle& op, c10::DispatchKeySet,
                               c10::Stack* stack) {
  cast_and_call(op, stack, [] { return at::autocast::get_autocast_dtype(kDevice); });
}

inline void in_float32(const c10::OperatorHandle& op, c10::DispatchKeySet, c10::Stack* stack) {
  cast_and_call(op, stack, [] { return at::kFloat; });
}

// In the widest type of what goes in.
inline void in_widest(const c10::OperatorHandle& op, c10::DispatchKeySet, c10::Stack* stack) {
  cast_and_call(op, stack, [&] {
    c10::ScalarType widest = at::autocast::get_autocast_dtype(kDevice);
    const std::size_t taken = op.schema().arguments().size();
    for (std::size_t i = stack->size() - taken; i < stack->size(); ++i)
      exchanged((*stack)[i], c10::Device(kDevice, 0), [&](const at::Tensor& tensor) {
        widest = at::autocast::prioritize(widest, tensor, kDevice);
        return tensor;
      });
    return widest;
  });
}

inline void register_autocast(torch::Library& m) {
  for (const char* op : {"conv1d", "conv1d.padding", "conv2d", "conv2d.padding", "conv3d",
                         "conv3d.padding", "bmm", "mm", "baddbmm", "addmm", "addbmm", "linear",
                         "matmul", "conv_tbc", "conv_transpose1d", "conv_transpose2d.input",
                         "conv_transpose3d.input", "prelu", "scaled_dot_product_attention"})
    m.impl(op, torch::CppFunction::makeFromBoxedFunction<&in_lower_precision>());
  for (const char* op : {"avg_pool3d",
                         "binary_cross_entropy",
                         "binary_cross_entropy_with_logits",
                         "prod",
                         "prod.dim_int",
                         "cdist",
                         "mse_loss",
                         "cosine_embedding_loss",
                         "nll_loss",
                         "nll_loss2d",
                         "hinge_embedding_loss",
                         "poisson_nll_loss",
                         "smooth_l1_loss",
                         "cross_entropy_loss",
                         "l1_loss",
                         "huber_loss",
                         "margin_ranking_loss",
                         "multilabel_margin_loss",
                         "soft_margin_loss",
                         "triplet_margin_loss",
                         "multi_margin_loss",
                         "ctc_loss.IntList",
                         "ctc_loss.Tensor",
                         "kl_div",
                         "renorm",
                         "logsumexp",
                         "linalg_inv_ex",
                         "linalg_cond",
                         "linalg_matrix_norm",
                         "linalg_vector_norm"})
    m.impl(op, torch::CppFunction::makeFromBoxedFunction<&in_float32>());
  for (const char* op : {"stack", "cat", "index_copy"})
    m.impl(op, torch::CppFunction::makeFromBoxedFunction<&in_widest>());
}

}  // namespace lag
