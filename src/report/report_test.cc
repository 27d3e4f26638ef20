// What the user sees, compared with the files in tests/golden.
//
// UPDATE_GOLDEN=1 rewrites them; look at the difference before it is committed.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "capture/sample.h"
#include "report/json.h"
#include "report/summary.h"
#include "report/text.h"
#include "report/unicode.h"

#ifndef NANSCOPE_SOURCE_DIR
#define NANSCOPE_SOURCE_DIR "."
#endif

namespace nanscope {
namespace {

namespace fs = std::filesystem;

void expect_golden(const std::string& name, const std::string& text) {
  const fs::path path = fs::path(NANSCOPE_SOURCE_DIR) / "tests" / "golden" / name;
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file.good()) << path << " is missing; UPDATE_GOLDEN=1 writes it";
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, expected) << "differs from " << path;
}

// A place is never broken: it may make its line longer.
void expect_narrow(const std::string& text, std::size_t columns = 100) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    const bool deep = line.find("/long/names/") != std::string_view::npos;
    EXPECT_TRUE(deep || report::columns_of(line) <= columns) << line;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

void expect_text(const std::string& name, const Capture& capture, const TextOptions& options = {}) {
  const std::string text = text_report(capture, options);
  expect_golden(name, text);
  expect_narrow(text);
}

// Everything awkward at once: tabs and wide characters over several lines, hostile names,
// many inputs, a complex value, a long way, a killed program, gaps in the coverage.
Capture awkward() {
  Finding finding;
  Origin& origin = finding.origin;
  origin.op = "mylib::\x1b[31mfancy";
  origin.site.file = "a/rather/deep/folder/of/a/project/with/long/names/m\xc3\xbcll\xff.py";
  origin.site.line = 99;
  origin.site.end_line = 101;
  origin.site.col = 5;
  origin.site.end_col = 2;
  origin.site.code = "fancy(\n\t\tz,  # \u640d\u5931\n\t)";
  origin.site.source = {"\ty = fancy(", "\t\tz,  # \u640d\u5931", "\t) + 1"};
  origin.site.function = "forward";
  origin.step = 1'234'567;
  origin.output = 1;
  origin.worker = 3;
  origin.indices = {{0, 1}};
  origin.value = {sample::kNan, 1, true};
  origin.nan = 1'200;
  origin.numel = 4'000'000;
  for (int i = 0; i < 7; ++i) {
    TensorFacts tensor =
        sample::tensor("weights[" + std::to_string(i) + "].reshape(-1, heads, width)", {2000, 2000},
                       -1.25e-7, 3.25e9, 0.125);
    tensor.statistics.zeros = 1'234'567;
    tensor.at_index = {{1, -2, true}};
    finding.inputs.push_back(tensor);
  }
  finding.inputs[2].name.clear();
  finding.inputs[3].remark = "as it was before the op overwrote it";
  finding.inputs_left_out = 2;
  finding.scalars = {{"dim", "-1"}, {"eps", "1e-12"}};
  for (int i = 0; i < 20; ++i) {
    Link link{"aten::mul", sample::site("net.py", 10 + i, "h = h * w", "h * w", "forward"),
              Phase::kForward, Role::kCarrier};
    finding.chain.push_back(link);
  }
  finding.chain[0].role = Role::kBirth;
  finding.chain_truncated = true;
  finding.harm = Harm{HarmKind::kException, std::nullopt, 0, std::nullopt,
                      "ValueError: probabilities hold\nnan \x1b]0;pwned\x07"};
  Capture capture = sample::capture({finding});
  capture.coverage.not_watched = {{"compiled region", "torch.compile", 3},
                                  {"device cuda:0", "only the CPU is watched", 1}};
  capture.complete = false;
  return capture;
}

Finding warning() {
  Finding finding = sample::sqrt_gradient();
  finding.level = Level::kWarning;
  finding.harm.reset();
  return finding;
}

TEST(Text, OneErrorAndANote) {
  const Capture capture = sample::capture({sample::log_of_zero(), sample::note()});
  expect_text("log_of_zero.txt", capture);
  expect_text("log_of_zero_verbose.txt", capture, {.verbose = true});
  expect_text("log_of_zero_color.txt", capture, {.color = true});
}

