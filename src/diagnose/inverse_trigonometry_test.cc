#include <gtest/gtest.h>

#include "diagnose/test_finding.h"

namespace nanscope {
namespace {

using namespace test_finding;

TEST(InverseTrigonometry, BeyondTheEdge) {
  const Finding finding = made(kNan, "aten::acos", {with("cosang", "self", 1.0000001192)});
  EXPECT_EQ(verdict(finding), "inverse_trig_domain certain");
  EXPECT_EQ(diagnose(finding).sentence,
            "`cosang` is 1.00000012 at [3], and acos takes -1 to 1 only.");
  EXPECT_EQ(verdict(made(kInf, "aten::atanh", {with("x", "self", 1)})),
            "inverse_trig_domain certain");
  EXPECT_EQ(verdict(made(kNan, "aten::acosh", {with("x", "self", 0.5)})),
            "inverse_trig_domain certain");
}

TEST(InverseTrigonometry, SlopeAtTheEdge) {
  Finding finding = in_backward("AcosBackward0", made(kInf, "aten::rsqrt", {with("", "self", 0)}));
  finding.inputs.push_back(saved("q.clamp(-1, 1)", "self", 1));
  EXPECT_EQ(verdict(finding), "inverse_trig_domain certain");
}

TEST(InverseTrigonometry, InnocentSuspect) {
  // Inside the domain; the nan went in.
  EXPECT_EQ(why_not(made(kNan, "aten::acos", {with("x", "self", 0.5)}), "inverse_trig_domain"),
            "0.5 lies in the domain of acos, -1 to 1");
  // A healthy argument in backward.
  Finding finding = in_backward("AsinBackward0", made(kInf, "aten::mul", {with("", "self", 1e30)}));
  finding.inputs.push_back(saved("x", "self", 0.25));
  EXPECT_EQ(why_not(finding, "inverse_trig_domain"), "`x` is 0.25 at [3], not at the edge");
}

TEST(InverseTrigonometry, LookAlike) {
  // rsqrt of 0 elsewhere is a division.
  EXPECT_EQ(verdict(made(kInf, "aten::rsqrt", {with("x", "self", 0)})), "division_by_zero certain");
}

}  // namespace
}  // namespace nanscope
