// The list of families, and how one cause is picked from their opinions.

#include "diagnose/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "diagnose/causes.h"
#include "diagnose/family.h"
#include "diagnose/handed_over.h"
#include "diagnose/lineage.h"
#include "diagnose/phrase.h"
#include "diagnose/proof.h"
#include "diagnose/training.h"
#include "diagnose/what_if.h"

// Adding a family is adding its file and one line here. The order is from the
// special to the general: of two that are equally sure, the first is the cause.
// clang-format off

// Where it came from. What no op computed is explained by these alone.
#define NANSCOPE_SOURCES(family) \
  family(forewarning)            \
  family(received)               \
  family(compiled_only)          \
  family(memory)                 \
  family(input_data)             \
  family(constant)               \
  family(unwatched)

// What the op did.
#define NANSCOPE_ARITHMETIC(family) \
  family(training)                  \
  family(loss_scale)                \
  family(precision)                 \
  family(leak)                      \
  family(optimizer)                 \
  family(empty_reduction)           \
  family(softmax)                   \
  family(linear_algebra)            \
  family(inverse_trigonometry)      \
  family(special_function)          \
  family(norm)                      \
  family(power)                     \
  family(square_root)               \
  family(logarithm)                 \
  family(division)                  \
  family(exponential)               \
  family(infinities)                \
  family(overflow)                  \
  family(numpy_flag)                \
  family(foreign)

// clang-format on

