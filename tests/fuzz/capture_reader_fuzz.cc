// Hostile captures: whatever the bytes, the reader answers, and what it returns can
// be diagnosed, printed and written in every format.
//
// The first byte chooses how the rest is taken: as a whole file, or as the payload of
// one record whose checksums are right. Otherwise the checksums would keep the fuzzer
// from ever reaching the decoder.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "capture/decode.h"
#include "capture/encode.h"
#include "capture/format.h"
#include "capture/reader.h"
#include "capture/utf8.h"
#include "report/csv.h"
#include "report/github.h"
#include "report/html.h"
#include "report/json.h"
#include "report/merge.h"
#include "report/redact.h"
#include "report/sarif.h"
#include "report/stats.h"
#include "report/text.h"
#include "report/trace.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

constexpr int kKinds = 8;  // a whole file, or a record of one of the seven types

std::string as_file(std::uint8_t choice, std::string_view rest) {
  if (choice % kKinds == 0) return std::string(rest);
  const auto type = static_cast<nanscope::RecordType>(choice % kKinds);
  return nanscope::file_header() + nanscope::frame_of(type, rest);
}

void check_text(const std::string& text) {
  require(nanscope::valid_utf8(text) == text);
  require(text.find('\x1b') == std::string::npos);
}

// No byte of a capture can begin or end an element of the page.
void check_page(const std::vector<nanscope::Diagnosed>& captures) {
  const std::string page = nanscope::html_report(
      "<!--nanscope:title--><!--nanscope:text--><!--nanscope:data-->", captures, "0");
  check_text(page);
  require(page.find_first_of("<>") == std::string::npos);
  require(page.size() < 850'000);  // the page itself has some 120,000
}

// The formats for other tools: whole text, no line that a capture could have begun.
void check_formats(const nanscope::Capture& capture) {
  const std::vector<nanscope::Diagnosed> captures{nanscope::diagnosed(capture, "fuzz.nsc")};
  check_text(nanscope::sarif_report(captures, {"/r", "/r/here"}, "0"));
  check_text(nanscope::trace_report(captures));
  check_text(nanscope::csv_report(captures));
  check_text(nanscope::text_stats(captures, 80));
  check_text(nanscope::json_stats(captures));
  check_page(captures);
  std::vector<nanscope::Diagnosed> redacted = captures;
  nanscope::redact({true, true, true}, redacted[0]);
  check_text(nanscope::text_report(redacted[0], {.verbose = true}));
  const std::string annotations = nanscope::github_report(captures, {}, true);
  check_text(annotations);
  std::size_t lines = 0;
  for (const char c : annotations) lines += c == '\n';
  require(lines == capture.findings.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const nanscope::Result<nanscope::Capture> capture =
      nanscope::parse_capture(as_file(data[0], rest), "fuzz.nsc");
  (void)nanscope::readable(rest);
  if (!capture) {
    require(!capture.error().message.empty());
    return 0;
  }
  check_text(nanscope::text_report(capture.value(), {.verbose = true}));
  check_text(nanscope::json_report(capture.value()));
  check_formats(capture.value());
  check_formats(nanscope::merge({{capture.value(), "0.nsc"}, {capture.value(), "1.nsc"}}));
  for (const nanscope::Finding& finding : capture.value().findings)
    require(nanscope::decode_finding(nanscope::encode(finding)).ok());
  return 0;
}
