// The dense kernels behind scan/census.h: what finite elements hold.
//
// Internal to scan/. See Note [Wide units share no inline code]: declarations and constants only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nanscope {

// Counts of finite elements of 2, 4 or 8 bytes. `least` and `most` are bit patterns as signed
// integers in the order of the numbers (FloatBits::in_order), widened.
struct FiniteTotals {
  std::int64_t zeros = 0;
  std::int64_t below_normal = 0;  // zeros too
  std::int64_t least = INT64_MAX;
  std::int64_t most = INT64_MIN;
};

// Patterns below `least_normal`, without their sign, are subnormal or zero.
using FiniteTotalsKernel = void (*)(const std::byte* data, std::size_t count,
                                    std::uint64_t least_normal, FiniteTotals& totals) noexcept;

struct CensusKernels {
  const char* name;
  FiniteTotalsKernel of_2_bytes;
  FiniteTotalsKernel of_4_bytes;
  FiniteTotalsKernel of_8_bytes;
};

[[nodiscard]] const CensusKernels* scalar_census_kernels() noexcept;
// Null where this build has none; ask the machine before calling theirs.
[[nodiscard]] const CensusKernels* avx2_census_kernels() noexcept;
// What this machine can run, the reference first; null after that.
[[nodiscard]] std::array<const CensusKernels*, 2> runnable_census_kernels() noexcept;

}  // namespace nanscope
