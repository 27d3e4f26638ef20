#include "diagnose/what_if.h"

#include <fmt/format.h>

#include <cmath>

#include "diagnose/phrase.h"
#include "diagnose/proof.h"

namespace nanscope::diagnosis {
namespace {

// What decides is a number of Python's, which has the precision of float64 already.
bool is_number(const Facts& facts) {
  const auto operand = facts.operand(facts.op_is(OpFamily::kDecidedByOther) ? "other" : "self",
                                     facts.op_is(OpFamily::kDecidedByOther) ? 1 : 0, "");
  return operand && operand->tensor == nullptr;
}

// Zeros beside healthy elements that come near the end of their type: they were rounded to 0.
std::string underflowed(const Facts& facts, std::string_view cause) {
  if (cause != "log_of_zero" && cause != "division_by_zero") return {};
  const bool other = facts.op_is(OpFamily::kDecidedByOther);
  const auto x = facts.operand(other ? "other" : "self", other ? 1 : 0, "the operand");
  const auto dtype = x && x->tensor ? scannable_named(x->tensor->dtype) : std::nullopt;
  if (!dtype || x->is_zero() != Proof::kYes) return {};
  std::optional<double> least;
  for (const Value& value : x->tensor->healthy)
    if (const double size = std::abs(value.real); size > 0 && size < least.value_or(size + 1))
      least = size;
  // Four fifths of the way down, counted in exponents.
  if (!least || std::log(*least) > -0.8 * std::log(largest_of(*dtype))) return {};
  return fmt::format(
      "other elements of {} go down to {}, near the end of {}: it is likely that a smaller number "
      "was rounded to 0 here (underflow)",
      x->name, number(*least), name_of(*dtype));
}

// Only what was made again from the beginning tells that precision is not the point.
std::string not_precision(const Facts& facts) {
  const Experiment* again = made_again(facts);
  if (again == nullptr || again->loss != Loss::kNothing || is_number(facts)) return {};
  return fmt::format(", and so it is with {} made again in float64: it does not lack precision",
                     remade_name(facts, *again));
}

std::string lost_at(const Facts& facts, const Experiment& again) {
  const bool elsewhere = again.lost_line != 0 && again.lost_line != facts.origin().site.line;
  if (!elsewhere) return in_backticks(again.lost_at);
  // What an op inside a package reads was made there.
  const auto& inside = facts.origin().library_site;
  return fmt::format("{} at {}{}", in_backticks(again.lost_at),
                     inside ? inside->file + ":" : std::string("line "), again.lost_line);
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

std::vector<WhatIf> what_if(const Facts& facts, std::string_view cause) {
  std::vector<WhatIf> lines;
  // A guard or a digit was lost before this operation: that the operation is exact misleads.
  const std::string underflow = underflowed(facts, cause);
  const bool lost_before =
      lost_on_the_way(facts) != nullptr || cause == "eps_underflow" || !underflow.empty();
  const std::string narrow = facts.output_dtype_name();
  std::vector<std::string> finite;
  double result = 0;  // the last of them
  for (const Recomputed& again : facts.finding().recomputed) {
    if (again.values.empty() || again.dtype == narrow) continue;
    if (is_finite(again.values[0])) {
      finite.push_back(fmt::format("{} in {}", number(again.values[0]), again.dtype));
      result = std::abs(again.values[0].real);
    } else if (again.dtype == "float64" && !lost_before) {
      lines.push_back(
          {fmt::format("computed again in float64 from the same operands it is {} too{}",
                       number(again.values[0]), not_precision(facts)),
           true});
    }
  }
  if (const std::string line = on_the_way(facts); !line.empty())
    lines.push_back({line});
  else if (!underflow.empty())
    lines.push_back({underflow});
  if (!finite.empty()) {
    const auto dtype = facts.output_dtype();
    const bool fits = dtype && result <= largest_of(*dtype);
    lines.push_back(
        {fmt::format("computed again from the same operands it is {}: {} is too narrow{}",
                     joined(finite, " and "), narrow, fits ? " for what is summed on the way" : ""),
         true});
  }
  if (!facts.finding().not_recomputed.empty()) lines.push_back({facts.finding().not_recomputed});
  return lines;
}

}  // namespace nanscope::diagnosis
