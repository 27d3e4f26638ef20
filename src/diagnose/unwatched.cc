// unwatched_kernel: finite when last seen, bad at the next read, and no watched
// operation between.

#include <fmt/format.h>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {

void unwatched(const Facts& facts, Opinions& opinions) {
  const Finding& finding = facts.finding();
  if (finding.origin.kind != OriginKind::kUnwatched) return;
  std::vector<std::string> evidence{bad_elements(finding.origin)};
  // Where is not known: a node is found at the next watched operation.
  if (finding.origin.from_other_device)
    evidence.emplace_back("it was computed on a device that is not watched, and copied from there");
  else if (finding.arrival.empty() && finding.origin.was_finite)
    evidence.emplace_back("it was finite after the last watched operation that wrote it");
  else if (finding.arrival.empty() && finding.makers.empty())
    evidence.emplace_back("it was there when the watch began, in the middle of the training");
  else if (!finding.makers.empty())
    evidence.push_back(
        fmt::format("it did not come from outside: autograd knows what computed it, {}",
                    finding.makers[0].node));
  if (finding.origin.op.find("::") != std::string::npos)  // not the host alone
    evidence.push_back(fmt::format("{} is the next watched operation, and reads {}",
                                   finding.origin.op, facts.value()));
  const bool has_name = !finding.inputs.empty() && !finding.inputs[0].name.empty();
  const std::string what = has_name ? in_backticks(finding.inputs[0].name) : facts.expression();
  opinions.push_back({Opinion::Stand::kLikely, "unwatched_kernel",
                      fmt::format("A kernel that could not be watched made it: no watched "
                                  "operation wrote the {} in {}.",
                                  facts.value(), what),
                      evidence});
}

}  // namespace nanscope::diagnosis
