// nanscope mcp: run, show, explain and fix as tools of an MCP server. Needs Python; parsed here
// only.

#include "cli/options.h"

namespace nanscope::cli {
namespace {

Outcome carry_out_mcp(const Arguments& arguments, const Terminal&) {
  Options options(kMcp, {"mcp"}, "  nanscope mcp");
  if (std::optional<Outcome> answer = options.parse(arguments)) return *answer;
  return {.mcp = true};
}

}  // namespace

const Verb kMcp{"mcp", "Serves run, show, explain and fix to agents over stdin and stdout.",
                carry_out_mcp};

}  // namespace nanscope::cli
