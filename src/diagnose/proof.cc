#include "diagnose/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

// The op at the failing element with one operand at 1, for those that are one line of arithmetic:
// where the capture holds no experiment (NumPy, an op over lists of tensors).
std::optional<double> with_one(const Facts& facts, const std::string& mended) {
  const auto value = [&](std::string_view argument, std::size_t place) -> std::optional<double> {
    if (argument == mended) return 1.0;
    const auto operand = facts.operand(argument, place, "");
    if (operand && operand->argument == mended) return 1.0;
    return operand ? operand->value() : std::nullopt;
  };
  if (facts.op() == "addcmul") return value("tensor2", 2);  // times 1
  if (facts.op_is(OpFamily::kKeepsSize)) return value("self", 0);
  const auto a = value(facts.op() == "addcdiv" ? "tensor1" : "self", facts.op() == "addcdiv");
  if (!a) return std::nullopt;
  if (facts.op_is(OpFamily::kLogarithm)) return std::log(*a);
  if (facts.op() == "log1p") return std::log1p(*a);
  if (facts.op() == "sqrt") return std::sqrt(*a);
  if (facts.op() == "rsqrt") return 1 / std::sqrt(*a);
  if (facts.op() == "reciprocal") return 1 / *a;
  if (facts.op_is(OpFamily::kExponential)) return std::exp(*a);
  if (facts.op() == "acos" || facts.op() == "arccos") return std::acos(*a);
  if (facts.op() == "asin" || facts.op() == "arcsin") return std::asin(*a);
  if (facts.op() == "acosh" || facts.op() == "arccosh") return std::acosh(*a);
  if (facts.op_is(OpFamily::kFusedOptimizer)) return 0.0;  // eps above 0: 0 / eps
  const bool power = facts.op_is(OpFamily::kPower);
  const auto b =
      facts.op() == "addcdiv" ? value("tensor2", 2) : value(power ? "exponent" : "other", 1);
  if (!b) return std::nullopt;
  if (power) return std::pow(*a, *b);
  if (facts.op_is(OpFamily::kTrueDivision) || facts.op() == "addcdiv") return *a / *b;
  if (facts.op_is(OpFamily::kDivision)) return std::fmod(*a, *b);
  if (facts.op_is(OpFamily::kLogarithmOfOther)) return *a * std::log(*b);
  if (facts.op() == "mul") return *a * *b;
  return std::nullopt;
}

bool is_precision(const std::string& id) {
  return id.ends_with("_overflow") || id == "eps_underflow";
}

// The result fits a wider type.
bool fits_a_wider_type(const Facts& facts) {
  const auto& again = facts.finding().recomputed;
  const bool finite = std::any_of(again.begin(), again.end(), [](const Recomputed& one) {
    return !one.values.empty() && is_finite(one.values[0]);
  });
  return finite || (facts.finding().exact && is_finite(*facts.finding().exact));
}

const Experiment* success_of(const Facts& facts, const std::string& argument) {
  for (const Experiment& one : facts.finding().experiments)
    if (one.kind == ExperimentKind::kMended && is_finite(one.result) &&
        (argument.empty() || one.argument.empty() || one.argument == argument))
      return &one;
  return nullptr;
}

std::string name_of(const Facts& facts, const std::string& argument) {
  const bool divisor = (facts.op_is(OpFamily::kDivision) && argument == "other") ||
                       (facts.op() == "addcdiv" && argument == "tensor2");
  for (const Operand& operand : facts.tensors())
    if (operand.argument == argument)
      return divisor && !operand.in_source ? "the divisor" : operand.name;
  return divisor ? "the divisor" : "what goes in";
}

bool is_empty(const Facts& facts, const std::string& argument) {
  for (const Operand& operand : facts.tensors())
    if (operand.argument == argument) return operand.tensor->statistics.numel == 0;
  return false;
}

std::string value_now(const Facts& facts, const std::string& argument) {
  for (const Operand& operand : facts.tensors())
    if (operand.argument == argument && !operand.values.empty()) return number(operand.values[0]);
  const auto scalar = facts.scalar(argument);
  return scalar ? number(*scalar) : std::string();
}

