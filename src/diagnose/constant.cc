// nan_constant: a nan or inf that the program itself wrote flows into the result.

#include <fmt/format.h>

#include "diagnose/family.h"
#include "diagnose/input_data.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {

void constant(const Facts& facts, Opinions& opinions) {
  if (facts.origin().kind != OriginKind::kDeclared) return;
  std::vector<std::string> evidence{
      fmt::format("{} wrote {}", facts.origin().op, bad_elements(facts.origin()))};
  for (const ScalarFact& scalar : facts.finding().scalars)
    if (scalar.value.ends_with("nan") || scalar.value.ends_with("inf"))
      evidence.push_back(fmt::format("the number it was given is {}", scalar.value));
  // That it was written is certain; whether it was meant as data is not.
  const auto stand = is_data_literal(facts) ? Opinion::Stand::kLikely : Opinion::Stand::kCertain;
  opinions.push_back({stand, "nan_constant",
                      fmt::format("{} writes {} as a constant, and arithmetic carried it on.",
                                  facts.expression(), facts.value()),
                      evidence});
}

}  // namespace nanscope::diagnosis
