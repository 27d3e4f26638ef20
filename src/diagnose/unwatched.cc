// unwatched_kernel: finite when last seen, bad at the next read, and no watched
// operation between.

#include <fmt/format.h>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {

void unwatched(const Facts& facts, Opinions& opinions) {
  if (facts.origin().kind != OriginKind::kUnwatched) return;
  std::vector<std::string> evidence{bad_elements(facts.origin())};
  for (const Link& link : facts.finding().chain)
    evidence.push_back(
        fmt::format("{} at {}:{} was watched", link.op, link.site.file, link.site.line));
  if (evidence.size() > 3) evidence.resize(3);
  opinions.push_back({Opinion::Stand::kLikely, "unwatched_kernel",
                      fmt::format("A kernel that could not be watched made it: no watched "
                                  "operation wrote the {} that {} read.",
                                  facts.value(), facts.origin().op),
                      evidence});
}

}  // namespace nanscope::diagnosis
