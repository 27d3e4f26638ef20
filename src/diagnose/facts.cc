#include "diagnose/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

bool finite(const Statistics& s) { return s.nan == 0 && s.pos_inf == 0 && s.neg_inf == 0; }

std::optional<double> parsed(const std::string& text) {
  if (text == "True" || text == "true") return 1;
  if (text == "False" || text == "false") return 0;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0') return std::nullopt;
  return value;
}

// The values at the failing elements; a tensor that is the same everywhere has them too.
std::vector<Value> values_of(const TensorFacts& tensor) {
  if (!tensor.at_index.empty()) return tensor.at_index;
  const Statistics& s = tensor.statistics;
  const bool constant = s.numel > 0 && finite(s) && s.min && s.max && *s.min == *s.max;
  const bool complex = tensor.dtype.starts_with("complex");
  if (!constant || complex) return {};
  return {Value{*s.min, 0, false}};
}

std::string share(std::int64_t some, std::int64_t all, std::string_view what) {
  if (all <= 1) return {};
  return fmt::format(" ({} of {} {} {})", grouped(some), plural(all, "element"),
                     some == 1 ? "is" : "are", what);
}

}  // namespace

Proof Operand::is_zero() const {
  if (!values.empty()) return values[0].real == 0 && values[0].imag == 0 ? Proof::kYes : Proof::kNo;
  return tensor && tensor->statistics.zeros > 0 ? Proof::kPossible : Proof::kNo;
}

Proof Operand::is_negative() const {
  if (!values.empty())
    return !values[0].is_complex && values[0].real < 0 ? Proof::kYes : Proof::kNo;
  return tensor && tensor->statistics.negatives > 0 ? Proof::kPossible : Proof::kNo;
}

bool Operand::is_finite() const {
  if (!values.empty())
    return std::all_of(values.begin(), values.end(),
                       [](const Value& v) { return nanscope::diagnosis::is_finite(v); });
  if (!tensor) return false;
  return finite(tensor->feeding.value_or(tensor->statistics));
}

std::optional<double> Operand::value() const {
  if (values.empty() || values[0].is_complex) return std::nullopt;
  return values[0].real;
}

Facts::Facts(const Finding& finding) : finding_(finding), op_(bare_name(finding.origin.op)) {}

bool Facts::op_is(OpFamily family) const { return is_in(family, op_); }

bool Facts::in_backward_of(OpFamily family) const {
  return origin().node && is_backward_in(family, *origin().node);
}

bool Facts::in_backward_of(std::string_view op) const {
  return origin().node && is_backward_of(op, *origin().node);
}

bool Facts::is_nan() const {
  return std::isnan(origin().value.real) || std::isnan(origin().value.imag);
}

Operand Facts::operand_of(const TensorFacts& tensor, std::string_view argument,
                          std::string_view description) const {
  // The schema's name is not the user's.
  const bool unnamed =
      tensor.name.empty() || tensor.name == argument || tensor.name == tensor.argument;
  return {unnamed ? std::string(description) : in_backticks(tensor.name), &tensor,
          values_of(tensor), argument_text(tensor), !unnamed};
}

std::optional<Operand> Facts::operand(std::string_view argument, std::size_t position,
                                      std::string_view description) const {
  const auto& inputs = finding_.inputs;
  const bool named = std::any_of(inputs.begin(), inputs.end(), [](const TensorFacts& tensor) {
    return !tensor.argument.empty() && !tensor.saved;
  });
  if (named) {
    for (const TensorFacts& tensor : inputs)
      if (!tensor.saved &&
          argument == std::string_view(tensor.argument).substr(0, tensor.argument.find('[')))
        return operand_of(tensor, argument, description);
  } else if (position < inputs.size() && !inputs[position].saved) {
    return operand_of(inputs[position], argument, description);
  }
  if (const std::optional<double> value = scalar(argument))
    return Operand{
        std::string(description), nullptr, {Value{*value, 0, false}}, std::string(argument)};
  return std::nullopt;
}

std::optional<double> Facts::scalar(std::string_view name) const {
  for (const ScalarFact& fact : finding_.scalars)
    if (fact.name == name) return parsed(fact.value);
  return std::nullopt;
}

namespace {
std::string unnamed(std::size_t place) {
  constexpr const char* kPlaces[] = {"the first input", "the second input", "the third input"};
  return place < std::size(kPlaces) ? kPlaces[place] : "a further input";
}
}  // namespace

std::vector<Operand> Facts::tensors() const {
  std::vector<Operand> all;
  for (std::size_t i = 0; i < finding_.inputs.size(); ++i)
    if (!finding_.inputs[i].saved) all.push_back(operand_of(finding_.inputs[i], "", unnamed(i)));
  return all;
}

std::vector<Operand> Facts::saved() const {
  std::vector<Operand> all;
  for (const TensorFacts& tensor : finding_.inputs)
    if (tensor.saved) all.push_back(operand_of(tensor, "", ""));
  return all;
}

std::optional<Operand> Facts::saved(std::string_view name) const {
  for (const TensorFacts& tensor : finding_.inputs)
    if (tensor.saved && tensor.argument == name)
      return operand_of(tensor, name, "the argument of " + expression());
  return std::nullopt;
}

const Maker* Facts::maker(std::string_view op, std::int64_t links_back) const {
  for (const Maker& maker : finding_.makers)
    if (maker.links_back == links_back && is_backward_of(op, maker.node)) return &maker;
  return nullptr;
}

