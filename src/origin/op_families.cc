#include "origin/op_families.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <utility>

namespace nanscope {
namespace {

struct Members {
  OpFamily family;
  std::string_view names;  // separated by blanks; a last * stands for any ending
};

constexpr Members kMembers[] = {
    {OpFamily::kTrueDivision, "div divide true_divide"},
    {OpFamily::kQuotient, "div true_divide"},
    {OpFamily::kDivision, "div divide true_divide floor_divide remainder fmod"},
    {OpFamily::kRemainder, "remainder fmod"},
    {OpFamily::kReciprocal, "reciprocal rsqrt"},
    {OpFamily::kDivisionByNorm, "div reciprocal rsqrt _weight_norm_interface _weight_norm"},
    {OpFamily::kDecidedByOther, "div true_divide remainder fmod xlogy"},
    {OpFamily::kGuardedSelf, "reciprocal rsqrt log log2 log10 pow sqrt"},

    {OpFamily::kLogarithm, "log log2 log10"},
    {OpFamily::kLogarithmOfSelf, "log log2 log10 logit"},
    {OpFamily::kLogarithmOfOther, "xlogy xlog1py"},
    {OpFamily::kSlopeOfLogarithm, "log log2 log10 log1p xlogy"},
    {OpFamily::kSquareRoot, "sqrt rsqrt"},
    {OpFamily::kPower, "pow float_power"},
    {OpFamily::kPowerBackward, "pow log mul div"},
    {OpFamily::kExponential,
     "exp exp2 expm1 sinh cosh i0 i1 modified_bessel_i0 modified_bessel_i1"},
    {OpFamily::kHyperbolic, "sinh cosh"},
    {OpFamily::kBessel, "i0 i1 modified_bessel_i0 modified_bessel_i1"},
    {OpFamily::kInverseTrigonometry, "acos asin atanh acosh arccos arcsin arctanh arccosh"},
    {OpFamily::kSpecial,
     "erfinv ndtri lgamma digamma polygamma entr bessel_y0 bessel_y1 modified_bessel_k0 "
     "modified_bessel_k1"},
    {OpFamily::kSlopeOfNorm, "hypot linalg_vector_norm norm cdist atan2 abs angle sgn"},
    {OpFamily::kOwnSlopeAtAPole,
     "sqrt log log2 log10 log1p xlogy acos asin atanh acosh hypot atan2 linalg_vector_norm norm "
     "cdist"},
    {OpFamily::kHasPole,
     "div divide true_divide addcdiv reciprocal rsqrt pow float_power log log2 log10 log1p logit "
     "xlogy xlog1py tan atanh digamma polygamma lgamma erfinv ndtri entr bessel_y0 bessel_y1 "
     "modified_bessel_k0 modified_bessel_k1 _softmax _log_softmax"},
    {OpFamily::kHasNoPole,
     "add sub rsub mul square neg copy to _to_copy addcmul lerp sum cumsum prod cumprod mean var "
     "std var_mean std_mean norm linalg_vector_norm dot vdot mv mm bmm matmul addmm addmv addr "
     "baddbmm addbmm linear outer einsum convolution _convolution mkldnn_convolution thnn_conv2d "
     "_slow_conv2d_forward convolution_backward mse_loss l1_loss smooth_l1_loss huber_loss "
     "mse_loss_backward mkldnn_linear embedding_bag index_add scatter_add avg_pool2d "
     "adaptive_avg_pool2d _adaptive_avg_pool2d sum_to_size"},

    {OpFamily::kAddsOrSubtracts, "add sub rsub"},
    {OpFamily::kArithmetic, "add sub rsub mul div pow remainder fmod"},
    {OpFamily::kMultipliesOrDivides, "mul div"},
    {OpFamily::kSquare, "mul square"},
    {OpFamily::kSumOfProducts, "mm addmm bmm baddbmm dot mv addmv convolution"},
    {OpFamily::kLayer, "mm addmm bmm linear convolution matmul"},
    {OpFamily::kCast, "to _to_copy copy"},
    {OpFamily::kKeepsSize, "to _to_copy neg"},

    {OpFamily::kMean,
     "mean nanmean median nanmedian mse_loss l1_loss smooth_l1_loss huber_loss "
     "binary_cross_entropy binary_cross_entropy_with_logits kl_div"},
    {OpFamily::kSpread, "var std var_mean std_mean"},
    {OpFamily::kCentred,
     "var std var_mean std_mean native_layer_norm native_batch_norm native_group_norm"},
    {OpFamily::kNllLoss,
     "nll_loss nll_loss_forward nll_loss2d nll_loss2d_forward nll_loss_nd cross_entropy_loss"},
    {OpFamily::kCtcLoss, "_ctc_loss ctc_loss"},
    {OpFamily::kSoftmax, "softmax _softmax log_softmax _log_softmax _masked_softmax"},
    {OpFamily::kAttention, "scaled_dot_product_attention _scaled_dot_product*"},

    {OpFamily::kInverts,
     "linalg_inv_ex linalg_inv inverse _linalg_solve_ex linalg_solve linalg_solve_triangular "
     "triangular_solve cholesky_solve cholesky_inverse linalg_cholesky_ex cholesky _linalg_det "
     "linalg_det logdet _linalg_slogdet linalg_slogdet linalg_lu_solve linalg_pinv lu_solve"},
    {OpFamily::kMatrixIsA,
     "_linalg_solve_ex linalg_inv_ex linalg_inv linalg_solve _linalg_det _linalg_slogdet"},
    {OpFamily::kDecomposition, "linalg_svd svd linalg_eigh linalg_eig linalg_qr linalg_svdvals"},

    {OpFamily::kLifts, "lift_fresh lift_fresh_copy"},
    {OpFamily::kWritesElement, "fill copy index_put _index_put_impl"},
    {OpFamily::kUpdatesScale, "mul _amp_update_scale"},
    {OpFamily::kFusedOptimizer, "_fused_adam _fused_adamw _fused_adagrad"},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < std::size(kMembers); ++i)
    if (kMembers[i].family != static_cast<OpFamily>(i)) return false;
  return std::size(kMembers) == static_cast<std::size_t>(OpFamily::kCount);
}
static_assert(is_in_order(), "kMembers has one line for each OpFamily, in its order");

template <typename Matches>
bool any_name(OpFamily family, Matches matches) {
  std::string_view rest = kMembers[static_cast<std::size_t>(family)].names;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (matches(rest.substr(0, end))) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

// NumPy's words for ops that torch calls otherwise.
std::string_view name_in_torch(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"multiply", "mul"}, {"subtract", "sub"}, {"power", "pow"},
      {"negative", "neg"}, {"cast", "to"},      {"float_power", "pow"}};
  for (const auto& [numpy, torch] : kWords)
    if (name == numpy) return torch;
  return name;
}

}  // namespace

