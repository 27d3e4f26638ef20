#include <gtest/gtest.h>

#include "diagnose/test_finding.h"

namespace nanscope {
namespace {

using namespace test_finding;

Finding scaled(const std::vector<double>& scales) {
  Finding finding = in_backward(
      "MulBackward0", made(kInf, "aten::mul", {with("g", "self", 1e30), with("s", "other", 1e30)}));
  for (const double scale : scales) {
    StepRecord record;
    record.loss_scale = scale;
    finding.history.push_back(record);
  }
  return finding;
}

TEST(LossScale, Collapses) {
  EXPECT_EQ(verdict(scaled({4, 2, 1, 0.5})), "loss_scale_runaway likely");
  EXPECT_EQ(diagnose(scaled({4, 2, 1, 0.5})).evidence[0],
            "the loss scale step by step: 4, 2, 1, 0.5");
}

TEST(LossScale, AFewHalvingsAreInnocent) {
  EXPECT_EQ(verdict(scaled({65536, 32768, 16384})), "float_overflow certain");
}

TEST(LossScale, GrowsWithoutEnd) {
  Finding finding = made(kInf, "aten::mul", {with("loss_scale", "self", 3e38)});
  finding.scalars = {{"other", "2"}};
  finding.origin.numel = 1;
  EXPECT_EQ(verdict(finding), "loss_scale_runaway likely");
  // Another number that overflows is just that.
  finding.inputs[0].name = "total";
  EXPECT_EQ(verdict(finding), "float_overflow certain");
}

}  // namespace
}  // namespace nanscope
