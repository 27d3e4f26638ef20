#include "adapters/torch/ops/scan_rule.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

namespace nanscope::torch_adapter {
namespace {

using Names = std::unordered_set<std::string_view>;

const Names& passing() {
  static const Names names = {
      // moved or copied
      "cat",
      "_cat",
      "stack",
      "_stack",
      "index",
      "index_select",
      "gather",
      "take",
      "embedding",
      "masked_select",
      "flip",
      "roll",
      "tril",
      "triu",
      "tril_",
      "triu_",
      "repeat",
      "clone",
      "contiguous",
      "constant_pad_nd",
      "reflection_pad1d",
      "reflection_pad2d",
      "reflection_pad3d",
      "replication_pad1d",
      "replication_pad2d",
      "replication_pad3d",
      "upsample_nearest1d",
      "upsample_nearest2d",
      "upsample_nearest3d",
      "select_backward",
      "slice_backward",
      "slice_scatter",
      "select_scatter",
      "diagonal_scatter",
      "as_strided_scatter",
      "view_copy",
      "permute_copy",
      "expand_copy",
      "_reshape_copy",
      "unsqueeze_copy",
      "squeeze_copy",
      "transpose_copy",
      "unfold_copy",
      "detach_copy",
      "alias_copy",
      "lift_fresh_copy",
      "lift",
      "_unsafe_view",
      "_reshape_alias",
      "channel_shuffle",
      "native_channel_shuffle",
      "pixel_shuffle",
      "pixel_unshuffle",
      "im2col",
      "masked_scatter",
      "masked_scatter_",
      // chosen among the inputs
      "maximum",
      "minimum",
      "fmax",
      "fmin",
      "max",
      "min",
      "amax",
      "amin",
      "aminmax",
      "cummax",
      "cummin",
      "max_pool2d_with_indices",
      "max_pool3d_with_indices",
      "adaptive_max_pool2d",
      "where",
      "sort",
      "topk",
      "kthvalue",
      "unique_dim",
      "_unique2",
      "nan_to_num",
      // bounded, and finite of an infinite input
      "relu",
      "relu_",
      "clamp",
      "clamp_",
      "clamp_min",
      "clamp_min_",
      "clamp_max",
      "clamp_max_",
      "hardtanh",
      "hardtanh_",
      "threshold",
      "threshold_",
      "threshold_backward",
      "abs",
      "abs_",
      "neg",
      "neg_",
      "sign",
      "sign_",
      "sigmoid",
      "sigmoid_",
      "tanh",
      "tanh_",
      "erf",
      "erf_",
      "atan",
      "floor",
      "floor_",
      "ceil",
      "ceil_",
      "trunc",
      "heaviside",
      "copysign",
      // constants and samples
      "masked_fill",
      "masked_fill_",
      "fill_",
      "fill",
      "full",
      "full_like",
      "zeros",
      "zeros_like",
      "ones",
      "ones_like",
      "zero_",
      "zero",
      "scalar_tensor",
      "eye",
      "rand",
      "uniform_",
      "bernoulli_",
      "bernoulli",
      "index_fill",
      "index_fill_",
      "one_hot",
      "new_zeros",
      "new_ones",
      "new_full",
      "scatter_value",
  };
  return names;
}

// Finite whatever finite number goes in: no product or sum that could overflow, or one whose
// overflow is caught (exp(-x) in silu's denominator). Not gelu: x * 2 is on its way.
bool is_bounded(std::string_view name) {
  static const Names names = {"silu", "silu_", "mish", "mish_", "_softmax", "sin",
                              "sin_", "cos",   "cos_", "atan2", "erfc",     "log_sigmoid_forward"};
  return names.contains(name);
}

bool allocates(std::string_view name) {
  static constexpr std::array kPrefixes = {"empty", "_empty", "new_empty", "resize", "_resize"};
  return name == "_efficientzerotensor" ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

ScanRule scan_rule_of(std::string_view name, std::string_view overload) noexcept {
  if (name == "_local_scalar_dense") return ScanRule::kReadsHost;
  if (name == "lift_fresh") return ScanRule::kLifts;
  if (allocates(name)) return ScanRule::kAllocates;
  if (name == "set_") return ScanRule::kBorrows;
  if (overload.empty() && (name == "copy_" || name == "_to_copy")) return ScanRule::kCasts;
  if (overload == "Tensor" && (name == "mul" || name == "mul_")) return ScanRule::kMultiplies;
  if (overload == "Tensor" && (name == "div" || name == "div_")) return ScanRule::kDivides;
  if (name == "_index_put_impl_" || name == "index_put_" || name == "index_put") {
    return overload.empty() ? ScanRule::kPuts : ScanRule::kScan;
  }
  if (name == "scatter" || name == "scatter_") {
    return overload == "src" || overload == "value" ? ScanRule::kPasses : ScanRule::kScan;
  }
  if (is_bounded(name)) return overload.empty() ? ScanRule::kBounded : ScanRule::kScan;
  return passing().contains(name) ? ScanRule::kPasses : ScanRule::kScan;
}

}  // namespace nanscope::torch_adapter
