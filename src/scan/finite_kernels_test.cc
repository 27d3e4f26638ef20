// One suite for every kernel this machine can run, the scalar reference included.

#include "scan/finite_kernels.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "scan/test_patterns.h"

namespace nanscope {
namespace {

constexpr std::size_t kAlignments = 64;

struct Subject {
  const Kernels* kernels;
  DType dtype;
};

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const Kernels* kernels : runnable_kernels()) {
    if (kernels == nullptr) continue;
    for (const DType dtype : kScannable) {
      if (!is_complex(dtype)) all.push_back({kernels, dtype});
    }
  }
  return all;
}

// The ceiling of the least normal number: subnormals share it. One without subnormals has none.
int lowest_ceiling(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return -1021;
    case DType::kFloat16:
    case DType::kFloat8E5M2:
      return -13;
    case DType::kFloat8E4M3FN:
      return -5;
    case DType::kFloat8E8M0FNU:
      return kAllZero;
    default:
      return -125;
  }
}

class FiniteKernelsTest : public testing::TestWithParam<Subject> {
 protected:
  [[nodiscard]] int ceiling(const std::byte* at, std::size_t components) const {
    return (*GetParam().kernels)[GetParam().dtype].ceiling(at, components * width_);
  }
  [[nodiscard]] bool finite(const std::byte* at, std::size_t components) const {
    return ceiling(at, components) != kNoCeiling;
  }
  [[nodiscard]] int kinds(const std::byte* at, std::size_t components) const {
    return (*GetParam().kernels)[GetParam().dtype].kinds(at, components * width_);
  }
  void set(std::byte* at, std::size_t component, std::uint64_t pattern) const {
    put(at + component * width_, pattern, width_);
  }
  [[nodiscard]] std::uint64_t finite_pattern(std::size_t i) const {
    return patterns_.finite[i % patterns_.finite.size()];
  }
  // Finite patterns in turn.
  void fill(std::byte* at, std::size_t components) const {
    for (std::size_t i = 0; i < components; ++i) set(at, i, finite_pattern(i));
  }

  // Plants `pattern` and expects both kernels to see it; then takes it away.
  void expect_found(std::byte* at, std::size_t components, std::size_t position,
                    std::uint64_t pattern, int kind) const {
    const std::uint64_t before = get(at + position * width_, width_);
    set(at, position, pattern);
    ASSERT_FALSE(finite(at, components)) << describe(at, components, position, pattern);
    ASSERT_EQ(kinds(at, components), kind) << describe(at, components, position, pattern);
    set(at, position, before);
  }
  void expect_clean(const std::byte* at, std::size_t components) const {
    ASSERT_TRUE(finite(at, components)) << describe(at, components, 0, 0);
    ASSERT_EQ(kinds(at, components), 0) << describe(at, components, 0, 0);
  }
  // |x| < 2^ceiling and no lower one would do, down to the subnormals.
  void expect_least_ceiling(const std::byte* at, std::uint64_t pattern) const {
    const double size = std::fabs(number_of(pattern, GetParam().dtype));
    const int answer = ceiling(at, 1);
    if (is_fnuz(GetParam().dtype)) {
      ASSERT_EQ(answer, GetParam().dtype == DType::kFloat8E4M3FNUZ ? 8 : 16);
      return;
    }
    if (size == 0) {
      ASSERT_LE(answer, GetParam().dtype == DType::kFloat64 ? -1022 : kAllZero);
      return;
    }
    ASSERT_LT(size, std::ldexp(1.0, answer)) << describe(at, 1, 0, pattern);
    if (answer <= lowest_ceiling(GetParam().dtype)) return;
    ASSERT_GE(size, std::ldexp(1.0, answer - 1)) << describe(at, 1, 0, pattern);
  }
  static std::string describe(const std::byte* at, std::size_t components, std::size_t position,
                              std::uint64_t pattern) {
    return "length " + std::to_string(components) + ", position " + std::to_string(position) +
           ", pattern " + std::to_string(pattern) + ", address mod 64 " +
           std::to_string(reinterpret_cast<std::uintptr_t>(at) % kAlignments);
  }

