// The writer and the reader against each other, and against everything that can
// happen to a file in between.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "capture/decode.h"
#include "capture/encode.h"
#include "capture/format.h"
#include "capture/reader.h"
#include "capture/sample.h"
#include "capture/writer.h"

namespace nanscope {
namespace {

namespace fs = std::filesystem;

class CaptureFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "nanscope-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/run.nsc";
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void put(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  CaptureWriter writer(bool overwrite = false) {
    Result<CaptureWriter> made = CaptureWriter::create(path_, overwrite);
    EXPECT_TRUE(made.ok());
    return std::move(made.value());
  }
  // A whole capture with two findings, as bytes.
  std::string sample_bytes() {
    CaptureWriter out = writer();
    EXPECT_TRUE(out.append(sample::program()).ok());
    EXPECT_TRUE(out.append(sample::note()).ok());
    EXPECT_TRUE(out.append(sample::log_of_zero()).ok());
    EXPECT_TRUE(out.append(sample::coverage()).ok());
    EXPECT_TRUE(out.finish().ok());
    return bytes_of(path_);
  }

  std::string folder_;
  std::string path_;
};

TEST_F(CaptureFile, ComesBackWhole) {
  sample_bytes();
  const Result<Capture> capture = read_capture(path_);
  ASSERT_TRUE(capture.ok()) << capture.error().message;
  EXPECT_TRUE(capture.value().complete);
  EXPECT_EQ(capture.value().program.host, "node7");
  EXPECT_EQ(capture.value().coverage.steps, 13);
  ASSERT_EQ(capture.value().findings.size(), 2u);
  // Errors first, whatever the order of writing.
  EXPECT_EQ(encode(capture.value().findings[0]), encode(sample::log_of_zero()));
  EXPECT_EQ(encode(capture.value().findings[1]), encode(sample::note()));
}

TEST_F(CaptureFile, KeepsWhatIsKnownOfCompiledCode) {
  Finding finding = sample::log_of_zero();
  finding.only_compiled = OnlyCompiled{.kernel = "cpp_fused_log_0",
                                       .lines = {finding.origin.site},
                                       .rounded_to = "bfloat16",
                                       .setting = "emulate_precision_casts",
                                       .setting_value = "True"};
  const Finding read = decode_finding(encode(finding)).value();
  EXPECT_EQ(encode(read), encode(finding));
  ASSERT_TRUE(read.only_compiled.has_value());
  EXPECT_EQ(read.only_compiled->kernel, "cpp_fused_log_0");
  EXPECT_EQ(read.only_compiled->lines[0].line, 41);
}

TEST_F(CaptureFile, AppearsWithTheFirstFinding) {
  CaptureWriter out = writer();
  EXPECT_TRUE(out.append(sample::program()).ok());
  EXPECT_TRUE(out.append(sample::coverage()).ok());
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_FALSE(out.exists());
  EXPECT_TRUE(out.append(sample::log_of_zero()).ok());
  EXPECT_TRUE(out.exists());
  const Result<Capture> capture = read_capture(path_);
  ASSERT_TRUE(capture.ok());
  EXPECT_FALSE(capture.value().complete);
  EXPECT_EQ(capture.value().program.host, "node7");
  EXPECT_EQ(capture.value().coverage.steps, 13);
}

TEST_F(CaptureFile, ACleanRunLeavesNoFileUnlessKept) {
  {
    CaptureWriter out = writer();
    EXPECT_TRUE(out.append(sample::program()).ok());
    EXPECT_TRUE(out.finish().ok());
    EXPECT_FALSE(fs::exists(path_));
  }
  CaptureWriter out = writer();
  EXPECT_TRUE(out.append(sample::program()).ok());
  EXPECT_TRUE(out.keep().ok());
  EXPECT_TRUE(out.finish().ok());
  const Result<Capture> capture = read_capture(path_);
  ASSERT_TRUE(capture.ok());
  EXPECT_TRUE(capture.value().complete);
  EXPECT_TRUE(capture.value().findings.empty());
}

TEST_F(CaptureFile, LaterRecordsReplaceEarlierOnes) {
  CaptureWriter out = writer();
  Program program = sample::program();
  program.exit_status.reset();
  EXPECT_TRUE(out.append(program).ok());
  EXPECT_TRUE(out.append(sample::note()).ok());
  program.exit_status = 1;
  EXPECT_TRUE(out.append(program).ok());
  EXPECT_TRUE(out.finish().ok());
  EXPECT_EQ(read_capture(path_).value().program.exit_status, 1);
}

TEST_F(CaptureFile, AProposalIsAddedWhenAllElseIsWritten) {
  const Fix fix{.id = "clamp_before_log",
                .diff = "--- a/train.py\n+++ b/train.py\n",
                .files = {"train.py"},
                .explanation = "`p` can be 0.",
                .changes_training = true};
  sample_bytes();
  ASSERT_TRUE(add_proposal(path_, fix).ok());
  const Capture capture = read_capture(path_).value();
  ASSERT_TRUE(capture.proposal);
  EXPECT_TRUE(capture.complete);
  EXPECT_EQ(capture.proposal->diff, fix.diff);
  EXPECT_EQ(capture.proposal->files, fix.files);
  EXPECT_TRUE(capture.proposal->changes_training);
  Fix endless = fix;
  endless.diff = std::string(100'000, '+');
  EXPECT_TRUE(is_kept_whole(fix));
  EXPECT_FALSE(is_kept_whole(endless));
  EXPECT_FALSE(add_proposal(path_, endless).ok());
  EXPECT_FALSE(add_proposal(path_ + ".missing", fix).ok());
  EXPECT_EQ(read_capture(path_).value().proposal->diff, fix.diff);
}

TEST_F(CaptureFile, OfEachFindingTheLastRepairCounts) {
  Repair repair;
  repair.finding = 1;
  repair.fix = Fix{.id = "clamp_before_log", .diff = "+", .files = {}, .explanation = ""};
  repair.verification.emplace().status = "failed";
  repair.tried = {{"eps_in_sqrt", "failed", "the fault is still there"}};
  sample_bytes();
  ASSERT_TRUE(add_repair(path_, repair).ok());
  repair.fix->applied = true;
  repair.verification->status = "verified";
  repair.verification->first_loss = 7;
  repair.verification->losses_before = {0.5, sample::kInf, std::nullopt};
  ASSERT_TRUE(add_repair(path_, repair).ok());
  ASSERT_TRUE(add_repair(path_, Repair{}).ok());
  const Capture capture = read_capture(path_).value();
  ASSERT_EQ(capture.repairs.size(), 2u);
  const Repair& kept = capture.repairs[0];
  EXPECT_EQ(kept.finding, 1);
  EXPECT_TRUE(kept.fix->applied);
  EXPECT_EQ(kept.verification->status, "verified");
  EXPECT_EQ(kept.verification->first_loss, 7);
  EXPECT_EQ(kept.verification->losses_before, repair.verification->losses_before);
  EXPECT_EQ(kept.tried[0].detail, "the fault is still there");
  EXPECT_FALSE(capture.repairs[1].fix);
  repair.fix->diff = std::string(100'000, '+');
  EXPECT_FALSE(add_repair(path_, repair).ok());
}

TEST_F(CaptureFile, AProgramThatRanOnIsRecordedAgain) {
  sample_bytes();
  Program program = read_capture(path_).value().program;
  program.ended = Ended::kException;
  ASSERT_TRUE(add_program(path_, program).ok());
  const Capture capture = read_capture(path_).value();
  EXPECT_EQ(capture.program.ended, Ended::kException);
  EXPECT_TRUE(capture.complete);
}

TEST_F(CaptureFile, TheBytesOfACaptureAreThoseOfAFile) {
  sample_bytes();
  Capture capture = read_capture(path_).value();
  capture.proposal = Fix{.id = "clamp", .diff = "+", .files = {}, .explanation = ""};
  capture.repairs.emplace_back().fix = capture.proposal;
  const std::string bytes = nanscope::bytes_of(capture);
  const Capture again = parse_capture(bytes, "memory").value();
  EXPECT_TRUE(again.complete);
  EXPECT_EQ(again.findings.size(), capture.findings.size());
  EXPECT_EQ(again.proposal->id, "clamp");
  EXPECT_EQ(nanscope::bytes_of(again), bytes);
}

TEST_F(CaptureFile, AnExistingFileIsRefused) {
  put(path_, "precious");
  const Result<CaptureWriter> refused = CaptureWriter::create(path_, false);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kExists);
  EXPECT_EQ(
      refused.error().message,
      path_ + " exists; nothing was written. Use -f to replace it, or -o to name another file.");
  EXPECT_EQ(bytes_of(path_), "precious");

  CaptureWriter out = writer(/*overwrite=*/true);
  EXPECT_TRUE(out.append(sample::note()).ok());
  EXPECT_TRUE(out.finish().ok());
  EXPECT_TRUE(read_capture(path_).ok());
}

TEST_F(CaptureFile, AFileThatAppearedMeanwhileIsRefused) {
  CaptureWriter out = writer();
  put(path_, "precious");
  const Status refused = out.append(sample::log_of_zero());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kExists);
  EXPECT_EQ(bytes_of(path_), "precious");
}

TEST_F(CaptureFile, DestinationsThatCannotBe) {
  EXPECT_EQ(CaptureWriter::create(folder_, true).error().code, ErrorCode::kExists);
  EXPECT_EQ(CaptureWriter::create("", true).error().code, ErrorCode::kBadUsage);
  const Result<CaptureWriter> refused = CaptureWriter::create(folder_ + "/no/x.nsc", false);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "The folder " + folder_ + "/no does not exist; " + folder_ +
                "/no/x.nsc was not written. Make the folder, or use -o to name another file.");
}

TEST_F(CaptureFile, AVanishedFolderIsASentence) {
  fs::create_directory(folder_ + "/sub");
  path_ = folder_ + "/sub/run.nsc";
  CaptureWriter out = writer();
  fs::remove(folder_ + "/sub");
  const Status failed = out.append(sample::log_of_zero());
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().message.find("does not exist"), std::string::npos);
}

