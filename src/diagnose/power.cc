// pow_domain: a negative base with a fractional exponent, or the slope of x ** p at x = 0:
// p * x ** (p - 1) for p < 1, log(x) for a learnable p. 0 to a negative power is a division.

#include <fmt/format.h>

#include <cmath>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

constexpr const char* kPowDomain = "pow_domain";

bool is_whole(double number) { return number == std::floor(number); }

std::string base_here(const Facts& facts, const Operand& base) {
  return base.value() ? fmt::format("{} is {}{}", base.name, number(*base.value()), facts.at())
                      : base.name;
}

void power_forward(const Facts& facts, Opinions& opinions) {
  const auto base = facts.operand("self", 0, "the base of " + facts.expression());
  const auto exponent = facts.operand("exponent", 1, "the exponent");
  if (!base || !exponent || !exponent->value()) return;
  const double power = *exponent->value();
  const bool fractional = !is_whole(power);
  std::vector<std::string> evidence{values_here(facts, *base),
                                    fmt::format("the exponent is {}", number(power))};
  const Proof negative = fractional ? base->is_negative() : Proof::kNo;
  if (facts.is_nan() && negative != Proof::kNo) {
    opinions.push_back({stand_of(negative), kPowDomain,
                        fmt::format("{}, and a negative number to the power {} is nan.",
                                    is_negative_here(facts, *base), number(power)),
                        evidence});
    return;
  }
  const Proof zero = power < 0 ? base->is_zero() : Proof::kNo;
  if (!facts.is_nan() && zero != Proof::kNo) {
    opinions.push_back({stand_of(zero), "division_by_zero",
                        fmt::format("{}, and 0 to the power {} is 1 / 0 = inf.",
                                    is_zero_here(facts, *base), number(power)),
                        evidence});
    return;
  }
  opinions.push_back(
      {Opinion::Stand::kRuledOut,
       kPowDomain,
       fmt::format("{} and the exponent is {}", base_here(facts, *base), number(power)),
       {}});
}

// The base as the forward knew it; inside the node the op's own operand is the same numbers.
std::optional<Operand> base_of(const Facts& facts) {
  if (auto saved = facts.saved("self")) return saved;
  return facts.operand("self", 0, "the base of " + facts.expression());
}

void power_backward(const Facts& facts, Opinions& opinions) {
  const auto base = base_of(facts);
  if (!base || !facts.op_is(OpFamily::kPowerBackward)) return;
  const auto inner = facts.operand("exponent", 1, "");
  const Proof zero = base->is_zero();
  const Proof negative = facts.is_nan() ? base->is_negative() : Proof::kNo;
  const Proof proof = std::max(zero, negative);
  if (proof == Proof::kNo) {
    opinions.push_back({Opinion::Stand::kRuledOut, kPowDomain, is_not(facts, *base, "0"), {}});
    return;
  }
  std::string slope = "the slope is infinite if the exponent is below 1";
  if (facts.op() == "log")
    slope = "the gradient for the exponent takes the logarithm of the base";
  else if (facts.op() == "pow" && inner && inner->value())
    slope = fmt::format("the slope, {} * x ** {}, is infinite", number(*inner->value() + 1),
                        number(*inner->value()));
  opinions.push_back(
      {stand_of(proof),
       kPowDomain,
       fmt::format("{}, where {}.",
                   zero != Proof::kNo ? is_zero_here(facts, *base) : is_negative_here(facts, *base),
                   slope),
       {values_here(facts, *base)},
       {"log_of_zero", "log_of_negative", "division_by_zero"}});
}

}  // namespace

void power(const Facts& facts, Opinions& opinions) {
  if (facts.in_backward_of(OpFamily::kPower)) return power_backward(facts, opinions);
  if (facts.op_is(OpFamily::kPower)) power_forward(facts, opinions);
}

}  // namespace nanscope::diagnosis
