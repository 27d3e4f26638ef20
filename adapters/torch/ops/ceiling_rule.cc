#include "adapters/torch/ops/ceiling_rule.h"

#include <torch/csrc/autograd/function.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "adapters/torch/ops/op_table.h"
#include "adapters/torch/ops/operands.h"
#include "adapters/torch/ops/scan_rule.h"

namespace nanscope::torch_adapter {
namespace {

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

constexpr int kMostOnTheWay = 108;  // of what a kernel computes in float32 for itself

// --- moved, chosen, bounded

int largest(const Operands& x) { return x.largest(); }
int pooled(const Operands& x) { return x.has_empty_windows() ? kNoCeiling : x.largest(); }
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

// The root of a negative number is NaN.
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
  // exp(x * input_scale) is at most 1 where x is negative; not if that is, too.
  if (!(x.number(alpha + 2) >= 0)) return 100 * kNoCeiling;
  return std::max(x.times(alpha), 1) + std::max(x.times(alpha + 1), 1) +
         std::max(x.times(alpha + 2), 1);
}
int elu(const Operands& x) { return x.factor(0) + elu_numbers(x, 1) + 1; }
int elu_backward(const Operands& x) { return x[0] + x.factor(5) + elu_numbers(x, 1) + 2; }
int log_sigmoid(const Operands& x) { return x.largest() + 1; }

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

struct Known {
  const char* overloads;  // separated by spaces; "" is the one without a name
  CeilingRule rule;
};

constexpr std::pair<std::string_view, Known> kRules[] = {
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
    {"log_sigmoid_forward", {"", log_sigmoid}},
    {"max_pool2d_with_indices", {"", pooled}},
    {"max_pool3d_with_indices", {"", pooled}},
    {"_softmax_backward_data", {"", softmax_backward}},
    {"_log_softmax", {"", log_softmax}},
    {"_log_softmax_backward_data", {"", log_softmax_backward}},
    {"nll_loss_backward", {"", nll_loss_backward}},
    {"bernoulli_", {"float", at_most_one}},
    {"uniform_", {"", between_numbers}},
};

const std::unordered_map<std::string_view, Known>& rules() {
  static const auto& all =
      *new std::unordered_map<std::string_view, Known>(std::begin(kRules), std::end(kRules));
  return all;
}

}  // namespace

CeilingRule ceiling_rule_of(std::string_view name, std::string_view overload) noexcept {
  const auto found = rules().find(name);
  if (found != rules().end())
    return is_listed(found->second.overloads, overload) ? found->second.rule : nullptr;
  const ScanRule rule = scan_rule_of(name, overload);
  if (rule == ScanRule::kPasses)
    return has(known_op(name).flags, OpFlags::kTakesFromFirst) ? first : largest;
  return rule == ScanRule::kBounded ? largest : nullptr;
}

int proved_ceiling(const Wrapper& wrapper, const Call& call, int output, c10::ScalarType type) {
  if (wrapper.ceiling_rule == nullptr || call.arguments == nullptr) return kNoCeiling;
  Operands operands(wrapper, call, output);
  operands.updates = wrapper.rule == ScanRule::kScan &&
                     wrapper.shape == ResultShape::kWrittenArguments &&
                     operands[0] <= kHighestOfUpdated;
  const int proved = wrapper.ceiling_rule(operands);
  const int limit = operands.updates ? std::min(kHighestOfUpdated, highest_believed(type))
                                     : highest_believed(type);
  if (proved > limit || operands.lacks_one()) return kNoCeiling;
  return std::max(proved, kAllZero);
}

}  // namespace nanscope::torch_adapter
