#include "capture/encode.h"

#include <gtest/gtest.h>

#include <cmath>

#include "capture/decode.h"
#include "capture/format.h"
#include "capture/sample.h"

namespace nanscope {
namespace {

// Every field away from its default, so that a forgotten one shows.
Finding full_finding() {
  Finding finding = sample::log_of_zero();
  finding.level = Level::kWarning;
  Origin& origin = finding.origin;
  origin.kind = OriginKind::kUnwatched;
  origin.phase = Phase::kBackward;
  origin.node = "LogBackward0";
  origin.library_site = sample::site("torch/x.py", 3, "return f(x)", "f(x)", "g");
  origin.library_site->remark = "no columns";
  origin.worker = 2;
  origin.output = 1;
  origin.value = {sample::kNan, -1.5, true};
  origin.nan = 5;
  origin.pos_inf = 6;
  finding.harm->kind = HarmKind::kHost;
  finding.harm->text = "ValueError: NaN";
  finding.chain_truncated = true;
  finding.inputs[0].remark = "before the op overwrote it";
  finding.inputs[0].at_index = {sample::real(sample::kNan), {1, sample::kInf, true}};
  finding.inputs[0].statistics.subnormals = 9;
  finding.inputs[0].statistics.min.reset();
  finding.inputs[0].statistics.max = -sample::kInf;
  finding.inputs[0].feeding = Statistics{8, 1, 2, 3, 4, 5, 6, -1.0, 1.0, 0.5};
  finding.scalars = {{"eps", "1e-08"}, {"dim", "-1"}};
  finding.count = 7;
  finding.exact = sample::real(1e300);
  finding.inputs_left_out = 3;
  finding.inputs[0].saved = true;
  finding.handed_by = HandedOver{41, 2, true};
  origin.collective = Collective{};
  origin.collective->message = Message{std::nullopt, 3, 7};
  return finding;
}

TEST(Encode, AFindingComesBackWhole) {
  const Finding original = full_finding();
  const Result<Finding> decoded = decode_finding(encode(original));
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  const Finding& finding = decoded.value();
  EXPECT_EQ(encode(finding), encode(original));

  EXPECT_EQ(finding.level, Level::kWarning);
  const Origin& origin = finding.origin;
  EXPECT_EQ(origin.kind, OriginKind::kUnwatched);
  EXPECT_EQ(origin.phase, Phase::kBackward);
  EXPECT_EQ(origin.op, "aten::log");
  EXPECT_EQ(origin.collective->message, (Message{std::nullopt, 3, 7}));
  EXPECT_EQ(finding.handed_by->pid, 41);
  EXPECT_EQ(finding.handed_by->worker, 2);
  EXPECT_TRUE(finding.handed_by->exact);
  EXPECT_EQ(origin.node, "LogBackward0");
  EXPECT_EQ(origin.site.file, "train.py");
  EXPECT_EQ(origin.site.line, 41);
  EXPECT_EQ(origin.site.col, 17);
  EXPECT_EQ(origin.site.end_col, 29);
  EXPECT_EQ(origin.site.source, original.origin.site.source);
  EXPECT_EQ(origin.library_site->remark, "no columns");
  EXPECT_EQ(origin.stack.size(), 3u);
  EXPECT_EQ(origin.stack[2].function, "<module>");
  EXPECT_EQ(origin.module, "net.head");
  EXPECT_EQ(origin.rank, 0);
  EXPECT_EQ(origin.worker, 2);
  EXPECT_EQ(origin.output, 1);
  EXPECT_EQ(origin.indices, original.origin.indices);
  EXPECT_TRUE(std::isnan(origin.value.real));
  EXPECT_EQ(origin.value.imag, -1.5);
  EXPECT_TRUE(origin.value.is_complex);
  EXPECT_EQ(origin.nan, 5);
  EXPECT_EQ(origin.pos_inf, 6);
  EXPECT_EQ(origin.neg_inf, 3);
  EXPECT_EQ(origin.numel, 64);
  EXPECT_TRUE(origin.per_element);
  EXPECT_EQ(finding.harm->kind, HarmKind::kHost);
  EXPECT_EQ(finding.harm->name, "net.head.weight");
  EXPECT_EQ(finding.harm->text, "ValueError: NaN");
  EXPECT_EQ(finding.chain.size(), 4u);
  EXPECT_EQ(finding.chain[3].role, Role::kHarm);
  EXPECT_TRUE(finding.chain_truncated);
  const TensorFacts& p = finding.inputs[0];
  EXPECT_EQ(p.name, "p");
  EXPECT_TRUE(p.saved);
  EXPECT_EQ(p.argument, "self");
  EXPECT_EQ(p.shape, (std::vector<std::int64_t>{8, 8}));
  EXPECT_FALSE(p.statistics.min.has_value());
  EXPECT_EQ(p.statistics.max, -sample::kInf);
  EXPECT_EQ(p.statistics.subnormals, 9);
  EXPECT_EQ(p.feeding->zeros, 4);
  EXPECT_EQ(p.at_index[1].imag, sample::kInf);
  EXPECT_EQ(finding.scalars[0].value, "1e-08");
  EXPECT_EQ(finding.count, 7);
  EXPECT_EQ(finding.exact->real, 1e300);
  EXPECT_EQ(finding.inputs_left_out, 3);
}

TEST(Encode, ProgramAndCoverageComeBackWhole) {
  const Result<Program> program = decode_program(encode(sample::program()));
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program.value().argv, sample::program().argv);
  EXPECT_EQ(program.value().torch, "2.13.0");
  EXPECT_EQ(program.value().exit_status, 3);
  EXPECT_EQ(program.value().ended, Ended::kStopped);

