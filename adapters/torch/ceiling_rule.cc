#include "ceiling_rule.h"

#include <torch/csrc/autograd/function.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "arguments.h"
#include "scan/finite.h"
#include "scan/statistics.h"
#include "tensors.h"
#include "watcher.h"

namespace nanscope::torch_adapter {
namespace {

// A hand that nobody watches (an extension that was given zeros to fill) may have written since:
// three elements are asked. They need not tell, but mostly do.
bool looks_like(const c10::TensorImpl& impl, int ceiling) {
  if (sight_of(impl) != Sight::kWatched || !impl.is_non_overlapping_and_dense()) return true;
  constexpr int kLeast = -1022;  // what a scan says of a float64 zero
  const auto* data = static_cast<const std::byte*>(data_of(impl));
  const auto width = static_cast<std::int64_t>(impl.itemsize());
  const DType dtype = dtype_of(c10::typeMetaToScalarType(impl.dtype()));
  for (const std::int64_t at : {std::int64_t{0}, impl.numel() / 2, impl.numel() - 1}) {
    if (nanscope::ceiling_of(data + at * width, impl.itemsize(), dtype) >
        std::max(ceiling, kLeast) + 1)
      return false;
  }
  return true;
}

int ceiling_of_number(double number) {
  if (!std::isfinite(number)) return kNoCeiling;
  int exponent = 0;
  const double digits = std::fabs(std::frexp(number, &exponent));
  if (digits == 0) return kAllZero;
  return digits == 0.5 ? exponent - 1 : exponent;
}

// Far enough below the largest number that no detour of a kernel (a convolution's transforms make
// its numbers up to 2^15 times larger on the way) reaches it.
int highest_believed(c10::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return 1000;
    case at::kFloat:
    case at::kBFloat16:
      return 108;
    case at::kHalf:
      return 13;
    default:
      return -kNoCeiling * 100;
  }
}

// Weights and an optimizer's state live long, and every later proof stands on them.
constexpr int kHighestOfUpdated = 8;

}  // namespace

// The arguments of one call, as ceilings.
class Operands {
 public:
  Operands(const Hook& hook, const Call& call, int output)
      : output(output), hook_(hook), call_(call) {}

  const int output;      // which result is asked about
  bool updates = false;  // memory whose ceiling is low, and shall stay so

