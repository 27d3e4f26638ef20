#include "origin/op_traits.h"

#include <string>
#include <unordered_map>

namespace nanscope {
namespace {

using Flag = bool OpTraits::*;

struct Family {
  Flag flag;
  std::string_view names;  // separated by blanks; an in-place form is its own name
};

constexpr Family kFamilies[] = {
    {&OpTraits::allocates,
     "empty empty_like empty_strided new_empty new_empty_strided empty_permuted resize_"},
    {&OpTraits::overwrites,
     "fill_ zero_ copy_ normal_ uniform_ random_ exponential_ bernoulli_ log_normal_ cauchy_ "
     "geometric_"},
    {&OpTraits::lifts, "lift_fresh"},
    {&OpTraits::views,
     "detach detach_ alias view _unsafe_view t transpose select slice unsqueeze squeeze expand "
     "as_strided as_strided_ permute view_as_real view_as_complex _conj _neg_view unbind split "
     "chunk "
     "narrow diagonal _reshape_alias split_with_sizes unfold squeeze_ unsqueeze_ t_ transpose_ "
     "real "
     "imag lift"},
    {&OpTraits::fills, "masked_fill masked_fill_ fill fill_ where index_fill index_fill_"},
    {&OpTraits::tests, "isnan isinf isfinite isposinf isneginf"},
    {&OpTraits::compares, "eq ne"},
    {&OpTraits::orders, "lt le gt ge"},
    {&OpTraits::amp_check, "_amp_foreach_non_finite_check_and_unscale_"},
    {&OpTraits::deliberate,
     "where masked_fill masked_fill_ nan_to_num nan_to_num_ nansum nanmean nanmedian nanquantile "
     "clamp clamp_ clamp_min clamp_max clamp_min_ clamp_max_ "
     "maximum minimum fmax fmin max min amax amin aminmax _aminmax "
     "hardtanh hardtanh_ relu relu_ topk sort kthvalue median"},
    {&OpTraits::deliberate,
     "index gather index_select masked_select take index_put index_put_ "
     "_index_put_impl_ index_copy index_copy_ index_fill index_fill_ masked_scatter "
     "masked_scatter_ scatter scatter_ copy_"},
    {&OpTraits::leaves_nan_out, "nanmedian"},
    {&OpTraits::absorbs,
     "div div_ true_divide reciprocal reciprocal_ rsqrt rsqrt_ mul pow pow_ addcdiv addcdiv_"},
    {&OpTraits::is_log,
     "log log_ log2 log2_ log10 log10_ log1p log1p_ logit logit_ xlogy xlogy_ special_xlog1py"},
    {&OpTraits::looks_through,
     "abs abs_ clone _to_copy copy_ fill fill_ index_put index_put_ _index_put_impl_ index_fill "
     "index_fill_"},
    {&OpTraits::reads_host, "_local_scalar_dense"},
    {&OpTraits::validates,
     "multinomial bernoulli bernoulli_ binomial poisson normal normal_ _standard_gamma "
     "_sample_dirichlet histc histogram _histogramdd_bin_edges histogramdd binary_cross_entropy "
     "quantile nanquantile"},
    {&OpTraits::validates,
     "cholesky cholesky_inverse cholesky_solve linalg_cholesky linalg_cholesky_ex linalg_eig "
     "linalg_eigvals _linalg_eigvals linalg_eigh _linalg_eigh linalg_svd _linalg_svd linalg_qr "
     "linalg_inv linalg_inv_ex inverse linalg_solve linalg_solve_ex _linalg_solve_ex linalg_lstsq "
     "linalg_lu_factor linalg_lu_factor_ex linalg_ldl_factor_ex linalg_pinv linalg_matrix_exp "
     "linalg_householder_product ormqr geqrf lu_solve triangular_solve"},
    {&OpTraits::zeroes, "zero_"},
};

using Table = std::unordered_map<std::string_view, OpTraits>;

Table make_table() {
  Table table;
  for (const Family& family : kFamilies) {
    std::string_view rest = family.names;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      table[rest.substr(0, end)].*family.flag = true;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return table;
}

}  // namespace

OpTraits traits_of(std::string_view base_name) {
  static const Table table = make_table();
  const auto found = table.find(base_name);
  return found == table.end() ? OpTraits{} : found->second;
}

}  // namespace nanscope