  const Patterns& patterns_ = patterns_of(GetParam().dtype);
  const std::size_t width_ = patterns_.width;
  // All ways through a kernel: the longest begins above eight vectors of 64 bytes.
  const std::size_t max_components_ = std::max<std::size_t>(300, 600 / width_);
  const int inf_kind_ = patterns_.has_inf ? kInfBit : kNanBit;
};

// What lies around the buffer is NaN, so that a look too far is seen.
TEST_P(FiniteKernelsTest, EveryLengthAlignmentAndPosition) {
  std::vector<std::byte> memory(2 * kAlignments + (max_components_ + 2) * width_);
  std::byte* const base =
      memory.data() + kAlignments - reinterpret_cast<std::uintptr_t>(memory.data()) % kAlignments;
  std::size_t turn = 0;
  for (std::size_t alignment = 0; alignment < kAlignments; ++alignment) {
    std::fill(memory.begin(), memory.end(), filler_of(GetParam().dtype));
    std::byte* const at = base + alignment;
    expect_clean(at, 0);
    for (std::size_t length = 1; length <= max_components_; ++length) {
      set(at, length - 1, finite_pattern(length));
      expect_clean(at, length);
      const std::size_t stride = length / 40 + 1;  // the alignments together meet every position
      for (std::size_t position = alignment % stride; position < length;
           position += stride, ++turn) {
        const bool nan = turn % 2 == 0;
        const auto& bad = nan ? patterns_.nan : patterns_.inf;
        expect_found(at, length, position, bad[turn / 2 % bad.size()], nan ? kNanBit : inf_kind_);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(FiniteKernelsTest, EveryClassOfPatternInAShortAndALongBuffer) {
  for (const std::size_t length :
       {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{301}, std::size_t{601}}) {
    std::vector<std::byte> memory(length * width_);
    std::byte* const at = memory.data();
    for (std::size_t position = 0; position < length; ++position) {
      for (const std::uint64_t pattern : patterns_.nan)
        expect_found(at, length, position, pattern, kNanBit);
      for (const std::uint64_t pattern : patterns_.inf)
        expect_found(at, length, position, pattern, inf_kind_);
      for (const std::uint64_t pattern : patterns_.finite) {
        set(at, position, pattern);
        expect_clean(at, length);
      }
      if (HasFatalFailure()) return;
    }
  }
}

// All patterns of an 8- or 16-bit format; of a wider one, all upper halves with a few lower ones.
TEST_P(FiniteKernelsTest, EveryUpperHalf) {
  const std::size_t length = 147;
  std::vector<std::byte> memory(length * width_);
  std::byte* const at = memory.data();
  fill(at, length);
  const std::size_t upper_bits = std::min<std::size_t>(8 * width_, 16);
  const std::size_t shift = 8 * width_ - upper_bits;
  for (std::uint64_t upper = 0; upper >> upper_bits == 0; ++upper) {
    for (const std::uint64_t lower :
         {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << shift) - 1}) {
      if (lower >> shift != 0) continue;
      const std::uint64_t pattern = upper << shift | lower;
      const double number = number_of(pattern, GetParam().dtype);
      const int kind = std::isnan(number) ? kNanBit : std::isinf(number) ? kInfBit : 0;
      for (const std::size_t position : {std::size_t{0}, std::size_t{58}, length - 1}) {
        set(at, position, pattern);
        ASSERT_EQ(finite(at, length), kind == 0) << describe(at, length, position, pattern);
        ASSERT_EQ(kinds(at, length), kind) << describe(at, length, position, pattern);
        ASSERT_EQ(finite(at + position * width_, 1), kind == 0) << describe(at, 1, 0, pattern);
        if (kind == 0) expect_least_ceiling(at + position * width_, pattern);
        ASSERT_EQ(kinds(at + position * width_, 1), kind) << describe(at, 1, 0, pattern);
        set(at, position, finite_pattern(position));
      }
    }
  }
}

TEST_P(FiniteKernelsTest, BuffersOfManyBlocks) {
  const std::size_t block = (std::size_t{64} << 10) / width_;
  for (const std::size_t length :
       {block, block + 1, 2 * block - 1, 3 * block + 40, 5 * block + 129}) {
    std::vector<std::byte> memory(length * width_);
    std::byte* const at = memory.data();
    fill(at, length);
    expect_clean(at, length);
    for (std::size_t position = 0; position < length; position += 4099) {
      expect_found(at, length, position, patterns_.nan[1], kNanBit);
      expect_found(at, length, length - 1 - position, patterns_.inf[1], inf_kind_);
    }
    for (std::size_t edge = block; edge < length; edge += block) {
      for (const std::size_t position : {edge - 1, edge}) {
        expect_found(at, length, position, patterns_.nan[3], kNanBit);
      }
    }
    if (HasFatalFailure()) return;
  }
}

TEST_P(FiniteKernelsTest, BothKindsAreToldWhereverTheyLie) {
  const std::size_t length = (std::size_t{200} << 10) / width_;
  std::vector<std::byte> memory(length * width_);
  std::byte* const at = memory.data();
  fill(at, length);
  for (std::size_t first = 0; first < length; first += length / 17) {
    for (std::size_t second = 5; second < length; second += length / 13) {
      if (first == second) continue;
      set(at, first, patterns_.inf[0]);
      set(at, second, patterns_.nan[0]);
      ASSERT_EQ(kinds(at, length), kNanBit | inf_kind_) << first << " " << second;
      ASSERT_FALSE(finite(at, length));
      set(at, first, finite_pattern(first));
      set(at, second, finite_pattern(second));
    }
  }
  expect_clean(at, length);
}

// A page that may be read between two that may not.
TEST_P(FiniteKernelsTest, NeverReadsOutsideTheBuffer) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const mapping = mmap(nullptr, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapping, MAP_FAILED);
  std::byte* const start = static_cast<std::byte*>(mapping) + page;
  ASSERT_EQ(mprotect(start, page, PROT_READ | PROT_WRITE), 0);
  for (std::size_t length = 0; length <= max_components_; ++length) {
    expect_clean(start, length);
    expect_clean(start + page - length * width_, length);
  }
  munmap(mapping, 3 * page);
}

INSTANTIATE_TEST_SUITE_P(AllKernels, FiniteKernelsTest, testing::ValuesIn(subjects()),
                         [](const testing::TestParamInfo<Subject>& subject) {
                           return std::string(subject.param.kernels->name) + "_" +
                                  std::string(name_of(subject.param.dtype));
                         });

TEST(KernelsTest, TheReferenceIsAlwaysThere) { EXPECT_EQ(runnable_kernels()[0], scalar_kernels()); }

TEST(KernelsTest, ComplexTypesHaveTheKernelsOfTheirComponents) {
  for (const Kernels* kernels : runnable_kernels()) {
    if (kernels == nullptr) continue;
    const auto same = [&](DType a, DType b) {
      return (*kernels)[a].ceiling == (*kernels)[b].ceiling &&
             (*kernels)[a].kinds == (*kernels)[b].kinds;
    };
    EXPECT_TRUE(same(DType::kComplex64, DType::kFloat32));
    EXPECT_TRUE(same(DType::kComplex128, DType::kFloat64));
    EXPECT_TRUE(same(DType::kComplex32, DType::kFloat16));
    EXPECT_FALSE(same(DType::kFloat16, DType::kBFloat16));
  }
}

TEST(KernelsTest, WhatCannotBeLookedIntoIsFinite) {
  const std::vector<std::byte> ones(256, std::byte{0xff});
  for (const Kernels* kernels : runnable_kernels()) {
    if (kernels == nullptr) continue;
    EXPECT_EQ((*kernels)[DType::kInteger].ceiling(ones.data(), ones.size()), kAllZero);
    EXPECT_EQ((*kernels)[DType::kInteger].kinds(ones.data(), ones.size()), 0);
  }
}

}  // namespace
}  // namespace nanscope
