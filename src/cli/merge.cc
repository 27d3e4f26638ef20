// nanscope merge: the captures of many ranks, told as one.

#include "report/merge.h"

#include "capture/reader.h"
#include "cli/captures.h"
#include "cli/options.h"
#include "cli/reading_line.h"
#include "report/json.h"
#include "report/text.h"

namespace nanscope::cli {
namespace {

Outcome carry_out_merge(const Arguments& arguments, const Terminal& terminal) {
  std::vector<std::string> paths;
  bool json = false;
  Options options(kMerge, {"merge [options] CAPTURE..."}, "  nanscope merge nanscope-train.*.nsc");
  options.manner_means("nothing but the report",
                       "also the whole way, the stack, the dropped suspects and the notes");
  options.app().add_flag("--json", json, "as JSON, with a line for each rank");
  options.app().add_option("CAPTURE", paths, ".nsc files, one or more of each rank")->required();
  if (std::optional<Outcome> answer = options.parse(arguments)) return *answer;

  std::vector<CaptureOfRank> captures;
  ReadingLine line(progress_descriptor(terminal, options.manner()), paths.size());
  for (const std::string& path : paths) {
    Result<Capture> capture = read_capture(path);
    if (!capture) return failed(capture.error());
    captures.push_back({std::move(capture.value()), path});
    line.reach(captures.size());
  }
  const Capture merged = merge(std::move(captures));
  if (json) return {.out = json_report(merged)};
  TextOptions text;
  text.color = terminal.stdout_is_tty && !terminal.no_color && !options.manner().no_color;
  text.verbose = options.manner().verbose;
  if (terminal.columns > 0) text.columns = static_cast<std::size_t>(terminal.columns);
  return {.out = text_report(merged, text)};
}

}  // namespace

const Verb kMerge{"merge", "Tells the captures of many ranks as one: which rank was first.",
                  carry_out_merge};

}  // namespace nanscope::cli
