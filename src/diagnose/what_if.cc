#include "diagnose/what_if.h"

#include <fmt/format.h>

#include <cmath>

#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

bool is_finite(const Value& value) {
  return std::isfinite(value.real) && std::isfinite(value.imag);
}

}  // namespace

std::vector<std::string> what_if(const Facts& facts) {
  std::vector<std::string> lines;
  const std::string narrow = facts.output_dtype_name();
  std::vector<std::string> finite;
  for (const Recomputed& again : facts.finding().recomputed) {
    if (again.values.empty() || again.dtype == narrow) continue;
    if (is_finite(again.values[0]))
      finite.push_back(fmt::format("{} in {}", number(again.values[0]), again.dtype));
    else if (again.dtype == "float64")
      lines.push_back(
          fmt::format("computed again in float64 it is {} too: precision is not the "
                      "cause",
                      number(again.values[0])));
  }
  if (!finite.empty())
    lines.push_back(fmt::format("computed again from the same operands it is {}: {} is too narrow",
                                joined(finite, " and "), narrow));
  if (!facts.finding().not_recomputed.empty()) lines.push_back(facts.finding().not_recomputed);
  return lines;
}

}  // namespace nanscope::diagnosis
