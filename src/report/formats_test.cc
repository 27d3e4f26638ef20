// The formats for other tools: SARIF, workflow annotations, tables, traces.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "capture/sample.h"
#include "report/csv.h"
#include "report/github.h"
#include "report/json.h"
#include "report/sarif.h"
#include "report/stats.h"
#include "report/trace.h"

namespace nanscope {
namespace {

using Parsed = nlohmann::json;

const report::SourceRoot kRoot{"/home/me/project", "/home/me/project/examples"};

std::vector<Diagnosed> one(const Capture& capture) { return {diagnosed(capture, "x.nsc")}; }

Parsed sarif_run(const Capture& capture) {
  return Parsed::parse(sarif_report(one(capture), kRoot, "1.2.3"))["runs"][0];
}

Capture with_fix() {
  Capture capture = sample::capture({sample::log_of_zero()});
  capture.proposal = Fix{.id = "clamp_before_log",
                         .diff =
                             "--- a/train.py\n+++ b/train.py\n@@ -40,3 +40,3 @@\n a\n"
                             "-    return old\n+    return new\n b\n",
                         .files = {"train.py"},
                         .explanation = "why"};
  return capture;
}

StepRecord step(std::int64_t number, double loss) {
  StepRecord record;
  record.step = number;
  record.loss = loss;
  return record;
}

TEST(Sarif, AResultPointsAtTheExpressionFromTheRepositorysRoot) {
  const Parsed result = sarif_run(sample::capture({sample::log_of_zero()}))["results"][0];
  EXPECT_EQ(result["ruleId"], "log_of_zero");
  EXPECT_EQ(result["level"], "error");
  const Parsed place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "examples/train.py");
  EXPECT_EQ(place["region"]["startLine"], 41);
  EXPECT_EQ(place["region"]["startColumn"], 18);  // from 1
  EXPECT_EQ(place["region"]["endColumn"], 30);    // exclusive
  EXPECT_EQ(result["codeFlows"][0]["threadFlows"][0]["locations"].size(), 4u);
}

TEST(Sarif, ARuleIsACauseWithItsPage) {
  const Parsed run = sarif_run(sample::capture({sample::log_of_zero(), sample::note()}));
  const Parsed& rules = run["tool"]["driver"]["rules"];
  ASSERT_EQ(rules.size(), 1u);  // both are of one cause
  EXPECT_NE(rules[0]["help"]["markdown"].get<std::string>().find("# log_of_zero"),
            std::string::npos);
  EXPECT_EQ(run["results"][1]["ruleIndex"], 0);
}

TEST(Sarif, AFingerprintStaysWhenTheLineMoves) {
  Finding moved = sample::log_of_zero();
  moved.origin.site.line = moved.origin.site.end_line = 99;
  Finding other = sample::log_of_zero();
  other.origin.site.code = "torch.log(q)";
  const auto print = [](const Finding& finding) {
    return sarif_run(sample::capture({finding}))["results"][0]["partialFingerprints"].dump();
  };
  EXPECT_EQ(print(moved), print(sample::log_of_zero()));
  EXPECT_NE(print(other), print(sample::log_of_zero()));
  const Parsed twins = sarif_run(sample::capture({moved, moved}))["results"];
  EXPECT_NE(twins[0]["partialFingerprints"], twins[1]["partialFingerprints"]);
}

TEST(Sarif, EveryPlaceHasAFile) {
  Finding finding = sample::log_of_zero();
  finding.origin.site = {};
  finding.harm->site.reset();
  finding.chain.resize(2);
  finding.chain[1].site = {};
  Capture capture = sample::capture({finding});
  capture.program.argv = {"train.py", "--fast"};
  const Parsed result = sarif_run(capture)["results"][0];
  const Parsed place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "examples/train.py");
  EXPECT_EQ(place["region"]["startLine"], 1);
  EXPECT_FALSE(result.contains("relatedLocations"));
  EXPECT_NE(result["properties"]["harm"], "");
  EXPECT_EQ(result["codeFlows"][0]["threadFlows"][0]["locations"].size(), 1u);
  capture.program.argv = {"-m", "package.train"};  // its file is not known
  const Parsed other = sarif_run(capture)["results"][0]["locations"][0]["physicalLocation"];
  EXPECT_EQ(other["artifactLocation"]["uri"], "examples/x.nsc");
}

TEST(Sarif, ThePatchIsAFix) {
  const Parsed fix = sarif_run(with_fix())["results"][0]["fixes"][0]["artifactChanges"][0];
  EXPECT_EQ(fix["artifactLocation"]["uri"], "examples/train.py");
  const Parsed& replacement = fix["replacements"][0];
  EXPECT_EQ(replacement["deletedRegion"]["startLine"], 41);
  EXPECT_EQ(replacement["deletedRegion"]["endLine"], 42);
  EXPECT_EQ(replacement["insertedContent"]["text"], "    return new\n");
}

TEST(Sarif, WhatWentUnwatchedIsSaid) {
  Capture capture = sample::capture({});
  capture.coverage.not_watched = {{"compiled region", "torch.compile", 3}};
  const Parsed run = sarif_run(capture);
  EXPECT_EQ(run["results"], Parsed::array());
  EXPECT_EQ(run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"],
            "Not watched: compiled region (torch.compile), 3 times.");
}

