// unwatched_kernel: finite when last seen, bad at the next read, and no watched
// operation between.

#include <fmt/format.h>

#include <utility>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {

void unwatched(const Facts& facts, Opinions& opinions) {
  const Finding& finding = facts.finding();
  if (finding.origin.kind != OriginKind::kUnwatched) return;
  const bool has_name = !finding.inputs.empty() && !finding.inputs[0].name.empty();
  const std::string what = has_name ? in_backticks(finding.inputs[0].name) : facts.expression();
  std::vector<std::string> evidence{bad_elements(finding.origin)};
  if (finding.origin.reinterpreted) {
    evidence.emplace_back("its memory is viewed as numbers of another type, by view(dtype)");
    Opinion opinion{Opinion::Stand::kLikely, "unwatched_kernel",
                    fmt::format("No operation computed the {} in {}: its memory was written as "
                                "numbers of another type, whose bits read so.",
                                facts.value(), what),
                    evidence};
    opinion.title = "Bits of numbers of another type";
    opinions.push_back(std::move(opinion));
    return;
  }
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
