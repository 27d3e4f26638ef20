// exp_overflow: exp, expm1, exp2, sinh, cosh or a Bessel function that grows as exp does, of a
// number that is too large.

#include <fmt/format.h>

#include <cmath>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

// The largest argument whose result is finite in a type.
double limit_of(const std::string& op, DType dtype) {
  const double largest = largest_of(dtype);
  if (op == "exp2") return std::log2(largest);
  return std::log(largest) + (is_in(OpFamily::kHyperbolic, op) ? std::log(2.0) : 0);
}

bool is_narrow(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kComplex32 || is_float8(dtype);
}

}  // namespace

void exponential(const Facts& facts, Opinions& opinions) {
  if (!facts.op_is(OpFamily::kExponential)) return;
  const std::optional<Operand> x =
      facts.operand("self", 0, "the argument of " + facts.expression());
  const std::optional<DType> dtype = facts.output_dtype();
  if (!x || !dtype) return;

  const double limit = limit_of(facts.op(), *dtype);
  const std::optional<double> value = x->value();
  const bool on_both_sides = facts.op_is(OpFamily::kHyperbolic) || facts.op_is(OpFamily::kBessel);
  const auto size = [&](double v) { return on_both_sides ? std::abs(v) : v; };
  if (value && is_narrow(*dtype) && size(*value) <= limit_of(facts.op(), DType::kFloat32)) {
    opinions.push_back({Opinion::Stand::kRuledOut,
                        "exp_overflow",
                        fmt::format("{}({}) is finite in float32; only {} is too small for it",
                                    facts.op(), number(*value), name_of(*dtype)),
                        {}});
    return;
  }
  const bool has_range = x->tensor && x->tensor->statistics.min && x->tensor->statistics.max;
  const double largest = has_range ? *x->tensor->statistics.max : 0;
  const bool proven = value && std::isfinite(*value) && size(*value) > limit;
  const bool possible = !value && has_range && largest > limit;
  if (!proven && !possible) {
    opinions.push_back({Opinion::Stand::kRuledOut,
                        "exp_overflow",
                        is_not(facts, *x, "above " + number(limit)),
                        {}});
    return;
  }
  std::vector<std::string> evidence{values_here(facts, *x)};
  if (has_range)
    evidence.push_back(fmt::format("{} ranges from {} to {}", x->name,
                                   number(*x->tensor->statistics.min), number(largest)));
  const std::string argument = proven
                                   ? fmt::format("{} is {}{}", x->name, number(*value), facts.at())
                                   : fmt::format("{} reaches {}", x->name, number(largest));
  opinions.push_back({stand_of(proven ? Proof::kYes : Proof::kPossible),
                      "exp_overflow",
                      fmt::format("{}, and {} overflows {} above {}.", argument, facts.op(),
                                  name_of(*dtype), number(limit)),
                      evidence,
                      {"float_overflow", "half_overflow"},
                      x->argument});
}

}  // namespace nanscope::diagnosis
