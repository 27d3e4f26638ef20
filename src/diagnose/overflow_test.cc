// Too large for exp, for float16, for float32; and what only looks like it.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diagnose/test_finding.h"

namespace nanscope {
namespace {

using namespace test_finding;

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

TEST(Overflow, OfFloat8) {
  const Finding cast =
      made(kNan, "aten::_to_copy", {with("scores", "self", 300)}, "float8_e4m3fnuz");
  EXPECT_EQ(verdict(cast), "eight_bit_overflow certain");
  EXPECT_NE(diagnose(cast).sentence.find("is 300 at [3], and float8_e4m3fnuz ends at 240."),
            std::string::npos);
  EXPECT_EQ(verdict(made(kInf, "aten::_to_copy", {with("g", "self", -1e5)}, "float8_e5m2")),
            "eight_bit_overflow certain");
  EXPECT_EQ(verdict(made(kNan, "aten::_to_copy", {with("s", "self", 3e38)}, "float8_e8m0fnu")),
            "eight_bit_overflow certain");
}

TEST(Overflow, AnInfThatTheTypeDoesNotHave) {
  const Finding cast =
      made(kNan, "aten::_to_copy", {with("mask", "self", -kInf)}, "float8_e5m2fnuz");
  EXPECT_EQ(verdict(cast), "eight_bit_overflow certain");
  EXPECT_EQ(diagnose(cast).sentence,
            "`mask` is -inf at [3], and float8_e5m2fnuz has no inf: it becomes nan.");
  EXPECT_NE(diagnose(made(kNan, "aten::_to_copy", {with("m", "self", kInf)}, "float16")).id,
            "eight_bit_overflow");
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
            "zero_times_inf certain");
  // The negative base of a pow is not an overflow either.
  EXPECT_EQ(verdict(made(kNan, "aten::pow", {with("a", "self", -1), with("b", "exponent", 0.5)})),
            "pow_domain certain");
}

TEST(Overflow, OfTheSquaresThatANormTakes) {
  // The running variance was written by the op itself.
  const Finding norm = made(kInf, "aten::native_batch_norm",
                            {blind(with("x", "input", 3e19)), with("v", "running_var", kInf)});
  EXPECT_EQ(verdict(norm), "float_overflow certain");
  EXPECT_EQ(verdict(untried(norm)), "float_overflow likely");
  EXPECT_NE(diagnose(norm).sentence.find("9e+38 is beyond 3.40282e+38"), std::string::npos);
  EXPECT_EQ(verdict(made(kInf, "aten::native_batch_norm", {blind(with("x", "input", 1e3))})),
            "unknown likely");
}

TEST(Overflow, NotOfWhatIsSmall) {
  TensorFacts nothing = blind(with("x", "self", 1));
  nothing.statistics = Statistics{};
  const Finding mean = made(kNan, "aten::mean", {nothing});
  EXPECT_EQ(verdict(mean), "empty_reduction certain");
  EXPECT_EQ(why_not(mean, "float_overflow"), "(not among the others)");
}

TEST(Overflow, NumbersAreOperandsToo) {
  Finding finding = made(kInf, "aten::_to_copy", {}, "float16");
  finding.scalars = {{"self", "70000"}};
  EXPECT_EQ(verdict(finding), "half_overflow certain");
}

TEST(Overflow, APoleIsNoOverflow) {
  EXPECT_EQ(verdict(made(kInf, "aten::pow", {with("x", "self", 0), with("p", "exponent", -0.5)},
                         "float16")),
            "division_by_zero certain");
}

}  // namespace
}  // namespace nanscope
