// nan_constant: a nan or inf that the program itself wrote flows into the result.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "diagnose/family.h"
#include "diagnose/input_data.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

// The text itself says nan or inf.
bool is_spelled(const Facts& facts) {
  const auto says = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text.find("nan") != std::string::npos || text.find("inf") != std::string::npos;
  };
  const Site& site = facts.origin().site;
  return says(site.code) || std::any_of(site.source.begin(), site.source.end(), says);
}

// x * weight: arithmetic that was given a number which no text spells.
void computed_outside(const Facts& facts, const std::vector<std::string>& evidence,
                      Opinions& opinions) {
  opinions.push_back(
      {.stand = Opinion::Stand::kLikely,
       .id = "nan_constant",
       .sentence = fmt::format("{} was given the number {} by Python: no text spells it, so it was "
                               "computed or read before, where no operation is watched.",
                               facts.expression(), facts.value()),
       .evidence = evidence,
       .title = fmt::format("A number that was {} before it came to {}", facts.value(),
                            facts.expression())});
}

}  // namespace

void constant(const Facts& facts, Opinions& opinions) {
  if (facts.origin().kind != OriginKind::kDeclared) return;
  std::vector<std::string> evidence{
      fmt::format("{} wrote {}", facts.origin().op, bad_elements(facts.origin()))};
  for (const ScalarFact& scalar : facts.finding().scalars)
    if (scalar.value.ends_with("nan") || scalar.value.ends_with("inf"))
      evidence.push_back(fmt::format("the number it was given is {}", scalar.value));
  const bool was_given = evidence.size() > 1;
  if (facts.origin().not_spelled ||
      (was_given && !is_spelled(facts) && facts.op_is(OpFamily::kArithmetic)))
    return computed_outside(facts, evidence, opinions);
  // That it was written is certain; whether it was meant as data is not.
  const auto stand = is_data_literal(facts) ? Opinion::Stand::kLikely : Opinion::Stand::kCertain;
  opinions.push_back({stand, "nan_constant",
                      fmt::format("{} writes {} as a constant, and arithmetic carried it on.",
                                  facts.expression(), facts.value()),
                      evidence});
}

}  // namespace nanscope::diagnosis
