#include "adapters/torch/ops/own_numbers.h"

#include <gtest/gtest.h>

namespace nanscope::torch_adapter {
namespace {

TEST(OwnNumbers, OfANegativeDeterminant) {
  EXPECT_EQ(writer_of_own_number("aten::scalar_tensor", "torch.logdet(a)"), "aten::logdet");
  EXPECT_EQ(writer_of_own_number("aten::scalar_tensor", "a.logdet()"), "aten::logdet");
}

TEST(OwnNumbers, NotOfAnotherOpOrFunction) {
  EXPECT_EQ(writer_of_own_number("aten::full", "torch.logdet(a)"), "");
  EXPECT_EQ(writer_of_own_number("aten::scalar_tensor", "torch.where(a > 0, b, c)"), "");
  EXPECT_EQ(writer_of_own_number("aten::scalar_tensor", "torch.where(m, nan, torch.logdet(a))"),
            "");
}

}  // namespace
}  // namespace nanscope::torch_adapter
