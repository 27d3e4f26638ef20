// where_gradient_leak: a value is discarded in the forward (where, a mask, a slice,
// nan_to_num), and its backward multiplies the 0 it gets by an infinite slope.
//
// In the forward: the loss of this step is finite, yet a nan (or an inf that was replaced on
// purpose) reaches a gradient: it went through the branch not taken. In backward: the graph shows
// the op that leaves the failing element out (left_out_by), and the forward value was bad as well,
// or the gradient that enters the bad node is exactly 0. A gradient that is 0 for another reason
// (atan brings inf back, a function is flat there) is no leak: then the mechanism at the birth is
// it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "diagnose/division.h"
#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

constexpr const char* kWhereGradientLeak = "where_gradient_leak";

// What it is that has no value in the branch not taken.
const std::vector<std::string> kMechanisms{
    "division_by_zero",      "log_of_zero",   "log_of_negative",        "sqrt_of_negative",
    "sqrt_gradient_at_zero", "pow_domain",    "exp_overflow",           "inverse_trig_domain",
    "float_overflow",        "half_overflow", "special_function_domain"};

bool harms_gradient(const Finding& finding) {
  return finding.harm &&
         (finding.harm->kind == HarmKind::kGradient || finding.harm->kind == HarmKind::kParameter);
}

bool goes_through_backward(const Finding& finding) {
  return std::any_of(finding.chain.begin(), finding.chain.end(), [](const Link& link) {
    return link.phase == Phase::kBackward && link.role != Role::kHarm;
  });
}

void from_forward(const Facts& facts, Opinions& opinions) {
  const std::optional<double> loss = facts.loss();
  if (!harms_gradient(facts.finding()) || !goes_through_backward(facts.finding()) || !loss) return;
  if (!std::isfinite(*loss)) {
    opinions.push_back({Opinion::Stand::kRuledOut,
                        kWhereGradientLeak,
                        fmt::format("the loss itself is {}", number(*loss)),
                        {}});
    return;
  }
  // A nan cannot be calculated away; an inf can: x / inf is 0.
  if (!facts.is_nan() && !facts.origin().discarded) {
    opinions.push_back({Opinion::Stand::kRuledOut,
                        kWhereGradientLeak,
                        fmt::format("the loss is {}, but nothing shows that {} was discarded: an "
                                    "inf can be divided away",
                                    number(*loss), facts.expression()),
                        {}});
    return;
  }
  opinions.push_back(
      {Opinion::Stand::kCertain,
       kWhereGradientLeak,
       fmt::format("{} is {}{} and is not used: the loss is {}. Its gradient is used all the same: "
                   "0 times the infinite slope is nan, also in the branch not taken.",
                   facts.expression(), facts.value(), facts.at(), number(*loss)),
       {fmt::format("{} in the forward", bad_elements(facts.origin())),
        "the gradient is not finite although the loss is"},
       kMechanisms});
}

// log(0), x / 0, a root or power of a negative number: bad in the forward already.
bool forward_was_bad(const Facts& facts) {
  const auto zero_or_negative = [&](std::string_view name) {
    const auto x = facts.saved(name);
    return x && (x->is_zero() == Proof::kYes || x->is_negative() == Proof::kYes);
  };
  if (facts.in_backward_of(OpFamily::kLogarithm)) return zero_or_negative("self");
  if (facts.in_backward_of("div")) {
    const auto other = facts.saved("other");
    return other && other->is_zero() == Proof::kYes;
  }
  const auto result = facts.saved("result");
  return result && !result->values.empty() && !result->is_finite();
}

// These nodes divide the incoming gradient itself.
bool gradient_is_zero(const Facts& facts) {
  if (!facts.is_nan() || facts.op() != "div" ||
      (!facts.in_backward_of("sqrt") && !facts.in_backward_of(OpFamily::kLogarithm)))
    return false;
  const auto gradient = facts.operand("self", 0, "");
  return gradient && gradient->is_zero() == Proof::kYes;
}

// The slope alone is infinite, before any gradient meets it: of a power, of an inverse function.
bool slope_is_infinite(const Facts& facts) {
  return facts.in_backward_of(OpFamily::kPower) ||
         facts.in_backward_of(OpFamily::kInverseTrigonometry);
}

// "`torch.where(m, a, b)` at line 12 does not take it".
std::string left_out(const Facts& facts) {
  const Link& by = *facts.finding().left_out_by;
  if (by.op.empty()) return "the program replaced its value on purpose, as a where does";
  if (by.site.code.empty()) return fmt::format("{} does not take it", by.op);
  return fmt::format("{} at line {} does not take it", in_backticks(by.site.code), by.site.line);
}

void in_backward(const Facts& facts, Opinions& opinions) {
  const std::optional<double> loss = facts.loss();
  if (loss && !std::isfinite(*loss)) return;
  const std::string rest = loss ? fmt::format("; the loss is {}", number(*loss)) : std::string();
  const bool suspect = forward_was_bad(facts) || gradient_is_zero(facts);
  if (!facts.finding().left_out_by) {
    if (suspect)
      opinions.push_back({Opinion::Stand::kRuledOut,
                          kWhereGradientLeak,
                          fmt::format("no where, mask or nan_to_num leaves {} out{}",
                                      facts.expression(), facts.at()),
                          {}});
    return;
  }
  if (forward_was_bad(facts)) {
    opinions.push_back(
        {Opinion::Stand::kCertain,
         kWhereGradientLeak,
         fmt::format("{} is not finite{} in the forward already and is discarded there{}. Its "
                     "gradient is not: the backward makes {} of it again.",
                     facts.expression(), facts.at(), rest, facts.value()),
         {left_out(facts), "had the forward value been used, it would be the first bad one"},
         kMechanisms});
  } else if (slope_is_infinite(facts)) {
    opinions.push_back(
        {Opinion::Stand::kCertain,
         kWhereGradientLeak,
         fmt::format("The slope of {}{} is infinite, and its value is not used{}; but 0 times the "
                     "infinite slope in its backward is nan.",
                     facts.expression(), facts.at(), rest),
         {left_out(facts)},
         kMechanisms});
  } else if (gradient_is_zero(facts) && divisor_of(facts) &&
             divisor_of(facts)->is_zero() == Proof::kYes) {
    opinions.push_back(
        {Opinion::Stand::kCertain,
         kWhereGradientLeak,
         fmt::format("The gradient that reaches {}{} is 0, so its value is discarded later{}; but "
                     "0 / 0 in its backward is nan.",
                     facts.expression(), facts.at(), rest),
         {left_out(facts), "the incoming gradient is exactly 0, the divisor is too"},
         kMechanisms});
  }
}

}  // namespace

void leak(const Facts& facts, Opinions& opinions) {
  if (facts.origin().phase == Phase::kForward) return from_forward(facts, opinions);
  if (facts.origin().phase == Phase::kBackward) in_backward(facts, opinions);
}

}  // namespace nanscope::diagnosis
