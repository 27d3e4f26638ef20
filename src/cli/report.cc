// nanscope report: captures as a page, and in the formats that other tools read.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/captures.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "report/csv.h"
#include "report/github.h"
#include "report/html.h"
#include "report/json_document.h"
#include "report/ranks_as_one.h"
#include "report/redact.h"
#include "report/sarif.h"
#include "report/text.h"
#include "report/trace.h"
#include "report/unicode.h"

namespace nanscope::cli {
namespace {

using Captures = std::vector<Diagnosed>;

struct Manners {
  TextOptions text;
  report::SourceRoot root;
  Redaction redaction;
};

Result<std::string> as_text(const Captures& captures, const Manners& manners) {
  std::string text;
  for (const Diagnosed& one : captures) {
    if (captures.size() > 1)
      text += fmt::format("{}{}\n", text.empty() ? "" : "\n", report::safe(one.name));
    text += text_report(one, manners.text);
  }
  return text;
}

// Writes one capture as its object, as `run --json` does; several as an array, each with its name.
Result<std::string> as_json(const Captures& captures, const Manners&) {
  if (captures.size() == 1) return json_text(json_document(captures[0])) + "\n";
  Json list = Json::array();
  for (const Diagnosed& one : captures) {
    Json document = json_document(one);
    document["capture"] = one.name;
    list.push_back(std::move(document));
  }
  return json_text(list) + "\n";
}

Result<std::string> as_page(const Captures& captures, const Manners& manners) {
  const Result<std::string> page = page_template();
  if (!page) return page.error();
  return html_report(page.value(), captures, version(), manners.redaction.words());
}

struct Format {
  const char* name;
  Result<std::string> (*write)(const Captures& captures, const Manners& manners);
};

const Format kFormats[] = {
    {"html", as_page},
    {"text", as_text},
    {"json", as_json},
    {"sarif",
     [](const Captures& captures, const Manners& manners) -> Result<std::string> {
       return sarif_report(captures, manners.root, version());
     }},
    {"github",
     [](const Captures& captures, const Manners& manners) -> Result<std::string> {
       return github_report(captures, manners.root, manners.text.verbose);
     }},
    {"csv",
     [](const Captures& captures, const Manners&) -> Result<std::string> {
       return csv_report(captures);
     }},
    {"trace",
     [](const Captures& captures, const Manners&) -> Result<std::string> {
       return trace_report(captures);
     }},
};

std::string format_names() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Manners manners_of(const Options& options, const Terminal& terminal, const std::string& output) {
  Manners manners;
  const bool shown = output == "-";
  manners.text.color =
      shown && terminal.stdout_is_tty && !terminal.no_color && !options.manner().no_color;
  manners.text.verbose = options.manner().verbose;
  if (shown && terminal.columns > 0)
    manners.text.columns = static_cast<std::size_t>(terminal.columns);
  manners.root = source_root();
  return manners;
}

// A page is a file: beside the working directory, named after the first capture. The rest is text.
std::string default_output(const std::string& format, const std::string& capture) {
  if (format != "html") return "-";
  const std::string name = capture.substr(capture.rfind('/') + 1);
  return (name.ends_with(".nsc") ? name.substr(0, name.size() - 4) : name) + ".html";
}

Outcome carry_out_report(const Arguments& arguments, const Terminal& terminal) {
  std::vector<std::string> paths;
  std::string to = "html";
  std::string output;
  std::string redact_words;
  Options options(kReport, {"report [options] CAPTURE..."},
                  "  nanscope report nanscope-train.1234.nsc -o report.html");
  options.manner_means("do not say where it was written",
                       "text: the whole way, the stack, the notes; github: the notes too");
  OptionList& app = options.app();
  app.add_option("--to", to, format_names() + " (default: html)")->type_name("FORMAT");
  app.add_option("-o,--output", output, "where to; - is stdout, the default but for html")
      ->type_name("FILE");
  app.add_option("--redact", redact_words,
                 "leave out what these words, joined by commas, name: "
                 "source, paths, values")
      ->type_name("WORDS");
  app.add_option("CAPTURE", paths, ".nsc files")->required();
  if (std::optional<Outcome> answer = options.parse(arguments)) return *answer;

  const auto* format = std::find_if(std::begin(kFormats), std::end(kFormats),
                                    [&](const Format& one) { return to == one.name; });
  if (format == std::end(kFormats))
    return options.bad_usage(fmt::format("--to is one of {}, not {}.", format_names(), to));
  if (output.empty()) output = default_output(to, paths[0]);
  if (output != "-" && is_capture(output))
    return options.bad_usage(fmt::format("-o {} would replace a capture.", output));
  const Result<Redaction> redaction = redaction_of(redact_words);
  if (!redaction) return options.bad_usage(redaction.error().message);
  Result<Captures> captures = read_captures(paths, progress_descriptor(terminal, options.manner()));
  if (!captures) return failed(captures.error());
  if (to == "html") captures = ranks_as_one(std::move(captures.value()));
  for (Diagnosed& capture : captures.value()) redact(redaction.value(), capture);

  Manners manners = manners_of(options, terminal, output);
  manners.redaction = redaction.value();
  const Result<std::string> text = format->write(captures.value(), manners);
  if (!text) return failed(text.error());
  if (output == "-") return {.out = text.value()};
  if (const Status written = write_file(output, text.value()); !written)
    return failed(written.error());
  return {.err = options.manner().quiet ? "" : fmt::format("Written: {}\n", output)};
}

}  // namespace

const Verb kReport{"report", "Writes captures as a page, or in the formats that other tools read.",
                   carry_out_report};

}  // namespace nanscope::cli
