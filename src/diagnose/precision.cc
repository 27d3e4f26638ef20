// eps_underflow: a guard constant is rounded to 0 in half precision, so that the guard
// vanishes and the pole it should keep away from is met.
// cancellation: what went into the op is the difference of nearly equal numbers, and rounding
// noise: made again in float64 it is another number, and the op has an answer.

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <cstdlib>

#include "diagnose/family.h"
#include "diagnose/phrase.h"
#include "diagnose/proof.h"

namespace nanscope::diagnosis {
namespace {

constexpr const char* kEpsUnderflow = "eps_underflow";
// Half of the smallest positive number: what is not above it is rounded to 0.
constexpr double kVanishesInFloat16 = 0x1p-25;
constexpr double kVanishesInBFloat16 = 0x1p-134;

std::optional<double> vanishing_below(const std::string& dtype) {
  if (dtype == "float16") return kVanishesInFloat16;
  if (dtype == "bfloat16") return kVanishesInBFloat16;
  return std::nullopt;
}

// The number 1e-12 in `var + 1e-12`: the first in the text that is lost in this type.
std::optional<double> lost_literal(const std::string& code, double limit) {
  for (std::size_t i = 0; i < code.size(); ++i) {
    const bool inside_word = i > 0 && (std::isalnum(static_cast<unsigned char>(code[i - 1])) != 0 ||
                                       code[i - 1] == '_' || code[i - 1] == '.');
    if (std::isdigit(static_cast<unsigned char>(code[i])) == 0 || inside_word) continue;
    char* end = nullptr;
    const double value = std::strtod(code.c_str() + i, &end);
    if (value > 0 && value <= limit) return value;
    i = static_cast<std::size_t>(end - code.c_str()) - 1;
  }
  return std::nullopt;
}

bool names_a_guard(const std::string& code) {
  return code.find("eps") != std::string::npos || code.find("EPS") != std::string::npos ||
         code.find("tiny") != std::string::npos;
}

// The operand that a pole was met with: a divisor, the argument of a log or of a power.
std::optional<Operand> guarded_operand(const Facts& facts) {
  if (facts.op_is(OpFamily::kQuotient)) return facts.operand("other", 1, "the divisor");
  if (facts.op_is(OpFamily::kGuardedSelf))
    return facts.operand("self", 0, "the argument of " + facts.expression());
  if (facts.op() == "addcdiv") return facts.operand("tensor2", 2, "the divisor");
  return std::nullopt;
}

std::string deciding_operand(const Facts& facts) {
  if (facts.op() == "addcdiv")
    if (const auto divisor = facts.operand("tensor2", 2, "its divisor"))
      return value_here(facts, *divisor);
  if (facts.op_is(OpFamily::kDecidedByOther))
    if (const auto other = facts.operand("other", 1, "the divisor"))
      return value_here(facts, *other);
  const auto self = facts.operand("self", 0, "the argument of " + facts.expression());
  return self ? value_here(facts, *self) : facts.expression();
}

void cancelled(const Facts& facts, const Experiment& again, Opinions& opinions) {
  opinions.push_back(
      {.stand = Opinion::Stand::kCertain,
       .id = "cancellation",
       .sentence = fmt::format("{}, and that is rounding noise: {} subtracts nearly equal numbers. "
                               "In float64 it is {}, and {} is {}.",
                               deciding_operand(facts), in_backticks(again.lost_at),
                               again.exactly ? number(*again.exactly) : "another number",
                               facts.expression(), number(again.result)),
       .evidence = {},
       .explains = {"sqrt_of_negative", "log_of_negative", "log_of_zero", "division_by_zero",
                    "pow_domain", "where_gradient_leak", "bad_initialisation"},
       .title = fmt::format("Rounding noise left by the subtraction in {}",
                            in_backticks(again.lost_at))});
}

void guard_is_lost(const Facts& facts, const Experiment& again, Opinions& opinions) {
  opinions.push_back({.stand = Opinion::Stand::kCertain,
                      .id = kEpsUnderflow,
                      .sentence = fmt::format(
                          "{}, because the guard {} is lost in {}: {} is rounded there. With the "
                          "guard kept, {} is "
                          "{}.",
                          deciding_operand(facts), again.guard, facts.output_dtype_name(),
                          in_backticks(again.lost_at), facts.expression(), number(again.result)),
                      .evidence = {},
                      .explains = {"log_of_zero", "division_by_zero", "pow_domain",
                                   "sqrt_of_negative", "log_of_negative", "where_gradient_leak",
                                   "optimizer_division_by_zero", "bad_initialisation"},
                      .title = fmt::format("The guard {} vanishes in {}", again.guard,
                                           facts.output_dtype_name())});
}

}  // namespace

void precision(const Facts& facts, Opinions& opinions) {
  if (const Experiment* again = lost_on_the_way(facts)) {
    if (again->loss == Loss::kCancellation) return cancelled(facts, *again, opinions);
    if (again->loss == Loss::kGuard) return guard_is_lost(facts, *again, opinions);
  }
  const std::optional<Operand> x = guarded_operand(facts);
  if (!x || !x->tensor) return;
  const std::optional<double> limit = vanishing_below(x->tensor->dtype);
  if (!limit || x->is_zero() == Proof::kNo) return;
  const std::string& code = facts.origin().site.code;
  const std::vector<std::string> behind{"division_by_zero",    "log_of_zero",
                                        "pow_domain",          "optimizer_division_by_zero",
                                        "where_gradient_leak", "bad_initialisation"};
  if (const auto eps = lost_literal(code, *limit)) {
    opinions.push_back(
        {stand_of(x->is_zero()),
         kEpsUnderflow,
         fmt::format("{} is 0{}: the guard {} is rounded to 0 in {}, where the smallest number "
                     "above 0 is {}.",
                     x->name, facts.at(), number(*eps), x->tensor->dtype, number(2 * *limit)),
         {values_here(facts, *x), fmt::format("in float32 {} would not vanish", number(*eps))},
         behind,
         x->argument,
         fmt::format("The guard {} vanishes in {}", number(*eps), x->tensor->dtype)});
  } else if (names_a_guard(code)) {
    opinions.push_back(
        {Opinion::Stand::kLikely,
         kEpsUnderflow,
         fmt::format("{} is 0{} although {} has a guard: in {} every number below {} is rounded "
                     "to 0.",
                     x->name, facts.at(), facts.expression(), x->tensor->dtype, number(*limit)),
         {values_here(facts, *x)},
         behind});
  }
}

}  // namespace nanscope::diagnosis
