#include "scan/census.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "scan/census_kernels.h"
#include "scan/statistics.h"
#include "scan/test_patterns.h"

namespace nanscope {
namespace {

// Elements of every kind a type has; every `rarity`th component is not finite (0: none).
std::vector<std::byte> elements_of(DType dtype, std::size_t count, unsigned rarity,
                                   std::mt19937& random) {
  const Patterns& patterns = patterns_of(dtype);
  std::vector<std::byte> bytes(count * width_of(dtype));
  for (std::size_t at = 0; at < bytes.size(); at += patterns.width) {
    const bool bad = rarity != 0 && random() % rarity == 0;
    const auto& from = !bad ? patterns.finite : random() % 2 == 0 ? patterns.nan : patterns.inf;
    const std::uint64_t bits = from[random() % from.size()];
    std::memcpy(bytes.data() + at, &bits, patterns.width);
  }
  return bytes;
}

Statistics reference(const std::byte* data, std::size_t count, DType dtype) {
  const auto size = static_cast<std::int64_t>(count);
  const std::int64_t stride = 1;
  return statistics_of(
      {.data = data, .dtype = dtype, .sizes = {&size, 1}, .strides = {&stride, 1}});
}

void expect_same(const Census& census, const Statistics& all) {
  EXPECT_EQ(census.elements, all.numel);
  EXPECT_EQ(census.nan, all.nan);
  EXPECT_EQ(census.pos_inf, all.pos_inf);
  EXPECT_EQ(census.neg_inf, all.neg_inf);
  EXPECT_EQ(census.zeros, all.zeros);
  EXPECT_EQ(census.subnormals, all.subnormals);
  EXPECT_EQ(census.has_finite(), all.min.has_value());
  if (!all.min || !census.has_finite()) return;
  EXPECT_EQ(census.least, *all.min);
  EXPECT_EQ(census.most, *all.max);
}

class CensusOfType : public testing::TestWithParam<DType> {};

TEST_P(CensusOfType, IsWhatStatisticsSay) {
  std::mt19937 random(1);
  for (const unsigned rarity : {0U, 1U, 2U, 1000U}) {
    for (const std::size_t count : {0, 1, 2, 3, 7, 31, 33, 1000, 20000, 40001}) {
      const std::vector<std::byte> bytes = elements_of(GetParam(), count, rarity, random);
      SCOPED_TRACE(testing::Message() << count << " elements, rarity " << rarity);
      expect_same(census_of(bytes.data(), count, GetParam()),
                  reference(bytes.data(), count, GetParam()));
    }
  }
}

TEST_P(CensusOfType, NeedsNoAlignment) {
  std::mt19937 random(2);
  const std::vector<std::byte> bytes = elements_of(GetParam(), 500, 0, random);
  for (std::size_t shift = 1; shift < 9; ++shift) {
    std::vector<std::byte> shifted(bytes.size() + shift);
    std::memcpy(shifted.data() + shift, bytes.data(), bytes.size());
    expect_same(census_of(shifted.data() + shift, 500, GetParam()),
                reference(bytes.data(), 500, GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(EveryType, CensusOfType, testing::ValuesIn(kScannable),
                         [](const auto& info) { return std::string(name_of(info.param)); });

// A bit pattern of 16 bits each, all of them: the kernels agree on everything.
TEST(CensusKernels, AgreeOnEveryPattern) {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  for (const std::uint64_t least_normal : {0x400U, 0x80U}) {
    for (const CensusKernels* kernels : runnable_census_kernels()) {
      if (kernels == nullptr) continue;
      FiniteTotals totals;
      kernels->of_2_bytes(reinterpret_cast<const std::byte*>(all.data()), all.size(), least_normal,
                          totals);
      EXPECT_EQ(totals.zeros, 2) << kernels->name;
      EXPECT_EQ(totals.below_normal, static_cast<std::int64_t>(2 * least_normal)) << kernels->name;
      EXPECT_EQ(totals.least, INT16_MIN) << kernels->name;
      EXPECT_EQ(totals.most, INT16_MAX) << kernels->name;
    }
  }
}

TEST(Census, AddsAndRepeats) {
  const float numbers[] = {1, -3, 0, 1e-40F};
  Census census = census_of(numbers, 4, DType::kFloat32);
  census.add(census_of(numbers, 2, DType::kFloat32));
  census.repeat(2);
  EXPECT_EQ(census.elements, 12);
  EXPECT_EQ(census.zeros, 2);
  EXPECT_EQ(census.subnormals, 2);
  EXPECT_EQ(census.least, -3);
  EXPECT_EQ(census.largest_magnitude(), 3);
  EXPECT_FALSE(Census{}.has_finite());
  EXPECT_EQ(Census{}.largest_magnitude(), 0);
}

}  // namespace
}  // namespace nanscope
