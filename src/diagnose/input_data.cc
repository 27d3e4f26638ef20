// bad_input_data: the number came in with the data, or as a literal in it; the program's
// arithmetic is right.

#include "diagnose/input_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

constexpr const char* kBadInputData = "bad_input_data";

std::int64_t bad_in(const Statistics& s) { return s.nan + s.pos_inf + s.neg_inf; }

// The input that brought it: the first that holds something bad.
std::optional<Operand> culprit(const Facts& facts) {
  for (const Operand& operand : facts.tensors())
    if (bad_in(operand.tensor->statistics) > 0) return operand;
  return std::nullopt;
}

// By the user, not by the op's schema alone.
bool is_named(const TensorFacts& tensor) {
  return !tensor.name.empty() && tensor.name != tensor.argument;
}

std::string held(const Statistics& s) {
  std::vector<std::string> kinds;
  if (s.nan > 0) kinds.push_back(grouped(s.nan) + " nan");
  if (s.pos_inf > 0) kinds.push_back(grouped(s.pos_inf) + " inf");
  if (s.neg_inf > 0) kinds.push_back(grouped(s.neg_inf) + " -inf");
  return fmt::format("{} in {}", joined(kinds, ", "), plural(s.numel, "element"));
}

// ", in sample 17 of 32": the first dimension of data is the batch.
std::string sample_of(const Facts& facts) {
  const auto& inputs = facts.finding().inputs;
  const Index& at = facts.origin().indices[0];
  if (at.size() < 2 || inputs.empty() || inputs[0].shape.size() != at.size() ||
      inputs[0].shape[0] < 2 || facts.op() == "copy")  // a checkpoint has no samples
    return {};
  return fmt::format(", in sample {} of {}", grouped(at[0]), grouped(inputs[0].shape[0]));
}

// `x[...] = value` on one of the site's lines.
bool assigns_element(const Site& site) {
  for (const std::string& line : site.source) {
    const std::size_t bracket = line.find(']');
    if (bracket == std::string::npos) continue;
    const std::size_t equals = line.find_first_not_of(' ', bracket + 1);
    if (equals != std::string::npos && line[equals] == '=' && line.substr(equals, 2) != "==")
      return true;
  }
  return false;
}

void imported(const Facts& facts, Opinions& opinions) {
  const std::optional<Operand> tensor = culprit(facts);
  const std::string name =
      tensor && is_named(*tensor->tensor) ? tensor->name : "what " + facts.expression() + " reads";
  const std::string what = tensor ? held(tensor->tensor->statistics) : bad_elements(facts.origin());
  std::vector<std::string> evidence;
  if (facts.origin().op == "input data")
    evidence.push_back("no operation had read it before");
  else
    evidence.push_back(fmt::format("{} is the first operation that read it", facts.origin().op));
  if (!facts.at().empty())
    evidence.push_back(fmt::format("the first bad element is {}{}{}", facts.value(), facts.at(),
                                   sample_of(facts)));
  if (facts.origin().numel == 0) {  // it was gone before anybody could look at it
    opinions.push_back({Opinion::Stand::kLikely,
                        kBadInputData,
                        fmt::format("{} holds a number that no watched operation computed: it came "
                                    "in with the data, or from a kernel that was not watched.",
                                    facts.expression()),
                        {"its values were not recorded"}});
    return;
  }
  if (facts.origin().left_before) {
    evidence.emplace_back(
        "numbers like it had left this run before: through item, numpy or a file, they may have "
        "come back");
    opinions.push_back({Opinion::Stand::kLikely, kBadInputData,
                        fmt::format("{} came in with {}: no operation wrote it there.", name, what),
                        evidence});
    return;
  }
  if (facts.origin().written_since) {
    evidence.emplace_back("an operation had written the same memory before");
    opinions.push_back(
        {Opinion::Stand::kLikely, kBadInputData,
         fmt::format("{} came in with {}: others share its memory (NumPy, DLPack, who has its "
                     "address) and wrote that there after the last operation that wrote it.",
                     name, what),
         evidence});
    return;
  }
  if (facts.finding().arrival_is_likely) {
    opinions.push_back(
        {Opinion::Stand::kLikely, kBadInputData,
         fmt::format("{} came in with {}: no operation that was watched wrote it.", name, what),
         evidence});
    return;
  }
  opinions.push_back(
      {Opinion::Stand::kCertain, kBadInputData,
       fmt::format("{} came in with {}: no operation of this run computed it, it is in the data.",
                   name, what),
       evidence});
}

