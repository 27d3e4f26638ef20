// Each rule three times: where it is right, where the obvious suspect is innocent, and
// on a look-alike.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "capture/sample.h"
#include "diagnose/cause.h"
#include "diagnose/phrase.h"

namespace nanscope {
namespace {

using sample::kInf;
using sample::kNan;
using sample::real;

// A tensor of 4 elements, with this value at the failing one.
TensorFacts with(std::string name, std::string argument, double at) {
  TensorFacts tensor = sample::tensor(std::move(name), {4}, -1, 2, 0.5);
  tensor.argument = std::move(argument);
  tensor.at_index = {real(at)};
  Statistics& s = tensor.statistics;
  s.zeros = at == 0;
  s.negatives = at < 0;
  s.nan = std::isnan(at);
  s.pos_inf = at == kInf;
  s.neg_inf = at == -kInf;
  if (std::isfinite(at)) {
    s.min = std::min(*s.min, at);
    s.max = std::max(*s.max, at);
  }
  return tensor;
}

// The same without values at the failing element.
TensorFacts blind(TensorFacts tensor) {
  tensor.at_index.clear();
  return tensor;
}

Finding made(double value, std::string op, std::vector<TensorFacts> inputs,
             std::string dtype = "float32") {
  Finding finding;
  finding.origin.op = std::move(op);
  finding.origin.site.code = "f(x)";
  finding.origin.indices = {{3}};
  finding.origin.value = real(value);
  finding.origin.nan = std::isnan(value);
  finding.origin.pos_inf = value == kInf;
  finding.origin.neg_inf = value == -kInf;
  finding.origin.numel = 4;
  finding.inputs = std::move(inputs);
  TensorFacts output = sample::tensor("", {4}, 0, 1, 0.5);
  output.dtype = dtype;
  for (TensorFacts& input : finding.inputs) input.dtype = dtype;
  finding.outputs = {output};
  return finding;
}

Finding in_backward(std::string node, Finding finding) {
  finding.origin.phase = Phase::kBackward;
  finding.origin.node = std::move(node);
  return finding;
}

Finding in_optimizer(Finding finding) {
  finding.origin.phase = Phase::kOptimizer;
  return finding;
}

// "id certainty"
std::string verdict(const Finding& finding) {
  const Cause cause = diagnose(finding);
  return cause.id + " " + std::string(word_of(cause.certainty));
}

std::string why_not(const Finding& finding, const std::string& id) {
  for (const Cause::Other& other : diagnose(finding).others)
    if (other.id == id) return other.why_not;
  return "(not among the others)";
}

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
  EXPECT_EQ(verdict(made(kNan, "aten::div", {with("a", "self", kInf), divisor})), "unknown likely");
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
      "LogBackward0", made(kNan, "aten::div", {with("", "self", 0), with("", "other", 0)}));
  EXPECT_EQ(verdict(finding), "log_of_zero certain");
  EXPECT_EQ(diagnose(finding).sentence,
            "The argument of `f(x)` is 0 at [3] (1 of 4 elements is zero), where the slope of the "
            "logarithm, 1 / x, is infinite.");
  // Another node's name that merely begins like it.
  EXPECT_EQ(
      verdict(in_backward("LogsumexpBackward0",
                          made(kNan, "aten::sub", {with("", "", -kInf), with("", "", -kInf)}))),
      "unknown likely");
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

TEST(Exponential, Overflow) {
  const Finding finding = made(kInf, "aten::exp", {with("logits", "self", 120.5)});
  EXPECT_EQ(verdict(finding), "exp_overflow certain");
  EXPECT_EQ(diagnose(finding).sentence,
            "`logits` is 120.5 at [3], and exp overflows float32 above 88.7228.");
  EXPECT_EQ(verdict(made(kInf, "aten::exp", {with("x", "self", 120.5)}, "float64")),
            "unknown likely");
  EXPECT_EQ(verdict(made(kInf, "aten::sinh", {with("x", "self", 100)})), "exp_overflow certain");
  EXPECT_EQ(verdict(made(-kInf, "aten::sinh", {with("x", "self", -100)})), "exp_overflow certain");
  EXPECT_EQ(verdict(made(kInf, "aten::exp", {blind(with("x", "self", 120.5))})),
            "exp_overflow likely");
}

TEST(Exponential, InHalfPrecisionTheTypeIsToBlame) {
  const Finding finding = made(kInf, "aten::exp", {with("x", "self", 12)}, "float16");
  EXPECT_EQ(verdict(finding), "half_overflow certain");
  EXPECT_EQ(why_not(finding, "exp_overflow"),
            "exp(12) is finite in float32; only float16 is too small for it");
  EXPECT_EQ(verdict(made(kInf, "aten::exp", {with("x", "self", 100)}, "float16")),
            "exp_overflow certain");
}

TEST(Overflow, OfHalf) {
  const Finding sum = made(kInf, "aten::add.Tensor",
                           {with("h", "self", 40000), with("r", "other", 40000)}, "float16");
  EXPECT_EQ(verdict(sum), "half_overflow certain");
  EXPECT_EQ(diagnose(sum).sentence, "`f(x)` is 80000 at [3], and float16 ends at 65504.");
  EXPECT_EQ(verdict(made(kInf, "aten::_to_copy", {with("n", "self", 70000)}, "float16")),
            "half_overflow certain");
  EXPECT_EQ(verdict(made(kInf, "aten::mm", {blind(with("a", "", 300)), blind(with("b", "", 300))},
                         "float16")),
            "half_overflow certain");
  Finding exact = made(kInf, "aten::gelu", {with("x", "self", 3)}, "float16");
  EXPECT_EQ(verdict(exact), "half_overflow likely");
  exact.exact = real(1e5);
  EXPECT_EQ(verdict(exact), "half_overflow certain");
  // float32 could not hold it either.
  EXPECT_EQ(verdict(made(kInf, "aten::square", {with("x", "self", 1e30)}, "float16")),
            "float_overflow certain");
  // An Inf came in: this op made nothing.
  EXPECT_EQ(
      verdict(made(kInf, "aten::add", {with("h", "self", kInf), with("r", "other", 1)}, "float16")),
      "unknown likely");
}

TEST(Overflow, OfFloat) {
  EXPECT_EQ(verdict(made(kInf, "aten::mul", {with("a", "self", 1e30), with("b", "other", 1e30)})),
            "float_overflow certain");
  EXPECT_EQ(verdict(made(kInf, "aten::mul", {with("a", "self", 1e300), with("b", "other", 1e300)},
                         "float64")),
            "float_overflow certain");
  EXPECT_EQ(
      verdict(made(kNan, "aten::mm", {blind(with("a", "", 1e30)), blind(with("b", "", 1e30))})),
      "float_overflow certain");
  EXPECT_EQ(
      verdict(made(kInf, "aten::mse_loss", {blind(with("a", "", 1e30)), blind(with("b", "", 1))})),
      "float_overflow certain");
  // 0 * inf is no overflow.
  EXPECT_EQ(verdict(made(kNan, "aten::mul", {with("a", "self", 0), with("b", "other", kInf)})),
            "unknown likely");
  // The negative base of a pow is not an overflow either.
  EXPECT_EQ(verdict(made(kNan, "aten::pow", {with("a", "self", -1), with("b", "exponent", 0.5)})),
            "unknown likely");
}

TEST(EmptyReduction, MeanOfNothing) {
  TensorFacts nothing = sample::tensor("losses", {0}, 0, 0, 0);
  nothing.statistics = {};
  const Finding finding = made(kNan, "aten::mean", {nothing});
  EXPECT_EQ(verdict(finding), "empty_reduction certain");
  EXPECT_EQ(diagnose(finding).sentence,
            "`losses` has no elements, and the mean of nothing is 0 / 0 = nan.");
  EXPECT_EQ(why_not(made(kNan, "aten::mean", {blind(with("x", "", kNan))}), "empty_reduction"),
            "`x` has 4 elements");
}

TEST(EmptyReduction, VarianceOfOne) {
  Finding finding = made(kNan, "aten::var.correction", {blind(with("x", "self", 1))});
  EXPECT_EQ(verdict(finding), "empty_reduction certain");
  EXPECT_EQ(diagnose(finding).sentence,
            "The var of `x` is taken over 1 element, and it divides by 1 - 1 = 0.");
  finding.scalars = {{"correction", "0"}};
  EXPECT_NE(diagnose(finding).id, "empty_reduction");
}

TEST(EmptyReduction, EveryTargetIgnored) {
  TensorFacts target = blind(with("labels", "target", 0));
  target.statistics.min = target.statistics.max = -100;
  Finding finding = made(kNan, "aten::nll_loss_forward", {blind(with("logp", "self", -1)), target});
  EXPECT_EQ(verdict(finding), "empty_reduction certain");
  finding.inputs[1].statistics.max = 3;
  EXPECT_EQ(verdict(finding), "empty_reduction likely");
  TensorFacts weight = sample::tensor("", {1}, 0, 0, 0);
  weight.statistics.zeros = 1;
  finding.outputs.push_back(weight);
  EXPECT_EQ(verdict(finding), "empty_reduction certain");
  // No target is ignored: something else.
  finding.outputs.pop_back();
  finding.inputs[1].statistics.min = 0;
  EXPECT_EQ(verdict(finding), "unknown likely");
}

TEST(Softmax, FullyMasked) {
  TensorFacts scores = with("scores", "self", -kInf);
  scores.statistics.neg_inf = 4;
  const Finding finding = made(kNan, "aten::_softmax", {scores});
  EXPECT_EQ(verdict(finding), "all_masked_softmax certain");
  // Look-alike: +inf in the row.
  scores.statistics.pos_inf = 1;
  EXPECT_EQ(why_not(made(kNan, "aten::_softmax", {scores}), "all_masked_softmax"),
            "`scores` holds inf, and inf - inf is nan");
  // The failing row is known, and fully masked, though another row holds inf.
  scores.feeding = Statistics{2, 0, 0, 2, 0, 2, 0, {}, {}, {}};
  EXPECT_EQ(verdict(made(kNan, "aten::_log_softmax", {scores})), "all_masked_softmax certain");
}

TEST(WhereItCameFrom, DecidesBeforeArithmetic) {
  EXPECT_EQ(verdict(sample::imported()), "bad_input_data certain");
  EXPECT_EQ(diagnose(sample::imported()).sentence,
            "`x` came in with 1 nan in 96 elements: no operation of this run computed it, it is in "
            "the data.");
  Finding finding = made(kNan, "aten::div", {with("a", "", 0), with("b", "", 0)});
  finding.origin.kind = OriginKind::kDeclared;
  EXPECT_EQ(verdict(finding), "nan_constant certain");
  finding.origin.kind = OriginKind::kUninitialised;
  EXPECT_EQ(verdict(finding), "uninitialised_memory certain");
  finding.origin.kind = OriginKind::kUnwatched;
  EXPECT_EQ(verdict(finding), "unwatched_kernel likely");
}

TEST(Unknown, SaysWhatWasLookedAt) {
  const Cause cause = diagnose(made(kNan, "mylib::fancy", {with("x", "", 1)}));
  EXPECT_EQ(cause.id, "unknown");
  EXPECT_EQ(cause.sentence, "No rule of this version explains why mylib::fancy gave nan at [3].");
  EXPECT_EQ(cause.evidence,
            std::vector<std::string>{"`x` is finite everywhere: 4 elements from -1 to 2"});
  EXPECT_EQ(diagnose(made(kNan, "mylib::fancy", {})).evidence,
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
  EXPECT_EQ(quoted("a  +\n   b"), "`a + b`");
}

}  // namespace
}  // namespace nanscope