namespace nanscope {
namespace diagnosis {

#define NANSCOPE_DECLARE(family) void family(const Facts& facts, Opinions& opinions);
NANSCOPE_SOURCES(NANSCOPE_DECLARE)
NANSCOPE_ARITHMETIC(NANSCOPE_DECLARE)
#undef NANSCOPE_DECLARE

namespace {

#define NANSCOPE_LIST(family) &family,
constexpr Family kSources[] = {NANSCOPE_SOURCES(NANSCOPE_LIST)};
constexpr Family kArithmetic[] = {NANSCOPE_ARITHMETIC(NANSCOPE_LIST)};
#undef NANSCOPE_LIST

// The first that is certain, else the first that is likely, else none.
Opinions::const_iterator surest_of(const Opinions& opinions) {
  for (const auto stand : {Opinion::Stand::kCertain, Opinion::Stand::kLikely}) {
    const auto found = std::find_if(opinions.begin(), opinions.end(),
                                    [&](const Opinion& o) { return o.stand == stand; });
    if (found != opinions.end()) return found;
  }
  return opinions.end();
}

bool lies_behind(const Opinion& opinion, const std::string& id) {
  return opinion.stand != Opinion::Stand::kRuledOut &&
         std::find(opinion.explains.begin(), opinion.explains.end(), id) != opinion.explains.end();
}

// The surest; or what lies behind it, if something does.
Opinions::const_iterator best_of(const Opinions& opinions) {
  const auto surest = surest_of(opinions);
  const std::string id = surest == opinions.end() ? "unknown" : surest->id;
  const auto behind = std::find_if(opinions.begin(), opinions.end(),
                                   [&](const Opinion& o) { return lies_behind(o, id); });
  return behind != opinions.end() ? behind : surest;
}

Cause::Other dropped(const Opinion& opinion, const Opinion& best) {
  if (opinion.stand == Opinion::Stand::kRuledOut) return {opinion.id, opinion.sentence};
  const bool shows = lies_behind(best, opinion.id);
  const char* const why_not =
      shows ? "true, and only how it showed: " : "possible, but less sure: ";
  return {.id = opinion.id, .why_not = why_not + opinion.sentence, .shows = shows};
}

constexpr std::size_t kMostLooks = 8;

// What was looked at, so that the reader can go on from here.
Cause unknown(const Facts& facts) {
  Cause cause;
  cause.id = "unknown";
  cause.sentence = fmt::format("No rule of this version explains why {} gave {}{}.",
                               facts.origin().op, facts.value(), facts.at());
  for (const Operand& operand : facts.tensors()) {
    if (cause.evidence.size() >= kMostLooks) break;
    cause.evidence.push_back(finite_range(operand));
    cause.evidence.push_back(values_here(facts, operand));
  }
  if (facts.finding().inputs.empty())
    cause.evidence.push_back("no inputs were recorded for this operation");
  return cause;
}

void keep_one_of_each(std::vector<std::string>& lines) {
  std::vector<std::string> kept;
  for (std::string& line : lines)
    if (!line.empty() && std::find(kept.begin(), kept.end(), line) == kept.end())
      kept.push_back(std::move(line));
  lines = std::move(kept);
}

// Another explanation that an experiment bears out as well.
bool is_contested(const Facts& facts, const Opinions& opinions, const Opinion& best) {
  return std::any_of(opinions.begin(), opinions.end(), [&](const Opinion& other) {
    return other.stand == Opinion::Stand::kCertain && other.id != best.id &&
           !lies_behind(best, other.id) && !lies_behind(other, best.id) &&
           other.mends != best.mends && is_proved(facts, other);
  });
}

void add_of_experiment(const std::string& line, Cause& cause) {
  cause.evidence.push_back(line);
  if (!line.empty()) cause.evidence_of_experiments.push_back(line);
}

void settle(const Facts& facts, const Opinions& opinions, const Opinion& best, Cause& cause) {
  cause.id = best.id;
  cause.sentence = best.sentence;
  cause.evidence = best.evidence;
  if (best.stand != Opinion::Stand::kCertain) return;
  const bool proved = is_proved(facts, best);
  if (proved) add_of_experiment(proof_of(facts, best), cause);
  if (!proved) cause.evidence.emplace_back("not certain: no experiment at the hit could prove it");
  const bool contested = proved && is_contested(facts, opinions, best);
  if (contested)
    cause.evidence.emplace_back("not certain: another explanation is borne out as well");
  if (proved && !contested) cause.certainty = Certainty::kCertain;
}

// "Division by zero in `x / n`": of a warning nothing has happened yet.
std::string title_of(const Facts& facts, const Opinion* best, const Cause& cause) {
  if (best != nullptr && !best->title.empty()) return best->title;
  const CauseInfo* info = find_cause(cause.id);
  std::string title(info != nullptr ? info->title : "Not explained");
  if (facts.origin().site.code.empty() || facts.finding().forewarning) return title;
  const bool backward = facts.origin().phase == Phase::kBackward;
  return fmt::format("{} in {}{}", title, backward ? "the gradient of " : "", facts.expression());
}

Cause pick(const Facts& facts, const Opinions& opinions) {
  const auto best = best_of(opinions);
  Cause cause;
  if (best == opinions.end())
    cause = unknown(facts);
  else
    settle(facts, opinions, *best, cause);
  cause.title = title_of(facts, best == opinions.end() ? nullptr : &*best, cause);
  cause.experiments = shown_experiments(facts);
  if (const CauseInfo* info = find_cause(cause.id)) cause.to_blame = info->to_blame;
  if (std::islower(static_cast<unsigned char>(cause.sentence[0])) != 0)
    cause.sentence[0] = static_cast<char>(std::toupper(cause.sentence[0]));
  if (facts.origin().kind == OriginKind::kBirth) {
    cause.evidence.push_back(lineage(facts));
    if (cause.id.ends_with("_overflow")) cause.evidence.push_back(one_bad_batch(facts));
    for (WhatIf& one : what_if(facts, cause.id)) {
      if (one.of_experiment)
        add_of_experiment(one.line, cause);
      else
        cause.evidence.push_back(std::move(one.line));
    }
  }
  const Finding& finding = facts.finding();
  cause.evidence.insert(cause.evidence.end(), finding.arrival.begin(), finding.arrival.end());
  if (finding.handed_by) cause.evidence.push_back(handed_text(*finding.handed_by));
  if (finding.arrival_is_likely) cause.certainty = Certainty::kLikely;
  keep_one_of_each(cause.evidence);
  for (auto it = opinions.begin(); it != opinions.end(); ++it) {
    const bool known = std::any_of(cause.others.begin(), cause.others.end(),
                                   [&](const Cause::Other& other) { return other.id == it->id; });
    if (it != best && it->id != cause.id && !known)
      cause.others.push_back(dropped(*it, best == opinions.end() ? Opinion{} : *best));
  }
  return cause;
}

}  // namespace
}  // namespace diagnosis

Cause diagnose(const Finding& finding) {
  const diagnosis::Facts facts(finding);
  diagnosis::Opinions opinions;
  for (const diagnosis::Family family : diagnosis::kSources) family(facts, opinions);
  if (finding.origin.kind == OriginKind::kBirth && !finding.forewarning)
    for (const diagnosis::Family family : diagnosis::kArithmetic) family(facts, opinions);
  return diagnosis::pick(facts, opinions);
}

}  // namespace nanscope