bool is_in(OpFamily family, std::string_view bare_name) {
  return any_name(family, [&](std::string_view name) {
    if (name.ends_with('*')) return bare_name.starts_with(name.substr(0, name.size() - 1));
    return name == bare_name;
  });
}

bool is_backward_of(std::string_view op, std::string_view node) {
  const std::string name = node_name_of(op);
  return node.starts_with(name) && node.substr(name.size()).starts_with("Backward");
}

bool is_backward_in(OpFamily family, std::string_view node) {
  return any_name(family, [&](std::string_view name) { return is_backward_of(name, node); });
}

std::string bare_name(std::string_view op) {
  if (op.starts_with("numpy::")) return std::string(name_in_torch(op.substr(7)));
  if (const std::size_t colons = op.rfind("::"); colons != std::string_view::npos)
    op.remove_prefix(colons + 2);
  op = op.substr(0, op.find('.'));
  if (op.starts_with("_foreach_")) op.remove_prefix(9);
  if (op.starts_with("special_")) op.remove_prefix(8);
  while (op.size() > 1 && op.ends_with('_')) op.remove_suffix(1);
  return std::string(op);
}

std::string node_name_of(std::string_view op) {
  std::string name;
  bool begins = true;  // a letter after anything else is a capital: Log1P
  for (const char c : op) {
    const auto letter = static_cast<unsigned char>(c);
    if (c != '_')
      name.push_back(static_cast<char>(begins ? std::toupper(letter) : std::tolower(letter)));
    begins = std::isalpha(letter) == 0;
  }
  return name;
}

}  // namespace nanscope
