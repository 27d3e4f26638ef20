// inf_minus_inf, zero_times_inf: arithmetic with an Inf that is legal or was handed in. Both
// have no value, so the result is nan.

#include <fmt/format.h>

#include <cmath>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

constexpr const char* kDifference = "inf_minus_inf";
constexpr const char* kProduct = "zero_times_inf";

bool is_infinite(const std::optional<double>& x) { return x && std::isinf(*x); }

std::int64_t infinities_in(const Statistics& s) { return s.pos_inf + s.neg_inf; }

std::string holds(const Operand& x) {
  if (!x.tensor || x.tensor->statistics.numel <= 1) return {};
  const Statistics& s = x.tensor->statistics;
  return fmt::format("{} holds {} inf and {} -inf in {}", x.name, grouped(s.pos_inf),
                     grouped(s.neg_inf), plural(s.numel, "element"));
}

void difference(const Facts& facts, Opinions& opinions) {
  const auto a = facts.operand("self", 0, "the first operand");
  const auto b = facts.operand("other", 1, "the second operand");
  if (!a || !b || !a->value() || !b->value()) return;
  const bool both = is_infinite(a->value()) && is_infinite(b->value());
  if (!both) {
    if (is_infinite(a->value()) || is_infinite(b->value()))
      opinions.push_back({Opinion::Stand::kRuledOut,
                          kDifference,
                          fmt::format("only one operand is infinite{}", facts.at()),
                          {}});
    return;
  }
  const char* sign = facts.op() == "add" ? "+" : "-";
  const std::string where = facts.origin().phase == Phase::kBackward
                                ? fmt::format("The gradient of {} takes ", facts.expression())
                                : std::string();
  const std::string calculation =
      fmt::format("{} {} ({})", number(*a->value()), sign, number(*b->value()));
  opinions.push_back({Opinion::Stand::kCertain,
                      kDifference,
                      where.empty()
                          ? fmt::format("{} and {} are both infinite{}: {} is nan.", a->name,
                                        b->name, facts.at(), calculation)
                          : fmt::format("{}{}{}, which is nan.", where, calculation, facts.at()),
                      {holds(*a), holds(*b)}});
}

// A sum or mean over a row that holds inf of both signs; a variance of a row with any.
void reduction(const Facts& facts, Opinions& opinions) {
  const auto x = facts.operand("self", 0, "the input");
  if (!x || !x->tensor || !facts.is_nan()) return;
  const Statistics row = x->tensor->feeding.value_or(x->tensor->statistics);
  const bool centred = facts.op_is(OpFamily::kCentred);
  const bool clash = centred ? infinities_in(row) > 0 : row.pos_inf > 0 && row.neg_inf > 0;
  if (row.nan > 0 || !clash) return;
  opinions.push_back(
      {x->tensor->feeding || x->tensor->statistics.numel == row.numel ? Opinion::Stand::kCertain
                                                                      : Opinion::Stand::kLikely,
       kDifference,
       centred ? fmt::format("{} holds inf, and its distance from a mean that is inf too is "
                             "inf - inf = nan.",
                             x->name)
               : fmt::format("{} holds inf and -inf, and their sum is nan.", x->name),
       {holds(*x)}});
}

void product(const Facts& facts, Opinions& opinions) {
  const auto a = facts.operand("self", 0, "the first factor");
  const auto b = facts.operand("other", 1, "the second factor");
  if (!a || !b || !facts.is_nan()) return;
  const bool divides = facts.op() == "div";
  const auto x = a->value();
  const auto y = b->value();
  const bool clash = divides ? is_infinite(x) && is_infinite(y)
                             : (is_infinite(x) && y == 0.0) || (is_infinite(y) && x == 0.0);
  if (!clash) {
    if (is_infinite(x) || is_infinite(y))
      opinions.push_back(
          {Opinion::Stand::kRuledOut, kProduct, fmt::format("no factor is 0{}", facts.at()), {}});
    return;
  }
  opinions.push_back(
      {Opinion::Stand::kCertain,
       kProduct,
       fmt::format("{} is {} and {} is {}{}: {} {} {} is nan.", a->name, number(*x), b->name,
                   number(*y), facts.at(), number(*x), divides ? "/" : "*", number(*y)),
       {holds(*a), holds(*b)}});
}

std::string kinds_in(const Statistics& s) {
  if (s.neg_inf == 0) return "inf";
  return s.pos_inf == 0 ? "-inf" : "inf and -inf";
}

// ", written on purpose by `torch.full(...)` at line 29": where the way shows one.
std::string declaration(const Facts& facts) {
  for (const Link& link : facts.finding().chain)
    if (link.role == Role::kDeclared && link.site.line > 0)
      return fmt::format(", written on purpose{} at {}:{},",
                         link.site.code.empty() ? "" : " by " + in_backticks(link.site.code),
                         link.site.file, link.site.line);
  return {};
}

// A matrix product multiplies and adds: with an Inf inside, either may be it.
void matrix_product(const Facts& facts, Opinions& opinions) {
  if (!facts.is_nan()) return;
  const std::vector<Operand> all = facts.tensors();
  const Operand* infinite = nullptr;
  bool zeros = false;
  for (const Operand& operand : all) {
    const Statistics& s = operand.tensor->statistics;
    if (s.nan > 0) return;
    if (infinities_in(s) > 0) infinite = &operand;
    zeros |= infinities_in(s) == 0 && s.zeros > 0;
  }
  if (infinite == nullptr) return;
  const std::string from = declaration(facts);
  opinions.push_back(
      {Opinion::Stand::kLikely,
       zeros ? kProduct : kDifference,
       fmt::format("{} holds {}{} and {} it in a matrix product gives nan.", infinite->name,
                   kinds_in(infinite->tensor->statistics), from.empty() ? "," : from,
                   zeros ? "a zero that meets" : "another sign that meets"),
       {holds(*infinite)}});
}

}  // namespace

void infinities(const Facts& facts, Opinions& opinions) {
  if (facts.op_is(OpFamily::kAddsOrSubtracts)) return difference(facts, opinions);
  if (facts.op_is(OpFamily::kMultipliesOrDivides)) return product(facts, opinions);
  if (facts.op_is(OpFamily::kSumOfProducts)) return matrix_product(facts, opinions);
  reduction(facts, opinions);
}

}  // namespace nanscope::diagnosis
