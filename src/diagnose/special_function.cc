// special_function_domain: erfinv, ndtri, lgamma, digamma and other functions with poles, at a pole
// or beyond the edge of what they take.

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <string_view>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

constexpr const char* kSpecialFunctionDomain = "special_function_domain";

bool is_whole_and_not_positive(double x) { return x <= 0 && std::floor(x) == x; }
bool is_beyond_one(double x) { return std::abs(x) >= 1; }
bool is_no_open_probability(double x) { return x <= 0 || x >= 1; }
bool is_not_positive(double x) { return x <= 0; }
bool is_negative(double x) { return x < 0; }

struct Domain {
  std::string_view functions;
  bool (*fails)(double);
  const char* takes;
};

constexpr Domain kDomains[] = {
    {" erfinv ", is_beyond_one, "is finite between -1 and 1 only"},
    {" ndtri ", is_no_open_probability, "is finite between 0 and 1 only"},
    {" lgamma digamma polygamma ", is_whole_and_not_positive, "has poles at 0, -1, -2 and so on"},
    {" entr ", is_negative, "takes 0 and above"},
    {" bessel_y0 bessel_y1 modified_bessel_k0 modified_bessel_k1 ", is_not_positive,
     "is finite above 0 only"},
};

const Domain* find_domain(const std::string& function) {
  for (const Domain& domain : kDomains)
    if (domain.functions.find(" " + function + " ") != std::string_view::npos) return &domain;
  return nullptr;
}

// 0.99999994 is not 1.
std::string in_nine_digits(double x) { return fmt::format("{:.9g}", x); }

}  // namespace

void special_function(const Facts& facts, Opinions& opinions) {
  if (!facts.op_is(OpFamily::kSpecial)) return;
  const Domain* domain = find_domain(facts.op());
  const auto x = facts.operand("self", 0, "the argument of " + facts.expression());
  if (domain == nullptr || !x || !x->value()) return;
  const double value = *x->value();
  if (!domain->fails(value)) {
    opinions.push_back({Opinion::Stand::kRuledOut,
                        kSpecialFunctionDomain,
                        fmt::format("{} is {}{}, where {} is finite", x->name,
                                    in_nine_digits(value), facts.at(), facts.op()),
                        {}});
    return;
  }
  opinions.push_back({Opinion::Stand::kCertain,
                      kSpecialFunctionDomain,
                      fmt::format("{} is {}{}, and {} {}.", x->name, in_nine_digits(value),
                                  facts.at(), facts.op(), domain->takes),
                      {values_here(facts, *x)},
                      {},
                      x->argument});
}

}  // namespace nanscope::diagnosis
