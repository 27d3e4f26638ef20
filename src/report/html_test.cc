#include "report/html.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "capture/sample.h"
#include "report/json_document.h"
#include "report/redact.h"
#include "report/sarif.h"
#include "report/text.h"

namespace nanscope {
namespace {

constexpr const char* kPage =
    "<title><!--nanscope:title--></title><pre><!--nanscope:text--></pre>"
    "<script type=\"application/json\"><!--nanscope:data--></script>";

std::string page_of_findings(std::vector<Finding> findings) {
  return html_report(kPage, {diagnosed(sample::capture(std::move(findings)), "x.nsc")}, "1.2.3");
}

nlohmann::json data_of(const std::string& page) {
  const std::size_t begin = page.find("json\">") + 6;
  return nlohmann::json::parse(page.substr(begin, page.rfind("</script>") - begin));
}

TEST(Html, HoldsTheJsonOfTheReport) {
  const nlohmann::json data = data_of(page_of_findings({sample::log_of_zero()}));
  EXPECT_EQ(data["nanscope"], "1.2.3");
  EXPECT_EQ(data["reports"][0]["capture"], "x.nsc");
  EXPECT_EQ(data["reports"][0]["findings"][0]["cause"]["id"], "log_of_zero");
  EXPECT_EQ(data["reports"][0]["findings_left_out"], 0);
}

TEST(Html, NothingInACaptureIsMarkup) {
  Finding hostile = sample::log_of_zero();
  const std::string script = "</script><script>alert(1)</script><!--nanscope:data-->";
  hostile.origin.site.file = hostile.origin.op = hostile.inputs[0].name = script;
  hostile.origin.site.before = hostile.origin.site.after = {script};
  hostile.modules = {{script, script, 1, script, 1, 1, script}};
  hostile.cleaned = {{script, hostile.origin.site, Phase::kForward, Role::kCleaned}};
  Capture capture = sample::capture({hostile});
  capture.program.argv = {script};
  const std::string page = html_report(kPage, {diagnosed(capture, script)}, "1");
  EXPECT_EQ(page.find("<script>"), std::string::npos);
  EXPECT_EQ(page.find("<!--"), std::string::npos);
  EXPECT_EQ(data_of(page)["reports"][0]["findings"][0]["origin"]["op"], script);
}

TEST(Html, StaysBelowOneMegabyte) {
  std::vector<Finding> many(3'000, sample::note());
  many.insert(many.begin(), sample::log_of_zero());
  const std::string page = page_of_findings(many);
  EXPECT_LT(page.size(), 850'000u);
  const nlohmann::json report = data_of(page)["reports"][0];
  EXPECT_EQ(report["findings"][0]["level"], "error");
  EXPECT_EQ(report["findings"].size() + report["findings_left_out"].get<std::size_t>(), 3'001u);
}

TEST(Html, NoNumberOfCapturesIsTooMuch) {
  Capture clean = sample::capture({});
  clean.program.argv = {"train.py", "--data", "<a folder>"};
  std::vector<Diagnosed> many(3'000, diagnosed(clean, "run/clean.nsc"));
  many.push_back(diagnosed(sample::capture({sample::log_of_zero()}), "run/bad.nsc"));
  const std::string page = html_report(kPage, many, "1");
  EXPECT_LT(page.size(), 850'000u);
  const nlohmann::json data = data_of(page);
  EXPECT_EQ(data["reports"].size() + data["captures_left_out"].get<std::size_t>(), 3'001u);
  EXPECT_EQ(data["reports"].back()["capture"], "run/bad.nsc");  // those are the last to go
  EXPECT_EQ(data["reports"].back()["findings"].size(), 1u);
}

TEST(Html, OfManyRunsTheFirstAreToldRatherThanNone) {
  Finding finding = sample::log_of_zero();
  finding.chain.assign(128, finding.chain[0]);
  std::vector<Diagnosed> many(400, diagnosed(sample::capture({}), "run/clean.nsc"));
  many.resize(700, diagnosed(sample::capture({finding}), "run/bad.nsc"));
  const std::string page = html_report(kPage, many, "1");
  EXPECT_LT(page.size(), 850'000u);
  const nlohmann::json reports = data_of(page)["reports"];
  std::size_t kept = 0, whole = 0;
  for (const nlohmann::json& run : reports) {
    EXPECT_EQ(run["findings"].size() + run["findings_left_out"].get<std::size_t>(),
              run["verdict"] == "error" ? 1u : 0u);
    kept += run["findings"].size();
    for (const nlohmann::json& one : run["findings"]) whole += one.contains("shortened") ? 0 : 1;
  }
  EXPECT_GE(kept, 10u);
  EXPECT_GE(whole, 1u);
}

TEST(Html, NoCommandIsTooLong) {
  Capture clean = sample::capture({});
  clean.program.argv.assign(20, std::string(60'000, '"'));
  const std::string page = html_report(kPage, {diagnosed(clean, "clean.nsc")}, "1");
  EXPECT_LT(page.size(), 850'000u);
  const nlohmann::json report = data_of(page)["reports"][0];
  EXPECT_EQ(report["shortened"], true);
  EXPECT_EQ(report["capture"], "clean.nsc");
  clean.program.argv = {"train.py"};
  const std::string other = html_report(kPage, {diagnosed(clean, "clean.nsc")}, "1");
  EXPECT_FALSE(data_of(other)["reports"][0].contains("shortened"));
}

TEST(Html, WhatIsShownWithoutScriptIsBounded) {
  Finding hostile = sample::log_of_zero();
  hostile.origin.site.file = hostile.origin.op = std::string(60'000, '"');
  EXPECT_LT(page_of_findings({hostile, hostile, hostile}).size(), 850'000u);
}

Finding of_many_modules() {
  Finding finding = sample::log_of_zero();
  finding.modules.assign(4096, {std::string(300, '<'), "Linear", 1, "float32", 1, 1, "float32"});
  finding.inputs[0].bad_map = BadMap{48, 48, std::vector<std::int64_t>(48 * 48, 3)};
  return finding;
}

TEST(Html, AFindingThatIsTooLargeIsShortened) {
  const nlohmann::json report =
      data_of(page_of_findings({of_many_modules(), sample::note()}))["reports"][0];
  ASSERT_EQ(report["findings"].size(), 2u);
  EXPECT_EQ(report["findings_left_out"], 0);
  const nlohmann::json& large = report["findings"][0];
  EXPECT_EQ(large["shortened"], true);
  EXPECT_FALSE(large.contains("modules"));
  EXPECT_FALSE(large["inputs"][0].contains("bad_map"));
  EXPECT_EQ(large["cause"]["id"], "log_of_zero");
  EXPECT_EQ(large["chain"].size(), 4u);
  EXPECT_FALSE(report["findings"][1].contains("shortened"));
}

TEST(Html, TextsAreTheLastToBeCut) {
  Finding finding = sample::log_of_zero();
  finding.chain.assign(128, finding.chain[0]);
  for (Link& link : finding.chain) link.site.code = std::string(4000, '&');
  Capture capture = sample::capture({finding, sample::note()});
  capture.proposal =
      Fix{.id = "clamp", .diff = std::string(4000, '+'), .files = {"a.py"}, .explanation = "p"};
  const std::string page = html_report(kPage, {diagnosed(capture, "x.nsc")}, "1");
  EXPECT_LT(page.size(), 900'000u);
  const nlohmann::json report = data_of(page)["reports"][0];
  ASSERT_EQ(report["findings"].size(), 2u);
  EXPECT_EQ(report["findings"][0]["shortened"], true);
  EXPECT_EQ(report["findings"][0]["chain"].size(), 8u);
  EXPECT_EQ(report["findings"][0]["fix"]["diff"], "");  // half a patch would be another one
  EXPECT_EQ(report["findings"][0]["origin"]["op"], "aten::log");
}

Diagnosed telling() {
  Finding finding = sample::log_of_zero();
  finding.origin.site.file = "/home/alice/secret/train.py";
  finding.origin.stack.assign(3, {"/home/alice/secret/main.py", 3, "loss_fn", true});
  finding.history.emplace_back().loss = 0.7071;
  finding.scalars = {{"eps", "0.7071"}};
  finding.magnitudes = {{"self.secret(h)", 0.7071, false}};
  finding.origin.site.before = {"secret(a)"};
  finding.origin.site.after = {"secret(b)"};
  finding.cleaned = {{"aten::where", finding.origin.site, Phase::kForward, Role::kCleaned,
                      Made{"float32", {2}, true, 0, 0, 0, 0.7071}}};
  finding.undone = "load_state_dict at /home/alice/secret/train.py:3 in loss_fn, 0.7071";
  finding.allowed = "secret(a) is 0.7071 in loss_fn, /home/alice";
  finding.modules = {{"net.head", "Secret", 0.7071, "float32", 0.7071, 0.7071, "float32"}};
  finding.inputs[0].exponents = ExponentHistogram{-70, 1, {70717071}, 64};
  finding.harm->text = "ValueError: /home/alice p is 0.7071";
  Finding given = finding;  // by the rank that gave it
  given.origin.site.code = "torch.log(secret(q)).mean()";
  finding.elsewhere = {given};
  const Link carried{"aten::mul", finding.origin.site, Phase::kBackward, Role::kCarrier,
                     Made{"float32", {2}, true, 0, 0, 0, 0.7071}};
  finding.received_by = {{.rank = 1, .chain = {carried}, .harm = finding.harm}};
  Capture capture = sample::capture({finding});
  capture.ranks = {{1, "alice-desktop", 4, "/home/alice/run/x.rank1.nsc",
                    "gave it: torch.log(p)).mean in loss_fn, /home/alice, 0.7071"}};
  capture.program.argv = {"/home/alice/train.py", "--token", "0.7071"};
  capture.program.host = "alice-laptop";
  capture.coverage.not_watched = {
      {"errors outside net.head", "--layer net.head", 1, GapKind::kNotChosen},
      {"errors outside /home/alice/secret/x.py", "--file", 1, GapKind::kNotChosen}};
  capture.coverage.allowed = {{"# nanscope: allow at /home/alice/secret/x.py:1", "loss_fn", 1}};
  Intended mask{"aten::masked_fill", finding.origin.site, {}, 3, "cleaned"};
  mask.site.remark = "/home/alice";
  capture.coverage.intended = {mask};
  capture.proposal = Fix{
      .id = "clamp", .diff = "--- a/home/alice\n+torch.log(p)\n", .files = {}, .explanation = "p"};
  return diagnosed(capture, "/home/alice/x.nsc");
}

std::string redacted_texts(const char* words) {
  Diagnosed one = telling();
  redact(redaction_of(words).value(), one);
  return json_text(json_document(one)) + text_report(one, {.verbose = true}) +
         sarif_report({one}, {}, "1") + html_report(kPage, {one}, "1");
}

TEST(Redact, WhatMayNotLeaveTheHouseDoesNot) {
  const std::string source = redacted_texts("source");
  for (const char* word : {"torch.log(p)).mean", "loss_fn", "net.head", "secret(", "Secret"})
    EXPECT_EQ(source.find(word), std::string::npos) << word;
  EXPECT_EQ(source.find(" in ,"), std::string::npos);  // no sentence about what was left out
  const std::string paths = redacted_texts("paths");
  for (const char* word : {"alice", "secret/", "--token"})
    EXPECT_EQ(paths.find(word), std::string::npos) << word;
  EXPECT_NE(paths.find("train.py"), std::string::npos);
  const std::string values = redacted_texts("values");
  for (const char* word : {"0.7071", "0.993162", "0.312204", "70717071"})
    EXPECT_EQ(values.find(word), std::string::npos) << word;
  EXPECT_NE(values.find("log_of_zero"), std::string::npos);  // what it was stays
}

TEST(Redact, AWordThatIsNoneIsRefused) {
  EXPECT_FALSE(redaction_of("source,names"));
  EXPECT_TRUE(redaction_of("source,paths,values"));
}

}  // namespace
}  // namespace nanscope
