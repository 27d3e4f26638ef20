// unwatched_kernel: finite when last seen, bad at the next read, and no watched
// operation between.

#include <fmt/format.h>

#include <utility>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

// Who wrote it is known only where the last watched write was of the other type.
Opinion memory_of_two_types(const Facts& facts, const std::string& what,
                            std::vector<std::string> evidence) {
  const Origin& origin = facts.origin();
  const std::string& other = origin.viewed_as;
  evidence.push_back(fmt::format("its memory is viewed as {}, by view(dtype)",
                                 other.empty() ? "numbers of another type" : other + " too"));
  Opinion opinion{Opinion::Stand::kLikely,
                  "unwatched_kernel",
                  fmt::format("No operation computed the {} in {}: its memory was written as "
                              "numbers of another type, whose bits read so.",
                              facts.value(), what),
                  {}};
  opinion.title = "Bits of numbers of another type";
  if (!origin.reinterpreted) {
    evidence.emplace_back("the last watched operation that wrote it left it finite");
    opinion.sentence = fmt::format(
        "No watched operation wrote the {} in {}: its memory is also viewed as {}, and who wrote "
        "it is not known.",
        facts.value(), what, other);
    opinion.title = "Memory that was written unseen";
  }
  opinion.evidence = std::move(evidence);
  return opinion;
}

// The memory was taken there, by code in C++ that the line calls.
bool is_memory_of_extension(const Facts& facts) {
  for (const char* op : {"empty", "new_empty", "_empty", "resize", "_resize"})
    if (facts.op().starts_with(op)) return true;
  return false;
}

Opinion memory_of_extension(const Facts& facts) {
  Opinion opinion{
      Opinion::Stand::kLikely,
      "unwatched_kernel",
      fmt::format("No operation computed the {} that {} gave: code that is not watched took its "
                  "memory there and wrote it, or left it unwritten.",
                  facts.value(), facts.expression()),
      {bad_elements(facts.origin()),
       fmt::format("the memory was taken by {}, which the line does not call itself",
                   facts.origin().op)}};
  opinion.title = "Memory that was written unseen";
  return opinion;
}

}  // namespace

void unwatched(const Facts& facts, Opinions& opinions) {
  const Finding& finding = facts.finding();
  if (finding.origin.kind != OriginKind::kUnwatched) return;
  if (is_memory_of_extension(facts)) return opinions.push_back(memory_of_extension(facts));
  const bool has_name = !finding.inputs.empty() && !finding.inputs[0].name.empty();
  const std::string what = has_name ? in_backticks(finding.inputs[0].name) : facts.expression();
  std::vector<std::string> evidence{bad_elements(finding.origin)};
  if (finding.origin.reinterpreted || !finding.origin.viewed_as.empty())
    return opinions.push_back(memory_of_two_types(facts, what, std::move(evidence)));
  const bool came_unseen = finding.arrival.empty() && !finding.handed_by;
  // Where is not known: a node is found at the next watched operation.
  if (finding.origin.from_other_device)
    evidence.emplace_back("it was computed on a device that is not watched, and copied from there");
  else if (came_unseen && finding.origin.was_finite)
    evidence.emplace_back("it was finite after the last watched operation that wrote it");
  else if (came_unseen && finding.makers.empty())
    evidence.emplace_back("it was there when the watch began, in the middle of the training");
  else if (!finding.makers.empty())
    evidence.push_back(
        fmt::format("it did not come from outside: autograd knows what computed it, {}",
                    finding.makers[0].node));
  if (finding.origin.op.find("::") != std::string::npos)  // not the host alone
    evidence.push_back(fmt::format("{} is the next watched operation, and reads {}",
                                   finding.origin.op, facts.value()));
  opinions.push_back({Opinion::Stand::kLikely, "unwatched_kernel",
                      fmt::format("A kernel that could not be watched made it: no watched "
                                  "operation wrote the {} in {}.",
                                  facts.value(), what),
                      evidence});
}

}  // namespace nanscope::diagnosis