void literal(const Facts& facts, Opinions& opinions) {
  opinions.push_back({Opinion::Stand::kLikely,
                      kBadInputData,
                      fmt::format("{} is written into the data as {}; no arithmetic made it.",
                                  facts.expression(), facts.value()),
                      {bad_elements(facts.origin())}});
}

// With finite log-probabilities every alignment has a finite loss: there is none.
void no_alignment(const Facts& facts, Opinions& opinions) {
  const auto log_probs = facts.operand("log_probs", 0, "the log-probabilities");
  if (facts.is_nan() || !log_probs || !log_probs->is_finite()) return;
  const auto targets = facts.operand("targets", 1, "the targets");
  opinions.push_back(
      {Opinion::Stand::kCertain,
       kBadInputData,
       fmt::format("A target{} needs more frames than its input has: no alignment exists, and the "
                   "CTC loss is inf.",
                   targets && targets->in_source ? " in " + targets->name : ""),
       {finite_range(*log_probs),
        "with finite log-probabilities the loss is inf only if no alignment exists"}});
}

// The op met an inf that came with the data: its arithmetic has no answer for that.
void inf_from_outside(const Facts& facts, Opinions& opinions) {
  const auto& chain = facts.finding().chain;
  const bool imported = std::any_of(chain.begin(), chain.end(),
                                    [](const Link& link) { return link.role == Role::kImported; });
  const std::optional<Operand> tensor = culprit(facts);
  if (!imported || !tensor || tensor->is_finite()) return;
  opinions.push_back(
      {Opinion::Stand::kLikely,
       kBadInputData,
       fmt::format("{} came in with {}, and {} makes {} of it.", tensor->name,
                   held(tensor->tensor->statistics), facts.expression(), facts.value()),
       {values_here(facts, *tensor)},
       {"inf_minus_inf", "zero_times_inf"}});
}

// A nan that was there before, and that this op carried on although the program knows of it.
void carried_on(const Facts& facts, Opinions& opinions) {
  if (!facts.is_nan() || facts.origin().phase != Phase::kForward) return;
  const std::optional<Operand> tensor = culprit(facts);
  if (!tensor || tensor->is_finite() || tensor->tensor->statistics.nan == 0) return;
  opinions.push_back({Opinion::Stand::kLikely,
                      kBadInputData,
                      fmt::format("{} holds {}, and {} carried it on.", tensor->name,
                                  held(tensor->tensor->statistics), facts.origin().op),
                      {values_here(facts, *tensor)}});
}

}  // namespace

bool is_data_literal(const Facts& facts) {
  const Origin& origin = facts.origin();
  if (origin.kind != OriginKind::kDeclared) return false;
  const bool partly = origin.nan + origin.pos_inf + origin.neg_inf < origin.numel;
  if (facts.op_is(OpFamily::kLifts)) return partly || assigns_element(origin.site);
  return facts.op_is(OpFamily::kWritesElement) && assigns_element(origin.site);
}

void input_data(const Facts& facts, Opinions& opinions) {
  if (facts.origin().kind == OriginKind::kImported) return imported(facts, opinions);
  if (is_data_literal(facts)) return literal(facts, opinions);
  if (facts.origin().kind != OriginKind::kBirth) return;
  if (facts.op_is(OpFamily::kCtcLoss)) return no_alignment(facts, opinions);
  inf_from_outside(facts, opinions);
  carried_on(facts, opinions);
}

}  // namespace nanscope::diagnosis
