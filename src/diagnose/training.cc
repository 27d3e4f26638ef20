// learning_rate_divergence, exploding_gradients, bad_initialisation: nothing is wrong with
// the op; the numbers that reached it had been growing, or were wrong from the beginning.
//
// The history of the steps and the magnitudes through the layers tell them apart: growth
// over steps is the training's, growth over layers at step 0 the initialisation's, growth
// of gradients over layers the depth's, a jump in one step the batch's (input_data.cc).

#include "diagnose/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "diagnose/family.h"
#include "diagnose/growth.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

const std::vector<std::string> kHowItShows{"float_overflow", "half_overflow", "eight_bit_overflow",
                                           "exp_overflow",   "log_of_zero",   "inf_minus_inf",
                                           "zero_times_inf", "unknown",       "division_by_zero"};
// Without the zeros: they come of weights that ran away, not of a loss that grows.
const std::vector<std::string> kHowGrowthShows{
    "float_overflow", "half_overflow", "eight_bit_overflow", "exp_overflow", "inf_minus_inf",
    "zero_times_inf", "unknown"};
constexpr double kRunsAway = 0.5;  // of their size in one update
constexpr int kFewestSteps = 3;
constexpr double kDiverges = 1.5;  // a step
// Fewer steps than that are enough if there were no more, and the weights went so far in them.
constexpr double kRunsAwayAtOnce = 10;  // a step
constexpr double kHeavyWeight = 10;
constexpr double kExtremeWeight = 100;
constexpr std::size_t kFewestLayers = 3;
constexpr double kLayerGrowth = 5;
constexpr std::size_t kFewestSteady = 3;
constexpr std::size_t kMostSteady = 8;
constexpr double kSteady = 10;  // the largest of the steady steps beside the least
constexpr double kJump = 100;
constexpr double kRanAway = 1e6;  // no gradient of a training that goes well is so large

struct Measured {
  const char* what;
  std::optional<double> StepRecord::*field;
};
constexpr Measured kMeasures[] = {
    {"the gradient norm", &StepRecord::gradient_norm},
    {"the largest parameter", &StepRecord::largest_parameter},
    {"the loss", &StepRecord::loss},
};

std::string growth_text(const char* what, const Growth& growth) {
  return fmt::format("{} grew x {:.2g} per step over the last {}, from {} to {}", what,
                     growth.per_step, plural(growth.steps, "step"), number(growth.first),
                     number(growth.last));
}

bool is_overflow(const Facts& facts) {
  const std::optional<double> exact =
      facts.finding().exact ? std::optional(facts.finding().exact->real) : std::nullopt;
  return facts.inputs_finite() || (exact && std::isfinite(*exact));
}

bool weights_run_away(const std::vector<StepRecord>& history) {
  const auto growth = growth_of(column(history, &StepRecord::largest_parameter));
  const auto ratios = column(history, &StepRecord::update_ratio);
  return (growth && growth->steps >= kFewestSteps && growth->per_step >= kDiverges) ||
         (!ratios.empty() && !(ratios.back() < kRunsAway));
}

// From the first update on: no weight that is trained well gets so large in two steps.
bool runs_away_at_once(const std::vector<StepRecord>& history, const Growth& growth) {
  return history.front().step == 0 && growth.per_step >= kRunsAwayAtOnce &&
         growth.last >= kHeavyWeight &&
         growth.steps + 1 ==
             static_cast<int>(column(history, &StepRecord::largest_parameter).size());
}

std::optional<Growth> diverging(const std::vector<StepRecord>& history, const Measured& measure) {
  const auto growth = growth_of(column(history, measure.field));
  if (!growth) return std::nullopt;
  const bool is_steady = growth->steps >= kFewestSteps && growth->per_step >= kDiverges;
  const bool is_sudden =
      measure.field == &StepRecord::largest_parameter && runs_away_at_once(history, *growth);
  return is_steady || is_sudden ? growth : std::nullopt;
}

bool divergence(const Facts& facts, Opinions& opinions) {
  const std::vector<StepRecord>& history = facts.finding().history;
  std::vector<std::string> evidence;
  std::optional<Growth> best;
  const char* what = nullptr;
  for (const Measured& measure : kMeasures) {
    const auto growth = diverging(history, measure);
    if (!growth) continue;
    evidence.push_back(growth_text(measure.what, *growth));
    if (!best) best = growth, what = measure.what;
  }
  if (!best) return false;
  if (const auto rates = column(history, &StepRecord::learning_rate); !rates.empty())
    evidence.push_back(fmt::format("the learning rate is {}", number(rates.back())));
  if (const auto ratios = column(history, &StepRecord::update_ratio); !ratios.empty())
    evidence.push_back(fmt::format("the last update changed the weights by {} of their size",
                                   number(ratios.back())));
  evidence.push_back(
      "it is a hyper-parameter; whether a smaller one is enough only a run can tell");
  opinions.push_back(
      {Opinion::Stand::kLikely, "learning_rate_divergence",
       fmt::format("The training diverges: {} grew x {:.2g} per step over the last {}, until "
                   "{} left the range of its type.",
                   what, best->per_step, plural(best->steps, "step"), facts.expression()),
       evidence, weights_run_away(history) ? kHowItShows : kHowGrowthShows});
  return true;
}

