// log_of_zero, log_of_negative: a logarithm outside its domain, or its slope 1/x at 0.

#include <fmt/format.h>

#include <cmath>

#include "diagnose/division.h"
#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

// The argument of the logarithm as it stands in the source, and how far it lies from the
// number whose log is taken: log1p(x) takes the log of 1 + x.
struct Argument {
  Operand operand;
  double shift = 0;
};

std::optional<Argument> argument_of(const Facts& facts) {
  std::optional<Operand> operand;
  double shift = 0;
  if (facts.op_is(OpFamily::kLogarithmOfSelf)) {
    operand = facts.operand("self", 0, "the argument of " + facts.expression());
  } else if (facts.op() == "log1p") {
    operand = facts.operand("self", 0, "the argument of " + facts.expression());
    shift = 1;
  } else if (facts.op_is(OpFamily::kLogarithmOfOther)) {
    operand = facts.operand("other", 1, "the argument of the logarithm");
    shift = facts.op() == "xlog1py" ? 1 : 0;
  }
  if (!operand) return std::nullopt;
  return Argument{*operand, shift};
}

void logarithm_forward(const Facts& facts, const Argument& argument, Opinions& opinions) {
  const Operand& x = argument.operand;
  const std::string call = argument.shift == 0 ? facts.op() : "log";
  const std::optional<double> value = x.value();
  Proof zero = x.is_zero();
  Proof negative = x.is_negative();
  std::string zero_text = is_zero_here(facts, x);
  std::string negative_text = is_negative_here(facts, x);
  if (argument.shift != 0 || facts.op() == "logit") {
    // Only the value itself tells: 1 + x, or for logit also 1 - x.
    if (!value) return;
    const double inside =
        facts.op() == "logit" ? std::min(*value, 1 - *value) : *value + argument.shift;
    zero = inside == 0 ? Proof::kYes : Proof::kNo;
    negative = inside < 0 ? Proof::kYes : Proof::kNo;
    zero_text = fmt::format("{} is {}{}", x.name, number(*value), facts.at());
    negative_text = zero_text;
  }
  // An answer of the other kind settles what the values leave open.
  if (zero == Proof::kPossible && facts.is_nan()) zero = Proof::kNo;
  if (negative == Proof::kPossible && !facts.is_nan()) negative = Proof::kNo;

  const std::vector<std::string> evidence{values_here(facts, x)};
  if (zero == Proof::kNo) {
    opinions.push_back({Opinion::Stand::kRuledOut,
                        "log_of_zero",
                        is_not(facts, x, argument.shift == 0 ? "0" : "-1"),
                        {}});
  } else {
    opinions.push_back({stand_of(zero),
                        "log_of_zero",
                        fmt::format("{}, and {}(0) is {}.", zero_text, call, facts.value()),
                        evidence,
                        {},
                        x.argument});
  }
  if (negative == Proof::kNo) {
    opinions.push_back(
        {Opinion::Stand::kRuledOut, "log_of_negative", is_not(facts, x, "negative"), {}});
  } else {
    opinions.push_back(
        {stand_of(negative),
         "log_of_negative",
         fmt::format("{}, and the logarithm of a negative number is nan.", negative_text),
         evidence,
         {},
         x.argument});
  }
}

// The source's name of what the node saved, else a description.
std::string name_of_argument(const Facts& facts) {
  for (const Operand& saved : facts.saved())
    if (!saved.name.empty() && saved.is_zero() == Proof::kYes) return saved.name;
  return "the argument of " + facts.expression();
}

// grad / x at x = 0: the forward -inf may have been repaired, its slope was not.
void logarithm_backward(const Facts& facts, Opinions& opinions) {
  const std::optional<Operand> divisor = divisor_of(facts);
  if (!divisor) return;
  Operand x = *divisor;
  if (!x.in_source) x.name = name_of_argument(facts);
  const Proof zero = x.is_zero();
  if (zero == Proof::kNo) {
    opinions.push_back({Opinion::Stand::kRuledOut, "log_of_zero", is_not(facts, x, "0"), {}});
    return;
  }
  std::vector<std::string> evidence{values_here(facts, x)};
  if (const auto gradient = facts.operand("self", 0, "the incoming gradient");
      gradient && gradient->value())
    evidence.push_back(fmt::format("the incoming gradient there is {}, and {} / 0 is {}",
                                   number(*gradient->value()), number(*gradient->value()),
                                   facts.value()));
  opinions.push_back({stand_of(zero),
                      "log_of_zero",
                      fmt::format("{}, where the slope of the logarithm, 1 / x, is infinite.",
                                  is_zero_here(facts, x)),
                      evidence,
                      {},
                      x.argument});
}

}  // namespace

void logarithm(const Facts& facts, Opinions& opinions) {
  if (const std::optional<Argument> argument = argument_of(facts))
    return logarithm_forward(facts, *argument, opinions);
  if (facts.in_backward_of(OpFamily::kSlopeOfLogarithm)) logarithm_backward(facts, opinions);
}

}  // namespace nanscope::diagnosis
