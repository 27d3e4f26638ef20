#include "base/dtype.h"

#include <gtest/gtest.h>

#include <limits>

namespace nanscope {
namespace {

constexpr DType kAll[] = {DType::kFloat64,   DType::kFloat32,   DType::kFloat16,
                          DType::kBFloat16,  DType::kComplex64, DType::kComplex128,
                          DType::kComplex32, DType::kFloat8,    DType::kInteger};

TEST(DTypeTest, NamesAreThoseOfTorch) {
  EXPECT_EQ(name_of(DType::kFloat64), "float64");
  EXPECT_EQ(name_of(DType::kFloat32), "float32");
  EXPECT_EQ(name_of(DType::kFloat16), "float16");
  EXPECT_EQ(name_of(DType::kBFloat16), "bfloat16");
  EXPECT_EQ(name_of(DType::kComplex64), "complex64");
  EXPECT_EQ(name_of(DType::kComplex128), "complex128");
  EXPECT_EQ(name_of(DType::kComplex32), "complex32");
  EXPECT_EQ(name_of(DType::kFloat8), "float8");
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
  EXPECT_EQ(width_of(DType::kFloat8), 1u);
  EXPECT_EQ(width_of(DType::kInteger), 0u);
}

TEST(DTypeTest, EveryScannableTypeHasAWidthAndALimit) {
  for (const DType dtype : kAll) {
    const bool watched = dtype != DType::kFloat8 && dtype != DType::kInteger;
    EXPECT_EQ(is_scannable(dtype), watched) << name_of(dtype);
    EXPECT_EQ(largest_of(dtype) > 0, watched) << name_of(dtype);
    EXPECT_EQ(is_complex(dtype), name_of(dtype).starts_with("complex")) << name_of(dtype);
  }
}

TEST(DTypeTest, LargestIsOfOneComponent) {
  EXPECT_EQ(largest_of(DType::kFloat16), 65504.0);
  EXPECT_EQ(largest_of(DType::kComplex32), 65504.0);
  EXPECT_EQ(largest_of(DType::kBFloat16), 3.3895313892515355e38);
  EXPECT_EQ(largest_of(DType::kComplex64), std::numeric_limits<float>::max());
  EXPECT_EQ(largest_of(DType::kFloat64), std::numeric_limits<double>::max());
}

}  // namespace
}  // namespace nanscope
