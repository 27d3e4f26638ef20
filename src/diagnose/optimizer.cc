// optimizer_division_by_zero: the update divides by a second moment or norm that is 0,
// because eps is missing, 0, or added too late.

#include <fmt/format.h>

#include "diagnose/division.h"
#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

constexpr const char* kOptimizerDivisionByZero = "optimizer_division_by_zero";

std::string eps_here(const Facts& facts) {
  const std::optional<double> eps = facts.scalar("eps");
  return eps ? fmt::format("eps is {}", number(*eps)) : std::string();
}

// " of `weight`": whose update it is.
std::string target(const Facts& facts) {
  const std::optional<Harm>& harm = facts.finding().harm;
  return harm && harm->name ? " of " + in_backticks(*harm->name) : std::string();
}

// The divisor stays inside a fused kernel; eps and the moments tell.
void fused(const Facts& facts, Opinions& opinions) {
  const std::optional<double> eps = facts.scalar("eps");
  if (!eps) return;
  if (*eps != 0) {
    opinions.push_back({Opinion::Stand::kRuledOut,
                        kOptimizerDivisionByZero,
                        fmt::format("eps is {}, not 0", number(*eps)),
                        {}});
    return;
  }
  const auto moment = facts.operand("exp_avg_sqs", 3, "the second moment");
  const auto gradient = facts.operand("grads", 1, "the gradient");
  const bool proven =
      moment && gradient && moment->is_zero() == Proof::kYes && gradient->is_zero() == Proof::kYes;
  opinions.push_back(
      {proven ? Opinion::Stand::kCertain : Opinion::Stand::kLikely,
       kOptimizerDivisionByZero,
       fmt::format("The update{} divides by sqrt(second moment) + eps, and both are 0{}.",
                   target(facts), facts.at()),
       {eps_here(facts),
        gradient && proven ? fmt::format("{} is 0 there", gradient->name) : std::string()}});
}

}  // namespace

void optimizer(const Facts& facts, Opinions& opinions) {
  if (facts.origin().phase != Phase::kOptimizer) return;
  if (facts.op_is(OpFamily::kFusedOptimizer)) return fused(facts, opinions);
  std::optional<Operand> divisor = divisor_of(facts);
  if (!divisor) return;
  if (divisor->name == "the divisor") divisor->name = "its divisor";
  const Proof zero = divisor->is_zero();
  if (zero == Proof::kNo) {
    opinions.push_back(
        {Opinion::Stand::kRuledOut, kOptimizerDivisionByZero, is_not(facts, *divisor, "0"), {}});
    return;
  }
  opinions.push_back(
      {stand_of(zero),
       kOptimizerDivisionByZero,
       fmt::format(
           "The update{} divides by 0: {}, and {} is {}. Nothing keeps the divisor above 0.",
           target(facts), is_zero_here(facts, *divisor), division_here(facts), facts.value()),
       {eps_here(facts), values_here(facts, *divisor)}});
}

}  // namespace nanscope::diagnosis
