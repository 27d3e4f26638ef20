#include "capture/format.h"

#include <gtest/gtest.h>

#include <string>

#include "capture/cbor_check.h"
#include "capture/reader.h"
#include "capture/secrets.h"
#include "capture/utf8.h"

namespace nanscope {
namespace {

TEST(Format, ChecksumIsTheCommonCrc32) { EXPECT_EQ(crc32("123456789"), 0xCBF43926u); }

TEST(Format, FramesComeBackInOrder) {
  const std::string bytes =
      file_header() + frame_of(RecordType::kProgram, "one") + frame_of(RecordType::kEnd, "");
  Result<FrameWalk> walk = FrameWalk::begin(bytes, "x.nsc");
  ASSERT_TRUE(walk.ok());
  RawFrame frame;
  ASSERT_EQ(walk.value().next(frame).value(), FrameWalk::Step::kFrame);
  EXPECT_EQ(frame.type, RecordType::kProgram);
  EXPECT_EQ(frame.payload, "one");
  EXPECT_EQ(frame.offset, kFileHeaderBytes);
  ASSERT_EQ(walk.value().next(frame).value(), FrameWalk::Step::kFrame);
  EXPECT_EQ(frame.payload, "");
  EXPECT_EQ(walk.value().next(frame).value(), FrameWalk::Step::kEnd);
}

TEST(Format, ATailOfZerosIsACutOff) {
  const std::string bytes = file_header() + std::string(100, '\0');
  Result<FrameWalk> walk = FrameWalk::begin(bytes, "x.nsc");
  RawFrame frame;
  EXPECT_EQ(walk.value().next(frame).value(), FrameWalk::Step::kCutOff);
}

struct Refusal {
  std::string bytes;
  ErrorCode code;
  const char* message;
};

TEST(Format, RefusesWithASentence) {
  const Refusal refusals[] = {
      {"", ErrorCode::kDamaged, "x.nsc is empty: the program ended before anything was recorded."},
      {"hello, world, this is text", ErrorCode::kForeign, "x.nsc is not a nanscope capture."},
      {"#", ErrorCode::kForeign, "x.nsc is not a nanscope capture."},
      {file_header().substr(0, 9), ErrorCode::kDamaged,
       "x.nsc was cut off inside its header: nothing was recorded."},
      {file_header(kFormatVersion + 1), ErrorCode::kNewer,
       "x.nsc was written by a newer nanscope (format 2; this one reads up to 1). "
       "Update nanscope to read it."},
      {file_header(0), ErrorCode::kDamaged,
       "x.nsc is damaged: it claims format 0, which never existed."},
  };
  for (const Refusal& refusal : refusals) {
    const Result<Capture> capture = parse_capture(refusal.bytes, "x.nsc");
    ASSERT_FALSE(capture.ok()) << refusal.message;
    EXPECT_EQ(capture.error().code, refusal.code) << refusal.message;
    EXPECT_EQ(capture.error().message, refusal.message);
  }
}

TEST(CborCheck, AcceptsWhatWeWrite) {
  using namespace std::string_literals;
  for (const std::string& good : {"\xA0"s, "\x80"s, "\xF6"s, "\x01"s, "\xA1\x61\x61\x01"s,
                                  "\x82\x01\xFB\x7F\xF8\0\0\0\0\0\0"s, "\xF9\x7E\0"s})
    EXPECT_TRUE(is_safe_cbor(good));
}

TEST(CborCheck, RefusesWhatCouldHurt) {
  using namespace std::string_literals;
  const std::string bad[] = {
      ""s,                                      // nothing
      "\xA0\xA0"s,                              // two items
      "\x9B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s,  // an array of 2^64 - 1
      "\xBB\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s,  // a map whose count overflows when doubled
      "\x7B\x00\x00\x00\x00\xFF\xFF\xFF\xFF"s,  // a text longer than the payload
      "\x9F\xFF"s,                              // indefinite length
      "\xC1\x01"s,                              // a tag
      "\xF7"s,                                  // undefined
      "\x1C"s,                                  // reserved
      "\x18"s,                                  // argument missing
      std::string(1'000'000, '\x81'),           // a million arrays inside each other
      "\x9A\x00\x10\x00\x00"s + std::string(1 << 20, '\x01'),  // a million items
  };
  for (const std::string& payload : bad) EXPECT_FALSE(is_safe_cbor(payload));
}

TEST(Utf8, BrokenBytesAreReplaced) {
  EXPECT_EQ(valid_utf8("gr\xC3\xBC\xC3\x9F"), "gr\xC3\xBC\xC3\x9F");
  EXPECT_EQ(valid_utf8("a\xFF"
                       "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(valid_utf8("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // overlong
  EXPECT_EQ(valid_utf8("\xED\xA0\x80").size(), 9u);               // a surrogate
  EXPECT_EQ(valid_utf8("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // cut off
}

TEST(Utf8, CutsBetweenCharacters) {
  EXPECT_EQ(cut_utf8("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(cut_utf8("abcdefghi", 8), "abcde...");
  EXPECT_EQ(cut_utf8("abcd\xC3\xBC\xC3\xBC\xC3\xBC", 8), "abcd...");
}

TEST(Secrets, LoseTheSecretAndKeepTheShape) {
  const std::vector<std::string> argv{"train.py",
                                      "--api-key=abc",
                                      "--password",
                                      "hunter2",
                                      "--max-tokens",
                                      "512",
                                      "HF_TOKEN=abc",
                                      "--key-dim",
                                      "64",
                                      "hf_abcdefghijklmnop",
                                      "--tokenizer",
                                      "gpt2",
                                      "https://me:pw@host/x",
                                      "--token",
                                      "--epochs=3",
                                      "--wandb.api_key=x"};
  const std::vector<std::string> masked{"train.py",
                                        "--api-key=***",
                                        "--password",
                                        "***",
                                        "--max-tokens",
                                        "512",
                                        "HF_TOKEN=***",
                                        "--key-dim",
                                        "64",
                                        "***",
                                        "--tokenizer",
                                        "gpt2",
                                        "https://me:***@host/x",
                                        "--token",
                                        "--epochs=3",
                                        "--wandb.api_key=***"};
  EXPECT_EQ(mask_secrets(argv), masked);
  EXPECT_EQ(mask_secrets(masked), masked);
}

}  // namespace
}  // namespace nanscope
