// bad_input_data: the number came in with the data; no operation of the run computed it.

#include <fmt/format.h>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

std::int64_t bad_in(const Statistics& s) { return s.nan + s.pos_inf + s.neg_inf; }

// The input that brought it: the first that holds something bad.
std::optional<Operand> culprit(const Facts& facts) {
  for (const Operand& operand : facts.tensors())
    if (bad_in(operand.tensor->statistics) > 0) return operand;
  return std::nullopt;
}

std::string held(const Statistics& s) {
  std::vector<std::string> kinds;
  if (s.nan > 0) kinds.push_back(grouped(s.nan) + " nan");
  if (s.pos_inf > 0) kinds.push_back(grouped(s.pos_inf) + " inf");
  if (s.neg_inf > 0) kinds.push_back(grouped(s.neg_inf) + " -inf");
  return fmt::format("{} in {}", joined(kinds, ", "), plural(s.numel, "element"));
}

}  // namespace

void input_data(const Facts& facts, Opinions& opinions) {
  if (facts.origin().kind != OriginKind::kImported) return;
  const std::optional<Operand> tensor = culprit(facts);
  const std::string name = tensor ? tensor->name : facts.expression();
  const std::string what = tensor ? held(tensor->tensor->statistics) : bad_elements(facts.origin());
  std::vector<std::string> evidence{
      fmt::format("{} is the first operation that read it", facts.origin().op)};
  if (!facts.at().empty())
    evidence.push_back(fmt::format("the first bad element is {}{}", facts.value(), facts.at()));
  opinions.push_back(
      {Opinion::Stand::kCertain, "bad_input_data",
       fmt::format("{} came in with {}: no operation of this run computed it, it is in the data.",
                   name, what),
       evidence});
}

}  // namespace nanscope::diagnosis
