// division_by_zero, float_overflow: what the processor's own flag proves about a NumPy operation
// whose operands could not be read again, because one of them was a call.

#include <fmt/format.h>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

std::string flag_of(const Finding& finding) {
  for (const ScalarFact& fact : finding.scalars)
    if (fact.name == "flag") return fact.value;
  return {};
}

std::string raised(const Facts& facts, std::string_view what) {
  return fmt::format("NumPy saw the processor's {} flag after {}", what, facts.origin().op);
}

}  // namespace

void numpy_flag(const Facts& facts, Opinions& opinions) {
  if (!facts.origin().op.starts_with("numpy::")) return;
  const std::string flag = flag_of(facts.finding());
  if (flag == "overflow") {
    opinions.push_back(
        {Opinion::Stand::kLikely,
         "float_overflow",
         fmt::format("The result of {} is larger than its type holds.", facts.expression()),
         {raised(facts, "overflow")}});
  } else if (flag == "invalid value" && facts.op_is(OpFamily::kTrueDivision)) {
    opinions.push_back({Opinion::Stand::kLikely,
                        "division_by_zero",
                        fmt::format("{} divides 0 by 0.", facts.expression()),
                        {raised(facts, "invalid")}});
  } else if (flag == "divide by zero") {
    opinions.push_back({Opinion::Stand::kLikely,
                        "division_by_zero",
                        fmt::format("{} divides a finite number by 0, or takes a function at its "
                                    "pole, as log(0).",
                                    facts.expression()),
                        {raised(facts, "divide-by-zero")}});
  }
}

}  // namespace nanscope::diagnosis
