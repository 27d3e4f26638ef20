#include "report/block_histogram.h"

#include <gtest/gtest.h>

#include "capture/sample.h"
#include "report/module_rooms.h"
#include "report/stats.h"
#include "report/text.h"
#include "report/unicode.h"

namespace nanscope {
namespace {

TEST(BlockHistogram, OneElementAmongAMillionIsSeen) {
  const report::BlockHistogram drawn =
      report::block_histogram({-4, 1, {1'000'000, 0, 1}, 1'000'001}, 16);
  EXPECT_EQ(drawn.blocks, "█ ▁");
  EXPECT_EQ(drawn.range, "2^-4 to 2^-1");
}

TEST(BlockHistogram, BinsAreAddedUpWhereThereAreTooMany) {
  const ExponentHistogram histogram{0, 2, std::vector<std::int64_t>(64, 5), 320};
  const report::BlockHistogram drawn = report::block_histogram(histogram, 16);
  EXPECT_EQ(report::columns_of(drawn.blocks), 16u);
  EXPECT_EQ(drawn.range, "2^0 to 2^128");
}

TEST(BlockHistogram, OfNothingIsNothing) {
  EXPECT_EQ(report::block_histogram({}, 16).blocks, "");
  EXPECT_EQ(report::block_histogram({0, 1, {0, 0}, 2}, 16).blocks, "");
}

TEST(BlockHistogram, StandsBelowTheStatistics) {
  Finding finding = sample::log_of_zero();
  EXPECT_EQ(text_of(finding, {}).find("exponents"), std::string::npos);
  finding.inputs[0].exponents = ExponentHistogram{-12, 1, {1, 2, 4, 50}, 64};
  const std::string text = text_of(finding, {});
  EXPECT_NE(text.find("exponents"), std::string::npos);
  EXPECT_NE(text.find("2^-12 to 2^-8"), std::string::npos);
}

TEST(ModuleRooms, TheLeastIsFirstAndWhatIsNotFiniteHasNone) {
  Finding finding = sample::log_of_zero();
  finding.modules = {{"net", "Net", {}, "", {}, {}, ""},
                     {"net.a", "Linear", 1024, "float16", 1, 2, "float32"},
                     {"net.b", "Linear", 1, "float16", 1, sample::kNan, "float32"},
                     {"net.c", "Linear", {}, "", 0, {}, "float32"}};
  const std::vector<report::ModuleRoom> rooms = report::module_rooms({finding});
  ASSERT_EQ(rooms.size(), 2u);
  EXPECT_EQ(rooms[0].path, "net.b");
  EXPECT_STREQ(rooms[0].what, "gradient");
  EXPECT_EQ(rooms[0].bits, 0);
  EXPECT_EQ(rooms[1].path, "net.a");
  EXPECT_STREQ(rooms[1].what, "activation");
  EXPECT_NEAR(rooms[1].bits, 6, 0.01);  // 65504 / 1024
  EXPECT_EQ(report::least_of_each_type(rooms).size(), 2u);

  const std::string text = text_stats({diagnosed(sample::capture({finding}), "x.nsc")}, 100);
  EXPECT_NE(text.find("net.a"), std::string::npos);
  EXPECT_NE(text.find("least of each type"), std::string::npos);
}

}  // namespace
}  // namespace nanscope