TEST(Text, WhatIsIntendedIsToldOnlyIfAsked) {
  for (const bool clean : {true, false}) {
    Capture capture = sample::capture({});
    if (!clean) capture.findings = {sample::log_of_zero()};
    const Site site = sample::site("attend.py", 20, "s = s.masked_fill(m, -inf)",
                                   "s.masked_fill(m, -inf)", "attend");
    capture.coverage.intended = {
        {"aten::masked_fill", site, sample::real(-sample::kInf), 1200, "cleaned"}};
    capture.coverage.intended_more = 7;
    const std::string shown = text_report(capture, {.verbose = true});
    EXPECT_NE(shown.find("intended: attend.py:20:5: aten::masked_fill wrote -inf (1,200 times); "
                         "cleaned\nintended: 7 more at other places\n"),
              std::string::npos)
        << shown;
    EXPECT_EQ(text_report(capture, {}).find("masked_fill"), std::string::npos);
  }
}

TEST(Text, Backward) {
  expect_text("sqrt_gradient.txt", sample::capture({sample::sqrt_gradient()}));
}

TEST(Text, Imported) { expect_text("imported.txt", sample::capture({sample::imported()})); }

TEST(Text, Awkward) {
  expect_text("awkward.txt", awkward());
  const std::string text = text_report(awkward(), {});
  expect_narrow(text);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  expect_narrow(text_report(awkward(), {.verbose = true}));
}

TEST(Text, ManyErrorsOnlyTheFirstInFull) {
  expect_text("many_errors.txt", sample::capture(std::vector<Finding>(5, sample::sqrt_gradient())));
}

TEST(Text, NarrowTerminal) {
  expect_text("narrow.txt", sample::capture({sample::imported()}), {.columns = 40});
}

TEST(Text, TheWidthOfTheTerminal) {
  for (const std::size_t columns : {60u, 100u, 200u}) {
    const TextOptions options{.columns = columns};
    const std::string text = text_report(sample::capture({sample::imported()}), options) + "\n" +
                             text_report(awkward(), options);
    expect_golden("columns_" + std::to_string(columns) + ".txt", text);
  }
  for (std::size_t columns = 60; columns <= 200; columns += 7) {
    const std::string text = text_report(awkward(), {.verbose = true, .columns = columns});
    expect_narrow(text, columns);
  }
}

TEST(Text, HundredsOfInputsAreFolded) {
  Finding finding = sample::log_of_zero();
  finding.inputs.assign(300, finding.inputs[0]);
  const std::string text = text_report(sample::capture({finding}), {});
  EXPECT_NE(text.find("and 294 more inputs (-v shows them)"), std::string::npos);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 60);
}

TEST(Text, WithoutErrors) {
  EXPECT_EQ(text_report(sample::capture({}), {}),
            "nanscope: clean. No NaN or Inf did harm: 12,345 ops watched, 1.2 GB scanned, 13 "
            "steps; nothing went unwatched.\n");
  // The summary is one line, however long.
  expect_golden("warning.txt", text_report(sample::capture({warning(), sample::note()}), {}));
  expect_golden("warning_verbose.txt",
                text_report(sample::capture({warning(), sample::note()}), {.verbose = true}));
}

TEST(Summary, SilenceMeansSomething) {
  Capture capture = sample::capture({sample::note(), sample::note()});
  EXPECT_EQ(verdict_of(capture), "clean");
  EXPECT_EQ(summary_line(capture),
            "nanscope: clean. No NaN or Inf did harm: 12,345 ops watched, 1.2 GB scanned, 13 "
            "steps; nothing "
            "went unwatched; 2 notes (-v lists them).");
  capture.coverage.not_watched = {{"compiled region", "torch.compile", 3}};
  EXPECT_EQ(verdict_of(capture), "unknown");
  EXPECT_EQ(
      summary_line(capture),
      "NOT FULLY WATCHED: nothing bad was seen, but this went unwatched: 3 x compiled region "
      "(torch.compile). 12,345 ops watched, 1.2 GB scanned, 13 steps; 2 notes (-v lists them).");
  capture.coverage.not_watched.assign(9, {"a kernel\n", "", 1});
  EXPECT_NE(summary_line(capture).find("a kernel , 5 more. "), std::string::npos);
  EXPECT_EQ(summary_line(capture).find('\n'), std::string::npos);
}