const Maker* Facts::maker(OpFamily family, std::int64_t links_back) const {
  for (const Maker& maker : finding_.makers)
    if (maker.links_back == links_back && is_backward_in(family, maker.node)) return &maker;
  return nullptr;
}

std::optional<double> Facts::loss() const {
  return finding_.history.empty() ? std::nullopt : finding_.history.back().loss;
}

std::optional<Operand> kept_by(const Maker& maker, std::string_view name) {
  for (const TensorFacts& tensor : maker.tensors)
    if (tensor.saved && tensor.argument == name) {
      const bool named = !tensor.name.empty() && tensor.name != name;
      return Operand{named ? in_backticks(tensor.name) : std::string(), &tensor, values_of(tensor),
                     argument_text(tensor), named};
    }
  return std::nullopt;
}

bool is_finite(const Value& value) {
  return std::isfinite(value.real) && std::isfinite(value.imag);
}

std::optional<double> number_of(const Maker& maker, std::string_view name) {
  for (const ScalarFact& scalar : maker.scalars)
    if (scalar.name == name) return parsed(scalar.value);
  return std::nullopt;
}

bool Facts::inputs_finite() const {
  const std::vector<Operand> all = tensors();
  const auto& scalars = finding_.scalars;
  return (!all.empty() || !scalars.empty()) &&
         std::all_of(all.begin(), all.end(), [](const Operand& o) { return o.is_finite(); }) &&
         std::all_of(scalars.begin(), scalars.end(), [](const ScalarFact& fact) {
           return std::isfinite(parsed(fact.value).value_or(0));
         });
}

const TensorFacts* Facts::output() const {
  const auto place = static_cast<std::size_t>(origin().output);
  return place < finding_.outputs.size() ? &finding_.outputs[place] : nullptr;
}

std::string Facts::output_dtype_name() const {
  if (output()) return output()->dtype;
  return finding_.inputs.empty() ? std::string() : finding_.inputs[0].dtype;
}

std::optional<DType> Facts::output_dtype() const { return scannable_named(output_dtype_name()); }

std::string Facts::at() const {
  if (origin().indices.empty() || origin().indices[0].empty()) return {};
  return " at " + bracketed(origin().indices[0]);
}

std::string Facts::value() const { return number(origin().value); }

std::string Facts::expression() const {
  return origin().site.code.empty() ? origin().op : in_backticks(origin().site.code);
}

std::string is_zero_here(const Facts& facts, const Operand& operand) {
  const std::string at = operand.tensor ? facts.at() : "";
  if (!operand.tensor) {
    for (const Experiment& one : facts.finding().experiments)  // the text that gave it
      if (one.kind == ExperimentKind::kMadeAgain && !one.code.empty())
        return in_backticks(one.code) + " is 0";
    return operand.name + " is the number 0";
  }
  const Statistics& s = operand.tensor->statistics;
  if (operand.values.empty())
    return fmt::format("{} holds {}", operand.name, plural(s.zeros, "zero"));
  return fmt::format("{} is 0{}{}", operand.name, at, share(s.zeros, s.numel, "zero"));
}

std::string value_here(const Facts& facts, const Operand& operand) {
  if (operand.values.empty()) return operand.name;
  return fmt::format("{} is {}{}", operand.name, number(operand.values[0]),
                     operand.tensor ? facts.at() : "");
}

std::string is_negative_here(const Facts& facts, const Operand& operand) {
  if (!operand.tensor)
    return fmt::format("{} is the number {}", operand.name, number(operand.values.at(0)));
  const Statistics& s = operand.tensor->statistics;
  if (operand.values.empty())
    return fmt::format("{} holds {}", operand.name, plural(s.negatives, "negative number"));
  return fmt::format("{} is {}{}{}", operand.name, number(operand.values[0]), facts.at(),
                     share(s.negatives, s.numel, "negative"));
}

std::string is_not(const Facts& facts, const Operand& operand, std::string_view expected) {
  if (!operand.values.empty())
    return fmt::format("{} is {}{}, not {}", operand.name, number(operand.values[0]),
                       operand.tensor ? facts.at() : "", expected);
  return fmt::format("no element of {} is {}", operand.name, expected);
}

std::string values_here(const Facts& facts, const Operand& operand) {
  const auto& indices = facts.origin().indices;
  if (!operand.tensor || operand.tensor->at_index.empty() || indices.size() < 2) return {};
  std::vector<std::string> places;
  std::vector<std::string> values;
  for (std::size_t i = 0; i < indices.size() && i < operand.values.size(); ++i) {
    places.push_back(bracketed(indices[i]));
    values.push_back(number(operand.values[i]));
  }
  return fmt::format("at the failing elements {}, {} is {}", joined(places, ", "), operand.name,
                     joined(values, ", "));
}

std::string finite_range(const Operand& operand) {
  if (!operand.tensor) return {};
  const Statistics& s = operand.tensor->statistics;
  if (!finite(s) || !s.min || !s.max) return {};
  if (s.numel == 1) return fmt::format("{} is {}", operand.name, number(*s.min));
  return fmt::format("{} is finite everywhere: {} from {} to {}", operand.name,
                     plural(s.numel, "element"), number(*s.min), number(*s.max));
}

}  // namespace nanscope::diagnosis
