#include "diagnose/what_if.h"

#include <fmt/format.h>

#include <cmath>

#include "diagnose/phrase.h"
#include "diagnose/proof.h"

namespace nanscope::diagnosis {
namespace {

// Only what was made again from the beginning tells that precision is not the point.
std::string not_precision(const Facts& facts) {
  const Experiment* again = made_again(facts);
  if (again == nullptr || again->loss != Loss::kNothing) return {};
  return fmt::format(", and so it is with {} made again in float64: it does not lack precision",
                     remade_name(facts, *again));
}

std::string lost_at(const Facts& facts, const Experiment& again) {
  const bool elsewhere = again.lost_line != 0 && again.lost_line != facts.origin().site.line;
  return in_backticks(again.lost_at) +
         (elsewhere ? fmt::format(" at line {}", again.lost_line) : std::string());
}

// Where the value was lost before it came here.
std::string on_the_way(const Facts& facts) {
  const Experiment* again = made_again(facts);
  if (again == nullptr) return {};
  const bool finite = is_finite(again->result);
  const std::string so =
      finite ? fmt::format("; from there on in float64 the element is {}", number(again->result))
             : std::string();
  const std::string exactly = again->exactly ? number(*again->exactly) : "another number";
  switch (again->loss) {
    case Loss::kCancellation:
      return fmt::format("the subtraction in {} cancels: in float64 it is {}{}",
                         lost_at(facts, *again), exactly, so);
    case Loss::kUnderflow:
      return fmt::format(
          "{} underflows: {}{}", lost_at(facts, *again),
          again->exactly && again->exactly->real != 0
              ? fmt::format("it is {} in float64, and 0 in {}", exactly, facts.output_dtype_name())
              : fmt::format("it is not 0, and too small even for float64"),
          so);
    case Loss::kGuard:
      return fmt::format("the guard {} is lost in {}: there {} is {} in float64{}", again->guard,
                         facts.output_dtype_name(), lost_at(facts, *again), exactly, so);
    case Loss::kRounding:
      return fmt::format("{} is rounded: in float64 it is {}{}", lost_at(facts, *again), exactly,
                         so);
    case Loss::kMasked:
      return fmt::format(
          "{} is exactly 0 there because -inf goes in: that is a mask's doing, not "
          "underflow",
          lost_at(facts, *again));
    case Loss::kNothing:
      break;
  }
  return {};
}

}  // namespace

std::vector<std::string> what_if(const Facts& facts, std::string_view cause) {
  std::vector<std::string> lines;
  // A guard or a digit was lost before this operation: that the operation is exact misleads.
  const bool lost_before = lost_on_the_way(facts) != nullptr || cause == "eps_underflow";
  const std::string narrow = facts.output_dtype_name();
  std::vector<std::string> finite;
  for (const Recomputed& again : facts.finding().recomputed) {
    if (again.values.empty() || again.dtype == narrow) continue;
    if (is_finite(again.values[0]))
      finite.push_back(fmt::format("{} in {}", number(again.values[0]), again.dtype));
    else if (again.dtype == "float64" && !lost_before)
      lines.push_back(fmt::format("computed again in float64 from the same operands it is {} too{}",
                                  number(again.values[0]), not_precision(facts)));
  }
  if (const std::string line = on_the_way(facts); !line.empty()) lines.push_back(line);
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
