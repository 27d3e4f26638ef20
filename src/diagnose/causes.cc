#include "diagnose/causes.h"

#include <algorithm>
#include <iterator>

namespace nanscope {
namespace {

// Adding a cause: its family's rule, a line here, its page in docs/causes.
constexpr CauseInfo kCauses[] = {
    {"division_by_zero", "the code", "A divisor is exactly 0.", "Division by zero"},
    {"log_of_zero", "the code", "A logarithm is taken, or differentiated, at exactly 0.",
     "Logarithm of zero"},
    {"log_of_negative", "the code", "A logarithm of a negative number.",
     "Logarithm of a negative number"},
    {"sqrt_of_negative", "the code", "A square root of a negative number.",
     "Square root of a negative number"},
    {"sqrt_gradient_at_zero", "the code", "sqrt(0) is fine in the forward; its slope is infinite.",
     "Infinite slope of a square root at 0"},
    {"norm_gradient_at_zero", "the code", "The direction x / |x| of a vector of length 0.",
     "Gradient of a length that is 0"},
    {"pow_domain", "the code", "A power outside its domain, or its slope at 0.",
     "Power outside its domain"},
    {"where_gradient_leak", "the code",
     "A value that is discarded in the forward spoils the gradient.",
     "A value that is not used spoils the gradient"},
    {"exp_overflow", "the code", "exp of a number that is too large.",
     "Exponential of too large a number"},
    {"float_overflow", "the code", "A result exceeds the largest float32 or float64.",
     "Number too large for its type"},
    {"half_overflow", "the code", "A value does not fit float16, which ends at 65,504.",
     "Number too large for float16"},
    {"eight_bit_overflow", "the code", "A value does not fit a float8 kind.",
     "Number too large for 8 bits"},
    {"cancellation", "the code", "The difference of nearly equal numbers is only rounding noise.",
     "Rounding noise left by a subtraction"},
    {"eps_underflow", "the code", "A guard constant is rounded away in half precision.",
     "A guard that vanishes in half precision"},
    {"all_masked_softmax", "the code", "softmax over a row of only -inf.",
     "Softmax over a row that is all masked"},
    {"inf_minus_inf", "the code", "Two infinities are subtracted or added.",
     "Infinity minus infinity"},
    {"zero_times_inf", "the code", "0 is multiplied by Inf.", "Zero times infinity"},
    {"empty_reduction", "the data, or the code that takes it as it comes",
     "A reduction over too few elements.", "Mean or spread of too few elements"},
    {"bad_input_data", "the data",
     "The number came in with the data; the program's arithmetic is right.",
     "Bad number in the input data"},
    {"learning_rate_divergence", "a hyper-parameter", "The training itself diverges.",
     "The training diverges"},
    {"bad_initialisation", "the code", "Weights are wrong before the first update.",
     "Weights wrong from the start"},
    {"optimizer_division_by_zero", "the code, or a hyper-parameter (eps)",
     "The update divides by a second moment or norm that is 0.", "The optimizer divides by zero"},
    {"uninitialised_memory", "the code", "Memory from empty() is read before it is written.",
     "Memory read before it was written"},
    {"inverse_trig_domain", "the code", "acos, asin, atanh or acosh on or beyond the edge.",
     "Edge of an inverse trigonometric function"},
    {"special_function_domain", "the code",
     "erfinv, lgamma, digamma and the like at a pole or beyond the edge.",
     "Edge of a special function"},
    {"loss_scale_runaway", "a hyper-parameter",
     "A dynamic loss scale collapses towards 0 or grows to Inf.", "The loss scale runs away"},
    {"degenerate_decomposition", "the code",
     "The backward of svd or eigh with equal singular values, or of qr with dependent columns.",
     "Gradient of a degenerate decomposition"},
    {"exploding_gradients", "the code", "Gradients grow through depth or time.",
     "Gradients explode through the layers"},
    {"nan_constant", "the code", "A NaN or Inf written as a constant flows into the result.",
     "A NaN or Inf written as a constant"},
    {"singular_matrix", "the data, or the code",
     "inverse, solve, cholesky or logdet of a singular or indefinite matrix.",
     "A matrix that has no inverse"},
    {"unwatched_kernel", "unknown: the code of the kernel, or what it was given",
     "A kernel that could not be watched made it.", "Made by a kernel that was not watched"},
    {"foreign_operator", "the code of that operator",
     "An operator that is not torch's own returned it for finite inputs.",
     "Made by an operator that is not torch's own"},
    {"compiled_only", "the compiled code, or an expression that leans on how eager rounds",
     "Only the compiled form of a region gives it; eagerly it is finite.", "Only when compiled"},
    {"received_from_rank", "another rank",
     "The number came from another rank; the origin is there.", "Received from another rank"},
    {"overflow_in_reduction", "the type in which ranks are summed",
     "A sum over ranks left the range of its type.", "Sum over ranks too large for its type"},
    {"unknown", "unknown", "None of the causes can be shown.", "Not explained"},
    {"extreme_weights", "a hyper-parameter, or the code",
     "A warning: weights above 100, or all below 1e-6, after training.", "Extreme weights"},
    {"untrained_weights", "the code",
     "A warning: a weight was given to an optimizer and never changed.",
     "Weights that are not trained"},
    {"little_headroom", "the code", "A warning: values near the end of their type.",
     "Little headroom left"},
    {"growing_gradients", "a hyper-parameter", "A warning: the gradient norm grows without bound.",
     "Gradients grow without bound"},
};

struct Page {
  std::string_view id;
  std::string_view text;
};

constexpr Page kPages[] = {
#include "cause_pages.inc"
};

}  // namespace

std::span<const CauseInfo> all_causes() noexcept { return kCauses; }

const CauseInfo* find_cause(std::string_view id) noexcept {
  const auto* found = std::find_if(std::begin(kCauses), std::end(kCauses),
                                   [&](const CauseInfo& cause) { return cause.id == id; });
  return found == std::end(kCauses) ? nullptr : found;
}

std::string_view page_of(std::string_view id) noexcept {
  for (const Page& page : kPages)
    if (page.id == id) return page.text;
  return {};
}

}  // namespace nanscope
