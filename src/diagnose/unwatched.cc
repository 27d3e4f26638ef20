// unwatched_kernel: finite when last seen, bad at the next read, and no watched
// operation between.

#include <fmt/format.h>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {

void unwatched(const Facts& facts, Opinions& opinions) {
  const Origin& origin = facts.origin();
  if (origin.kind != OriginKind::kUnwatched) return;
  const auto& inputs = facts.finding().inputs;
  const std::string name = inputs.empty() ? facts.expression() : quoted(inputs[0].name);
  std::vector<std::string> evidence{
      fmt::format("{}: {}{}", name, bad_elements(origin), facts.at())};
  for (const Maker& maker : facts.finding().makers) {
    if (maker.links_back != 0 || maker.site.file.empty()) continue;
    evidence.push_back(fmt::format("it was finite when {} made it, at {}:{}",
                                   quoted(maker.site.code), maker.site.file, maker.site.line));
    break;
  }
  if (evidence.size() == 1)
    evidence.push_back("it was finite after the last watched operation wrote it");
  evidence.push_back(fmt::format("{} at {}:{} is the next watched operation, and reads {}",
                                 origin.op, origin.site.file, origin.site.line, facts.value()));
  opinions.push_back(
      {Opinion::Stand::kLikely, "unwatched_kernel",
       fmt::format("A kernel that could not be watched wrote {} into {}: it was finite when last "
                   "seen, and no watched operation wrote it since.",
                   facts.value(), name),
       evidence});
}

}  // namespace nanscope::diagnosis
