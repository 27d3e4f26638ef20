// division_by_zero: a divisor is exactly 0. 0 / 0 is nan, anything else / 0 is inf.
//
// In backward the same holds of the divisions a node makes. Where such a division is
// the slope of sqrt or log, those families name it; in the optimizer, that one.

#include "diagnose/division.h"

#include <fmt/format.h>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

std::optional<Operand> dividend_of(const Facts& facts) {
  if (facts.op() == "addcdiv") return facts.operand("tensor1", 1, "the dividend");
  if (facts.op_is(OpFamily::kReciprocal)) return std::nullopt;
  return facts.operand("self", 0, "the dividend");
}

bool belongs_elsewhere(const Facts& facts) {
  return facts.origin().phase == Phase::kOptimizer ||
         facts.in_backward_of(OpFamily::kOwnSlopeAtAPole);
}

std::string sentence(const Facts& facts, const Operand& divisor) {
  const std::string zero = is_zero_here(facts, divisor);
  if (facts.origin().phase == Phase::kBackward)
    return fmt::format("The gradient of {} divides by {}: {}, and {} is {}.", facts.expression(),
                       divisor.name, zero, division_here(facts), facts.value());
  return fmt::format("{}, and {} is {}.", zero, division_here(facts), facts.value());
}

}  // namespace

std::optional<Operand> divisor_of(const Facts& facts) {
  if (facts.op_is(OpFamily::kDivision)) return facts.operand("other", 1, "the divisor");
  if (facts.op_is(OpFamily::kReciprocal)) return facts.operand("self", 0, "the divisor");
  if (facts.op() == "addcdiv") return facts.operand("tensor2", 2, "the divisor");
  return std::nullopt;
}

std::string division_here(const Facts& facts) {
  if (facts.op() == "reciprocal") return "1 / 0";
  if (facts.op() == "rsqrt") return "1 / sqrt(0)";
  if (facts.op_is(OpFamily::kRemainder)) return "the remainder of a division by 0";
  const std::optional<Operand> dividend = dividend_of(facts);
  const bool known = dividend && !dividend->values.empty();
  return fmt::format("{} / 0", known ? number(dividend->values[0]) : facts.is_nan() ? "0" : "x");
}

void division(const Facts& facts, Opinions& opinions) {
  const std::optional<Operand> divisor = divisor_of(facts);
  if (!divisor || belongs_elsewhere(facts)) return;
  const Proof zero = divisor->is_zero();
  if (zero == Proof::kNo) {
    opinions.push_back(
        {Opinion::Stand::kRuledOut, "division_by_zero", is_not(facts, *divisor, "0"), {}});
    return;
  }
  std::vector<std::string> evidence{values_here(facts, *divisor)};
  if (const std::optional<Operand> dividend = dividend_of(facts))
    evidence.push_back(finite_range(*dividend));
  opinions.push_back({.stand = stand_of(zero),
                      .id = "division_by_zero",
                      .sentence = sentence(facts, *divisor),
                      .evidence = evidence,
                      .mends = divisor->argument});
}

}  // namespace nanscope::diagnosis
