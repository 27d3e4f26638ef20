// nanscope stats: what captures count.

#include "report/stats.h"

#include "cli/captures.h"
#include "cli/options.h"

namespace nanscope::cli {
namespace {

Outcome carry_out_stats(const Arguments& arguments, const Terminal& terminal) {
  std::vector<std::string> paths;
  bool json = false;
  Options options(kStats, {"stats [options] CAPTURE..."},
                  "  nanscope stats nanscope-train.1234.nsc");
  options.app().add_flag("--json", json, "as JSON, an object for each capture");
  options.app().add_option("CAPTURE", paths, ".nsc files")->required();
  if (std::optional<Outcome> answer = options.parse(arguments)) return *answer;
  const Result<std::vector<Diagnosed>> captures =
      read_captures(paths, progress_descriptor(terminal, options.manner()));
  if (!captures) return failed(captures.error());
  if (json) return {.out = json_stats(captures.value())};
  const auto columns = static_cast<std::size_t>(terminal.columns > 0 ? terminal.columns : 100);
  return {.out = text_stats(captures.value(), columns)};
}

}  // namespace

const Verb kStats{"stats", "Counts what captures hold: ops, bytes, head-room, notes per site.",
                  carry_out_stats};

}  // namespace nanscope::cli
