// where_gradient_leak: a value is discarded in the forward (where, a mask, a slice,
// nan_to_num), and its backward multiplies the 0 it gets by an infinite slope.
//
// Three proofs. The loss of this step is finite, yet a forward nan (or an inf that was replaced on
// purpose) reaches a gradient: it went through the branch not taken. Or a node is born bad whose
// forward value was bad as well: had that value counted, the forward would be the origin. Or the
// gradient that enters the bad node is exactly 0.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnose/division.h"
#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

constexpr const char* kWhereGradientLeak = "where_gradient_leak";

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
        "the gradient is not finite although the loss is"}});
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

void in_backward(const Facts& facts, Opinions& opinions) {
  const std::optional<double> loss = facts.loss();
  if (loss && !std::isfinite(*loss)) return;
  const std::string rest = loss ? fmt::format("; the loss is {}", number(*loss)) : std::string();
  if (forward_was_bad(facts)) {
    opinions.push_back(
        {Opinion::Stand::kCertain,
         kWhereGradientLeak,
         fmt::format("{} is not finite{} in the forward already and is discarded there{}. Its "
                     "gradient is not: the backward makes {} of it again.",
                     facts.expression(), facts.at(), rest, facts.value()),
         {"had the forward value been used, it would be the first bad one"}});
  } else if (gradient_is_zero(facts) && divisor_of(facts) &&
             divisor_of(facts)->is_zero() == Proof::kYes) {
    opinions.push_back(
        {Opinion::Stand::kCertain,
         kWhereGradientLeak,
         fmt::format("The gradient that reaches {}{} is 0, so its value is discarded later{}; but "
                     "0 / 0 in its backward is nan.",
                     facts.expression(), facts.at(), rest),
         {"the incoming gradient is exactly 0, the divisor is too"}});
  }
}

}  // namespace

void leak(const Facts& facts, Opinions& opinions) {
  if (facts.origin().phase == Phase::kForward) return from_forward(facts, opinions);
  if (facts.origin().phase == Phase::kBackward) in_backward(facts, opinions);
}

}  // namespace nanscope::diagnosis
