#include "scan/finite.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "scan/test_tensor.h"

namespace nanscope {
namespace {

constexpr float kFloatNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kFloatInf = std::numeric_limits<float>::infinity();

// Asked before this program's own constructors have run, as another library's may.
struct EarlyQuestion {
  EarlyQuestion() noexcept {
    const float good[3] = {1, 2, 3};
    const float bad[3] = {1, 2, kFloatInf};
    answered = all_finite(good, sizeof good, DType::kFloat32) &&
               !all_finite(bad, sizeof bad, DType::kFloat32);
  }
  bool answered = false;
};
[[gnu::init_priority(101)]] EarlyQuestion early_question;

TEST(FiniteTest, AnswersBeforeConstructorsHaveRun) { EXPECT_TRUE(early_question.answered); }

TEST(FiniteTest, DenseBuffer) {
  std::vector<float> x(1000, 1.0f);
  EXPECT_TRUE(all_finite(x.data(), 4000, DType::kFloat32));
  x[999] = kFloatNan;
  EXPECT_FALSE(all_finite(x.data(), 4000, DType::kFloat32));
  EXPECT_TRUE(all_finite(x.data(), 3996, DType::kFloat32));
  EXPECT_TRUE(all_finite(nullptr, 0, DType::kFloat32));
}

TEST(FiniteTest, TheTypeDecidesWhatABitPatternMeans) {
  const std::uint8_t byte[] = {0x7f};  // NaN in e4m3fn, 240 in e4m3fnuz
  EXPECT_FALSE(all_finite(byte, sizeof byte, DType::kFloat8E4M3FN));
  EXPECT_TRUE(all_finite(byte, sizeof byte, DType::kFloat8E4M3FNUZ));
  const std::uint16_t x[] = {0x7c00};  // Inf in float16, 2^121 in bfloat16
  EXPECT_FALSE(all_finite(x, sizeof x, DType::kFloat16));
  EXPECT_TRUE(all_finite(x, sizeof x, DType::kBFloat16));
}

void expect_agreement(const TestTensor& tensor) {
  const TensorView view = tensor.view();
  ASSERT_TRUE(all_finite(view));
  ASSERT_EQ(kinds_of(view), Kinds{});
  const Patterns& patterns = patterns_of(view.dtype);
  tensor.for_each([&](std::byte* element, const TestTensor::Sizes&) {
    const std::size_t part = is_complex(view.dtype) ? patterns.width : 0;
    const std::uint64_t before = get(element, patterns.width);
    put(element, patterns.nan[0], patterns.width);
    EXPECT_FALSE(all_finite(view));
    EXPECT_EQ(kinds_of(view), (Kinds{.nan = true}));
    tensor.set(element, before);
    put(element + part, patterns.inf[1], patterns.width);
    EXPECT_FALSE(all_finite(view));
    EXPECT_EQ(kinds_of(view), (Kinds{.nan = !patterns.has_inf, .inf = patterns.has_inf}));
    tensor.set(element, before);
  });
}

TEST(FiniteTest, EveryElementOfAnyViewIsSeenAndNothingElse) {
  std::mt19937 random(7);
  for (int i = 0; i < 1200; ++i) {
    const TestTensor tensor = TestTensor::random(kScannable[i % std::size(kScannable)], random);
    expect_agreement(tensor);
    if (testing::Test::HasFailure()) {
      std::string shape;
      for (std::size_t dim = 0; dim < tensor.sizes().size(); ++dim) {
        shape += std::to_string(tensor.sizes()[dim]) + "@" +
                 std::to_string(tensor.view().strides[dim]) + " ";
      }
      FAIL() << "view " << i << ", " << name_of(tensor.view().dtype) << ": " << shape;
    }
  }
}

TEST(FiniteTest, CommonViews) {
  for (const DType dtype : kScannable) {
    expect_agreement(TestTensor(dtype, {}, {}));                        // 0-dim
    expect_agreement(TestTensor(dtype, {7, 5}, {1, 7}));                // transposed
    expect_agreement(TestTensor(dtype, {2, 3, 4, 5}, {60, 1, 15, 3}));  // channels last
    expect_agreement(TestTensor(dtype, {9, 4}, {11, 1}));               // columns of a matrix
    expect_agreement(TestTensor(dtype, {9, 4}, {22, 2}));               // every second column
    expect_agreement(TestTensor(dtype, {3, 100, 2}, {0, 2, 1}));        // expanded in front
    expect_agreement(TestTensor(dtype, {6, 50}, {1, 0}));               // expanded at the end
    expect_agreement(TestTensor(dtype, {40}, {-1}));                    // flipped
    expect_agreement(TestTensor(dtype, {8, 3}, {1, 1}));                // sliding windows
  }
}

TEST(FiniteTest, NothingIsFinite) {
  for (const DType dtype : kScannable) {
    const std::int64_t sizes[] = {3, 0, 2};
    const std::int64_t strides[] = {5, 7, 3};
    EXPECT_TRUE(all_finite(TensorView{nullptr, dtype, sizes, strides}));
    EXPECT_EQ(kinds_of(TensorView{nullptr, dtype, sizes, strides}), Kinds{});
  }
}

TEST(FiniteTest, SixtyFourDimensions) {
  TestTensor::Sizes sizes(64, 1);
  TestTensor::Sizes strides(64, 12345);
  std::int64_t stride = 2;
  for (std::size_t dim = 5; dim < 64; dim += 6, stride *= 2) {
    sizes[dim] = 2;
    strides[dim] = stride;
  }
  sizes[63] = 3;
  strides[63] = 0;
  expect_agreement(TestTensor(DType::kFloat32, sizes, strides));
}

TEST(FiniteTest, ManyDimensionsThatDoNotMerge) {
  TestTensor::Sizes sizes, strides;
  for (std::int64_t stride = 1; stride < (1 << 21); stride *= 3) {
    sizes.push_back(2);
    strides.push_back(stride);
  }
  const TestTensor tensor(DType::kBFloat16, sizes, strides);
  EXPECT_TRUE(all_finite(tensor.view()));
  tensor.set(tensor.at(TestTensor::Sizes(sizes.size(), 1)), patterns_of(DType::kBFloat16).inf[0]);
  EXPECT_EQ(kinds_of(tensor.view()), (Kinds{.inf = true}));
}

TEST(FiniteTest, BothKinds) {
  std::vector<float> x(50, 0.0f);
  x[3] = kFloatInf;
  x[40] = kFloatNan;
  const std::int64_t sizes[] = {50};
  const std::int64_t strides[] = {1};
  EXPECT_EQ(kinds_of({x.data(), DType::kFloat32, sizes, strides}),
            (Kinds{.nan = true, .inf = true}));
  const std::int64_t half[] = {25};
  const std::int64_t twice[] = {2};
  EXPECT_EQ(kinds_of({x.data(), DType::kFloat32, half, twice}), (Kinds{.nan = true}));
}

TEST(FiniteTest, BothKindsInDifferentRows) {
  for (const std::int64_t inner_stride : {1, 2}) {
    const TestTensor tensor(DType::kFloat32, {5, 3}, {17, inner_stride});
    tensor.set(tensor.at({1, 2}), patterns_of(DType::kFloat32).inf[0]);
    tensor.set(tensor.at({4, 0}), patterns_of(DType::kFloat32).nan[0]);
    EXPECT_EQ(kinds_of(tensor.view()), (Kinds{.nan = true, .inf = true}));
  }
}

TEST(FiniteTest, TypesThatCannotBeScannedCountAsFinite) {
  const std::vector<std::byte> ones(64, std::byte{0xff});
  const std::int64_t sizes[] = {8};
  const std::int64_t strides[] = {2};
  EXPECT_TRUE(all_finite(TensorView{ones.data(), DType::kInteger, sizes, strides}));
  EXPECT_FALSE(kinds_of(TensorView{ones.data(), DType::kInteger, sizes, strides}).any());
}

}  // namespace
}  // namespace nanscope
