// loss_scale_runaway: a dynamic loss scale collapses towards 0, halved in every step because
// the gradients overflow whatever it is, or grows to Inf.

#include <fmt/format.h>

#include <cmath>

#include "diagnose/family.h"
#include "diagnose/growth.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

constexpr const char* kLossScaleRunaway = "loss_scale_runaway";

std::string path(const std::vector<double>& scales) {
  std::vector<std::string> last;
  for (std::size_t i = scales.size() > 6 ? scales.size() - 6 : 0; i < scales.size(); ++i)
    last.push_back(number(scales[i]));
  return "the loss scale step by step: " + joined(last, ", ");
}

// A scale the program keeps itself: one number, multiplied until it overflows.
bool is_scale(const Facts& facts) {
  if (!facts.op_is(OpFamily::kUpdatesScale) || facts.origin().numel != 1) return false;
  const auto x = facts.operand("self", 0, "");
  return facts.op() == "_amp_update_scale" ||
         (x && x->name.find("scale") != std::string::npos && x->is_finite());
}

}  // namespace

void loss_scale(const Facts& facts, Opinions& opinions) {
  const std::vector<double> scales = column(facts.finding().history, &StepRecord::loss_scale);
  if (!scales.empty() && scales.back() < 1 && scales.front() > scales.back()) {
    opinions.push_back(
        {Opinion::Stand::kLikely,
         kLossScaleRunaway,
         fmt::format("The loss scale fell from {} to {}: the gradients overflow at every scale, so "
                     "scaling is not what makes them infinite.",
                     number(scales.front()), number(scales.back())),
         {path(scales)},
         {"half_overflow", "eight_bit_overflow", "float_overflow"}});
  } else if (is_scale(facts) && !facts.is_nan()) {
    const auto x = facts.operand("self", 0, "the loss scale");
    opinions.push_back(
        {Opinion::Stand::kLikely,
         kLossScaleRunaway,
         fmt::format("{} was multiplied at every interval and nothing stopped it: "
                     "from {} the next factor makes it {}.",
                     x ? x->name : "the loss scale",
                     x && x->value() ? number(*x->value()) : "the largest number", facts.value()),
         {scales.size() > 1 ? path(scales) : std::string()},
         {"float_overflow", "half_overflow", "eight_bit_overflow"}});
  }
}

}  // namespace nanscope::diagnosis
