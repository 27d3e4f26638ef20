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
          fmt::format("computed again in float64 from the same operands it is {} too: this "
                      "operation does not lack precision",
                      number(again.values[0])));
  }
  if (!finite.empty()) {
    const auto dtype = facts.output_dtype();
    const double result = std::abs(facts.finding().recomputed.back().values[0].real);
    const bool fits = dtype && result <= largest_of(*dtype);
    lines.push_back(
        fmt::format("computed again from the same operands it is {}: {} is too narrow{}",
                    joined(finite, " and "), narrow, fits ? " for what is summed on the way" : ""));
  }
  if (!facts.finding().not_recomputed.empty()) lines.push_back(facts.finding().not_recomputed);
  return lines;
}

}  // namespace nanscope::diagnosis