  // Whether something that was asked for has no ceiling: then nothing is proved.
  [[nodiscard]] bool lacks_one() const { return lacks_one_; }
  // An absent tensor adds nothing.
  int operator[](std::size_t argument) const {
    const at::Tensor* tensor = tensor_at(argument);
    return tensor == nullptr ? kAllZero : noted(known_extent(*tensor).ceiling);
  }
  Sign sign(std::size_t argument) const {
    const at::Tensor* tensor = tensor_at(argument);
    return tensor == nullptr ? Sign::kAny : known_extent(*tensor).sign;
  }
  bool same(std::size_t one, std::size_t other) const {
    const at::Tensor* first = tensor_at(one);
    const at::Tensor* second = tensor_at(other);
    return first != nullptr && second != nullptr && is_same_memory(*first, *second);
  }
  // The only element; NaN if there are more.
  double element(std::size_t argument) const {
    const at::Tensor* tensor = tensor_at(argument);
    if (tensor == nullptr || tensor->numel() != 1 ||
        sight_of(*tensor->unsafeGetTensorImpl()) != Sight::kWatched)
      return NAN;
    return value_at(OwnedView(*tensor).view(), std::vector<std::int64_t>(tensor->dim(), 0)).real;
  }
  // What a sum over the dimensions in a list of sizes adds.
  int terms_in(std::size_t argument) const {
    if (hook_.arguments[argument].kind != SlotKind::kIntList) return terms(0);
    std::int64_t count = 1;
    for (const std::int64_t size : by_value<at::IntArrayRef>(call_.arguments[argument]))
      count *= size;
    return terms_of(count);
  }
  // Scanned, if the ceiling is above what is `enough`: the exact one serves others after this call.
  int exact(std::size_t argument, int enough) const {
    const int loose = (*this)[argument];
    if (loose <= enough || loose >= kNoCeiling) return loose;
    const c10::TensorImpl& impl = *tensor_at(argument)->unsafeGetTensorImpl();
    if (sight_of(impl) != Sight::kWatched) return loose;
    this_thread().counters.bytes += impl.numel() * impl.itemsize();
    const int found = ceiling_of(impl);
    if (found < kNoCeiling && fills_its_storage(impl)) {
      const c10::ScalarType type = c10::typeMetaToScalarType(impl.dtype());
      const Sign sign = known_extent(*tensor_at(argument)).sign;
      Watcher::get().mark_made(storage_of(impl), type, {found, sign});
    }
    return noted(found);
  }
  // What goes into an update.
  int other(std::size_t argument) const {
    return updates ? exact(argument, kHighestOfUpdated - 1) : (*this)[argument];
  }
  // For products of several: never below one, so that a product of fewer is bounded too. An
  // absent weight is one.
  int factor(std::size_t argument) const { return std::max((*this)[argument], 0); }
  // What a sum over all elements of an argument adds to their ceiling.
  int terms(std::size_t argument) const {
    const at::Tensor* tensor = tensor_at(argument);
    return tensor == nullptr ? 0 : terms_of(tensor->numel());
  }
  // The same for a sum along one dimension, and for one over all the others.
  int terms_along(std::size_t argument, std::int64_t dim) const {
    const at::Tensor* tensor = tensor_at(argument);
    return tensor == nullptr ? 0 : terms_of(size_of(*tensor, dim));
  }
  int terms_across(std::size_t argument, std::int64_t dim) const {
    const at::Tensor* tensor = tensor_at(argument);
    if (tensor == nullptr) return 0;
    return terms_of(tensor->numel() / std::max<std::int64_t>(size_of(*tensor, dim), 1));
  }
  std::int64_t whole_number(std::size_t argument) const {
    return hook_.arguments[argument].kind == SlotKind::kInt
               ? by_value<std::int64_t>(call_.arguments[argument])
               : 0;
  }
  double number(std::size_t argument) const {
    const void* slot = call_.arguments[argument];
    switch (hook_.arguments[argument].kind) {
      case SlotKind::kScalar: {
        const auto& scalar = by_reference<c10::Scalar>(slot);
        return scalar.isComplex() || scalar.isSymbolic() ? NAN : scalar.toDouble();
      }
      case SlotKind::kDouble:
        return by_value<double>(slot);
      default:
        return NAN;
    }
  }
  int times(std::size_t argument) const { return noted(ceiling_of_number(number(argument))); }
  // NaN if the tensor is not a Python number.
  double wrapped_number(std::size_t argument) const {
    const at::Tensor* tensor = tensor_at(argument);
    return tensor != nullptr && is_number(*tensor) ? number_in(*tensor) : NAN;
  }
  bool flag(std::size_t argument) const {
    return hook_.arguments[argument].kind == SlotKind::kBool &&
           by_value<bool>(call_.arguments[argument]);
  }
  // Of all tensors and numbers; never below that of pi, which bounds tanh, erfc, atan and samples.
  int largest() const {
    int most = 2;
    each_tensor(hook_, call_, [&](const at::Tensor& tensor, std::size_t argument, int) {
      if (hook_.arguments[argument].read) most = std::max(most, known_extent(tensor).ceiling);
    });
    if (hook_.has_scalars) most = std::max(most, ceiling_of_number(largest_number(hook_, call_)));
    return noted(most);
  }

