#include "scan/magnitude.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace nanscope {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Magnitudes of(const std::vector<double>& numbers, std::int64_t stride = 1) {
  const auto size = static_cast<std::int64_t>(numbers.size());
  return magnitudes_of({numbers.data(), DType::kFloat64, {&size, 1}, {&stride, 1}}, {});
}

TEST(Magnitudes, NormAndEndsAreOfTheFiniteElements) {
  const Magnitudes found = of({3, -4, 0, kNan, kInfinity});
  EXPECT_DOUBLE_EQ(found.norm, 5);
  EXPECT_EQ(found.largest, 4);
  EXPECT_EQ(found.smallest, 3);
}

TEST(Magnitudes, CountsWhatIsExtremeAndWhatIsNearZero) {
  const Magnitudes found = of({100, 101, -1e6, 1e-6, 9e-7, 0, kInfinity});
  EXPECT_EQ(found.extreme, 2);
  EXPECT_EQ(found.near_zero, 2);
}

TEST(Magnitudes, NormOfTheEndsOfTheRangeIsExact) {
  EXPECT_DOUBLE_EQ(of({3e200, 4e200}).norm, 5e200);
  EXPECT_DOUBLE_EQ(of({3e-200, 4e-200}).norm, 5e-200);
}

TEST(Magnitudes, NothingFiniteHasNoEnds) {
  const Magnitudes found = of({kNan, kInfinity});
  EXPECT_EQ(found.norm, 0);
  EXPECT_FALSE(found.largest || found.smallest);
}

TEST(Magnitudes, AnExpandedElementCountsAsOftenAsItIsSeen) {
  const double number = 200;
  const std::int64_t size = 4;
  const std::int64_t stride = 0;
  const Magnitudes found = magnitudes_of({&number, DType::kFloat64, {&size, 1}, {&stride, 1}}, {});
  EXPECT_DOUBLE_EQ(found.norm, 400);
  EXPECT_EQ(found.extreme, 4);
}

TEST(Magnitudes, AComplexElementCountsByItsAbsoluteValue) {
  const float numbers[] = {3, 4, 0, 0};
  const std::int64_t size = 2;
  const std::int64_t stride = 1;
  const Magnitudes found =
      magnitudes_of({numbers, DType::kComplex64, {&size, 1}, {&stride, 1}}, {});
  EXPECT_EQ(found.largest, 5);
  EXPECT_EQ(found.near_zero, 1);
}

}  // namespace
}  // namespace nanscope
