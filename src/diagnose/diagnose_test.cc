// Each rule three times: where it is right, where the obvious suspect is innocent, and
// on a look-alike.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diagnose/phrase.h"
#include "diagnose/test_finding.h"

namespace nanscope {
namespace {

using namespace test_finding;

TEST(Division, ByZero) {
  const Finding finding =
      made(kNan, "aten::div.Tensor", {with("total", "self", 0), with("count", "other", 0)});
  EXPECT_EQ(verdict(finding), "division_by_zero certain");
  EXPECT_EQ(diagnose(finding).sentence,
            "`count` is 0 at [3] (1 of 4 elements is zero), and 0 / 0 is nan.");
  EXPECT_EQ(verdict(made(kInf, "aten::div_", {with("a", "", 1), with("b", "", 0)})),
            "division_by_zero certain");
  EXPECT_EQ(verdict(made(kInf, "aten::reciprocal", {with("x", "self", 0)})),
            "division_by_zero certain");
  EXPECT_EQ(verdict(made(kInf, "aten::rsqrt", {with("x", "self", 0)})), "division_by_zero certain");
  EXPECT_EQ(verdict(made(kNan, "aten::_foreach_div_", {with("a", "", 0), with("b", "", 0)})),
            "division_by_zero certain");
  EXPECT_EQ(
      verdict(in_backward("DivBackward0",
                          made(kInf, "aten::div", {with("", "self", 1), with("b", "other", 0)}))),
      "division_by_zero certain");
}

TEST(Division, ByANumber) {
  Finding finding = made(kInf, "aten::div", {with("x", "self", 1)});
  finding.scalars = {{"other", "0.0"}};
  EXPECT_EQ(verdict(finding), "division_by_zero certain");
  EXPECT_EQ(diagnose(finding).sentence, "The divisor is the number 0, and 1 / 0 is inf.");
}

TEST(Division, IsOnlyLikelyWithoutTheValue) {
  EXPECT_EQ(verdict(made(kNan, "aten::div", {with("a", "", 0), blind(with("b", "", 0))})),
            "division_by_zero likely");
  TensorFacts zeros = blind(with("b", "", 0));
  zeros.statistics.zeros = 4;
  zeros.statistics.min = zeros.statistics.max = 0.0;
  EXPECT_EQ(verdict(made(kNan, "aten::div", {with("a", "", 0), zeros})),
            "division_by_zero certain");
}

TEST(Division, InnocentSuspect) {
  // The quotient overflows; the divisor is small, not zero.
  const Finding overflow =
      made(kInf, "aten::div", {with("a", "self", 1e30), with("b", "other", 1e-20)});
  EXPECT_EQ(verdict(overflow), "float_overflow certain");
  EXPECT_EQ(why_not(overflow, "division_by_zero"), "`b` is 1e-20 at [3], not 0");
  // inf / inf with a zero elsewhere.
  TensorFacts divisor = with("b", "other", kInf);
  divisor.statistics.zeros = 2;
  EXPECT_EQ(verdict(made(kNan, "aten::div", {with("a", "self", kInf), divisor})),
            "zero_times_inf certain");
}

TEST(Optimizer, DividesByZero) {
  Finding finding = in_optimizer(
      made(kNan, "aten::addcdiv_",
           {with("param", "self", 1), with("exp_avg", "tensor1", 0), with("denom", "tensor2", 0)}));
  EXPECT_EQ(verdict(finding), "optimizer_division_by_zero certain");
  // The same op in forward is a plain division.
  finding.origin.phase = Phase::kForward;
  EXPECT_EQ(verdict(finding), "division_by_zero certain");
  // A healthy divisor in the optimizer.
  EXPECT_EQ(
      why_not(in_optimizer(made(kInf, "aten::div", {with("a", "", 1e38), with("b", "", 1e-8)})),
              "optimizer_division_by_zero"),
      "`b` is 1e-08 at [3], not 0");
}

TEST(Optimizer, Fused) {
  Finding finding = in_optimizer(
      made(kNan, "aten::_fused_adam_",
           {with("p", "self[0]", 1), with("g", "grads[0]", 0), with("v", "exp_avg_sqs[0]", 0)}));
  finding.scalars = {{"eps", "0"}};
  EXPECT_EQ(verdict(finding), "optimizer_division_by_zero certain");
  finding.scalars = {{"eps", "1e-08"}};
  EXPECT_EQ(why_not(finding, "optimizer_division_by_zero"), "eps is 1e-08, not 0");
}

TEST(Logarithm, OfZeroAndOfNegative) {
  EXPECT_EQ(verdict(sample::log_of_zero()), "log_of_zero certain");
  EXPECT_EQ(diagnose(sample::log_of_zero()).sentence,
            "`p` is 0 at [2, 5] (3 of 64 elements are zero), and log(0) is -inf.");
  const Finding negative = made(kNan, "aten::log", {with("x", "self", -0.5)});
  EXPECT_EQ(verdict(negative), "log_of_negative certain");
  EXPECT_EQ(diagnose(negative).sentence,
            "`x` is -0.5 at [3] (1 of 4 elements is negative), and the logarithm of a negative "
            "number is nan.");
  EXPECT_EQ(why_not(negative, "log_of_zero"), "`x` is -0.5 at [3], not 0");
  EXPECT_EQ(verdict(made(-kInf, "aten::log1p", {with("x", "self", -1)})), "log_of_zero certain");
  EXPECT_EQ(verdict(made(kNan, "aten::log1p", {with("x", "self", -2)})), "log_of_negative certain");
  EXPECT_EQ(verdict(made(-kInf, "aten::xlogy", {with("a", "self", 1), with("x", "other", 0)})),
            "log_of_zero certain");
  EXPECT_EQ(verdict(made(kInf, "aten::logit", {with("p", "self", 1)})), "log_of_zero certain");
  EXPECT_EQ(verdict(made(kNan, "aten::logit", {with("p", "self", 1.5)})),
            "log_of_negative certain");
}

TEST(Logarithm, TheKindOfTheAnswerSettlesIt) {
  TensorFacts both = blind(with("x", "self", 0));
  both.statistics.negatives = 1;
  EXPECT_EQ(verdict(made(-kInf, "aten::log", {both})), "log_of_zero likely");
  EXPECT_EQ(verdict(made(kNan, "aten::log", {both})), "log_of_negative likely");
}

TEST(Logarithm, InBackward) {
  const Finding finding = in_backward(
      "LogBackward0", made(kInf, "aten::div", {with("", "self", 1), with("", "other", 0)}));
  EXPECT_EQ(verdict(finding), "log_of_zero certain");
  EXPECT_EQ(diagnose(finding).sentence,
            "The argument of `f(x)` is 0 at [3] (1 of 4 elements is zero), where the slope of the "
            "logarithm, 1 / x, is infinite.");
  // Another node's name that merely begins like it.
  EXPECT_EQ(
      verdict(in_backward("LogsumexpBackward0",
                          made(kNan, "aten::sub", {with("", "", -kInf), with("", "", -kInf)}))),
      "inf_minus_inf certain");
}

TEST(SquareRoot, OfNegative) {
  EXPECT_EQ(verdict(made(kNan, "aten::sqrt", {with("var", "self", -1e-7)})),
            "sqrt_of_negative certain");
  EXPECT_EQ(verdict(made(kNan, "aten::rsqrt", {with("var", "self", -1e-7)})),
            "sqrt_of_negative certain");
  EXPECT_EQ(verdict(in_optimizer(made(kNan, "aten::sqrt_", {with("avg", "self", -1e-7)}))),
            "sqrt_of_negative certain");
  // rsqrt(0) is a division by zero.
  EXPECT_EQ(why_not(made(kInf, "aten::rsqrt", {with("var", "self", 0)}), "sqrt_of_negative"),
            "`var` is 0 at [3], not negative");
}

TEST(SquareRoot, SlopeAtZero) {
  EXPECT_EQ(verdict(sample::sqrt_gradient()), "sqrt_gradient_at_zero certain");
  // The same division in another node is just a division.
  Finding other = sample::sqrt_gradient();
  other.origin.node = "DivBackward0";
  EXPECT_EQ(verdict(other), "division_by_zero certain");
  // The root is not zero: the gradient itself was too large.
  Finding large = sample::sqrt_gradient();
  large.inputs[0].at_index = {real(1e38)};
  large.inputs[1].at_index = {real(1e-8)};
  EXPECT_EQ(verdict(large), "float_overflow certain");
}

TEST(Names, TheSchemasAreNotTheUsers) {
  Finding finding = made(kInf, "aten::div", {with("self", "self", 1), with("other", "other", 0)});
  EXPECT_EQ(diagnose(finding).sentence,
            "The divisor is 0 at [3] (1 of 4 elements is zero), and 1 / 0 is inf.");
  // What the node saved lends its name, and is no operand of the failing op.
  finding = in_backward("LogBackward0", finding);
  TensorFacts saved = with("p", "self", 0);
  saved.saved = true;
  saved.statistics.pos_inf = 1;
  finding.inputs.push_back(saved);
  EXPECT_EQ(
      why_not(left_out(finding), "log_of_zero"),
      "true, and only how it showed: `p` is 0 at [3] (1 of 4 elements is zero), where the slope of "
      "the logarithm, 1 / x, is infinite.");
}

TEST(Unknown, SaysWhatWasLookedAt) {
  const Cause cause = diagnose(made(kNan, "aten::fancy", {with("x", "", 1)}));
  EXPECT_EQ(cause.id, "unknown");
  EXPECT_EQ(cause.sentence, "No rule of this version explains why aten::fancy gave nan at [3].");
  EXPECT_EQ(cause.evidence,
            std::vector<std::string>{"`x` is finite everywhere: 4 elements from -1 to 2"});
  EXPECT_EQ(diagnose(made(kNan, "aten::fancy", {})).evidence,
            std::vector<std::string>{"no inputs were recorded for this operation"});
}

TEST(Phrase, NumbersAsAPersonReadsThem) {
  EXPECT_EQ(number(1.0 / 3), "0.333333");
  EXPECT_EQ(number(-0.0), "0");
  EXPECT_EQ(number(1e-8), "1e-08");
  EXPECT_EQ(number(Value{kNan, 1, true}), "nan+1j");
  EXPECT_EQ(number(Value{1, -kInf, true}), "1-infj");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(-1234), "-1,234");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(plural(1, "step"), "1 step");
  EXPECT_EQ(plural(2000, "step"), "2,000 steps");
  EXPECT_EQ(byte_count(0), "0 B");
  EXPECT_EQ(byte_count(999), "999 B");
  EXPECT_EQ(byte_count(1234), "1.2 kB");
  EXPECT_EQ(byte_count(52'000'000), "52 MB");
  EXPECT_EQ(in_backticks("a  +\n   b"), "`a + b`");
  std::string wide;  // sixty characters, of three bytes each
  for (int i = 0; i < 60; ++i) wide += "\u640d";
  EXPECT_EQ(in_backticks(wide), "`" + wide + "`");
  EXPECT_EQ(in_backticks(wide + "x"), "`" + wide.substr(0, 57 * 3) + "...`");
  EXPECT_EQ(in_backticks(std::string(61, 'x')), "`" + std::string(57, 'x') + "...`");
}

}  // namespace
}  // namespace nanscope