 private:
  // With room for what rounding adds to a long sum.
  static int terms_of(std::int64_t count) {
    return count == 0 ? 0 : std::bit_width(static_cast<std::uint64_t>(count)) + 1;
  }
  static std::int64_t size_of(const at::Tensor& tensor, std::int64_t dim) {
    if (dim < 0) dim += tensor.dim();
    return dim < 0 || dim >= tensor.dim() ? 1 : tensor.size(dim);
  }
  int noted(int ceiling) const {
    lacks_one_ |= ceiling >= kNoCeiling;
    return ceiling;
  }
  const at::Tensor* tensor_at(std::size_t argument) const {
    const void* slot = call_.arguments[argument];
    switch (hook_.arguments[argument].kind) {
      case SlotKind::kTensor: {
        const auto& tensor = by_reference<at::Tensor>(slot);
        return tensor.defined() ? &tensor : nullptr;
      }
      case SlotKind::kOptionalTensor: {
        const auto& tensor = by_reference<std::optional<at::Tensor>>(slot);
        return tensor && tensor->defined() ? &*tensor : nullptr;
      }
      default:
        return nullptr;
    }
  }

  const Hook& hook_;
  const Call& call_;
  mutable bool lacks_one_ = false;
};

namespace {

constexpr int kMostOnTheWay = 108;  // of what a kernel computes in float32 for itself

// --- moved, chosen, bounded

int largest(const Operands& x) { return x.largest(); }
int first(const Operands& x) { return x[0]; }
int second(const Operands& x) { return x[1]; }

// --- sums and products, element by element

int sum(const Operands& x) { return std::max(x[0], x.other(1) + x.times(2)) + 1; }
int product(const Operands& x) { return x[0] + x[1]; }
// By a number only: |x / 2^n| where the divisor is at least 2^n.
int quotient(const Operands& x) {
  const double divisor = std::fabs(x.wrapped_number(1));
  return divisor > 1e-30 && divisor < 1e30 ? x[0] - std::ilogb(divisor) : kNoCeiling;
}
int power(const Operands& x) {
  const double exponent = x.number(1);
  return exponent >= 1 && exponent <= 8 && exponent == std::floor(exponent)
             ? x[0] * static_cast<int>(exponent)
             : kNoCeiling;
}
int interpolation(const Operands& x) {
  const double weight = x.number(2);
  return weight >= 0 && weight <= 1 ? std::max(x[0], x.other(1)) + 1 : kNoCeiling;
}
int sum_with_product(const Operands& x) {
  return std::max(x[0], x.other(1) + x.other(2) + x.times(3)) + 1;
}
int exponential(const Operands& x) {
  constexpr int kMost = 6;  // e^64 < 2^93
  const int most = x[0];
  return most > kMost ? kNoCeiling : (3 << std::max(most, 0)) / 2 + 1;
}

// Of a negative number it is NaN.
int root(const Operands& x) {
  return x.sign(0) == Sign::kNotNegative ? (x[0] + 1) >> 1 : kNoCeiling;
}

// --- sums of many

int total(const Operands& x) { return x.terms(0) == 0 ? kNoCeiling : x[0] + x.terms(0); }
int sum_of_products(const Operands& x) { return x[0] + x[1] + x.terms_along(0, -1); }
int sum_with_products(const Operands& x) {
  const int products = x[1] + x[2] + x.terms_along(1, -1) + std::max(x.times(4), 0);
  return std::max(x[0] + std::max(x.times(3), 0), products) + 1;
}
int convolution(const Operands& x) {
  const bool transposed = x.flag(6);
  const int terms = transposed ? x.terms(1) : x.terms_across(1, 0);
  return std::max(x[0] + x[1] + terms, x[2]) + 1;
}
int convolution_backward(const Operands& x) {
  const bool transposed = x.flag(7);
  const int input = x.factor(2) + (transposed ? x.terms(2) : x.terms_across(2, 1));
  const int weight = x.factor(1) + x.terms_across(0, 1);
  return x[0] + std::max(input, weight);
}
int scattered(const Operands& x, std::size_t source, int times) {
  return std::max(x[0], x[source] + x.terms(source) + times) + 1;
}
int index_add(const Operands& x) { return scattered(x, 3, x.times(4)); }
int scatter_add(const Operands& x) { return scattered(x, 3, 0); }
int index_put(const Operands& x) { return scattered(x, 2, 0); }

// --- normalisation: (x - mean) / sqrt(var + eps), with the mean and variance of x

constexpr int kDigits = 24;  // of float32, in which they are computed
constexpr int kLoose = 24;   // a ceiling above it makes the bound on rounding large

// At most the root of the number of elements, and what the mean's own rounding leaves.
int normalised(int input, int terms, int reciprocal) {
  return std::max(terms / 2, input - kDigits + terms + reciprocal) + 1;
}
int forward(const Operands& x, int terms, std::size_t weight, std::size_t bias, double eps) {
  if (x.output != 0 || !(eps >= 1e-30 && eps < 1e3)) return kNoCeiling;
  const int input = std::max(x.exact(0, kLoose), 0) + 1;
  if (2 * input + x.terms(0) > kMostOnTheWay) return kNoCeiling;
  const int reciprocal = std::max(1 - std::ilogb(eps) / 2, 0);
  const int result = normalised(input, terms, reciprocal) + x.factor(weight);
  // Some kernels multiply first and subtract then.
  if (input + reciprocal + x.factor(weight) > kMostOnTheWay) return kNoCeiling;
  return std::max(result, x[bias]) + 1;
}
int layer_norm(const Operands& x) { return forward(x, x.terms_in(1), 2, 3, x.number(4)); }
int batch_norm(const Operands& x) {
  return x.flag(5) ? forward(x, x.terms_across(0, 1), 1, 2, x.number(7)) : kNoCeiling;
}
int group_norm(const Operands& x) { return forward(x, x.terms(0), 1, 2, x.number(7)); }

// Autograd hands over the mean and 1 / deviation of this very input; anybody else may not.
int backward(const Operands& x, int terms, std::size_t mean, std::size_t reciprocal,
             std::size_t weight) {
  const int gradient = x[0] + x.factor(weight);
  const int input = std::max({x.exact(1, kLoose), x[mean], 0}) + 1;
  const int apart = input + x.factor(reciprocal);
  const int once = torch::autograd::get_current_node() != nullptr
                       ? normalised(input, terms, x.factor(reciprocal))
                       : apart;
  // The sums that are taken before anything is divided, and terms that cancel but for rounding.
  const int sums = gradient + apart + 2 * x.factor(reciprocal) + x.terms(0);
  const int terms_that_cancel = gradient + x.factor(reciprocal) + 2 * apart;
  if (std::max(sums, terms_that_cancel) > kMostOnTheWay) return kNoCeiling;
  if (x.output != 0) return gradient + once + x.terms(0);
  return std::max(gradient + x.factor(reciprocal) + 2 * once, terms_that_cancel - kDigits) + 3;
}
int layer_norm_backward(const Operands& x) { return backward(x, x.terms_in(2), 3, 4, 5); }
int batch_norm_backward(const Operands& x) {
  return x.flag(7) ? backward(x, x.terms_across(1, 1), 5, 6, 2) : kNoCeiling;
}
int group_norm_backward(const Operands& x) { return backward(x, x.terms(1), 2, 3, 4); }

// --- activations

int gelu(const Operands& x) { return 3 * x.factor(0) > kMostOnTheWay ? kNoCeiling : x[0] + 1; }
int gelu_backward(const Operands& x) {
  return 3 * x.factor(1) > kMostOnTheWay ? kNoCeiling : x[0] + 1;
}
int silu_backward(const Operands& x) { return x[0] + x.factor(1) + 2; }
int slope_of_result(const Operands& x) { return x[0] + 2 * x.factor(1) + 1; }
int leaky_relu(const Operands& x) { return x[0] + std::max(x.times(1), 0); }
int leaky_relu_backward(const Operands& x) { return x[0] + std::max(x.times(2), 0); }
int elu_numbers(const Operands& x, std::size_t alpha) {
  return std::max(x.times(alpha), 1) + std::max(x.times(alpha + 1), 1) +
         std::max(x.times(alpha + 2), 1);
}
int elu(const Operands& x) { return x.factor(0) + elu_numbers(x, 1) + 1; }
int elu_backward(const Operands& x) { return x[0] + x.factor(5) + elu_numbers(x, 1) + 2; }

// --- softmax and its kin

int softmax_backward(const Operands& x) {
  return x[0] + 2 * x.factor(1) + x.terms_along(0, x.whole_number(2)) + 1;
}
int log_softmax(const Operands& x) { return std::max(x[0], 6) + 2; }
int log_softmax_backward(const Operands& x) {
  constexpr int kMost = 6;
  const int result = x[1];
  const int terms = x.terms_along(0, x.whole_number(2));
  if (x.sign(1) == Sign::kNotPositive) return x[0] + terms + 1;
  return result > kMost ? kNoCeiling : x[0] + (3 << std::max(result, 0)) / 2 + terms + 2;
}
// The mean divides by the sum of the weights that were used.
int nll_loss_backward(const Operands& x) {
  constexpr std::int64_t kMean = 1;
  const int gradient = x[0] + x.factor(3);
  if (x.whole_number(4) != kMean) return gradient;
  const double total = x.element(6);
  return total >= 1e-6 && total < 1e30 ? gradient - std::ilogb(total) : kNoCeiling;
}

// --- samples

int at_most_one(const Operands&) { return 0; }
int between_numbers(const Operands& x) { return std::max(x.times(1), x.times(2)); }

// --- signs

Sign never_negative(const Operands&) { return Sign::kNotNegative; }
Sign never_positive(const Operands&) { return Sign::kNotPositive; }
Sign sign_of_first(const Operands& x) { return x.sign(0); }
Sign sign_of_second(const Operands& x) { return x.sign(1); }
bool not_negative(const Operands& x, std::size_t argument) {
  const double number = x.wrapped_number(argument);
  return std::isnan(number) ? x.sign(argument) == Sign::kNotNegative : number >= 0;
}
Sign if_not_negative(bool condition) { return condition ? Sign::kNotNegative : Sign::kAny; }
Sign sign_of_sum(const Operands& x) {
  return if_not_negative(not_negative(x, 0) && not_negative(x, 1) && x.number(2) >= 0);
}
Sign sign_of_product(const Operands& x) {
  return if_not_negative(x.same(0, 1) || (not_negative(x, 0) && not_negative(x, 1)));
}
Sign sign_of_power(const Operands& x) { return if_not_negative(std::fmod(x.number(1), 2) == 0); }
Sign sign_of_sum_with_product(const Operands& x) {
  const bool product = x.same(1, 2) || (not_negative(x, 1) && not_negative(x, 2));
  return if_not_negative(not_negative(x, 0) && product && x.number(3) >= 0);
}
Sign sign_of_interpolation(const Operands& x) {
  const double weight = x.number(2);
  return if_not_negative(not_negative(x, 0) && not_negative(x, 1) && weight >= 0 && weight <= 1);
}
Sign sign_of_larger(const Operands& x) {
  return if_not_negative(not_negative(x, 0) || not_negative(x, 1));
}

const std::unordered_map<std::string_view, SignRule>& sign_rules() {
  static const auto& all = *new std::unordered_map<std::string_view, SignRule>{
      {"zeros", never_negative},
      {"zeros_like", never_negative},
      {"new_zeros", never_negative},
      {"zero_", never_negative},
      {"ones", never_negative},
      {"ones_like", never_negative},
      {"abs", never_negative},
      {"relu", never_negative},
      {"exp", never_negative},
      {"sqrt", never_negative},
      {"sqrt_", never_negative},
      {"sigmoid", never_negative},
      {"_softmax", never_negative},
      {"bernoulli_", never_negative},
      {"_log_softmax", never_positive},
      {"clone", sign_of_first},
      {"_to_copy", sign_of_first},
      {"copy_", sign_of_second},
      {"add", sign_of_sum},
      {"add_", sign_of_sum},
      {"mul", sign_of_product},
      {"mul_", sign_of_product},
      {"div", sign_of_product},
      {"div_", sign_of_product},
      {"pow", sign_of_power},
      {"addcmul", sign_of_sum_with_product},
      {"addcmul_", sign_of_sum_with_product},
      {"lerp", sign_of_interpolation},
      {"lerp_", sign_of_interpolation},
      {"maximum", sign_of_larger},
  };
  return all;
}

struct Known {
  const char* overloads;  // separated by spaces; "" is the one without a name
  CeilingRule rule;
};

const std::unordered_map<std::string_view, Known>& rules() {
  static const auto& all = *new std::unordered_map<std::string_view, Known>{
      {"_to_copy", {"", first}},
      {"copy_", {"", second}},
      {"add", {"Tensor", sum}},
      {"add_", {"Tensor", sum}},
      {"sub", {"Tensor", sum}},
      {"sub_", {"Tensor", sum}},
      {"mul", {"Tensor", product}},
      {"mul_", {"Tensor", product}},
      {"div", {"Tensor", quotient}},
      {"div_", {"Tensor", quotient}},
      {"pow", {"Tensor_Scalar", power}},
      {"pow_", {"Scalar", power}},
      {"lerp", {"Scalar", interpolation}},
      {"lerp_", {"Scalar", interpolation}},
      {"addcmul", {"", sum_with_product}},
      {"addcmul_", {"", sum_with_product}},
      {"sqrt", {"", root}},
      {"sqrt_", {"", root}},
      {"exp", {"", exponential}},
      {"exp_", {"", exponential}},
      {"sum", {" dim_IntList", total}},
      {"mean", {" dim", total}},
      {"cumsum", {"", total}},
      {"embedding_dense_backward", {"", total}},
      {"mm", {"", sum_of_products}},
      {"bmm", {"", sum_of_products}},
      {"mv", {"", sum_of_products}},
      {"dot", {"", sum_of_products}},
      {"addmm", {"", sum_with_products}},
      {"addmm_", {"", sum_with_products}},
      {"baddbmm", {"", sum_with_products}},
      {"baddbmm_", {"", sum_with_products}},
      {"addmv", {"", sum_with_products}},
      {"convolution", {"", convolution}},
      {"convolution_backward", {"", convolution_backward}},
      {"index_add", {"", index_add}},
      {"index_add_", {"", index_add}},
      {"scatter_add", {"", scatter_add}},
      {"scatter_add_", {"", scatter_add}},
      {"index_put", {"", index_put}},
      {"index_put_", {"", index_put}},
      {"_index_put_impl_", {"", index_put}},
      {"native_layer_norm", {"", layer_norm}},
      {"native_batch_norm", {"", batch_norm}},
      {"native_group_norm", {"", group_norm}},
      {"native_layer_norm_backward", {"", layer_norm_backward}},
      {"native_batch_norm_backward", {"", batch_norm_backward}},
      {"native_group_norm_backward", {"", group_norm_backward}},
      {"gelu", {"", gelu}},
      {"gelu_backward", {"", gelu_backward}},
      {"silu_backward", {"", silu_backward}},
      {"sigmoid_backward", {"", slope_of_result}},
      {"tanh_backward", {"", slope_of_result}},
      {"leaky_relu", {"", leaky_relu}},
      {"leaky_relu_backward", {"", leaky_relu_backward}},
      {"elu", {"", elu}},
      {"elu_backward", {"", elu_backward}},
      {"_softmax_backward_data", {"", softmax_backward}},
      {"_log_softmax", {"", log_softmax}},
      {"_log_softmax_backward_data", {"", log_softmax_backward}},
      {"nll_loss_backward", {"", nll_loss_backward}},
      {"bernoulli_", {"float", at_most_one}},
      {"uniform_", {"", between_numbers}},
  };
  return all;
}

// Of these only the first argument's values come out; others are indices or masks.
bool takes_from_first(std::string_view name) {
  static const std::unordered_set<std::string_view> names = {
      "index",         "index_select", "gather",       "take",       "embedding",
      "masked_select", "clone",        "_unsafe_view", "contiguous", "_reshape_copy"};
  return names.contains(name);
}

bool is_listed(std::string_view overloads, std::string_view overload) {
  for (;;) {
    const std::size_t end = overloads.find(' ');
    if (overloads.substr(0, end) == overload) return true;
    if (end == std::string_view::npos) return false;
    overloads.remove_prefix(end + 1);
  }
}

std::mutex proofs_lock;

}  // namespace

