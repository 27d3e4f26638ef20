// The random numbers that a kernel of inductor draws on the CPU, bit by bit: Philox, counted by the
// place of the element, from a seed that the generator of the program gave. What a fused kernel
// drew once is drawn again by a replay.
#pragma once

#include <cstdint>
#include <span>

namespace nanscope::torch_adapter {

// As `normalized_rand_cpu`, `randn_cpu` and `randint64_cpu` of inductor's cpp_prefix.h.
void fill_uniform(std::span<float> numbers, std::int64_t seed);
void fill_normal(std::span<float> numbers, std::int64_t seed);
void fill_integers(std::span<std::int64_t> numbers, std::int64_t seed, std::int64_t low,
                   std::int64_t high);

}  // namespace nanscope::torch_adapter
