// sqrt_of_negative: a root outside its domain, mostly a variance spoiled by rounding.
// sqrt_gradient_at_zero: sqrt(0) is fine, its slope 1 / (2 sqrt(0)) is infinite.

#include <fmt/format.h>

#include "diagnose/division.h"
#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

void square_root_forward(const Facts& facts, Opinions& opinions) {
  const std::optional<Operand> x =
      facts.operand("self", 0, "the argument of " + facts.expression());
  if (!x) return;
  Proof negative = x->is_negative();
  if (negative == Proof::kPossible && !facts.is_nan()) negative = Proof::kNo;
  if (negative == Proof::kNo) {
    opinions.push_back(
        {Opinion::Stand::kRuledOut, "sqrt_of_negative", is_not(facts, *x, "negative"), {}});
    return;
  }
  std::vector<std::string> evidence{values_here(facts, *x)};
  if (x->tensor && x->tensor->statistics.min)
    evidence.push_back(fmt::format("the smallest element of {} is {}", x->name,
                                   number(*x->tensor->statistics.min)));
  opinions.push_back({stand_of(negative),
                      "sqrt_of_negative",
                      fmt::format("{}, and {} of a negative number is nan.",
                                  is_negative_here(facts, *x), facts.op()),
                      evidence,
                      {},
                      x->argument});
}

// SqrtBackward0 divides the gradient by 2 * sqrt(x).
void square_root_backward(const Facts& facts, Opinions& opinions) {
  const std::optional<Operand> root = divisor_of(facts);
  if (!root) return;
  const Proof zero = root->is_zero();
  if (zero == Proof::kNo) {
    opinions.push_back({Opinion::Stand::kRuledOut,
                        "sqrt_gradient_at_zero",
                        fmt::format("2 * sqrt(x) is {}{}, not 0",
                                    root->value() ? number(*root->value()) : "never 0", facts.at()),
                        {}});
    return;
  }
  const auto gradient = facts.operand("self", 0, "the incoming gradient");
  std::vector<std::string> evidence;
  if (root->tensor && root->tensor->statistics.numel > 1) {
    const Statistics& roots = root->tensor->statistics;
    evidence.push_back(fmt::format("{} of its {} {} 0", grouped(roots.zeros),
                                   plural(roots.numel, "element"),
                                   roots.zeros == 1 ? "is" : "are"));
  }
  if (gradient && gradient->value())
    evidence.push_back(fmt::format("the incoming gradient there is {}, and {} / 0 is {}",
                                   number(*gradient->value()), number(*gradient->value()),
                                   facts.value()));
  opinions.push_back(
      {stand_of(zero),
       "sqrt_gradient_at_zero",
       fmt::format("{} is 0{}: that is fine in forward, but the slope of sqrt at 0, "
                   "1 / (2 * sqrt(0)), is infinite.",
                   facts.expression(), zero == Proof::kYes ? facts.at() : " somewhere"),
       evidence,
       {},
       root->argument});
}

}  // namespace

void square_root(const Facts& facts, Opinions& opinions) {
  if (facts.op_is(OpFamily::kSquareRoot) && !facts.in_backward_of("sqrt"))
    return square_root_forward(facts, opinions);
  if (facts.in_backward_of("sqrt")) square_root_backward(facts, opinions);
}

}  // namespace nanscope::diagnosis