  Coverage coverage = sample::coverage();
  coverage.not_watched = {{"compiled region", "torch.compile", 3}};
  const Result<Coverage> decoded = decode_coverage(encode(coverage));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded.value().bytes_scanned, 1'234'567'890);
  EXPECT_EQ(decoded.value().not_watched[0].count, 3);
}

TEST(Encode, SecretsStayOut) {
  Program program = sample::program();
  program.argv = {"train.py", "--token", "abcdef"};
  EXPECT_EQ(encode(program).find("abcdef"), std::string::npos);
}

TEST(Encode, TheSizeIsBoundedAndTheCutIsTold) {
  Finding finding = sample::log_of_zero();
  finding.chain.assign(140, finding.chain[1]);
  for (Link& link : finding.chain) link.site.source.assign(20, std::string(4200, 'x'));
  finding.chain.front().op = "first";
  finding.chain.back().op = "last";
  finding.inputs.assign(300, finding.inputs[0]);
  const std::string payload = encode(finding);
  EXPECT_LE(payload.size(), kMostRecordBytes);
  const Result<Finding> decoded = decode_finding(payload);
  ASSERT_TRUE(decoded.ok());
  EXPECT_TRUE(decoded.value().chain_truncated);
  EXPECT_EQ(decoded.value().chain.front().op, "first");
  EXPECT_EQ(decoded.value().chain.back().op, "last");
  EXPECT_EQ(
      static_cast<std::size_t>(decoded.value().inputs_left_out) + decoded.value().inputs.size(),
      300u);
}

TEST(Encode, BrokenTextBecomesValid) {
  Finding finding = sample::log_of_zero();
  finding.origin.site.file = "tr\xFF.py";
  EXPECT_EQ(decode_finding(encode(finding)).value().origin.site.file, "tr\xEF\xBF\xBD.py");
}

struct Wrong {
  std::string payload;
  ErrorCode code;
  const char* message;
};

TEST(Decode, NamesTheFieldThatIsWrong) {
  using namespace std::string_literals;
  const Wrong wrongs[] = {
      {"\x80"s, ErrorCode::kDamaged, "the record is not a map"},
      {"\xC1"s, ErrorCode::kDamaged, "the record is not well-formed CBOR"},
      {"\xA0"s, ErrorCode::kDamaged, "origin.op is missing"},
      {"\xA1\x65level\x01"s, ErrorCode::kDamaged, "level is not a word"},
      {"\xA1\x65level\x63xyz"s, ErrorCode::kNewer, "level holds a word this version does not know"},
      {"\xA1\x66origin\xA1\x62op\x01"s, ErrorCode::kDamaged, "origin.op is not text"},
      {"\xA1\x65"
       "count\xFB\x3F\xF0\0\0\0\0\0\0"s,
       ErrorCode::kDamaged, "count is not an integer"},
      {"\xA1\x65"
       "count\x1B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s,
       ErrorCode::kDamaged, "count is out of range"},
      {"\xA1\x66origin\xA1\x64site\xA1\x64line\x1B\0\0\0\x01\0\0\0\0"s, ErrorCode::kDamaged,
       "origin.site.line is out of range"},
      {"\xA1\x65"
       "chain\x61x"s,
       ErrorCode::kDamaged, "chain is not a list"},
      {"\xA1\x65"
       "exact\x83\x01\x02\x03"s,
       ErrorCode::kDamaged, "exact is not a pair"},
  };
  for (const Wrong& wrong : wrongs) {
    const Result<Finding> finding = decode_finding(wrong.payload);
    ASSERT_FALSE(finding.ok()) << wrong.message;
    EXPECT_EQ(finding.error().message, wrong.message);
    EXPECT_EQ(finding.error().code, wrong.code) << wrong.message;
  }
}

TEST(Decode, UnknownKeysAreIgnored) {
  using namespace std::string_literals;
  const auto finding = decode_finding("\xA2\x63new\xA0\x66origin\xA1\x62op\x61x"s);
  ASSERT_TRUE(finding.ok());
  EXPECT_EQ(finding.value().origin.op, "x");
}

TEST(Decode, ReadableIsStrictJson) {
  using namespace std::string_literals;
  EXPECT_EQ(readable("\xA1\x61"
                     "a\x83\xF9\x7E\0\xF9\xFC\0\x01"s)
                .value(),
            R"({"a":["nan","-inf",1]})");
}

}  // namespace
}  // namespace nanscope
