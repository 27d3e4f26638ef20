#include "cli/cli.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "capture/format.h"
#include "capture/sample.h"
#include "capture/writer.h"

namespace nanscope {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class CommandLine : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "nanscope-cli-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    before_ = fs::current_path();
    fs::current_path(folder_);
    std::ofstream("train.py") << "pass\n";
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }

  static Outcome call(Words words, const Terminal& terminal = {}) {
    words.insert(words.begin(), "nanscope");
    return command_line(words, terminal);
  }
  static RunRequest run(Words words) {
    words.insert(words.begin(), "run");
    const Outcome outcome = call(words);
    EXPECT_TRUE(outcome.run.has_value()) << outcome.err;
    return outcome.run.value_or(RunRequest{});
  }
  static void write_capture(const std::string& path) {
    Result<CaptureWriter> writer = CaptureWriter::create(path, false);
    (void)writer.value().append(sample::program());
    (void)writer.value().append(sample::log_of_zero());
    (void)writer.value().append(sample::coverage());
    (void)writer.value().finish();
  }

  std::string folder_;
  fs::path before_;
};

TEST_F(CommandLine, AloneItPrintsHelp) {
  const Outcome outcome = call({});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.out.find("nanscope run train.py"), std::string::npos);
  EXPECT_EQ(command_line({}, {}).status, 2);
}

TEST_F(CommandLine, HelpAndVersion) {
  EXPECT_EQ(call({"-h"}).status, 0);
  EXPECT_EQ(call({"--help"}).out, call({"-h"}).out);
  EXPECT_EQ(call({"--version"}).out, std::string("nanscope ") + version() + "\n");
  for (const char* verb : {"run", "fix", "show", "report", "stats", "dump", "scan", "replay",
                           "explain", "doctor", "agent-command", "mcp"}) {
    const Outcome help = call({verb, "-h"});
    EXPECT_EQ(help.status, 0) << verb;
    EXPECT_TRUE(help.out.starts_with(std::string("usage: nanscope ") + verb)) << help.out;
    EXPECT_NE(help.out.find("example:\n  nanscope "), std::string::npos) << verb;
    EXPECT_EQ(help.err, "");
    EXPECT_FALSE(help.run.has_value());
    EXPECT_FALSE(help.doctor);
    EXPECT_FALSE(help.mcp);
    EXPECT_FALSE(help.replay.has_value());
  }
}

TEST_F(CommandLine, WhatIsNotBuiltIsAbsent) {
  const std::string help = call({"run", "-h"}).out + call({"-h"}).out;
  EXPECT_EQ(help.find("export"), std::string::npos);
  EXPECT_EQ(call({"export", "train.py"}).status, 2);
}

TEST_F(CommandLine, NotifyNamesWhoIsTold) {
  EXPECT_EQ(run({"--notify", "wandb", "--notify", "http://a/b", "train.py"}).notify,
            (Words{"wandb", "http://a/b"}));
  EXPECT_EQ(run({"--notify", "tensorboard:runs", "train.py"}).notify, Words{"tensorboard:runs"});
  for (const char* nobody : {"slack", "tensorboard", "tensorboard:", "ftp://a", ""})
    EXPECT_EQ(call({"run", "--notify", nobody, "train.py"}).status, 2) << nobody;
}

TEST_F(CommandLine, ReplayTakesAFolderAndPerhapsAScript) {
  fs::create_directory("bad");
  const Outcome kept = call({"replay", "--yes", "bad"});
  ASSERT_TRUE(kept.replay.has_value()) << kept.err;
  EXPECT_EQ(kept.replay->folder, "bad");
  EXPECT_TRUE(kept.replay->yes);
  EXPECT_EQ(kept.replay->run.target, "");
  const Outcome named = call({"replay", "bad", "train.py", "--yes"});
  ASSERT_TRUE(named.replay.has_value()) << named.err;
  EXPECT_FALSE(named.replay->yes);
  EXPECT_EQ(named.replay->run.target, "train.py");
  EXPECT_EQ(named.replay->run.args, Words{"--yes"});
  EXPECT_EQ(call({"replay"}).status, 2);
  EXPECT_EQ(call({"replay", "missing"}).status, 2);
  EXPECT_EQ(call({"replay", "bad", "missing.py"}).status, 2);
}

