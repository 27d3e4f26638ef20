#include "scan/census.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "scan/census_kernels.h"
#include "scan/elements.h"
#include "scan/finite.h"
#include "scan/statistics.h"

namespace nanscope {
namespace {

// Small enough to be still in the cache when it is read a second time.
constexpr std::size_t kBlockBytes = 32 << 10;

bool has_avx2() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

const CensusKernels& fastest() noexcept {
  static const CensusKernels* const chosen = [] {
    const auto runnable = runnable_census_kernels();
    return runnable[1] != nullptr ? runnable[1] : runnable[0];
  }();
  return *chosen;
}

// Any elements, with the careful loops of statistics_of.
Census careful_census(const std::byte* data, std::size_t elements, DType dtype) {
  const auto size = static_cast<std::int64_t>(elements);
  const std::int64_t stride = 1;
  const Statistics all =
      statistics_of({.data = data, .dtype = dtype, .sizes = {&size, 1}, .strides = {&stride, 1}});
  Census census{.elements = size,
                .nan = all.nan,
                .pos_inf = all.pos_inf,
                .neg_inf = all.neg_inf,
                .zeros = all.zeros,
                .subnormals = all.subnormals};
  if (all.min) census.least = *all.min;
  if (all.max) census.most = *all.max;
  return census;
}

template <class Format>
double number_of(std::int64_t key) noexcept {
  const auto bits = static_cast<typename Format::Bits>(key);
  return Format::value(Format::in_order(bits)) + 0.0;  // -0.0 becomes 0.0
}

template <class Format>
Census finite_census(const std::byte* data, std::size_t elements) {
  constexpr std::size_t kWidth = sizeof(typename Format::Bits);
  const CensusKernels& kernels = fastest();
  const FiniteTotalsKernel kernel = kWidth == 2   ? kernels.of_2_bytes
                                    : kWidth == 4 ? kernels.of_4_bytes
                                                  : kernels.of_8_bytes;
  FiniteTotals totals;
  kernel(data, elements, Format::kLeastNormal, totals);
  return {.elements = static_cast<std::int64_t>(elements),
          .zeros = totals.zeros,
          .subnormals = totals.below_normal - totals.zeros,
          .least = number_of<Format>(totals.least),
          .most = number_of<Format>(totals.most)};
}

template <class Format>
Census census_in_blocks(const std::byte* data, std::size_t elements, DType dtype) {
  constexpr std::size_t kWidth = sizeof(typename Format::Bits);
  Census census;
  while (elements != 0) {
    const std::size_t taken = std::min(elements, kBlockBytes / kWidth);
    census.add(all_finite(data, taken * kWidth, dtype) ? finite_census<Format>(data, taken)
                                                       : careful_census(data, taken, dtype));
    data += taken * kWidth;
    elements -= taken;
  }
  return census;
}

// A byte has 256 patterns: how often each is there says all.
std::array<std::uint64_t, 256> histogram(const std::byte* data, std::size_t elements) noexcept {
  std::array<std::uint64_t, 256> even{};
  std::array<std::uint64_t, 256> odd{};  // equal neighbours do not wait for each other
  std::size_t i = 0;
  for (; i + 2 <= elements; i += 2) {
    ++even[static_cast<std::size_t>(data[i])];
    ++odd[static_cast<std::size_t>(data[i + 1])];
  }
  if (i < elements) ++even[static_cast<std::size_t>(data[i])];
  for (i = 0; i < even.size(); ++i) even[i] += odd[i];
  return even;
}

template <class Format>
Census census_of_bytes(const std::byte* data, std::size_t elements) {
  const auto counts = histogram(data, elements);
  Census census{.elements = static_cast<std::int64_t>(elements)};
  for (std::size_t pattern = 0; pattern < counts.size(); ++pattern) {
    const auto count = static_cast<std::int64_t>(counts[pattern]);
    if (count == 0) continue;
    const auto bits = static_cast<std::uint8_t>(pattern);
    if (Format::is_nan(bits)) {
      census.nan += count;
    } else if (Format::is_inf(bits)) {
      (Format::has_sign(bits) ? census.neg_inf : census.pos_inf) += count;
    } else {
      const double value = Format::value(bits) + 0.0;
      if (value == 0) census.zeros += count;
      if (value != 0 && Format::signless(bits) < Format::kLeastNormal) census.subnormals += count;
      census.least = std::min(census.least, value);
      census.most = std::max(census.most, value);
    }
  }
  return census;
}

}  // namespace

std::array<const CensusKernels*, 2> runnable_census_kernels() noexcept {
  return {scalar_census_kernels(), has_avx2() ? avx2_census_kernels() : nullptr};
}

double Census::largest_magnitude() const noexcept {
  return has_finite() ? std::max(std::fabs(least), std::fabs(most)) : 0.0;
}

void Census::add(const Census& other) noexcept {
  elements += other.elements;
  nan += other.nan;
  pos_inf += other.pos_inf;
  neg_inf += other.neg_inf;
  zeros += other.zeros;
  subnormals += other.subnormals;
  least = std::min(least, other.least);
  most = std::max(most, other.most);
}

void Census::repeat(std::int64_t times) noexcept {
  for (std::int64_t* count : {&elements, &nan, &pos_inf, &neg_inf, &zeros, &subnormals})
    *count *= times;
}

Census census_of(const void* data, std::size_t elements, DType dtype) {
  const auto* bytes = static_cast<const std::byte*>(data);
  return with_element(dtype, [&](auto element) -> Census {
    using Element = decltype(element);
    using Format = typename Element::Format;
    if constexpr (Element::kParts == 2) {
      return careful_census(bytes, elements, dtype);
    } else if constexpr (Element::kWidth == 1) {
      return census_of_bytes<Format>(bytes, elements);
    } else {
      return census_in_blocks<Format>(bytes, elements, dtype);
    }
  });
}

}  // namespace nanscope