CeilingRule ceiling_rule_of(std::string_view name, std::string_view overload) noexcept {
  const auto found = rules().find(name);
  if (found != rules().end())
    return is_listed(found->second.overloads, overload) ? found->second.rule : nullptr;
  const ScanRule rule = scan_rule_of(name, overload);
  if (rule == ScanRule::kPasses) return takes_from_first(name) ? first : largest;
  return rule == ScanRule::kBounded ? largest : nullptr;
}

SignRule sign_rule_of(std::string_view name, std::string_view overload) noexcept {
  static constexpr std::string_view kOverloads[] = {"", "Tensor", "Scalar", "Tensor_Scalar",
                                                    "float"};
  const auto found = sign_rules().find(name);
  if (found == sign_rules().end() ||
      std::find(std::begin(kOverloads), std::end(kOverloads), overload) == std::end(kOverloads))
    return nullptr;
  return found->second;
}

Extent known_extent(const at::Tensor& tensor) {
  if (is_number(tensor)) return {ceiling_of_number(number_in(tensor)), Sign::kAny};
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  const c10::ScalarType type = c10::typeMetaToScalarType(impl.dtype());
  if (type == at::kBool) return {0, Sign::kNotNegative};
  if (c10::isIntegralType(type, /*includeBool=*/false)) return {64, Sign::kAny};
  const c10::StorageImpl* storage = storage_of(impl);
  if (storage == nullptr || c10::isComplexType(type)) return {};
  const Watcher& watcher = Watcher::get();
  const Extent extent = watcher.extent_of(storage, type);
  if (extent.ceiling == kNoCeiling || is_foreign(impl)) return {};
  if (!watcher.ledger.empty() && watcher.ledger.knows(storage_id(impl))) return {};
  return looks_like(impl, extent.ceiling) ? extent : Extent{};
}