TEST_F(CommandLine, BadBatchIsKeptInAFolderOfItsOwn) {
  EXPECT_EQ(run({"--bad-batch", "new", "train.py"}).bad_batch, "new");
  fs::create_directory("bad");
  EXPECT_EQ(call({"run", "--bad-batch", "bad", "train.py"}).status, 2);
  EXPECT_EQ(run({"-f", "--bad-batch", "bad", "train.py"}).bad_batch, "bad");
  EXPECT_EQ(call({"run", "--mode", "sentinel", "--bad-batch", "new", "train.py"}).status, 2);
}

TEST_F(CommandLine, ReportWritesAFormat) {
  write_capture("a.nsc");
  EXPECT_TRUE(call({"report", "a.nsc", "--to", "json"}).out.starts_with("{"));
  EXPECT_TRUE(call({"report", "a.nsc", "a.nsc", "--to", "json"}).out.starts_with("["));
  EXPECT_EQ(call({"report", "a.nsc", "--to", "text"}).out, call({"show", "a.nsc"}).out);
  const Outcome written = call({"report", "a.nsc", "--to", "sarif", "-o", "a.sarif"});
  EXPECT_EQ(written.err, "Written: a.sarif\n");
  EXPECT_EQ(written.out, "");
  std::ifstream file("a.sarif");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}),
            call({"report", "a.nsc", "--to", "sarif", "-o", "-"}).out);
}

TEST_F(CommandLine, ReportRefusesWhatItCannotDo) {
  write_capture("a.nsc");
  EXPECT_EQ(call({"report", "a.nsc", "--to", "pdf"}).status, 2);
  EXPECT_EQ(call({"report", "a.nsc", "-o", "a.nsc"}).status, 2);
  EXPECT_EQ(call({"report", "b.nsc"}).status, 2);
  const Outcome nowhere = call({"report", "a.nsc", "--to", "text", "-o", "no/such/folder.txt"});
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_NE(nowhere.err.find("No such file or directory"), std::string::npos) << nowhere.err;
  EXPECT_EQ(call({"report", "a.nsc", "--to", "csv", "-o", "."}).status, 2);
}

TEST_F(CommandLine, StatsCounts) {
  write_capture("a.nsc");
  EXPECT_NE(call({"stats", "a.nsc"}).out.find("ops watched"), std::string::npos);
  EXPECT_TRUE(call({"stats", "a.nsc", "--json"}).out.starts_with("["));
  EXPECT_EQ(call({"stats"}).status, 2);
}

