// The whole text of real findings, from captures of real programs.
//
// tests/golden/record_captures.py records the captures; UPDATE_GOLDEN=1 rewrites the texts.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "capture/reader.h"
#include "diagnose/catalogue.h"
#include "report/sentence.h"
#include "report/text.h"
#include "report/unicode.h"

namespace nanscope {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> captures() {
  std::vector<fs::path> found;
  const fs::path folder = fs::path(NANSCOPE_SOURCE_DIR) / "tests" / "golden" / "captures";
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".nsc") found.push_back(entry.path());
  return found;
}

std::string golden(const fs::path& capture, const std::string& text) {
  fs::path path = capture;
  path.replace_extension(".txt");
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(GoldenFindings, TheFullText) {
  EXPECT_GE(captures().size(), 20u);
  for (const fs::path& path : captures()) {
    const Result<Capture> capture = read_capture(path);
    ASSERT_TRUE(capture) << path;
    const std::string text = text_report(capture.value(), {});
    EXPECT_EQ(text, golden(path, text)) << path;
  }
}

// The lines of a patch are whole, to be copied, and so is a place; everything else fits the
// terminal.
TEST(GoldenFindings, NoLineIsWiderThanTheTerminal) {
  for (const fs::path& path : captures()) {
    const Result<Capture> capture = read_capture(path);
    ASSERT_TRUE(capture) << path;
    Capture without_patch = capture.value();
    without_patch.proposal.reset();
    without_patch.repairs.clear();
    for (const std::size_t columns : {60u, 80u, 140u, 200u}) {
      std::istringstream lines(text_report(without_patch, {.verbose = true, .columns = columns}));
      for (std::string line; std::getline(lines, line);)
        EXPECT_TRUE(report::columns_of(line) <= columns || line.find(".py:") != std::string::npos)
            << path << ": " << line;
    }
  }
}

TEST(GoldenFindings, EveryPlaceIsWhole) {
  for (const fs::path& path : captures()) {
    const Result<Capture> capture = read_capture(path);
    ASSERT_TRUE(capture && !capture.value().findings.empty()) << path;
    const Finding& finding = capture.value().findings[0];
    for (const std::size_t columns : {60u, 80u, 100u}) {
      const std::string text = text_report(capture.value(), {.verbose = true, .columns = columns});
      const std::string first = text.substr(0, text.find('\n'));
      EXPECT_NE(first.find(": " + report::position(finding.origin.site) + ": "), std::string::npos)
          << first;
      for (const Frame& frame : finding.origin.stack)
        EXPECT_NE(text.find(frame.file + ":" + std::to_string(frame.line)), std::string::npos)
            << path << ": " << frame.file;
      for (const Link& link : finding.chain) {
        if (link.site.file.empty()) continue;
        EXPECT_NE(text.find(link.site.file + ":" + std::to_string(link.site.line)),
                  std::string::npos)
            << path << ": " << link.site.file;
      }
    }
  }
}

// What the program in tests/cases/NAME.py says of itself: `# cause: this | or that`.
std::string expected_cause(const fs::path& capture) {
  const fs::path cases = fs::path(NANSCOPE_SOURCE_DIR) / "tests" / "cases";
  std::ifstream program(cases / (capture.stem().string() + ".py"));
  std::string line;
  while (std::getline(program, line) && line.starts_with("#"))
    if (line.starts_with("# cause: ")) return line.substr(9) + " ";
  return "(no cause in the header) ";
}

TEST(GoldenFindings, TheCauseIsThatOfTheProgram) {
  for (const fs::path& path : captures()) {
    const Result<Capture> capture = read_capture(path);
    ASSERT_TRUE(capture && !capture.value().findings.empty()) << path;
    const Cause cause = diagnose(capture.value().findings[0]);
    EXPECT_NE(expected_cause(path).find(cause.id + " "), std::string::npos)
        << path << ": " << cause.id << " instead of " << expected_cause(path);
  }
}

// No word of the machinery, no unnamed tensor: the sentences are read aloud.
TEST(GoldenFindings, SentencesHoldNoInternalNames) {
  for (const fs::path& path : captures()) {
    const Result<Capture> capture = read_capture(path);
    ASSERT_TRUE(capture && !capture.value().findings.empty()) << path;
    const std::string sentence = diagnose(capture.value().findings[0]).sentence;
    EXPECT_TRUE(sentence.ends_with('.')) << sentence;
    for (const char* word : {"`self`", "`other`", "input 0", "input 1", "tensor 0", "Backward0"})
      EXPECT_EQ(sentence.find(word), std::string::npos) << path << ": " << sentence;
  }
}

}  // namespace
}  // namespace nanscope
