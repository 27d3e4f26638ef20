#include "adapters/torch/compiled/random_bits.h"

#include <ATen/core/PhiloxRNGEngine.h>

namespace nanscope::torch_adapter {
namespace {

// Inductor hands the seed on as 32 bits, and the place as well.
at::Philox4_32 engine_at(std::int64_t seed, std::size_t place) {
  return at::Philox4_32(static_cast<std::uint32_t>(seed), 0, static_cast<std::uint32_t>(place));
}

}  // namespace

void fill_uniform(std::span<float> numbers, std::int64_t seed) {
  constexpr float kScale = 4.6566127342e-10;  // uint32_to_uniform_float of ATen, private there
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(engine_at(seed, i)() & 0x7FFFFFFF) * kScale;
}

void fill_normal(std::span<float> numbers, std::int64_t seed) {
  constexpr std::uint32_t kRounds = 10;
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = engine_at(seed, i).randn(kRounds);
}

void fill_integers(std::span<std::int64_t> numbers, std::int64_t seed, std::int64_t low,
                   std::int64_t high) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    at::Philox4_32 engine = engine_at(seed, i);
    const std::uint64_t first = engine();
    const std::uint64_t second = engine();
    const std::uint64_t range = static_cast<std::uint64_t>(high - low);
    numbers[i] = static_cast<std::int64_t>((first | second << 32) % range) + low;
  }
}

}  // namespace nanscope::torch_adapter
