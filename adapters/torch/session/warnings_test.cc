#include "adapters/torch/session/warnings.h"

#include <gtest/gtest.h>

namespace nanscope::torch_adapter {
namespace {

Finding about(const std::string& name, std::int64_t line, double value = 1e-8) {
  Finding finding;
  finding.level = Level::kWarning;
  finding.origin.site.file = "train.py";
  finding.origin.site.line = line;
  finding.forewarning = Forewarning{.id = "eps_underflow", .name = name, .value = value};
  return finding;
}

TEST(Warnings, ALineThatSeveralCallWarnsOnce) {
  Warnings warnings;
  EXPECT_TRUE(warnings.is_news("eps_underflow", 1, {}));
  EXPECT_FALSE(warnings.is_news("eps_underflow", 1, {}));
  EXPECT_TRUE(warnings.is_news("eps_underflow", 2, {}));  // called from elsewhere
  warnings.keep(about("eps", 19));
  warnings.keep(about("eps", 19));
  EXPECT_EQ(warnings.all().size(), 1u);
  warnings.keep(about("eps", 20));
  warnings.keep(about("delta", 19));
  warnings.keep(about("eps", 19, 1e-9));
  EXPECT_EQ(warnings.all().size(), 4u);
  warnings.begin_anew();
  EXPECT_TRUE(warnings.all().empty());
  EXPECT_FALSE(warnings.is_news("eps_underflow", 2, {}));
}

TEST(Warnings, ThereAreNoMoreThanCanBeRead) {
  Warnings warnings;
  for (int line = 1; line < 100; ++line) warnings.keep(about("eps", line));
  EXPECT_EQ(warnings.all().size(), 20u);
}

// Weights have no place in the text of the program.
TEST(Warnings, WeightsAreToldApart) {
  Warnings warnings;
  for (int i = 0; i < 2; ++i) {
    Finding finding;
    finding.forewarning = Forewarning{.id = "extreme_weights", .name = "a weight", .value = 200};
    warnings.keep(std::move(finding));
  }
  EXPECT_EQ(warnings.all().size(), 2u);
}

}  // namespace
}  // namespace nanscope::torch_adapter
