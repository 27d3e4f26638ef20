// unwatched_kernel: finite when last seen, bad at the next read, and no watched
// operation between.

#include <fmt/format.h>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {

void unwatched(const Facts& facts, Opinions& opinions) {
  if (facts.origin().kind != OriginKind::kUnwatched) return;
  std::vector<std::string> evidence{bad_elements(facts.origin())};
  // Where is not known: a node is found at the next watched operation.
  if (!facts.finding().makers.empty())
    evidence.push_back(
        fmt::format("it did not come from outside: autograd knows what computed it, {}",
                    facts.finding().makers[0].node));
  for (const Link& link : facts.finding().chain)
    evidence.push_back(
        fmt::format("{} at {}:{} was watched", link.op, link.site.file, link.site.line));
  if (evidence.size() > 3) evidence.resize(3);
  opinions.push_back({Opinion::Stand::kLikely, "unwatched_kernel",
                      fmt::format("A kernel that could not be watched made it: no watched "
                                  "operation wrote the {} that {} reads.",
                                  facts.value(), facts.expression()),
                      evidence});
}

}  // namespace nanscope::diagnosis
