// nanscope show: the diagnosis of a capture, as `run` printed it.

#include "capture/reader.h"
#include "cli/options.h"
#include "report/summary.h"
#include "report/text.h"

namespace nanscope::cli {
namespace {

// A line or two per error.
std::string brief(const Capture& capture, const TextOptions& options) {
  std::string text;
  for (const Finding& finding : capture.findings)
    if (finding.level == Level::kError) text += headline_of(finding, options);
  return text + (text.empty() ? summary_line(capture) + "\n" : "");
}

Outcome carry_out_show(const Arguments& arguments, const Terminal& terminal) {
  std::string path;
  Options options(kShow, {"show [options] CAPTURE"}, "  nanscope show nanscope-train.1234.nsc");
  options.manner_means("the errors alone, in a line or two each",
                       "also the whole way, the stack, the dropped suspects and the notes");
  options.app().add_option("CAPTURE", path, "a .nsc file")->required();
  if (std::optional<Outcome> answer = options.parse(arguments)) return *answer;

  const Result<Capture> capture = read_capture(path);
  if (!capture) return failed(capture.error());
  TextOptions text;
  text.color = terminal.stdout_is_tty && !terminal.no_color && !options.manner().no_color;
  text.verbose = options.manner().verbose;
  if (terminal.columns > 0) text.columns = static_cast<std::size_t>(terminal.columns);
  return {.out = options.manner().quiet ? brief(capture.value(), text)
                                        : text_report(capture.value(), text)};
}

}  // namespace

const Verb kShow{"show", "Prints the diagnosis that a capture holds.", carry_out_show};

}  // namespace nanscope::cli
