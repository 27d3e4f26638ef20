// The one loop of the census kernels, in the shape that compilers turn into SIMD.
//
// Included by one file for each instruction set; see Note [Wide units share no inline code] for
// the unnamed namespace.
#pragma once

#include <cstddef>
#include <cstdint>

#include "scan/census_kernels.h"

namespace nanscope {
namespace {

// A count is as wide as an element, so that both fill the same lanes; it holds a block.
constexpr std::size_t kCensusBlock = 16384;

template <class Bits, class Key>
void count_block(const std::byte* data, std::size_t count, Bits least_normal,
                 FiniteTotals& totals) noexcept {
  constexpr Bits kSignless = static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1);
  constexpr int kSignShift = 8 * sizeof(Bits) - 1;
  Bits zeros = 0;
  Bits below_normal = 0;
  auto least = static_cast<Key>(kSignless);
  auto most = static_cast<Key>(~kSignless);
  for (std::size_t i = 0; i < count; ++i) {
    Bits bits;
    __builtin_memcpy(&bits, data + i * sizeof bits, sizeof bits);
    const Bits magnitude = static_cast<Bits>(bits & kSignless);
    const Bits if_negative = static_cast<Bits>(static_cast<Key>(bits) >> kSignShift);
    const auto key = static_cast<Key>(bits ^ (kSignless & if_negative));
    zeros = static_cast<Bits>(zeros + (magnitude == 0));
    below_normal = static_cast<Bits>(below_normal + (magnitude < least_normal));
    least = key < least ? key : least;
    most = key > most ? key : most;
  }
  totals.zeros += static_cast<std::int64_t>(zeros);
  totals.below_normal += static_cast<std::int64_t>(below_normal);
  totals.least = least < totals.least ? least : totals.least;
  totals.most = most > totals.most ? most : totals.most;
}

template <class Bits, class Key>
void count_finite(const std::byte* data, std::size_t count, std::uint64_t least_normal,
                  FiniteTotals& totals) noexcept {
  while (count != 0) {
    const std::size_t taken = count < kCensusBlock ? count : kCensusBlock;
    count_block<Bits, Key>(data, taken, static_cast<Bits>(least_normal), totals);
    data += taken * sizeof(Bits);
    count -= taken;
  }
}

constexpr CensusKernels census_kernels_named(const char* name) {
  return {name, count_finite<std::uint16_t, std::int16_t>,
          count_finite<std::uint32_t, std::int32_t>, count_finite<std::uint64_t, std::int64_t>};
}

}  // namespace
}  // namespace nanscope