TEST_F(CaptureFile, AFullDiskIsASentence) {
  ASSERT_EQ(::access("/dev/full", W_OK), 0);
  Result<CaptureWriter> out = CaptureWriter::create("/dev/full", true);
  ASSERT_TRUE(out.ok());
  const Status failed = out.value().append(sample::log_of_zero());
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, ErrorCode::kIo);
  EXPECT_EQ(
      failed.error().message,
      "/dev/full could not be written: No space left on device. Use -o to name another file.");
}

TEST_F(CaptureFile, ADiskThatFillsUpKeepsWhatWasWritten) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // A limit on the file's size stands in for the end of the disk.
    ::signal(SIGXFSZ, SIG_IGN);
    Result<CaptureWriter> out = CaptureWriter::create(path_, false);
    const bool first = out.ok() && out.value().append(sample::log_of_zero()).ok();
    const rlimit limit{fs::file_size(path_) + 100, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const bool second = out.value().append(sample::log_of_zero()).ok();
    ::_exit(first && !second ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const Result<Capture> capture = read_capture(path_);
  ASSERT_TRUE(capture.ok()) << capture.error().message;
  EXPECT_EQ(capture.value().findings.size(), 1u);
}

TEST_F(CaptureFile, SurvivesKillMinusNine) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Result<CaptureWriter> out = CaptureWriter::create(path_, false);
    (void)out.value().append(sample::program());
    (void)out.value().append(sample::log_of_zero());
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  const Result<Capture> capture = read_capture(path_);
  ASSERT_TRUE(capture.ok()) << capture.error().message;
  EXPECT_FALSE(capture.value().complete);
  EXPECT_EQ(capture.value().findings.size(), 1u);
}

