#include "diagnose/lineage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "diagnose/phrase.h"
#include "diagnose/proof.h"

namespace nanscope::diagnosis {
namespace {

// The argument whose value decides: what is divided by, or what the function is taken of.
std::string deciding_argument(const Facts& facts) {
  if (facts.origin().phase == Phase::kBackward)
    return facts.in_backward_of("div") ? "other" : "self";
  if (facts.op_is(OpFamily::kDecidedByOther)) return "other";
  return "self";
}

const Maker* maker_of(const Finding& finding, const std::string& argument) {
  const Maker* only = nullptr;
  for (const Maker& maker : finding.makers) {
    if (maker.links_back != 0) continue;
    if (maker.makes == argument) return &maker;
    if (maker.makes.empty()) only = &maker;
  }
  return only;
}

std::string forward_of(const Maker& maker) {
  std::string name = maker.node.substr(0, maker.node.find("Backward"));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

std::string place_of(const Facts& facts, const Site& site) {
  if (site.line == 0) return {};
  if (site.file == facts.origin().site.file) return fmt::format(" at line {}", site.line);
  return fmt::format(" at {}:{}", site.file, site.line);
}

std::string operand_name(const Facts& facts, const std::string& argument) {
  if (const auto saved = facts.saved(argument); saved && saved->in_source) return saved->name;
  const auto operand = facts.operand(argument, argument == "other" ? 1 : 0, "it");
  return operand && operand->in_source ? operand->name : "it";
}

// The value a maker gave at the failing element, where its node kept the result.
std::optional<double> result_of(const Maker& maker) {
  const auto result = kept_by(maker, "result");
  return result ? result->value() : std::nullopt;
}

// Where functions reach their limits, as torch computes them.
struct Limits {
  std::string_view dtype;
  const char* exp_is_zero;      // of numbers below the negative of this, and softmax likewise
  const char* sigmoid_is_zero;  // exp(-x) has left float32 before that
  const char* sigmoid_is_one;
  const char* tanh_is_one;
};
constexpr Limits kLimits[] = {
    {"float32", "103", "88", "16.7", "9"},
    {"float16", "17", "17", "8.4", "4.6"},
    {"bfloat16", "92", "88", "6.3", "3.5"},
    {"float64", "745", "709", "36.8", "19.1"},
};

const Limits* limits_of(const Maker& maker) {
  const auto result = kept_by(maker, "result");
  const auto* found = std::find_if(std::begin(kLimits), std::end(kLimits), [&](const Limits& one) {
    return result && result->tensor->dtype == one.dtype;
  });
  return found == std::end(kLimits) ? nullptr : found;
}

// Functions that round to a limit: what they gave, and when they do.
std::string saturated(const Maker& maker, double value) {
  const std::string function = forward_of(maker);
  if (function == "relu" && value == 0) return "gives 0 for everything below 0";
  if (function == "softmax" && value == 1)
    return "is rounded to 1: one logit lies far above all others of its row";
  const Limits* limits = limits_of(maker);
  if (limits == nullptr) return {};
  if (function == "softmax" && value == 0)
    return fmt::format(
        "gives exactly 0 there: the logit is -inf, or lies more than {} below the largest of its "
        "row",
        limits->exp_is_zero);
  if (function == "exp" && value == 0)
    return fmt::format("gives exactly 0 there: its argument is -inf, or below -{}",
                       limits->exp_is_zero);
  if (function == "sigmoid" && value == 0)
    return fmt::format("gives exactly 0 there: its argument is -inf, or below -{}",
                       limits->sigmoid_is_zero);
  if (function == "sigmoid" && value == 1)
    return fmt::format("is rounded to 1 above {}", limits->sigmoid_is_one);
  if (function == "tanh" && std::abs(value) == 1)
    return fmt::format("is rounded to {}{}", value < 0 ? "-1 below -" : "1 above ",
                       limits->tanh_is_one);
  return {};
}

// `1 - recon`: the result behind decides.
std::string difference(const Facts& facts, const Maker& maker, const std::string& name) {
  for (const Maker& behind : facts.finding().makers) {
    if (behind.links_back != 1) continue;
    const auto value = result_of(behind);
    const std::string why = value ? saturated(behind, *value) : std::string();
    if (!why.empty())
      return fmt::format("{} is 0 because {}{} is exactly {}: {} {}", name,
                         in_backticks(behind.site.code), place_of(facts, behind.site),
                         number(*value), forward_of(behind), why);
  }
  const auto operand = facts.operand(deciding_argument(facts), 0, "");
  if (!operand || operand->is_zero() != Proof::kYes) return {};
  return fmt::format("{} is 0 because both sides of {}{} are equal there", name,
                     in_backticks(maker.site.code), place_of(facts, maker.site));
}

std::string product(const Facts& facts, const Maker& maker, const std::string& name) {
  for (const char* side : {"self", "other"}) {
    const auto factor = kept_by(maker, side);
    if (!factor || factor->value() != 0.0) continue;
    if (factor->name == "`0`" || factor->name == "`0.0`")
      return fmt::format("{} is 0 because {}{} multiplies by 0", name,
                         in_backticks(maker.site.code), place_of(facts, maker.site));
    if (!factor->name.empty())
      return fmt::format("{} is 0 because {} is 0{}, and {}{} multiplies by it", name, factor->name,
                         facts.at(), in_backticks(maker.site.code), place_of(facts, maker.site));
  }
  return {};
}

std::string sum(const Facts& facts, const std::string& name) {
  for (const Maker& behind : facts.finding().makers) {
    if (behind.links_back != 1) continue;
    const auto summand = kept_by(behind, "self");
    if (!summand || !summand->tensor || summand->name.empty()) continue;
    const Statistics& s = summand->tensor->statistics;
    if (s.numel > 0 && s.zeros == s.numel)
      return fmt::format("{} is 0 because all {} of {} are 0", name, plural(s.numel, "element"),
                         summand->name);
  }
  return {};
}

}  // namespace

std::string lineage(const Facts& facts) {
  const std::string argument = deciding_argument(facts);
  const Maker* maker = maker_of(facts.finding(), argument);
  if (maker == nullptr || maker->site.code.empty()) return {};
  // What was tried at the hit says it better.
  if (const Experiment* again = made_again(facts); again && again->loss != Loss::kNothing)
    return {};
  const std::string name = operand_name(facts, argument);
  const std::string function = forward_of(*maker);
  if (const auto value = result_of(*maker)) {
    const std::string why = saturated(*maker, *value);
    if (!why.empty())
      return fmt::format("{} is {} because {}{} {}", name, number(*value), function,
                         place_of(facts, maker->site), why);
  }
  std::string why;
  if (function == "sub" || function == "rsub") why = difference(facts, *maker, name);
  if (function == "sum") why = sum(facts, name);
  if (function == "mul") why = product(facts, *maker, name);
  if (!why.empty()) return why;
  // The expression says it already.
  if (name == "it" || name == in_backticks(maker->site.code)) return {};
  return fmt::format("{} comes from {}{}", name, in_backticks(maker->site.code),
                     place_of(facts, maker->site));
}

}  // namespace nanscope::diagnosis
