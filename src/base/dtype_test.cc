#include "base/dtype.h"

#include <gtest/gtest.h>

#include <iterator>
#include <limits>

namespace nanscope {
namespace {

TEST(DTypeTest, NamesAreThoseOfTorch) {
  EXPECT_EQ(name_of(DType::kFloat64), "float64");
  EXPECT_EQ(name_of(DType::kFloat32), "float32");
  EXPECT_EQ(name_of(DType::kFloat16), "float16");
  EXPECT_EQ(name_of(DType::kBFloat16), "bfloat16");
  EXPECT_EQ(name_of(DType::kComplex64), "complex64");
  EXPECT_EQ(name_of(DType::kComplex128), "complex128");
  EXPECT_EQ(name_of(DType::kComplex32), "complex32");
  EXPECT_EQ(name_of(DType::kFloat8E5M2), "float8_e5m2");
  EXPECT_EQ(name_of(DType::kFloat8E4M3FN), "float8_e4m3fn");
  EXPECT_EQ(name_of(DType::kFloat8E4M3FNUZ), "float8_e4m3fnuz");
  EXPECT_EQ(name_of(DType::kFloat8E5M2FNUZ), "float8_e5m2fnuz");
  EXPECT_EQ(name_of(DType::kFloat8E8M0FNU), "float8_e8m0fnu");
  EXPECT_EQ(name_of(DType::kInteger), "integer");
}

TEST(DTypeTest, WidthCountsBothPartsOfAComplex) {
  EXPECT_EQ(width_of(DType::kFloat64), 8u);
  EXPECT_EQ(width_of(DType::kFloat32), 4u);
  EXPECT_EQ(width_of(DType::kFloat16), 2u);
  EXPECT_EQ(width_of(DType::kBFloat16), 2u);
  EXPECT_EQ(width_of(DType::kComplex64), 8u);
  EXPECT_EQ(width_of(DType::kComplex128), 16u);
  EXPECT_EQ(width_of(DType::kComplex32), 4u);
  EXPECT_EQ(width_of(DType::kFloat8E4M3FN), 1u);
  EXPECT_EQ(width_of(DType::kInteger), 0u);
}

TEST(DTypeTest, EveryScannableTypeHasAWidthALimitAndAName) {
  EXPECT_EQ(std::size(kScannable), static_cast<std::size_t>(DType::kInteger));
  for (const DType dtype : kScannable) {
    EXPECT_TRUE(is_scannable(dtype)) << name_of(dtype);
    EXPECT_GT(largest_of(dtype), 0) << name_of(dtype);
    EXPECT_GT(width_of(dtype), 0u) << name_of(dtype);
    EXPECT_EQ(scannable_named(name_of(dtype)), dtype) << name_of(dtype);
    EXPECT_EQ(is_complex(dtype), name_of(dtype).starts_with("complex")) << name_of(dtype);
    EXPECT_EQ(is_float8(dtype), name_of(dtype).starts_with("float8")) << name_of(dtype);
  }
}

TEST(DTypeTest, OfTheFloat8KindsOnlyTheOneOfIeeeHasInfinity) {
  EXPECT_TRUE(has_infinity(DType::kFloat32));
  EXPECT_TRUE(has_infinity(DType::kFloat8E5M2));
  EXPECT_FALSE(has_infinity(DType::kFloat8E4M3FN));
  EXPECT_FALSE(has_infinity(DType::kFloat8E8M0FNU));
  EXPECT_FALSE(has_infinity(DType::kInteger));
}

TEST(DTypeTest, IntegersAreNotScannable) {
  EXPECT_FALSE(is_scannable(DType::kInteger));
  EXPECT_FALSE(is_float8(DType::kInteger));
  EXPECT_EQ(largest_of(DType::kInteger), 0);
  EXPECT_EQ(scannable_named("integer"), std::nullopt);
}

TEST(DTypeTest, LargestIsOfOneComponent) {
  EXPECT_EQ(largest_of(DType::kFloat16), 65504.0);
  EXPECT_EQ(largest_of(DType::kComplex32), 65504.0);
  EXPECT_EQ(largest_of(DType::kBFloat16), 3.3895313892515355e38);
  EXPECT_EQ(largest_of(DType::kComplex64), std::numeric_limits<float>::max());
  EXPECT_EQ(largest_of(DType::kFloat64), std::numeric_limits<double>::max());
  EXPECT_EQ(largest_of(DType::kFloat8E5M2), 57344.0);
  EXPECT_EQ(largest_of(DType::kFloat8E4M3FN), 448.0);
  EXPECT_EQ(largest_of(DType::kFloat8E4M3FNUZ), 240.0);
  EXPECT_EQ(largest_of(DType::kFloat8E5M2FNUZ), 57344.0);
  EXPECT_EQ(largest_of(DType::kFloat8E8M0FNU), 1.7014118346046923e38);
}

}  // namespace
}  // namespace nanscope
