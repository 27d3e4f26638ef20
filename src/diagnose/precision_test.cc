#include <gtest/gtest.h>

#include "diagnose/test_finding.h"

namespace nanscope {
namespace {

using namespace test_finding;

Finding guarded(const std::string& code, double at, const std::string& dtype = "float16") {
  Finding finding = made(kInf, "aten::div", {with("x", "self", 1), with("n", "other", at)}, dtype);
  finding.origin.site.code = code;
  return finding;
}

TEST(Precision, TheGuardVanishes) {
  const Finding finding = guarded("x / (n + 1e-12)", 0);
  EXPECT_EQ(verdict(finding), "eps_underflow certain");
  EXPECT_EQ(
      diagnose(finding).sentence,
      "`n` is 0 at [3]: the guard 1e-12 is rounded to 0 in float16, where the smallest number "
      "above 0 is 5.96046e-08.");
}

TEST(Precision, AGuardWhoseValueIsNotSeen) {
  EXPECT_EQ(verdict(guarded("x / torch.maximum(n, eps)", 0)), "eps_underflow likely");
  EXPECT_EQ(why_not(guarded("x / torch.maximum(n, eps)", 0), "division_by_zero").substr(0, 30),
            "true, and only how it showed: ");
}

TEST(Precision, InnocentSuspect) {
  // The guard is large enough for the type, or the type for the guard.
  EXPECT_EQ(verdict(guarded("x / (n + 1e-6)", 0)), "division_by_zero certain");
  EXPECT_EQ(verdict(guarded("x / (n + 1e-12)", 0, "float32")), "division_by_zero certain");
}

TEST(Precision, LookAlike) {
  // No guard in sight.
  EXPECT_EQ(verdict(guarded("x / n", 0)), "division_by_zero certain");
  // The divisor is not 0: the quotient left the range.
  Finding finding = guarded("x / (n + 1e-12)", 1e-5);
  finding.inputs[0].at_index = {real(100)};
  EXPECT_EQ(verdict(finding), "half_overflow certain");
}

}  // namespace
}  // namespace nanscope
