// inverse_trig_domain: acos, asin, atanh or acosh beyond the edge of its domain, or
// differentiated on the edge, where its slope is infinite.

#include <fmt/format.h>

#include <cmath>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

constexpr const char* kInverseTrigDomain = "inverse_trig_domain";

std::string domain_of(const std::string& function) {
  return function == "acosh" ? "1 and above" : "-1 to 1";
}

bool outside(const std::string& function, double x) {
  return function == "acosh" ? x < 1 : std::abs(x) > 1;
}

// acos(1.0000001) needs more digits than a table has.
std::string precisely(double x) { return fmt::format("{:.9g}", x); }

std::string bare(std::string function) {
  if (function.starts_with("arc")) function.replace(0, 3, "a");
  return function;
}

void inverse_trigonometry_forward(const Facts& facts, Opinions& opinions) {
  const auto x = facts.operand("self", 0, "the argument of " + facts.expression());
  if (!x) return;
  const std::string function = bare(facts.op());
  const std::optional<double> value = x->value();
  const bool pole = value && function == "atanh" && std::abs(*value) == 1;
  const bool beyond = value && outside(function, *value);
  const auto& s = x->tensor ? x->tensor->statistics : Statistics{};
  const bool possible = !value && facts.is_nan() && s.min && s.max &&
                        (outside(function, *s.min) || outside(function, *s.max));
  if (!pole && !beyond && !possible) {
    opinions.push_back(
        {Opinion::Stand::kRuledOut,
         kInverseTrigDomain,
         fmt::format("{} lies in the domain of {}, {}", value ? precisely(*value) : "the argument",
                     function, domain_of(function)),
         {}});
    return;
  }
  const std::string place =
      value ? fmt::format("{} is {}{}", x->name, precisely(*value), facts.at())
            : fmt::format("{} reaches {}", x->name,
                          precisely(outside(function, *s.max) ? *s.max : *s.min));
  std::vector<std::string> evidence;
  if (value && beyond && std::abs(std::abs(*value) - 1) < 1e-3)
    evidence.push_back(fmt::format("it misses the edge by {}: rounding, not geometry",
                                   number(std::abs(std::abs(*value) - 1))));
  opinions.push_back({possible ? Opinion::Stand::kLikely : Opinion::Stand::kCertain,
                      kInverseTrigDomain,
                      fmt::format("{}, and {} {}.", place, function,
                                  pole ? "is infinite at the edge of its domain"
                                       : fmt::format("takes {} only", domain_of(function))),
                      evidence});
}

// AcosBackward0: -grad / sqrt(1 - x * x), whose root is 0 at the edge.
void inverse_trigonometry_backward(const Facts& facts, Opinions& opinions) {
  const auto x = facts.saved("self");
  if (!x) return;
  const std::optional<double> value = x->value();
  const auto& s = x->tensor->statistics;
  const bool on_edge = value && std::abs(*value) == 1;
  const bool possible = !value && s.min && s.max && (*s.min == -1 || *s.max == 1 || *s.min == 1);
  if (!on_edge && !possible) {
    if (value)
      opinions.push_back(
          {Opinion::Stand::kRuledOut,
           kInverseTrigDomain,
           fmt::format("{} is {}{}, not at the edge", x->name, precisely(*value), facts.at()),
           {}});
    return;
  }
  opinions.push_back(
      {on_edge ? Opinion::Stand::kCertain : Opinion::Stand::kLikely,
       kInverseTrigDomain,
       fmt::format("{} is {}{}, the edge of the domain: the value there is fine, but the slope, "
                   "1 / sqrt(1 - x * x), is infinite.",
                   x->name, value ? precisely(*value) : "1 or -1 somewhere", facts.at()),
       {values_here(facts, *x)}});
}

}  // namespace

void inverse_trigonometry(const Facts& facts, Opinions& opinions) {
  if (facts.in_backward_of(OpFamily::kInverseTrigonometry))
    return inverse_trigonometry_backward(facts, opinions);
  if (facts.op_is(OpFamily::kInverseTrigonometry)) inverse_trigonometry_forward(facts, opinions);
}

}  // namespace nanscope::diagnosis
