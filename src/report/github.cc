#include "report/github.h"

#include <fmt/format.h>

#include "records/words.h"
#include "report/sentence.h"
#include "report/unicode.h"

namespace nanscope {
namespace {

// What ends a message or a property there is written as %XX.
std::string workflow_text(std::string_view text, std::string_view special) {
  std::string escaped;
  for (const char c : text) {
    if (c == '%' || special.find(c) != std::string_view::npos)
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      escaped += c;
  }
  return escaped;
}

// Line ends are kept in a message, as %0A; other control characters are made visible.
std::string workflow_message(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + report::safe(line);
  return workflow_text(text, "\r\n");
}

std::string workflow_property(std::string_view text) {
  return workflow_text(report::safe(text), "\r\n:,");
}

std::string_view workflow_command(Level level) {
  return level == Level::kError ? "error" : level == Level::kWarning ? "warning" : "notice";
}

std::string annotation_place(const Site& site, const report::SourceRoot& root) {
  if (site.file.empty()) return {};
  std::string text = "file=" + workflow_property(report::repository_path(site.file, root));
  if (site.line < 1) return text + ",";
  text += fmt::format(",line={}", site.line);
  if (site.end_line > site.line) return text + fmt::format(",endLine={},", site.end_line);
  if (site.col >= 0 && site.end_col > site.col)
    text += fmt::format(",col={},endColumn={}", site.col + 1, site.end_col);
  return text + ",";
}

std::string annotation(const Finding& finding, const Cause& cause, const report::SourceRoot& root) {
  std::vector<std::string> message{report::deed(finding, cause) + ". " + cause.sentence};
  for (const std::string& line : cause.evidence) message.push_back("- " + line);
  message.push_back(fmt::format("nanscope explain {}", cause.id));
  return fmt::format("::{} {}title={}::{}\n", workflow_command(finding.level),
                     annotation_place(finding.origin.site, root),
                     workflow_property("nanscope: " + cause.id), workflow_message(message));
}

}  // namespace

std::string github_report(const std::vector<Diagnosed>& captures, const report::SourceRoot& root,
                          bool verbose) {
  std::string text;
  for (const Diagnosed& one : captures)
    for (std::size_t i = 0; i < one.causes.size(); ++i)
      if (verbose || one.capture.findings[i].level != Level::kNote)
        text += annotation(one.capture.findings[i], one.causes[i], root);
  return text;
}

}  // namespace nanscope
