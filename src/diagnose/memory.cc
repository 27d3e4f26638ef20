// uninitialised_memory: memory from empty() was read before it was written.

#include <fmt/format.h>

#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

// The first op that read it, if the way was kept.
std::string first_read(const Finding& finding) {
  for (const Link& link : finding.chain)
    if (!link.op.empty() && link.op != finding.origin.op && link.role != Role::kDeclared)
      return fmt::format("first read by {} at {}:{}", link.op, link.site.file, link.site.line);
  return {};
}

}  // namespace

void memory(const Facts& facts, Opinions& opinions) {
  if (facts.origin().kind != OriginKind::kUninitialised) return;
  opinions.push_back(
      {Opinion::Stand::kCertain,
       "uninitialised_memory",
       fmt::format("{} gives memory without values; it was read before it was written, and what "
                   "lay there is {}{}.",
                   facts.expression(), facts.value(), facts.at()),
       {fmt::format("never written: {}", bad_elements(facts.origin())), first_read(facts.finding()),
        "another run may find other garbage there, or none"}});
}

}  // namespace nanscope::diagnosis