TEST(Summary, AChildsErrorIsNoSilence) {
  Capture capture = sample::capture({});
  capture.coverage.not_watched = {{std::string(kChildrenWithErrors), "a.nsc", 1}};
  EXPECT_EQ(verdict_of(capture), "unknown");
  EXPECT_EQ(summary_line(capture),
            "nanscope: a child process found an error, told in a.nsc. In this process itself no "
            "NaN or Inf did harm: 12,345 ops watched, 1.2 GB scanned, 13 steps; nothing went "
            "unwatched.");
  capture.coverage.not_watched[0].count = 2;
  capture.coverage.not_watched.push_back({"compiled region", "torch.compile", 3});
  EXPECT_TRUE(summary_line(capture).starts_with("nanscope: 2 child processes found an error"));
  EXPECT_NE(summary_line(capture).find("NOT watched: 3 x compiled region"), std::string::npos);
}

TEST(Summary, ItsPartsAreWholeSentences) {
  Capture capture = sample::capture({});
  EXPECT_EQ(summary_of(capture).title, "clean. No NaN or Inf did harm");
  EXPECT_EQ(summary_of(capture).detail,
            "12,345 ops watched, 1.2 GB scanned, 13 steps; nothing went unwatched.");
  // A name with the marks between our parts does not cut them.
  capture.coverage.not_watched = {{std::string(kChildrenWithErrors), "a: b. c.nsc", 1}};
  EXPECT_EQ(summary_of(capture).title, "a child process found an error, told in a: b. c.nsc");
  capture.coverage.not_watched[0].why = "";  // redacted
  EXPECT_EQ(summary_of(capture).title, "a child process found an error");
  EXPECT_TRUE(summary_of(capture).detail.starts_with("In this process itself no NaN or Inf"));
}

TEST(Summary, ASentinelSaysThatItLooked) {
  Capture capture = sample::capture({});
  capture.program.mode = "sentinel";
  capture.coverage.ops_watched = 0;
  EXPECT_EQ(summary_line(capture),
            "nanscope: clean at every look, one a step: loss, gradients, parameters and state were "
            "finite for 13 steps.");
  capture.coverage.ops_watched = 5;  // a replay, from the start to the end
  EXPECT_TRUE(summary_line(capture).starts_with("nanscope: clean. No NaN or Inf did harm: 5 ops"));
}

TEST(Summary, ACaptureThatBreaksOffIsNotClean) {
  Capture capture = sample::capture({});
  capture.complete = false;
  EXPECT_EQ(verdict_of(capture), "unknown");
  EXPECT_TRUE(summary_line(capture).starts_with("NOT FULLY WATCHED: "));
  capture.findings = {sample::log_of_zero()};
  EXPECT_EQ(verdict_of(capture), "error");
}

Repair repair() {
  const Fix fix{.id = "clamp_before_log",
                .diff =
                    "--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-torch.log(p)\n"
                    "+torch.log(p.clamp(min=1e-8))\n",
                .files = {"train.py"},
                .explanation = "`p` can be 0 or less; it is kept at 1e-8 or more."};
  Repair repair;
  repair.fix = fix;
  Verification& verification = repair.verification.emplace();
  verification.status = "verified";
  verification.steps = 113;
  verification.healthy_steps_unchanged = true;
  verification.detail = "the program ran to its end with the patch";
  verification.checks = {"healthy values are the same, bit for bit"};
  return repair;
}

TEST(Report, AFixIsShown) {
  Capture capture = sample::capture({sample::log_of_zero()});
  capture.repairs = {repair()};
  expect_golden("fixed.txt", text_report(capture, {}));
  expect_golden("fixed.json", json_report(capture));
  EXPECT_NE(text_report(capture, {.color = true}).find("\x1b[32m+torch.log(p.clamp"),
            std::string::npos);
}

TEST(Report, WhatAFixIsNotIsSaid) {
  Capture capture = sample::capture({sample::log_of_zero()});
  capture.repairs = {repair()};
  Fix& fix = *capture.repairs[0].fix;
  fix.workaround = fix.changes_training = fix.applied = true;
  const std::string text = text_report(capture, {});
  EXPECT_NE(text.find("\nWorkaround Applied\n"), std::string::npos);
  EXPECT_EQ(text.find("\nFix"), std::string::npos);
  EXPECT_NE(text.find("not a fix: it hides the fault"), std::string::npos);
  EXPECT_NE(text.find("changes the training"), std::string::npos);
  capture.repairs = {repair()};
  capture.repairs[0].verification.reset();
  EXPECT_NE(text_report(capture, {}).find("a proposal, not verified"), std::string::npos);
}

