#include <gtest/gtest.h>

#include "diagnose/test_finding.h"

namespace nanscope {
namespace {

using namespace test_finding;

TEST(SpecialFunction, AtThePoleOrBeyondTheEdge) {
  const Finding finding = made(kInf, "aten::erfinv", {with("2 * u - 1", "self", 1)});
  EXPECT_EQ(verdict(finding), "special_function_domain certain");
  EXPECT_EQ(diagnose(finding).sentence,
            "`2 * u - 1` is 1 at [3], and erfinv is finite between -1 and 1 only.");
  EXPECT_EQ(verdict(made(kNan, "aten::erfinv", {with("x", "self", 1.5)})),
            "special_function_domain certain");
  EXPECT_EQ(verdict(made(-kInf, "aten::special_ndtri", {with("u", "self", 0)})),
            "special_function_domain certain");
  EXPECT_EQ(verdict(made(kInf, "aten::lgamma", {with("alpha", "self", -2)})),
            "special_function_domain certain");
  EXPECT_EQ(verdict(made(-kInf, "aten::digamma_", {with("alpha", "self", 0)})),
            "special_function_domain certain");
}

TEST(SpecialFunction, OnlyAnExperimentMakesItCertain) {
  EXPECT_EQ(verdict(untried(made(kInf, "aten::lgamma", {with("alpha", "self", 0)}))),
            "special_function_domain likely");
}

TEST(SpecialFunction, InnocentSuspect) {
  EXPECT_EQ(
      why_not(made(kInf, "aten::lgamma", {with("x", "self", 1e37)}), "special_function_domain"),
      "`x` is 1e+37 at [3], where lgamma is finite");
}

TEST(SpecialFunction, ABesselFunctionOverflowsAsExpDoes) {
  EXPECT_EQ(verdict(made(kInf, "aten::i0", {with("kappa", "self", 90)})), "exp_overflow certain");
  EXPECT_EQ(verdict(made(kInf, "aten::special_i1", {with("kappa", "self", -90)})),
            "exp_overflow certain");
  EXPECT_NE(verdict(made(kInf, "aten::i0", {with("kappa", "self", 8)})), "exp_overflow certain");
}

}  // namespace
}  // namespace nanscope
