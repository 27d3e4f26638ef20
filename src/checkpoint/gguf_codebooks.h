// The codebooks of GGUF's IQ1, IQ2 and IQ3 types.
//
// A number in the file names one of a few hundred short vectors, whose coordinates have three or
// eight steps each. They are numbered in the order of the points that they are, the first
// coordinate being the lowest digit, so that one bit for each possible point tells all of them.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace nanscope::checkpoint {

// Most of them have 8 coordinates; of those of IQ3 the first four count.
using CodeVector = std::array<float, 8>;

using Codebook = std::vector<CodeVector>;

[[nodiscard]] const Codebook& codebook_of_iq1();
[[nodiscard]] const Codebook& codebook_of_iq2_xxs();
[[nodiscard]] const Codebook& codebook_of_iq2_xs();
[[nodiscard]] const Codebook& codebook_of_iq2_s();
[[nodiscard]] const Codebook& codebook_of_iq3_xxs();
[[nodiscard]] const Codebook& codebook_of_iq3_s();

}  // namespace nanscope::checkpoint