// p - lr * g inside the step, with a g that autograd.grad gave: the update of an inner loop, which
// the forward goes on with.
const Maker* inner_update(const Finding& finding) {
  const auto is_update = [](const Maker& maker) {
    return maker.links_back == 0 && !maker.site.code.empty() &&
           (is_backward_of("sub", maker.node) || is_backward_of("add", maker.node));
  };
  const auto found = std::find_if(finding.makers.begin(), finding.makers.end(), is_update);
  return found == finding.makers.end() ? nullptr : &*found;
}

// The gradients that were taken on the way to this op, smallest and largest.
std::optional<std::pair<double, double>> inner_gradients(const Finding& finding) {
  std::optional<std::pair<double, double>> range;
  for (const Magnitude& one : finding.magnitudes) {
    if (one.gradient || one.name.find("grad(") == std::string::npos) continue;
    if (!range) range = {one.largest, one.largest};
    range = {std::min(range->first, one.largest), std::max(range->second, one.largest)};
  }
  return range;
}

bool inner_divergence(const Facts& facts, Opinions& opinions) {
  const Finding& finding = facts.finding();
  const Maker* update = inner_update(finding);
  const auto range = inner_gradients(finding);
  if (update == nullptr || !range || range->second < kRanAway) return false;
  const std::string code = in_backticks(update->site.code);
  opinions.push_back(
      {.stand = Opinion::Stand::kLikely,
       .id = "learning_rate_divergence",
       .sentence = fmt::format("The updates that {} makes inside one step diverge: the gradients "
                               "they are made of go up to {}, until {} left the range of its type.",
                               code, number(range->second), facts.expression()),
       .evidence = {fmt::format("{} at line {} made what {} reads", code, update->site.line,
                                facts.expression()),
                    "it is a hyper-parameter; whether a smaller one is enough only a run can tell"},
       .explains = kHowGrowthShows,
       .title = fmt::format("The inner updates {} diverge", code)});
  return true;
}

// Growth through the layers of the failing step.
std::optional<Growth> layer_growth(const Finding& finding, bool gradient) {
  std::vector<double> sizes;
  for (const Magnitude& magnitude : finding.magnitudes)
    if (magnitude.gradient == gradient) sizes.push_back(magnitude.largest);
  // Gradients are kept in forward order and grow towards the first layer.
  if (gradient) std::reverse(sizes.begin(), sizes.end());
  const auto growth = growth_of(sizes);
  const bool steady = growth && growth->steps >= static_cast<int>(kFewestLayers) &&
                      growth->per_step >= kLayerGrowth;
  return steady ? growth : std::nullopt;
}

std::string through_layers(const Finding& finding, bool gradient) {
  std::vector<std::string> sizes;
  for (const Magnitude& magnitude : finding.magnitudes)
    if (magnitude.gradient == gradient) sizes.push_back(number(magnitude.largest));
  if (gradient) std::reverse(sizes.begin(), sizes.end());
  if (sizes.size() > 8) sizes.erase(sizes.begin(), sizes.end() - 8);
  return fmt::format("the largest {} layer by layer: {}", gradient ? "gradient" : "value",
                     joined(sizes, ", "));
}

bool is_weight_norm(const Finding& finding) {
  return bare_name(finding.origin.op).starts_with("_weight_norm");
}

// As spectral_norm does: by u . (W v).
bool divides_by_product(const Finding& finding) {
  return std::any_of(finding.makers.begin(), finding.makers.end(), [](const Maker& maker) {
    return maker.makes == "other" && maker.links_back == 0 &&
           (is_backward_of("dot", maker.node) || is_backward_of("vdot", maker.node));
  });
}

bool divides_one(const Finding& finding) {
  return is_in(OpFamily::kReciprocal, bare_name(finding.origin.op));
}

// A trained weight that is 0 everywhere, before the first update: what is divided by is made of
// it.
const TensorFacts* zero_parameter(const Finding& finding) {
  const auto is_it = [](const TensorFacts& tensor) {
    return tensor.parameter && tensor.statistics.numel > 1 &&
           tensor.statistics.zeros == tensor.statistics.numel;
  };
  if (is_weight_norm(finding) || divides_by_product(finding))
    for (const TensorFacts& tensor : finding.inputs)
      if (is_it(tensor)) return &tensor;
  for (const Maker& maker : finding.makers) {
    if (maker.makes == "self" && !divides_one(finding)) continue;  // of the dividend
    for (const TensorFacts& tensor : maker.tensors)
      if (is_it(tensor)) return &tensor;
  }
  return nullptr;
}