TEST(Report, WhoLooksForAPatchIsSaid) {
  const Finding finding = sample::log_of_zero();
  EXPECT_NE(text_of(finding, {}).find("\nFix\n  None is proposed; `nanscope fix` looks for one.\n"),
            std::string::npos);
  const std::string text = text_of(finding, {.columns = 60, .without_patch = kNoneInABlock});
  EXPECT_EQ(text.find("None is proposed"), std::string::npos);
  EXPECT_NE(text.find("\nFix\n"
                      "  None is looked for here; `nanscope fix` looks for one in a\n"
                      "  run of the program without this watch.\n"),
            std::string::npos);
  EXPECT_NE(text_of(finding, {.without_patch = kNoneInACell}).find("`nanscope fix NOTEBOOK.ipynb`"),
            std::string::npos);
}

TEST(Report, WhatWasTriedIsInTheJson) {
  Capture capture = sample::capture({sample::log_of_zero(), sample::sqrt_gradient()});
  Repair repaired = repair();
  repaired.finding = 1;
  repaired.verification->first_loss = 3;
  repaired.verification->losses_before = {0.5, sample::kInf, std::nullopt};
  repaired.tried = {{"eps_in_sqrt", "failed", "the fault is still there"}};
  capture.repairs = {repaired};
  const auto report = nlohmann::json::parse(json_report(capture));
  EXPECT_TRUE(report["findings"][0]["fix"].is_null());
  EXPECT_FALSE(report["findings"][0].contains("tried"));
  const auto& second = report["findings"][1];
  EXPECT_EQ(second["fix"]["id"], "clamp_before_log");
  EXPECT_EQ(second["tried"][0]["id"], "eps_in_sqrt");
  EXPECT_EQ(second["verification"]["losses_before"], nlohmann::json({0.5, "inf", nullptr}));
  EXPECT_EQ(second["verification"]["first_loss"], 3);
}

TEST(Report, TheProposalOfACaptureIsMarkedAsNotVerified) {
  Capture capture = sample::capture({sample::log_of_zero(), sample::sqrt_gradient()});
  capture.proposal = repair().fix;
  const std::string text = text_report(capture, {});
  EXPECT_NE(text.find("clamp_before_log (a proposal, not verified"), std::string::npos);
  EXPECT_NE(text.find("Not run."), std::string::npos);
  EXPECT_NE(text.find("None is proposed"), std::string::npos);  // of the second
  const std::string json = json_report(capture);
  EXPECT_NE(json.find("\"id\": \"clamp_before_log\""), std::string::npos);
  EXPECT_NE(json.find("\"status\": \"not_run\""), std::string::npos);
  capture.repairs = {Repair{}};  // `fix` found none
  EXPECT_EQ(json_report(capture).find("clamp_before_log"), std::string::npos);
}

TEST(Json, ExactText) {
  expect_golden("log_of_zero.json", json_report(sample::capture({sample::log_of_zero()})));
  expect_golden("sqrt_gradient.json",
                json_report(sample::capture({sample::note(), sample::sqrt_gradient()})));
  expect_golden("awkward.json", json_report(awkward()));
  expect_golden("clean.json", json_report(sample::capture({})));
}

TEST(Json, IsStrict) {
  const std::string json = json_report(awkward());
  EXPECT_NE(json.find("\"value\": \"nan+1j\""), std::string::npos);
  EXPECT_EQ(json.find('\x1b'), std::string::npos);
  EXPECT_EQ(json.find('\xff'), std::string::npos);
  Finding finding = sample::log_of_zero();
  finding.inputs[0].statistics.min.reset();
  finding.inputs[0].statistics.mean = sample::kInf;
  const std::string text = json_report(sample::capture({finding}));
  EXPECT_NE(text.find("\"min\": null"), std::string::npos);
  EXPECT_NE(text.find("\"mean\": \"inf\""), std::string::npos);
}

}  // namespace
}  // namespace nanscope