std::string what_of(const Facts& facts, const Experiment& one) {
  if (one.argument.empty()) return "everything that is not finite replaced by 1";
  const std::string name = name_of(facts, one.argument);
  const std::string given = one.given ? number(*one.given) : "another value";
  if (facts.op_is(OpFamily::kSoftmax))
    return fmt::format("one place of the row of {} unmasked", name);
  if (facts.op_is(OpFamily::kInverts)) return fmt::format("the identity in place of {}", name);
  if (facts.op_is(OpFamily::kSpread)) return fmt::format("{} given twice", name);
  if (facts.op_is(OpFamily::kNllLoss) && one.argument == "target")
    return fmt::format("every target in {} counted as class 0", name);
  if (facts.op_is(OpFamily::kNllLoss) && one.argument == "weight")
    return fmt::format("every weight in {} at 1", name);
  const bool is_number = facts.scalar(one.argument).has_value();
  if (is_number)
    return fmt::format("the number {} instead of {}", given, value_now(facts, one.argument));
  const std::string now = value_now(facts, one.argument);
  if (is_empty(facts, one.argument)) return fmt::format("an element in {}", name);
  if (now.empty()) return fmt::format("{} at {}", name, given);
  // 1 and 1.0000001 need more digits.
  if (now == given) return fmt::format("{} {} instead of a little more{}", name, given, facts.at());
  return fmt::format("{} {} instead of {}{}", name, given, now, facts.at());
}

std::string result_of(const Experiment& one) {
  return is_finite(one.result) ? fmt::format("finite: {}", number(one.result))
                               : fmt::format("still {}", number(one.result));
}

// What was lost is known: another value of the element is another one.
std::optional<double> exactly(const Experiment& one) {
  const bool lost = one.loss == Loss::kCancellation || one.loss == Loss::kUnderflow;
  if (!lost || !is_finite(one.result) || one.result.is_complex) return std::nullopt;
  return one.result.real;
}

bool needs_no_experiment(const Facts& facts, const std::string& id) {
  return facts.origin().kind != OriginKind::kBirth || id == "bad_input_data" ||
         id == "nan_constant" || facts.finding().forewarning.has_value();
}

}  // namespace

std::string remade_name(const Facts& facts, const Experiment& again) {
  const bool other = facts.op_is(OpFamily::kDecidedByOther);
  const auto operand = facts.operand(other ? "other" : "self", other ? 1 : 0, "");
  return operand && operand->in_source ? operand->name : in_backticks(again.code);
}

const Experiment* made_again(const Facts& facts) {
  for (const Experiment& one : facts.finding().experiments)
    if (one.kind == ExperimentKind::kMadeAgain) return &one;
  return nullptr;
}

const Experiment* lost_on_the_way(const Facts& facts) {
  const Experiment* again = made_again(facts);
  return again != nullptr && is_finite(again->result) ? again : nullptr;
}

bool is_proved(const Facts& facts, const Opinion& opinion) {
  if (opinion.id == "compiled_only") return !facts.finding().only_compiled->setting.empty();
  if (needs_no_experiment(facts, opinion.id)) return true;
  if (is_precision(opinion.id) && (fits_a_wider_type(facts) || lost_on_the_way(facts) != nullptr))
    return true;
  if (opinion.id == "cancellation") return lost_on_the_way(facts) != nullptr;
  if (success_of(facts, opinion.mends) != nullptr) return true;
  const auto arithmetic = with_one(facts, opinion.mends);
  return arithmetic && std::isfinite(*arithmetic);
}

std::string proof_of(const Facts& facts, const Opinion& opinion) {
  if (needs_no_experiment(facts, opinion.id) || is_precision(opinion.id) ||
      opinion.id == "cancellation" || opinion.id == "compiled_only")
    return {};
  if (const Experiment* one = success_of(facts, opinion.mends))
    return fmt::format("tried: with {} the element is {}", what_of(facts, *one),
                       number(one->result));
  return {};
}

std::vector<Cause::Experiment> shown_experiments(const Facts& facts) {
  std::vector<Cause::Experiment> experiments;
  if (facts.origin().kind != OriginKind::kBirth) return experiments;
  for (const Experiment& one : facts.finding().experiments) {
    if (one.kind == ExperimentKind::kMended)
      experiments.push_back({what_of(facts, one), result_of(one)});
    else
      experiments.push_back({fmt::format("{} made again in float64 from what it is computed of",
                                         remade_name(facts, one)),
                             result_of(one), exactly(one)});
  }
  for (const Recomputed& again : facts.finding().recomputed)
    if (!again.values.empty())
      experiments.push_back({fmt::format("computed in {} from the same operands", again.dtype),
                             fmt::format("{}{}", is_finite(again.values[0]) ? "finite: " : "still ",
                                         number(again.values[0]))});
  return experiments;
}

}  // namespace nanscope::diagnosis
