// norm_gradient_at_zero: the gradient of a length is the direction x / |x|, and a vector of
// length 0 has none. In norm, hypot, cdist, atan2, abs of complex numbers, and norms spelled
// as a power of a sum of squares.

#include <fmt/format.h>

#include <cmath>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

constexpr const char* kNormGradientAtZero = "norm_gradient_at_zero";

// x * x, not a * b.
bool is_square(const Maker& maker) {
  const auto a = kept_by(maker, "self");
  const auto b = kept_by(maker, "other");
  return a && b && !a->name.empty() && a->name == b->name;
}

bool is_power_of_sum(const Facts& facts) {
  if (!facts.in_backward_of("pow") || facts.maker("sum") == nullptr) return false;
  if (facts.maker("abs", 1) != nullptr) return true;
  const Maker* square = facts.maker("pow", 1);
  if (square != nullptr) return number_of(*square, "exponent").value_or(0) > 1;
  const Maker* product = facts.maker(OpFamily::kSquare, 1);
  return product != nullptr && is_square(*product);
}

// What tells the length: the forward's result, or a divisor inside the node.
std::optional<Operand> length_of(const Facts& facts) {
  if (auto result = facts.saved("result")) return result;
  if (is_power_of_sum(facts)) return facts.saved("self");
  if (auto divisor = facts.operand("other", 1, "the length"); divisor && facts.op() == "div")
    return divisor;
  return facts.saved("self");
}

bool tiny(const Operand& length) {
  const auto value = length.value();
  const auto dtype = length.tensor ? length.tensor->dtype : std::string();
  const double smallest = dtype == "float64" ? 2.3e-308 : 1.2e-38;
  return value && *value != 0 && std::abs(*value) < smallest;
}

std::string name_of_length(const Facts& facts) {
  return is_power_of_sum(facts) ? fmt::format("the sum under the root in {}", facts.expression())
                                : facts.expression();
}

}  // namespace

void norm(const Facts& facts, Opinions& opinions) {
  const bool spelled_out = is_power_of_sum(facts);
  if (!spelled_out && !facts.in_backward_of(OpFamily::kSlopeOfNorm)) return;
  const std::optional<Operand> length = length_of(facts);
  if (!length) return;
  Proof zero = length->is_zero();
  if (zero == Proof::kNo && tiny(*length)) zero = Proof::kYes;
  // atan2 keeps its two operands; both are 0 where no direction exists.
  if (facts.in_backward_of("atan2")) {
    const auto other = facts.saved("other");
    zero = other ? std::min(zero, other->is_zero()) : zero;
  }
  if (zero == Proof::kNo) {
    opinions.push_back(
        {Opinion::Stand::kRuledOut, kNormGradientAtZero, is_not(facts, *length, "0"), {}});
    return;
  }
  const auto& s = length->tensor->statistics;
  opinions.push_back(
      {stand_of(zero),
       kNormGradientAtZero,
       fmt::format("{} is {}{}: its gradient is a direction, x / |x|, and a vector of zeros has "
                   "none.",
                   name_of_length(facts), number(length->value().value_or(0)), facts.at()),
       {s.numel > 1 ? fmt::format("{} of its {} {} 0", grouped(s.zeros), plural(s.numel, "element"),
                                  s.zeros == 1 ? "is" : "are")
                    : std::string(),
        spelled_out ? "a root of a sum of squares is a norm" : std::string()},
       {"where_gradient_leak", "division_by_zero", "pow_domain"}});
}

}  // namespace nanscope::diagnosis