int proved_ceiling(const Hook& hook, const Call& call, int output, c10::ScalarType type) {
  if (hook.ceiling_rule == nullptr || call.arguments == nullptr) return kNoCeiling;
  Operands operands(hook, call, output);
  operands.updates = hook.rule == ScanRule::kScan && hook.shape == ResultShape::kWrittenArguments &&
                     operands[0] <= kHighestOfUpdated;
  const int proved = hook.ceiling_rule(operands);
  const int limit = operands.updates ? std::min(kHighestOfUpdated, highest_believed(type))
                                     : highest_believed(type);
  if (proved > limit || operands.lacks_one()) return kNoCeiling;
  return std::max(proved, kAllZero);
}

Proofs proofs;

Sign proved_sign(const Hook& hook, const Call& call) {
  return call.arguments == nullptr ? Sign::kAny : hook.sign_rule(Operands(hook, call, 0));
}

void check_proof(const Hook& hook, const at::Tensor& output, Extent proved) {
  if (proved.ceiling == kNoCeiling) return;
  const int found = ceiling_of(*output.unsafeGetTensorImpl());
  bool holds = found <= proved.ceiling;
  if (found != kNoCeiling && (!holds || proved.sign != Sign::kAny)) {
    // A scan tells powers of two and subnormals apart late.
    const Statistics seen = statistics_of(OwnedView(output).view());
    holds = std::max(-*seen.min, *seen.max) <= std::ldexp(1.0, proved.ceiling) &&
            (proved.sign != Sign::kNotNegative || *seen.min >= 0) &&
            (proved.sign != Sign::kNotPositive || *seen.max <= 0);
  }
  const std::lock_guard guard(proofs_lock);
  if (holds) {
    ++proofs.held;
  } else {
    proofs.broken.push_back(hook.info.name + ": 2^" + std::to_string(found) + " above 2^" +
                            std::to_string(proved.ceiling) + ", sign " +
                            std::to_string(static_cast<int>(proved.sign)));
  }
}

}  // namespace nanscope::torch_adapter
