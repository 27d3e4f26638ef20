#include "adapters/torch/ops/op_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <unordered_map>

#include "origin/op_families.h"

namespace nanscope::torch_adapter {
namespace {

using enum ScanRule;
using enum OpFlags;

constexpr KnownOp kOps[] = {
    // Memory and numbers from outside.
    {"_local_scalar_dense", kReadsHost},
    {"lift_fresh", kLifts},
    {"set_", kBorrows},
    {"_efficientzerotensor", kAllocates},
    {"empty*", kAllocates},
    {"_empty*", kAllocates},
    {"new_empty*", kAllocates},
    {"resize*", kAllocates},
    {"_resize*", kAllocates},
    // Names by their form.
    {"*_like", kScan, kReadsShapeOnly},
    {"new_*", kScan, kReadsShapeOnly},
    {"is_*", kScan, kUnwatched},
    {"equal*", kScan, kUnwatched},
    {"record_stream*", kScan, kUnwatched},
    {"_pin_memory*", kScan, kUnwatched},
    {"_assert*", kScan, kUnwatched},
    {"_test*", kScan, kUnwatched},
    {"_copy_from*", kScan, kUnwatched},
    {"_sobol*", kScan, kUnwatched},
    {"_make_per_*", kScan, kUnwatched},
    // On the CPU each list op is a loop over the ops of single tensors, which are watched.
    {"_foreach_*", kScan, kUnwatched},
    // Moved or copied.
    {"cat", kPasses},
    {"stack", kPasses},
    {"_stack", kPasses},
    {"index", kPasses, kTakesFromFirst | kOnlyMoves},
    {"index_select", kPasses, kTakesFromFirst},
    {"gather", kPasses, kTakesFromFirst | kOnlyMoves},
    {"take", kPasses, kTakesFromFirst},
    {"embedding", kPasses, kTakesFromFirst},
    {"masked_select", kPasses, kTakesFromFirst},
    {"flip", kPasses},
    {"roll", kPasses},
    {"tril", kPasses},
    {"triu", kPasses},
    {"tril_", kPasses, kWritesPartly},
    {"triu_", kPasses, kWritesPartly},
    {"repeat", kPasses},
    {"clone", kPasses, kPointwise | kTakesFromFirst | kCopies},
    {"contiguous", kPasses, kTakesFromFirst},
    {"constant_pad_nd", kPasses},
    {"reflection_pad1d", kPasses},
    {"reflection_pad2d", kPasses},
    {"reflection_pad3d", kPasses},
    {"replication_pad1d", kPasses},
    {"replication_pad2d", kPasses},
    {"replication_pad3d", kPasses},
    {"upsample_nearest1d", kPasses},
    {"upsample_nearest2d", kPasses},
    {"upsample_nearest3d", kPasses},
    {"select_backward", kPasses},
    {"slice_backward", kPasses},
    {"slice_scatter", kPasses},
    {"select_scatter", kPasses},
    {"diagonal_scatter", kPasses},
    {"as_strided_scatter", kPasses},
    {"view_copy", kPasses},
    {"permute_copy", kPasses},
    {"expand_copy", kPasses},
    {"_reshape_copy", kPasses, kTakesFromFirst},
    {"unsqueeze_copy", kPasses},
    {"squeeze_copy", kPasses},
    {"transpose_copy", kPasses},
    {"unfold_copy", kPasses},
    {"detach_copy", kPasses},
    {"alias_copy", kPasses},
    {"lift_fresh_copy", kPasses},
    {"lift", kPasses},
    {"_unsafe_view", kPasses, kTakesFromFirst | kOnlyMoves},
    {"_reshape_alias", kPasses, kOnlyMoves},
    {"channel_shuffle", kPasses},
    {"native_channel_shuffle", kPasses},
    {"pixel_shuffle", kPasses},
    {"pixel_unshuffle", kPasses},
    {"im2col", kPasses},
    {"masked_scatter", kPasses},
    {"masked_scatter_", kPasses, kWritesPartly},
    {"scatter", kPasses, kPlain, "src value"},
    {"scatter_", kPasses, kWritesPartly, "src value"},
    {"index_put", kPuts, kPlain, ""},
    {"index_put_", kPuts, kWritesPartly, ""},
    {"_index_put_impl_", kPuts, kWritesPartly, ""},
    {"index_copy_", kScan, kWritesPartly},
    {"put_", kScan, kWritesPartly},
    {"fill_diagonal_", kScan, kWritesPartly},
    {"_to_copy", kCasts, kPointwise | kCopies, ""},
    {"copy_", kCasts, kPointwise | kCopies, ""},
    // Chosen among the inputs.
    {"maximum", kPasses, kAddsGuard},
    {"minimum", kPasses},
    {"fmax", kPasses},
    {"fmin", kPasses},
    {"max", kPasses},
    {"min", kPasses},
    {"amax", kPasses},
    {"amin", kPasses},
    {"aminmax", kPasses},
    {"cummax", kPasses},
    {"cummin", kPasses},
    {"max_pool2d_with_indices", kPools},
    {"max_pool3d_with_indices", kPools},
    {"max_pool1d", kScan, kWritesItself},
    {"adaptive_max_pool2d", kPasses},
    {"where", kPasses, kElementwise},
    {"sort", kPasses},
    {"topk", kPasses},
    {"kthvalue", kPasses},
    {"unique_dim", kPasses},
    {"_unique2", kPasses},
    {"nan_to_num", kPasses},
    // Bounded, and finite of an infinite input.
    {"relu", kPasses, kElementwise},
    {"relu_", kPasses},
    {"clamp", kPasses, kAddsGuard | kElementwise},
    {"clamp_", kPasses, kAddsGuard},
    {"clamp_min", kPasses, kAddsGuard | kElementwise},
    {"clamp_min_", kPasses, kAddsGuard},
    {"clamp_max", kPasses, kElementwise},
    {"clamp_max_", kPasses},
    {"hardtanh", kPasses},
    {"hardtanh_", kPasses},
    {"threshold", kPasses},
    {"threshold_", kPasses},
    {"threshold_backward", kPasses},
    {"abs", kPasses, kElementwise},
    {"abs_", kPasses},
    {"neg", kPasses, kElementwise},
    {"neg_", kPasses},
    {"sign", kPasses},
    {"sign_", kPasses},
    {"sigmoid", kPasses, kElementwise},
    {"sigmoid_", kPasses},
    {"tanh", kPasses, kElementwise},
    {"tanh_", kPasses},
    {"erf", kPasses},
    {"erf_", kPasses},
    {"atan", kPasses},
    {"floor", kPasses},
    {"floor_", kPasses},
    {"ceil", kPasses},
    {"ceil_", kPasses},
    {"trunc", kPasses},
    {"heaviside", kPasses},
    {"copysign", kPasses},
    // Constants and samples.
    {"masked_fill", kPasses, kElementwise},
    {"masked_fill_", kPasses, kWritesPartly},
    {"fill_", kPasses},
    {"fill", kPasses},
    {"full", kPasses},
    {"full_like", kPasses},
    {"zeros", kPasses},
    {"zeros_like", kPasses},
    {"ones", kPasses},
    {"ones_like", kPasses},
    {"zero_", kPasses},
    {"zero", kPasses},
    {"scalar_tensor", kPasses},
    {"eye", kPasses},
    {"rand", kPasses},
    {"uniform_", kPasses},
    {"bernoulli_", kPasses},
    {"bernoulli", kPasses},
    {"index_fill", kPasses},
    {"index_fill_", kPasses, kWritesPartly},
    {"one_hot", kPasses},
    {"new_zeros", kPasses},
    {"new_ones", kPasses},
    {"new_full", kPasses},
    // Bounded, and finite of finite inputs only: no product or sum that could overflow, or one
    // whose
    // overflow is caught (exp(-x) in silu's denominator). Not gelu: x * 2 is on its way.
    {"silu", kBounded, kPlain, ""},
    {"silu_", kBounded, kPlain, ""},
    {"mish", kBounded, kPlain, ""},
    {"mish_", kBounded, kPlain, ""},
    {"_softmax", kBounded, kRowsAlike | kRowByRow, ""},
    {"sin", kBounded, kElementwise, ""},
    {"sin_", kBounded, kPlain, ""},
    {"cos", kBounded, kElementwise, ""},
    {"cos_", kBounded, kPlain, ""},
    {"atan2", kBounded, kPlain, ""},
    {"erfc", kBounded, kPlain, ""},
    {"log_sigmoid_forward", kBounded, kPlain, ""},
    // Arithmetic.
    {"add", kScan, kAddsGuard | kElementwise},
    {"add_", kScan, kAddsGuard},
    {"sub", kScan, kElementwise},
    {"rsub", kScan, kElementwise},
    {"mul", kMultiplies, kElementwise, "Tensor"},
    {"mul_", kMultiplies, kPlain, "Tensor"},
    {"div", kDivides, kDividesByOther | kElementwise, "Tensor"},
    {"div_", kDivides, kDestroys | kDividesByOther, "Tensor"},
    {"reciprocal", kScan, kDividesOne | kElementwise},
    {"reciprocal_", kScan, kDestroys | kDividesOne},
    {"rsqrt", kScan, kElementwise},
    {"rsqrt_", kScan, kDestroys},
    {"sqrt", kScan, kElementwise},
    {"sqrt_", kScan, kDestroys},
    {"square", kScan, kElementwise},
    {"pow", kScan, kElementwise},
    {"pow_", kScan, kDestroys},
    {"exp", kScan, kElementwise},
    {"exp_", kScan, kDestroys},
    {"exp2", kScan, kElementwise},
    {"exp2_", kScan, kDestroys},
    {"expm1", kScan, kElementwise},
    {"expm1_", kScan, kDestroys},
    {"log", kScan, kElementwise},
    {"log_", kScan, kDestroys},
    {"log2", kScan, kElementwise},
    {"log2_", kScan, kDestroys},
    {"log10_", kScan, kDestroys},
    {"log1p", kScan, kElementwise},
    {"log1p_", kScan, kDestroys},
    {"logit_", kScan, kDestroys},
    {"xlogy_", kScan, kDestroys},
    {"acos_", kScan, kDestroys},
    {"asin_", kScan, kDestroys},
    {"acosh_", kScan, kDestroys},
    {"atanh_", kScan, kDestroys},
    {"tan_", kScan, kDestroys},
    {"sgn", kScan, kElementwise},
    {"addcdiv_", kScan, kDestroys | kUpdatesWeights},
    // Along rows.
    {"_log_softmax", kScan, kRowByRow},
    {"logsumexp", kScan, kRowByRow},
    {"sum", kScan, kRowByRow},
    {"mean", kScan, kRowByRow},
    {"prod", kScan, kRowByRow},
    {"var", kScan, kRowByRow},
    {"std", kScan, kRowByRow},
    {"norm", kScan, kRowByRow},
    {"linalg_vector_norm", kScan, kRowByRow},
    {"cumsum", kScan, kRowByRow},
    {"cumprod", kScan, kRowByRow},
    // Views: they are not wrapped (but for view(dtype)), and stand in the graph.
    {"view", kReinterprets, kOnlyMoves, "dtype"},
    {"expand", kScan, kOnlyMoves},
    {"transpose", kScan, kOnlyMoves},
    {"t", kScan, kOnlyMoves},
    {"permute", kScan, kOnlyMoves},
    {"squeeze", kScan, kOnlyMoves},
    {"unsqueeze", kScan, kOnlyMoves},
    {"slice", kScan, kOnlyMoves},
    {"select", kScan, kOnlyMoves},
    {"as_strided", kScan, kOnlyMoves},
    {"alias", kScan, kOnlyMoves},
    {"split", kScan, kOnlyMoves},
    {"unbind", kScan, kOnlyMoves},
    {"narrow", kScan, kOnlyMoves},
    {"unfold", kScan, kOnlyMoves},
    {"diagonal", kScan, kOnlyMoves},
    // The loss scale of mixed precision.
    {"_amp_update_scale_", kScan, kUpdatesScale},
};

bool is_form(std::string_view name) { return name.starts_with('*') || name.ends_with('*'); }

bool has_form(std::string_view name, std::string_view form) {
  if (form.starts_with('*')) return name.ends_with(form.substr(1));
  return name.starts_with(form.substr(0, form.size() - 1));
}

const std::unordered_map<std::string_view, const KnownOp*>& by_name() {
  static const auto& all = *[] {
    auto* table = new std::unordered_map<std::string_view, const KnownOp*>;
    for (const KnownOp& op : kOps)
      if (!is_form(op.name)) table->emplace(op.name, &op);
    return table;
  }();
  return all;
}

const std::unordered_map<std::string, OpFlags>& by_node() {
  static const auto& all = *[] {
    auto* table = new std::unordered_map<std::string, OpFlags>;
    for (const KnownOp& op : kOps) {
      if (is_form(op.name)) continue;
      OpFlags& flags = (*table)[node_name_of(op.name)];
      flags = flags | op.flags;
    }
    return table;
  }();
  return all;
}

template <std::size_t count>
bool is_one_of(std::string_view name, const std::array<std::string_view, count>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

KnownOp known_op(std::string_view name) {
  const auto found = by_name().find(name);
  KnownOp known = found == by_name().end() ? KnownOp{name} : *found->second;
  for (const KnownOp& op : kOps) {
    if (!is_form(op.name) || !has_form(name, op.name)) continue;
    if (known.scan == kScan) known.scan = op.scan;
    known.flags = known.flags | op.flags;
  }
  return known;
}

ScanRule scan_rule_of(std::string_view name, std::string_view overload) {
  const KnownOp op = known_op(name);
  return is_listed(op.overloads, overload) ? op.scan : kScan;
}

OpFlags flags_of_node(std::string_view forward) {
  const auto found = by_node().find(std::string(forward));
  return found == by_node().end() ? kPlain : found->second;
}

bool is_listed(std::string_view overloads, std::string_view overload) {
  if (overloads == "*") return true;
  for (;;) {
    const std::size_t end = overloads.find(' ');
    if (overloads.substr(0, end) == overload) return true;
    if (end == std::string_view::npos) return false;
    overloads.remove_prefix(end + 1);
  }
}

bool is_plumbing(std::string_view full_name) {
  for (const char* prefix : {"prim", "_c10d", "profiler::", "inductor::_reinterpret"})
    if (full_name.starts_with(prefix)) return true;
  return false;
}

bool is_collective(std::string_view full_name) {
  return full_name.starts_with("c10d::") && full_name.find("barrier") == std::string_view::npos &&
         full_name != "c10d::check_for_nan";
}

bool is_hidden_write(std::string_view argument) {
  return argument == "running_mean" || argument == "running_var" || argument == "workspace";
}

bool draws_random(std::string_view argument) {
  return argument == "generator" || argument == "dropout_p";
}

bool is_factor(std::string_view argument) { return argument == "alpha"; }

bool says_how_stored(std::string_view argument) {
  constexpr std::array<std::string_view, 4> kNames = {"layout", "device", "pin_memory",
                                                      "memory_format"};
  return is_one_of(argument, kNames);
}

bool is_kept_activation(std::string_view saved) {
  constexpr std::array<std::string_view, 4> kNames = {"self", "mat1", "input", "result"};
  return is_one_of(saved, kNames);
}

}  // namespace nanscope::torch_adapter
