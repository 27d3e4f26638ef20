// The K types of GGUF: 256 elements in groups, whose scales have a scale of their own.

#include <cstddef>

#include "checkpoint/gguf_blocks.h"

namespace nanscope::checkpoint {
namespace {

void decode_q2_k(const std::uint8_t* block, float* numbers) {
  const std::uint8_t* const scales = block;
  const std::uint8_t* const packed = block + 16;
  const float d = half_at(block + 80);
  const float dmin = half_at(block + 82);
  for (int group = 0; group < 16; ++group) {
    const float dl = d * static_cast<float>(scales[group] & 0x0f);
    const float ml = dmin * static_cast<float>(scales[group] >> 4);
    const std::uint8_t* const from = packed + group / 8 * 32 + group % 2 * 16;
    const int shift = group / 2 % 4 * 2;
    for (int i = 0; i < 16; ++i) *numbers++ = dl * static_cast<float>(from[i] >> shift & 3) - ml;
  }
}

// Six bits each: four in the first eight bytes, two in the last four.
int scale_of_q3_k(const std::uint8_t* scales, int group) {
  const int low = scales[group % 8] >> (group / 8 * 4) & 0x0f;
  const int high = scales[8 + group % 4] >> (group / 4 * 2) & 3;
  return (low | high << 4) - 32;
}

void decode_q3_k(const std::uint8_t* block, float* numbers) {
  const std::uint8_t* const mask = block;
  const std::uint8_t* const packed = block + 32;
  const std::uint8_t* const scales = block + 96;
  const float d = half_at(block + 108);
  for (int group = 0; group < 16; ++group) {
    const float dl = d * static_cast<float>(scale_of_q3_k(scales, group));
    const int from = group % 2 * 16;
    const int shift = group / 2 % 4 * 2;
    const int bit = group / 2;
    for (int i = 0; i < 16; ++i) {
      const int low = packed[group / 8 * 32 + from + i] >> shift & 3;
      const int lowered = (mask[from + i] >> bit & 1) == 0 ? 4 : 0;
      *numbers++ = dl * static_cast<float>(low - lowered);
    }
  }
}

struct ScaleAndMinimum {
  int scale;
  int minimum;
};

// Eight of each, six bits each, in twelve bytes.
ScaleAndMinimum scale_of_q4_k(const std::uint8_t* packed, int group) {
  if (group < 4) return {packed[group] & 0x3f, packed[group + 4] & 0x3f};
  const int both = packed[group + 4];
  return {(both & 0x0f) | (packed[group - 4] >> 6) << 4, both >> 4 | (packed[group] >> 6) << 4};
}

// Q4_K and Q5_K differ by a fifth bit.
void decode_q4_or_q5_k(const std::uint8_t* block, const std::uint8_t* fifth_bits,
                       const std::uint8_t* packed, float* numbers) {
  const float d = half_at(block);
  const float dmin = half_at(block + 2);
  for (int group = 0; group < 8; ++group) {
    const auto [scale, minimum] = scale_of_q4_k(block + 4, group);
    const float dl = d * static_cast<float>(scale);
    const float ml = dmin * static_cast<float>(minimum);
    for (int i = 0; i < 32; ++i) {
      int q = packed[group / 2 * 32 + i] >> (group % 2 * 4) & 0x0f;
      if (fifth_bits != nullptr) q |= (fifth_bits[i] >> group & 1) << 4;
      *numbers++ = dl * static_cast<float>(q) - ml;
    }
  }
}

void decode_q4_k(const std::uint8_t* block, float* numbers) {
  decode_q4_or_q5_k(block, nullptr, block + 16, numbers);
}

void decode_q5_k(const std::uint8_t* block, float* numbers) {
  decode_q4_or_q5_k(block, block + 16, block + 48, numbers);
}

void decode_q6_k(const std::uint8_t* block, float* numbers) {
  const std::uint8_t* const low = block;
  const std::uint8_t* const high = block + 128;
  const std::uint8_t* const scales = block + 192;
  const float d = half_at(block + 208);
  for (int row = 0; row < 8; ++row) {  // 32 elements each
    for (int i = 0; i < 32; ++i) {
      const int group = row * 2 + i / 16;
      const float dl = d * static_cast<float>(static_cast<std::int8_t>(scales[group]));
      const int l = low[row / 4 * 64 + row % 2 * 32 + i] >> (row % 4 / 2 * 4) & 0x0f;
      const int h = high[row / 4 * 32 + i] >> (row % 4 * 2) & 3;
      *numbers++ = dl * static_cast<float>((l | h << 4) - 32);
    }
  }
}

constexpr BlockFormat kKBlockFormats[] = {
    {10, "Q2_K", 256, 84, decode_q2_k},  {11, "Q3_K", 256, 110, decode_q3_k},
    {12, "Q4_K", 256, 144, decode_q4_k}, {13, "Q5_K", 256, 176, decode_q5_k},
    {14, "Q6_K", 256, 210, decode_q6_k},
};

}  // namespace

std::span<const BlockFormat> k_block_formats() { return kKBlockFormats; }

}  // namespace nanscope::checkpoint