TEST_F(CaptureFile, EveryTruncationReadsAPrefix) {
  const std::string bytes = sample_bytes();
  std::size_t most = 0;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const Result<Capture> capture =
        parse_capture(std::string_view(bytes).substr(0, length), "x.nsc");
    if (length < kFileHeaderBytes) {
      ASSERT_FALSE(capture.ok()) << length;
      continue;
    }
    ASSERT_TRUE(capture.ok()) << length << ": " << capture.error().message;
    EXPECT_FALSE(capture.value().complete) << length;
    EXPECT_GE(capture.value().findings.size(), most) << length;
    most = std::max(most, capture.value().findings.size());
  }
  EXPECT_EQ(most, 2u);
}

TEST_F(CaptureFile, AFlippedBitInAnyByteIsNoticed) {
  const std::string bytes = sample_bytes();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << i % 8));
    const Result<Capture> capture = parse_capture(flipped, "x.nsc");
    ASSERT_FALSE(capture.ok()) << "byte " << i;
    ASSERT_FALSE(capture.error().message.empty());
  }
}

TEST_F(CaptureFile, UnknownRecordsAreSkipped) {
  std::string bytes = sample_bytes();
  bytes.insert(kFileHeaderBytes, frame_of(static_cast<RecordType>(99), "not even CBOR"));
  const Result<Capture> capture = parse_capture(bytes, "x.nsc");
  ASSERT_TRUE(capture.ok());
  EXPECT_EQ(capture.value().findings.size(), 2u);
}

TEST_F(CaptureFile, DamageInsideARecordSaysWhere) {
  const std::string bytes = file_header() + frame_of(RecordType::kFinding, "\x80");
  const Result<Capture> capture = parse_capture(bytes, "x.nsc");
  ASSERT_FALSE(capture.ok());
  EXPECT_EQ(capture.error().message,
            "x.nsc is damaged: in the record at byte 16, the record is not a map. "
            "`nanscope dump` shows what lies before it.");
}

TEST_F(CaptureFile, TooManyFindingsAreRefused) {
  std::string bytes = file_header();
  const std::string frame = frame_of(RecordType::kFinding, "\xA1\x66origin\xA1\x62op\x61x");
  for (std::size_t i = 0; i <= kMostFindings; ++i) bytes += frame;
  EXPECT_FALSE(parse_capture(bytes, "x.nsc").ok());
}

TEST_F(CaptureFile, WhatIsNoFileIsASentence) {
  EXPECT_EQ(read_capture(folder_ + "/none.nsc").error().message,
            folder_ + "/none.nsc does not exist.");
  EXPECT_EQ(read_capture(folder_).error().message,
            folder_ + " is a folder, not a capture. Name a .nsc file inside it.");
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(read_capture(path_).error().message, path_ + " is not a regular file.");
  const std::string huge = folder_ + "/huge.nsc";
  put(huge, "");
  fs::resize_file(huge, 5ull << 30);
  EXPECT_EQ(read_capture(huge).error().message,
            huge + " is not a nanscope capture: it has 5120 MB, and a capture at most 64.");
}

}  // namespace
}  // namespace nanscope