TEST(Github, ALineForEachErrorAndWarning) {
  const std::string text =
      github_report(one(sample::capture({sample::log_of_zero()})), kRoot, false);
  EXPECT_TRUE(
      text.starts_with("::error file=examples/train.py,line=41,col=18,endColumn=29,"
                       "title=nanscope%3A log_of_zero::aten::log made -inf. "))
      << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_EQ(github_report(one(sample::capture({sample::note()})), kRoot, false), "");
  EXPECT_TRUE(github_report(one(sample::capture({sample::note()})), kRoot, true)
                  .starts_with("::notice file=examples/attend.py"));
}

TEST(Github, NothingInACaptureCanWriteACommandOfItsOwn) {
  Finding hostile = sample::log_of_zero();
  hostile.origin.site.file = "a,b:c%\n::error::x.py";
  hostile.origin.op = "\r\n::set-output name=x::y";
  hostile.inputs[0].name = "p\n::add-mask::p";
  const std::string text = github_report(one(sample::capture({hostile})), kRoot, false);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_NE(text.find("file=examples/a%2Cb%3Ac%25 %3A%3Aerror%3A%3Ax.py,line=41"),
            std::string::npos)
      << text;
}

TEST(Csv, OneNumberARow) {
  Finding finding = sample::log_of_zero();
  finding.history = {step(12, 0.5)};
  finding.history[0].gradient_norm = sample::kInf;
  const std::string text = csv_report(one(sample::capture({finding})));
  EXPECT_TRUE(text.starts_with("capture,finding,cause,record,name,step,quantity,value\n"));
  for (const char* row :
       {"x.nsc,0,log_of_zero,history,,12,loss,0.5\n",
        "x.nsc,0,log_of_zero,history,,12,gradient_norm,inf\n",
        "x.nsc,0,log_of_zero,input,p,,zeros,3\n", "x.nsc,0,log_of_zero,input,p,,max,0.993162\n"})
    EXPECT_NE(text.find(row), std::string::npos) << row << text;
}

TEST(Csv, TextIsQuotedAndNoFormula) {
  Finding finding = sample::log_of_zero();
  finding.inputs[0].name = "=cmd|' /C calc'!A0, \"x\"\n";
  const std::string text = csv_report(one(sample::capture({finding})));
  EXPECT_NE(text.find(",input,\"'=cmd|' /C calc'!A0, \"\"x\"\" \",,zeros,3\n"), std::string::npos)
      << text;
}

TEST(Trace, StepsCountersAndTheWay) {
  Finding finding = sample::log_of_zero();
  finding.history = {step(11, 0.5), step(12, sample::kNan)};
  const Parsed trace = Parsed::parse(trace_report(one(sample::capture({finding}))));
  std::vector<std::string> names;
  for (const Parsed& event : trace["traceEvents"])
    names.push_back(event["ph"].get<std::string>() + " " + event["name"].get<std::string>());
  for (const char* name : {"X step 11", "C loss", "i loss is nan", "i aten::log made -inf",
                           "X aten::mul", "s does harm", "f does harm"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
}

TEST(Forewarnings, SayNothingThatHasNotHappened) {
  Finding finding = sample::log_of_zero();
  finding.level = Level::kWarning;
  finding.harm.reset();
  finding.chain.clear();
  finding.forewarning = Forewarning{"little_headroom", "torch.log(p)", "float16", 52032, 65504, 1};
  const Capture capture = sample::capture({finding});
  const std::vector<Diagnosed> captures = one(capture);
  for (const std::string& text :
       {github_report(captures, kRoot, false), sarif_report(captures, kRoot, "1.2.3"),
        trace_report(captures), json_report(capture)}) {
    EXPECT_EQ(text.find("aten::log made"), std::string::npos) << text;
    EXPECT_NE(text.find("Little headroom left"), std::string::npos) << text;
  }
  finding.origin.site = {};
  const Parsed json = Parsed::parse(json_report(sample::capture({finding})));
  EXPECT_EQ(json["findings"][0]["headline"], "torch.log(p): Little headroom left");
}

TEST(Stats, CountsAndHeadRoom) {
  Finding half = sample::log_of_zero();
  half.inputs[0].dtype = "float16";
  half.inputs[0].statistics.max = 32752;  // half of 65504
  const std::vector<Diagnosed> captures = one(sample::capture({half, sample::note()}));
  const Parsed stats = Parsed::parse(json_stats(captures))[0];
  EXPECT_EQ(stats["ops_watched"], 12345);
  EXPECT_EQ(stats["errors"], 1);
  EXPECT_EQ(stats["head_room"][0]["name"], "p");
  EXPECT_EQ(stats["head_room"][0]["bits_left"], 1.0);
  EXPECT_EQ(stats["notes_per_site"][0]["count"], 120);
  const std::string text = text_stats(captures, 80);
  EXPECT_NE(text.find("bytes scanned  1.2 GB"), std::string::npos) << text;
  EXPECT_NE(text.find("attend.py:20:5"), std::string::npos) << text;
}

}  // namespace
}  // namespace nanscope
