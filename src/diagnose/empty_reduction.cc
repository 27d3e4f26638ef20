// empty_reduction: a reduction over too few elements. The mean of nothing is 0 / 0; so is
// a loss in which every target is ignored, and the unbiased variance of one element.

#include <fmt/format.h>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

constexpr const char* kEmptyReduction = "empty_reduction";

void certain(Opinions& opinions, std::string sentence, std::vector<std::string> evidence = {}) {
  opinions.push_back({Opinion::Stand::kCertain,
                      kEmptyReduction,
                      std::move(sentence),
                      std::move(evidence),
                      {"division_by_zero", "float_overflow", "half_overflow", "bad_input_data"}});
}

std::string shape_of(const Operand& x) {
  return fmt::format("{} has the shape {}", x.name, bracketed(x.tensor->shape));
}

void mean_of_nothing(const Facts& facts, const Operand& x, Opinions& opinions) {
  const std::int64_t numel = x.tensor->statistics.numel;
  if (facts.op() == "nanmedian" && facts.is_nan() && numel > 0)  // it leaves nan out by itself
    return certain(opinions,
                   fmt::format("All that {} takes the median of{} is nan: no element is left.",
                               facts.expression(), facts.at()),
                   {fmt::format("{} of {} are nan", grouped(x.tensor->statistics.nan),
                                plural(numel, "element"))});
  if (numel == 0) {
    certain(opinions,
            fmt::format("{} has no elements, and the {} of nothing is 0 / 0 = nan.", x.name,
                        facts.op()),
            {shape_of(x)});
  } else if (facts.is_nan()) {
    opinions.push_back({Opinion::Stand::kRuledOut,
                        kEmptyReduction,
                        fmt::format("{} has {}", x.name, plural(numel, "element")),
                        {}});
  }
}

// The sum of squares is divided by count - correction.
void spread_of_too_few(const Facts& facts, const Operand& x, Opinions& opinions) {
  const TensorFacts* output = facts.output();
  const std::int64_t groups = output ? output->statistics.numel : facts.origin().numel;
  if (groups <= 0) return;
  const std::int64_t count = x.tensor->statistics.numel / groups;
  const double correction =
      facts.scalar("correction").value_or(facts.scalar("unbiased").value_or(1));
  if (static_cast<double>(count) > correction) {
    opinions.push_back({Opinion::Stand::kRuledOut,
                        kEmptyReduction,
                        fmt::format("it is taken over {}", plural(count, "element")),
                        {}});
    return;
  }
  certain(opinions,
          fmt::format("The {} of {} is taken over {}, and it divides by {} - {} = {}.", facts.op(),
                      x.name, plural(count, "element"), grouped(count), number(correction),
                      number(static_cast<double>(count) - correction)),
          {shape_of(x)});
}

// nanmean(x) divides the sum by the number of elements that are not nan, which is an integer.
void mean_of_nothing_but_nan(const Facts& facts, Opinions& opinions) {
  const std::optional<Operand> count = facts.operand("other", 1, "the number of elements");
  if (facts.expression().find("nanmean") == std::string::npos || !count || !count->tensor) return;
  if (!count->tensor->dtype.starts_with("int") || count->value() != 0.0) return;
  certain(opinions,
          fmt::format("All that {} takes the mean of{} is nan: no element is left, and the mean of "
                      "nothing is 0 / 0 = nan.",
                      facts.expression(), facts.at()),
          {fmt::format("the number of elements that are not nan is 0{}", facts.at())});
}

// nll_loss divides by the weights of the targets that are not ignored, and all of them are 0.
bool targets_without_weight(const Facts& facts, const Operand& target, Opinions& opinions) {
  const std::optional<Operand> weight = facts.operand("weight", 2, "the weight of the classes");
  const auto& outputs = facts.finding().outputs;  // the second is the total weight
  const bool no_weight = weight && weight->tensor && weight->argument == "weight" &&
                         weight->tensor->statistics.zeros > 0 && outputs.size() > 1 &&
                         outputs[1].statistics.numel > 0 &&
                         outputs[1].statistics.zeros == outputs[1].statistics.numel;
  if (!no_weight) return false;
  certain(opinions,
          fmt::format("Every target{} is of a class whose weight in {} is 0, or is ignored; the "
                      "weighted mean divides by their sum, 0.",
                      target.name.starts_with('`') ? " in " + target.name : "", weight->name),
          {fmt::format("{} of {} in {} at 0", grouped(weight->tensor->statistics.zeros),
                       plural(weight->tensor->statistics.numel, "weight"), weight->name)});
  opinions.back().title =
      fmt::format("Weighted mean over targets without a weight in {}", facts.expression());
  return true;
}

// nll_loss divides by the number (or weight) of the targets that are not ignored.
void ignored_targets(const Facts& facts, Opinions& opinions) {
  const std::optional<Operand> target = facts.operand("target", 1, "the target");
  if (!facts.is_nan() || facts.scalar("reduction").value_or(1) != 1) return;
  const double ignored = facts.scalar("ignore_index").value_or(-100);
  if (target && target->tensor) {
    const Statistics& s = target->tensor->statistics;
    if (s.numel == 0)
      return certain(opinions,
                     fmt::format("{} has no elements, and the mean loss of nothing is 0 / 0 = nan.",
                                 target->name));
    if (s.min && s.max && *s.min == ignored && *s.max == ignored)
      return certain(opinions,
                     fmt::format("Every target in {} is {}, which is ignored; the mean over the 0 "
                                 "that are left is nan.",
                                 target->name, number(ignored)),
                     {fmt::format("{} of {} are {}", grouped(s.numel), plural(s.numel, "element"),
                                  number(ignored))});
    if (targets_without_weight(facts, *target, opinions)) return;
    if (s.min && s.max && facts.inputs_finite() && *s.min != ignored && *s.max != ignored) {
      opinions.push_back(
          {Opinion::Stand::kRuledOut,
           kEmptyReduction,
           fmt::format("{} holds targets other than {}", target->name, number(ignored)),
           {}});
      return;
    }
  }
  // The second output is the total weight of the targets that count.
  const auto& outputs = facts.finding().outputs;
  if (outputs.size() > 1 && outputs[1].statistics.numel > 0 &&
      outputs[1].statistics.zeros == outputs[1].statistics.numel)
    return certain(opinions,
                   fmt::format("No target counts: the total weight that {} divides by is 0.",
                               facts.expression()));
  if (facts.inputs_finite())
    opinions.push_back(
        {Opinion::Stand::kLikely,
         kEmptyReduction,
         fmt::format("All inputs of {} are finite; its mean is nan only if no target counts.",
                     facts.expression()),
         {}});
}

}  // namespace

void empty_reduction(const Facts& facts, Opinions& opinions) {
  if (facts.op_is(OpFamily::kNllLoss)) return ignored_targets(facts, opinions);
  if (facts.op() == "div") return mean_of_nothing_but_nan(facts, opinions);
  const std::optional<Operand> x = facts.operand("self", 0, "the input");
  if (!x || !x->tensor) return;
  if (facts.op_is(OpFamily::kMean)) mean_of_nothing(facts, *x, opinions);
  if (facts.op_is(OpFamily::kSpread)) spread_of_too_few(facts, *x, opinions);
}

}  // namespace nanscope::diagnosis
