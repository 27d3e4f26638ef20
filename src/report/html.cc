#include "report/html.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "capture/utf8.h"
#include "report/json_document.h"
#include "report/page_data.h"
#include "report/text.h"
#include "report/unicode.h"

namespace nanscope {
namespace {

constexpr std::size_t kMostPageText = 60'000;  // bytes of what is shown without script
constexpr std::size_t kMostTitle = 200;        // columns

// Nothing in it can end the element it stands in, or begin another.
std::string escaped_json(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&')
      text += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      text += c;
  }
  return text;
}

std::string escaped_html(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// Fills the marks of the template in one pass: what is put in is not looked at again.
std::string filled(std::string_view page, std::string_view title, std::string_view text,
                   std::string_view data) {
  std::string result;
  result.reserve(page.size() + data.size() + text.size());
  constexpr std::string_view kMark = "<!--nanscope:";
  constexpr std::string_view kEnd = "-->";
  for (;;) {
    const std::size_t mark = page.find(kMark);
    result += page.substr(0, mark);
    if (mark == std::string_view::npos) return result;
    page.remove_prefix(mark + kMark.size());
    const std::size_t end = page.find(kEnd);
    const std::string_view name = page.substr(0, end);
    if (name == "title") result += title;
    if (name == "text") result += text;
    if (name == "data") result += data;
    page.remove_prefix(end == std::string_view::npos ? page.size() : end + kEnd.size());
  }
}

// As markup it may be six times as long.
std::string page_text(const std::vector<Diagnosed>& captures) {
  std::string text;
  for (const Diagnosed& one : captures) text += text_report(one, {}) + "\n";
  for (std::size_t most = kMostPageText;; most /= 2) {
    text = cut_utf8(text, most);
    std::string escaped = escaped_html(text);
    if (escaped.size() <= kMostPageText) return escaped;
  }
}

std::string title_of(const std::vector<Diagnosed>& captures) {
  if (captures.size() != 1) return fmt::format("nanscope: {} captures", captures.size());
  const Capture& capture = captures[0].capture;
  const std::vector<std::string>& argv = capture.program.argv;
  if (!argv.empty()) return "nanscope: " + report::safe(argv[0]);
  if (!captures[0].name.empty()) return "nanscope: " + report::safe(captures[0].name);
  // A cell of a notebook, whose file is not known.
  if (capture.findings.empty() || capture.findings[0].origin.site.file.empty()) return "nanscope";
  return "nanscope: " + report::safe(capture.findings[0].origin.site.file);
}

}  // namespace

Result<std::string> page_template() {
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&page_template), &library) != 0) {
    const std::filesystem::path folder =
        std::filesystem::path(library.dli_fname).parent_path() / "_web" / "report.html";
    std::ifstream file(folder, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!text.empty()) return text;
  }
  return Error{ErrorCode::kNotFound,
               "this nanscope was built without the report page; install node 18 or newer and npm, "
               "and build it again; meanwhile `nanscope report --to text` prints the report."};
}

std::string html_report(std::string_view page, const std::vector<Diagnosed>& captures,
                        std::string_view version, const std::vector<std::string>& redacted) {
  report::PageReports shown = report::page_reports(captures);
  const Json data{{"nanscope", version},
                  {"redacted", redacted},
                  {"reports", std::move(shown.reports)},
                  {"captures_left_out", shown.left_out}};
  const std::string title = report::cut(title_of(captures), kMostTitle);
  return filled(page, escaped_html(title), page_text(captures), escaped_json(json_text(data, -1)));
}

}  // namespace nanscope
