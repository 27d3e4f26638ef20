// The one loop of all wide kernels. An instruction set brings two sieves.
//
// A sieve looks at whole vectors and remembers what it met:
//
//   kWidth               bytes of a vector
//   kComponent           bytes of a component
//   load(at)             a vector, any alignment
//   load_part(at, n)     1..kWidth bytes, the rest zero
//   look(vector)         remember
//   merge(other)         remember what `other` met
//   settled()            no further look can change the answer
//   answer()             of all it met
//
// There is no tail loop: the last vector overlaps the one before it. To look
// twice at an element changes no answer.
//
// Included by one file for each instruction set; see Note [Wide units share no
// inline code] for the unnamed namespace.
#pragma once

#include <cstddef>
#include <cstdint>

#include "scan/ceiling.h"
#include "scan/finite_kernels.h"

namespace nanscope {
namespace {

// `worst`: the bits of the largest magnitude; of a float64 the upper half, which is enough.
template <class Format>
int ceiling_of_bits(std::uint32_t worst) noexcept {
  constexpr int kShift = sizeof(typename Format::Bits) == 8 ? 32 : 0;
  constexpr int kMantissa = Format::kMantissa - kShift;
  constexpr auto kLeastBad = static_cast<std::uint32_t>(std::uint64_t{Format::kLeastBad} >> kShift);
  if (worst >= kLeastBad) return kNoCeiling;
  if (worst == 0 && kShift == 0 && Format::kHasZero) return kAllZero;
  return static_cast<int>(worst >> kMantissa) - Format::kBias + 1;
}

// The kinds of a format that has no Inf: what has no ceiling is NaN.
template <class CeilingSieve>
struct OnlyNan : CeilingSieve {
  [[nodiscard]] std::uint8_t answer() const noexcept { return this->settled() ? kNanBit : 0; }
};

// A buffer is left early only between blocks: a test in the inner loop would cost
// the good buffers, which are nearly all.
constexpr std::size_t kBlockBytes = 64 << 10;

template <class Sieve>
const std::byte* look_at_steps(const std::byte* at, std::size_t steps, Sieve& a, Sieve& b, Sieve& c,
                               Sieve& d) noexcept {
  constexpr std::size_t kWidth = Sieve::kWidth;
  for (; steps != 0; --steps, at += 8 * kWidth) {
    a.look(Sieve::load(at));
    b.look(Sieve::load(at + kWidth));
    c.look(Sieve::load(at + 2 * kWidth));
    d.look(Sieve::load(at + 3 * kWidth));
    a.look(Sieve::load(at + 4 * kWidth));
    b.look(Sieve::load(at + 5 * kWidth));
    c.look(Sieve::load(at + 6 * kWidth));
    d.look(Sieve::load(at + 7 * kWidth));
  }
  return at;
}

// More than four vectors and at most eight: four from each end.
template <class Sieve>
auto sift_medium(const std::byte* data, std::size_t bytes) noexcept {
  constexpr std::size_t kWidth = Sieve::kWidth;
  const std::byte* const back = data + bytes - 4 * kWidth;
  Sieve a, b;
  a.look(Sieve::load(data));
  b.look(Sieve::load(back));
  a.look(Sieve::load(data + kWidth));
  b.look(Sieve::load(back + kWidth));
  a.look(Sieve::load(data + 2 * kWidth));
  b.look(Sieve::load(back + 2 * kWidth));
  a.look(Sieve::load(data + 3 * kWidth));
  b.look(Sieve::load(back + 3 * kWidth));
  a.merge(b);
  return a.answer();
}

// More than eight vectors: aligned loads, four independent sieves. What is left behind the last
// whole step is seen by a step that ends where the buffer does: there is no loop whose end could
// be guessed wrong.
template <class Sieve>
auto sift_long(const std::byte* data, std::size_t bytes) noexcept {
  constexpr std::size_t kWidth = Sieve::kWidth;
  constexpr std::size_t kStep = 8 * kWidth;

  const std::byte* const end = data + bytes;
  Sieve a, b, c, d;
  a.look(Sieve::load(data));

  // On to the next vector boundary, but never off the components' own grid.
  const std::size_t past_boundary = reinterpret_cast<std::uintptr_t>(data) % kWidth;
  const std::byte* at = data + (kWidth - past_boundary) / Sieve::kComponent * Sieve::kComponent;

  while (static_cast<std::size_t>(end - at) > kBlockBytes) {
    at = look_at_steps(at, kBlockBytes / kStep, a, b, c, d);
    Sieve all = a;
    all.merge(b);
    all.merge(c);
    all.merge(d);
    if (all.settled()) return all.answer();
  }
  look_at_steps(at, static_cast<std::size_t>(end - at) / kStep, a, b, c, d);
  look_at_steps(end - kStep, 1, a, b, c, d);

  a.merge(b);
  c.merge(d);
  a.merge(c);
  return a.answer();
}

template <class Sieve>
auto sift(const std::byte* data, std::size_t bytes) noexcept {
  constexpr std::size_t kWidth = Sieve::kWidth;
  if (bytes > 4 * kWidth)
    return bytes > 8 * kWidth ? sift_long<Sieve>(data, bytes) : sift_medium<Sieve>(data, bytes);

  Sieve sieve;
  if (bytes == 0) return sieve.answer();
  if (bytes <= kWidth) {
    sieve.look(Sieve::load_part(data, bytes));
    return sieve.answer();
  }
  sieve.look(Sieve::load(data));
  sieve.look(Sieve::load(data + bytes - kWidth));
  if (bytes > 2 * kWidth) {
    sieve.look(Sieve::load(data + kWidth));
    sieve.look(Sieve::load(data + bytes - 2 * kWidth));
  }
  return sieve.answer();
}

}  // namespace
}  // namespace nanscope