TEST_F(CommandLine, ScanSaysWhatItCannotRead) {
  EXPECT_EQ(call({"scan"}).status, 2);
  const Outcome missing = call({"scan", "missing.pt", "train.py"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_EQ(missing.out, "");
  EXPECT_TRUE(missing.err.starts_with("nanscope: missing.pt: there is no such file.\n"))
      << missing.err;
}

TEST_F(CommandLine, Explain) {
  const Outcome list = call({"explain"});
  EXPECT_EQ(list.status, 0);
  EXPECT_NE(list.out.find("\n  log_of_zero  "), std::string::npos);
  EXPECT_TRUE(call({"explain", "log_of_zero"}).out.starts_with("# log_of_zero\n"));
  const Outcome wrong = call({"explain", "log_of_zer"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("is log_of_zero meant?"), std::string::npos);
}

TEST_F(CommandLine, TheWatchCanBeKeptToALayerOrAFile) {
  EXPECT_EQ(run({"--layer", "net.head", "train.py"}).layer, "net.head");
  EXPECT_EQ(run({"--file", "train.py", "train.py"}).file, "train.py");
  EXPECT_EQ(call({"run", "--file", "nowhere.py", "train.py"}).status, 2);
}

TEST_F(CommandLine, EverythingAfterTheScriptIsTheScripts) {
  const RunRequest request = run({"-q", "train.py", "-o", "x", "--json", "--", "-h", "-v", ""});
  EXPECT_EQ(request.kind, RunRequest::Kind::kScript);
  EXPECT_EQ(request.target, "train.py");
  EXPECT_EQ(request.args, (Words{"-o", "x", "--json", "--", "-h", "-v", ""}));
  EXPECT_TRUE(request.quiet);
  EXPECT_FALSE(request.verbose);
  EXPECT_FALSE(request.output.has_value());
}

TEST_F(CommandLine, ModuleCodeAndDashes) {
  EXPECT_EQ(run({"-m", "pkg.train", "-q"}).kind, RunRequest::Kind::kModule);
  EXPECT_EQ(run({"-m", "pkg.train", "-q"}).target, "pkg.train");
  EXPECT_EQ(run({"-m", "pkg.train", "-q"}).args, Words{"-q"});
  EXPECT_FALSE(run({"-m", "pkg.train", "-q"}).quiet);
  EXPECT_EQ(run({"-mpkg"}).target, "pkg");
  EXPECT_EQ(run({"-c", "import x; x.y()", "-m"}).kind, RunRequest::Kind::kCode);
  EXPECT_EQ(run({"-c", "import x; x.y()", "-m"}).target, "import x; x.y()");
  EXPECT_EQ(run({"-c", "import x; x.y()", "-m"}).args, Words{"-m"});
  EXPECT_EQ(run({"-v", "--", "train.py", "--", "a"}).args, (Words{"--", "a"}));
}

TEST_F(CommandLine, EveryOption) {
  const RunRequest request = run({"-o", "a.nsc", "-f", "--json", "b.json", "--keep-going",
                                  "--steps", "12", "-q", "-v", "--no-color", "train.py"});
  EXPECT_EQ(request.output, "a.nsc");
  EXPECT_TRUE(request.force);
  EXPECT_EQ(request.json, "b.json");
  EXPECT_TRUE(request.keep_going);
  EXPECT_EQ(request.steps, 12);
  EXPECT_TRUE(request.quiet);
  EXPECT_TRUE(request.verbose);
  EXPECT_FALSE(request.color);
  EXPECT_FALSE(request.raise || request.strict || request.pdb);
  EXPECT_TRUE(run({"--raise", "train.py"}).raise);
  EXPECT_TRUE(run({"--strict", "train.py"}).strict);
  EXPECT_TRUE(run({"--pdb", "train.py"}).pdb);
  EXPECT_EQ(run({"-oa.nsc", "train.py"}).output, "a.nsc");
  EXPECT_EQ(run({"-qfo", "a.nsc", "train.py"}).output, "a.nsc");
  EXPECT_EQ(run({"--output=a.nsc", "train.py"}).output, "a.nsc");
  EXPECT_EQ(run({"-o", "a", "-o", "b", "-v", "-v", "train.py"}).output, "b");
  EXPECT_EQ(run({"-q", "--json", "-", "train.py"}).json, "-");
  EXPECT_FALSE(run({"--mode", "exact", "train.py"}).sentinel);
  EXPECT_TRUE(run({"--mode=sentinel", "train.py"}).sentinel);
  EXPECT_EQ(run({"--mode", "sentinel", "--snapshot-every", "0.5", "train.py"}).snapshot_every_s,
            0.5);
}

TEST_F(CommandLine, FixIsARequest) {
  const Outcome outcome =
      call({"fix", "--verify", "7", "--max-runs", "0", "--max-time", "60", "--max-fixes", "2",
            "--yes", "--apply", "--json", "f.json", "train.py", "--apply"});
  ASSERT_TRUE(outcome.fix) << outcome.err;
  const FixRequest& request = *outcome.fix;
  EXPECT_EQ(request.run.target, "train.py");
  EXPECT_EQ(request.run.args, Words{"--apply"});
  EXPECT_EQ(request.run.json, "f.json");
  EXPECT_EQ(request.verify, 7);
  EXPECT_EQ(request.max_runs, 0);
  EXPECT_EQ(request.max_time, 60);
  EXPECT_EQ(request.max_fixes, 2);
  EXPECT_TRUE(request.yes && request.apply);
  EXPECT_FALSE(request.from);
  EXPECT_FALSE(outcome.run);
  EXPECT_EQ(call({"fix", "train.py"}).fix->verify, std::nullopt);
}

TEST_F(CommandLine, FixOfACaptureNeedsNoProgram) {
  write_capture("a.nsc");
  const Outcome alone = call({"fix", "--from", "a.nsc"});
  ASSERT_TRUE(alone.fix) << alone.err;
  EXPECT_EQ(alone.fix->from, "a.nsc");
  EXPECT_EQ(alone.fix->run.target, "");
  EXPECT_EQ(call({"fix", "--from", "a.nsc", "train.py"}).fix->run.target, "train.py");
}

TEST_F(CommandLine, BadUsageIsOneSentence) {
  struct Bad {
    Words words;
    const char* err;
  };
  const Bad all[] = {
      {{"run"},
       "nanscope run: there is no program to run: give a script, -m module or -c code. `nanscope "
       "run -h` shows how it is used.\n"},
      {{"run", "-m"},
       "nanscope run: -m needs the name of a module. `nanscope run -h` shows how it is used.\n"},
      {{"run", "-c"},
       "nanscope run: -c needs some code. `nanscope run -h` shows how it is used.\n"},
      {{"run", "-"}, nullptr},
      {{"run", "--pdb", "-"},
       "nanscope run: --pdb reads the standard input, and the program comes from there; give a "
       "script. `nanscope run -h` shows how it is used.\n"},
      {{"run", "--keep-going", "--strict", "train.py"},
       "nanscope run: --keep-going and --strict exclude each other. `nanscope run -h` shows how it "
       "is used.\n"},
      {{"run", "none.py"},
       "nanscope run: none.py does not exist. `nanscope run -h` shows how it is used.\n"},
      {{"run", "--bogus", "train.py"},
       "nanscope run: there is no option --bogus. `nanscope run -h` shows how it is used.\n"},
      {{"run", "-x", "train.py"},
       "nanscope run: there is no option -x. `nanscope run -h` shows how it is used.\n"},
      {{"run", "train.py", "-o"}, nullptr},
      {{"run", "-o"},
       "nanscope run: --output needs a FILE. `nanscope run -h` shows how it is used.\n"},
      {{"run", "--steps", "0", "train.py"},
       "nanscope run: --steps needs a whole number above 0, not 0. `nanscope run -h` shows how it "
       "is used.\n"},
      {{"run", "--steps", "ten", "train.py"},
       "nanscope run: --steps needs a whole number above 0, not ten. `nanscope run -h` shows how "
       "it is used.\n"},
      {{"run", "--mode", "armed", "train.py"},
       "nanscope run: --mode is exact or sentinel, not armed. `nanscope run -h` shows how it is "
       "used.\n"},
      {{"run", "--mode", "sentinel", "--strict", "train.py"},
       "nanscope run: --strict looks at every operation, and --mode sentinel at none. `nanscope "
       "run -h` shows how it is used.\n"},
      {{"run", "--snapshot-every", "9", "train.py"},
       "nanscope run: --snapshot-every goes with --mode sentinel. `nanscope run -h` shows how it "
       "is used.\n"},
      {{"run", "--mode", "sentinel", "--snapshot-every", "0", "train.py"},
       "nanscope run: --snapshot-every needs a number of seconds above 0, not 0. `nanscope run -h` "
       "shows how it is used.\n"},
      {{"run", "--json", "-", "train.py"},
       "nanscope run: --json - writes to stdout, which belongs to the program; use it with -q. "
       "`nanscope run -h` shows how it is used.\n"},
      {{"run", "-o", "x", "--json", "x", "train.py"},
       "nanscope run: -o and --json name the same file. `nanscope run -h` shows how it is used.\n"},
      {{"run", "-o", "no/x.nsc", "train.py"},
       "nanscope: The folder no does not exist; no/x.nsc was not written. Make the folder, or use "
       "-o to name another file.\n"},
      {{"fix", "-c", "pass"},
       "nanscope fix: there is no file to patch: give a script or -m module. `nanscope fix -h` "
       "shows how it is used.\n"},
      {{"fix", "--max-runs", "-1", "train.py"},
       "nanscope fix: --max-runs needs a whole number from 0, not -1. `nanscope fix -h` shows how "
       "it is used.\n"},
      {{"fix", "--from", "none.nsc", "train.py"},
       "nanscope fix: none.nsc does not exist. `nanscope fix -h` shows how it is used.\n"},
      {{"show"}, "nanscope show: CAPTURE is required. `nanscope show -h` shows how it is used.\n"},
      {{"show", "a", "b"},
       "nanscope show: b is one argument too many. `nanscope show -h` shows how it is used.\n"},
      {{"show", "none.nsc"}, "nanscope: none.nsc does not exist.\n"},
      {{"dump", "train.py"}, "nanscope: train.py is not a nanscope capture.\n"},
      {{"frobnicate"}, "nanscope: there is no verb frobnicate. `nanscope -h` lists them.\n"},
      {{"--frob"}, "nanscope: there is no option --frob. `nanscope -h` lists what there is.\n"},
      {{"train.py"}, "nanscope: train.py is not a verb. To watch it: nanscope run train.py\n"},
      {{"doctor", "now"},
       "nanscope doctor: now is one argument too many. `nanscope doctor -h` shows how it is "
       "used.\n"},
  };
  for (const Bad& bad : all) {
    const Outcome outcome = call(bad.words);
    if (bad.err == nullptr) {
      EXPECT_TRUE(outcome.run.has_value());
      continue;
    }
    EXPECT_EQ(outcome.status, 2) << bad.err;
    EXPECT_EQ(outcome.err, bad.err);
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(outcome.run.has_value());
  }
}

TEST_F(CommandLine, AnExistingCaptureIsRefusedBeforeAnythingStarts) {
  write_capture("old.nsc");
  const Outcome refused = call({"run", "-o", "old.nsc", "train.py"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.err,
            "nanscope: old.nsc exists; nothing was written. Use -f to replace it, or -o to name "
            "another file.\n");
  EXPECT_FALSE(refused.run.has_value());
  EXPECT_TRUE(run({"-f", "-o", "old.nsc", "train.py"}).force);
}

TEST_F(CommandLine, Colour) {
  Terminal terminal;
  terminal.stderr_is_tty = true;
  EXPECT_TRUE(call({"run", "train.py"}, terminal).run->color);
  EXPECT_FALSE(call({"run", "--no-color", "train.py"}, terminal).run->color);
  terminal.no_color = true;
  EXPECT_FALSE(call({"run", "train.py"}, terminal).run->color);

  write_capture("run.nsc");
  EXPECT_EQ(call({"show", "run.nsc"}).out.find('\x1b'), std::string::npos);
  Terminal colour;
  colour.stdout_is_tty = true;
  EXPECT_NE(call({"show", "run.nsc"}, colour).out.find('\x1b'), std::string::npos);
}

TEST_F(CommandLine, Show) {
  write_capture("run.nsc");
  const Outcome outcome = call({"show", "run.nsc"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.out.starts_with("nanscope: error: train.py:41:18: aten::log made -inf\n"));
  EXPECT_NE(call({"show", "-v", "run.nsc"}).out.find("Looked at and dropped"), std::string::npos);
  EXPECT_EQ(call({"show", "-q", "run.nsc"}).out,
            "error: train.py:41:18: aten::log made -inf\n"
            "  log_of_zero (certain; to blame: the code): `p` is 0 at [2, 5] (3 of 64 elements are "
            "zero), and\n    log(0) is -inf.\n");
}

TEST_F(CommandLine, Dump) {
  write_capture("run.nsc");
  const Outcome outcome = call({"dump", "run.nsc"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.out.starts_with("{\"offset\":16,\"type\":\"program\",\"length\":"))
      << outcome.out;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 4);
  EXPECT_NE(outcome.out.find("\"type\":\"end\",\"length\":1,\"payload\":{}}"), std::string::npos);
  EXPECT_NE(outcome.out.find("\"value\":\"-inf\""), std::string::npos);
  EXPECT_EQ(call({"dump", "-q", "run.nsc"}).out.find("payload"), std::string::npos);
  EXPECT_NE(call({"dump", "-v", "run.nsc"}).out.find("\"crc\":\""), std::string::npos);
}

TEST_F(CommandLine, DumpShowsWhatLiesBeforeTheDamage) {
  write_capture("run.nsc");
  const auto size = fs::file_size("run.nsc");
  fs::resize_file("run.nsc", size - 1);
  Outcome outcome = call({"dump", "run.nsc"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 3);
  EXPECT_EQ(outcome.err, "nanscope: run.nsc was cut off after these records.\n");
  {
    std::fstream file("run.nsc", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size) - 30);
    file.put('!');
  }
  outcome = call({"dump", "run.nsc"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("is damaged"), std::string::npos);
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 2);
}

TEST_F(CommandLine, Doctor) {
  const Outcome outcome = call({"doctor", "-v"});
  EXPECT_TRUE(outcome.doctor);
  EXPECT_TRUE(outcome.verbose);
  EXPECT_EQ(outcome.status, 0);
}

TEST(DefaultCaptureName, IsMadeOfTheProgramAndItsNumber) {
  RunRequest request;
  request.target = "jobs/train.py";
  EXPECT_EQ(default_capture_name(request, 1234), "nanscope-train.1234.nsc");
  request.target = "package/";
  EXPECT_EQ(default_capture_name(request, 1), "nanscope-package.1.nsc");
  request.kind = RunRequest::Kind::kModule;
  request.target = "pkg.train";
  EXPECT_EQ(default_capture_name(request, 1), "nanscope-pkg.train.1.nsc");
  request.kind = RunRequest::Kind::kCode;
  request.target = "import x";
  EXPECT_EQ(default_capture_name(request, 1), "nanscope-code.1.nsc");
}

}  // namespace
}  // namespace nanscope