// It is the divisor's own: the op behind the divisor kept this very weight.
bool is_of_divisor(const Finding& finding, const TensorFacts& weight) {
  if (is_weight_norm(finding)) return true;
  for (const Maker& maker : finding.makers)
    for (const TensorFacts& tensor : maker.tensors)
      if (&tensor == &weight)
        return maker.links_back == 0 && (maker.makes == "other" || divides_one(finding));
  return false;
}

void initialisation(const Facts& facts, Opinions& opinions) {
  const Finding& finding = facts.finding();
  if (facts.origin().step > 0 || facts.origin().phase == Phase::kOptimizer) return;
  const bool divides = facts.op_is(OpFamily::kDivisionByNorm);
  if (const TensorFacts* zeros = zero_parameter(finding); zeros != nullptr && divides) {
    const bool is_named = !zeros->name.empty() && zeros->name != zeros->argument;
    const std::string name = is_named ? in_backticks(zeros->name) : "the weight";
    opinions.push_back(
        {is_of_divisor(finding, *zeros) ? Opinion::Stand::kCertain : Opinion::Stand::kLikely,
         "bad_initialisation",
         fmt::format(
             "{} is 0 everywhere before the first update: {} divides by its length, and 0 / 0 "
             "is nan.",
             name, facts.expression()),
         {fmt::format("all {} of {} are 0 at step 0", plural(zeros->statistics.numel, "element"),
                      name)},
         kHowItShows});
    return;
  }
  if (!is_overflow(facts) || facts.origin().phase != Phase::kForward) return;
  const auto growth = layer_growth(finding, false);
  const bool is_layer = facts.op_is(OpFamily::kLayer);
  const TensorFacts* extreme = nullptr;
  for (const TensorFacts& tensor : finding.inputs) {
    const Statistics& s = tensor.statistics;
    if (tensor.parameter && tensor.shape.size() > 1 && is_layer && s.min && s.max &&
        std::max(std::abs(*s.min), std::abs(*s.max)) > kExtremeWeight)
      extreme = &tensor;
  }
  if (!growth && extreme == nullptr) return;
  std::vector<std::string> evidence;
  if (growth) evidence.push_back(through_layers(finding, false));
  if (extreme != nullptr)
    evidence.push_back(fmt::format("{} reaches from {} to {} before the first update",
                                   in_backticks(extreme->name), number(*extreme->statistics.min),
                                   number(*extreme->statistics.max)));
  opinions.push_back(
      {Opinion::Stand::kLikely, "bad_initialisation",
       growth ? fmt::format("Before the first update the values already grow x {:.2g} per layer "
                            "over {} layers, until {} overflows: the weights begin too large.",
                            growth->per_step, growth->steps, facts.expression())
              : fmt::format("Before the first update {} holds weights far too large, and {} "
                            "overflows.",
                            in_backticks(extreme->name), facts.expression()),
       evidence, kHowItShows});
}

void gradients(const Facts& facts, Opinions& opinions) {
  if (facts.origin().phase != Phase::kBackward || !facts.inputs_finite()) return;
  const auto growth = layer_growth(facts.finding(), true);
  if (!growth) return;
  opinions.push_back(
      {Opinion::Stand::kLikely,
       "exploding_gradients",
       fmt::format("The gradients grow x {:.2g} per layer over {} layers on their way back, until "
                   "the gradient of {} overflows.",
                   growth->per_step, growth->steps, facts.expression()),
       {through_layers(facts.finding(), true)},
       kHowItShows});
}

// Steady until then: the last step is apart from those before it.
std::string jump_in(const std::vector<StepRecord>& history, const Measured& measure) {
  std::vector<double> sizes = column(history, measure.field);
  std::optional<double> last = history.empty() ? std::nullopt : history.back().*measure.field;
  if (!last) return {};
  if (std::isfinite(*last)) sizes.pop_back();
  if (sizes.size() < kFewestSteady) return {};
  sizes.erase(sizes.begin(), sizes.end() - std::min(sizes.size(), kMostSteady));
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  if (*least <= 0 || *most > kSteady * *least || std::abs(*last) < kJump * *most) return {};
  return fmt::format(
      "{} went from {} to {} in one step, after {} steady ones: one bad batch, not a growth",
      measure.what, number(sizes.back()), number(*last), sizes.size());
}

}  // namespace

std::string one_bad_batch(const Facts& facts) {
  Opinions opinions;
  if (facts.is_nan() || !is_overflow(facts) || divergence(facts, opinions) ||
      inner_divergence(facts, opinions))
    return {};
  for (const Measured& measure : kMeasures) {
    const std::string jump = jump_in(facts.finding().history, measure);
    if (!jump.empty()) return jump;
  }
  return {};
}

void training(const Facts& facts, Opinions& opinions) {
  if (is_overflow(facts) && divergence(facts, opinions)) return;
  if (is_overflow(facts) && inner_divergence(facts, opinions)) return;
  initialisation(facts, opinions);
  gradients(facts, opinions);
}

}  // namespace nanscope::diagnosis
