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
  if (const auto saved = facts.saved(argument); saved && saved->name.starts_with('`'))
    return saved->name;
  const auto operand = facts.operand(argument, argument == "other" ? 1 : 0, "it");
  return operand && operand->name.starts_with('`') ? operand->name : "it";
}

// The value a maker gave at the failing element, where its node kept the result.
std::optional<double> result_of(const Maker& maker) {
  const auto result = kept_by(maker, "result");
  return result ? result->value() : std::nullopt;
}

// Functions that round to a limit: what they gave, and when they do.
std::string saturated(const Maker& maker, double value) {
  const std::string function = forward_of(maker);
  if (function == "softmax" && value == 0)
    return "gives exactly 0 there: the logit is -inf, or lies more than 103 below the largest of "
           "its "
           "row";
  if (function == "softmax" && value == 1)
    return "is rounded to 1: one logit lies far above all others of its row";
  if (function == "sigmoid" && value == 1) return "is rounded to 1 above 16.7";
  if (function == "sigmoid" && value == 0) return "underflowed: it is rounded to 0 below -103";
  if (function == "tanh" && std::abs(value) == 1) return "is rounded to 1 beyond 9";
  if (function == "exp" && value == 0) return "underflowed: it is rounded to 0 below -103";
  if (function == "relu" && value == 0) return "gives 0 for everything below 0";
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
