#include "checkpoint/gguf_blocks.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "scan/float_bits.h"

namespace nanscope::checkpoint {
namespace {

constexpr int kFourBitValues[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                    1,    13,   25,  38,  53,  69,  89,  113};
constexpr int kE2M1Values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// The four bits of element i of 32: the first half lies in the low bits.
int nibble(const std::uint8_t* packed, int i) {
  return i < 16 ? packed[i] & 0x0f : packed[i - 16] >> 4;
}

int fifth_bit(const std::uint8_t* packed, int i) { return (packed[i / 8] >> (i % 8) & 1) << 4; }

void decode_q4_0(const std::uint8_t* block, float* numbers) {
  const float d = half_at(block);
  for (int i = 0; i < 32; ++i) numbers[i] = d * static_cast<float>(nibble(block + 2, i) - 8);
}

void decode_q4_1(const std::uint8_t* block, float* numbers) {
  const float d = half_at(block);
  const float m = half_at(block + 2);
  for (int i = 0; i < 32; ++i) numbers[i] = d * static_cast<float>(nibble(block + 4, i)) + m;
}

void decode_q5_0(const std::uint8_t* block, float* numbers) {
  const float d = half_at(block);
  for (int i = 0; i < 32; ++i) {
    const int q = (nibble(block + 6, i) | fifth_bit(block + 2, i)) - 16;
    numbers[i] = d * static_cast<float>(q);
  }
}

void decode_q5_1(const std::uint8_t* block, float* numbers) {
  const float d = half_at(block);
  const float m = half_at(block + 2);
  for (int i = 0; i < 32; ++i) {
    const int q = nibble(block + 8, i) | fifth_bit(block + 4, i);
    numbers[i] = d * static_cast<float>(q) + m;
  }
}

void decode_q8_0(const std::uint8_t* block, float* numbers) {
  const float d = half_at(block);
  for (int i = 0; i < 32; ++i)
    numbers[i] = static_cast<float>(static_cast<std::int8_t>(block[2 + i])) * d;
}

void decode_iq4_nl(const std::uint8_t* block, float* numbers) {
  const float d = half_at(block);
  for (int i = 0; i < 32; ++i)
    numbers[i] = d * static_cast<float>(kFourBitValues[nibble(block + 2, i)]);
}

void decode_iq4_xs(const std::uint8_t* block, float* numbers) {
  const float d = half_at(block);
  const int high = block[2] | block[3] << 8;
  const std::uint8_t* const low = block + 4;
  const std::uint8_t* const packed = block + 8;
  for (int group = 0; group < 8; ++group) {
    const int scale = (low[group / 2] >> (group % 2 * 4) & 0x0f) | (high >> (2 * group) & 3) << 4;
    const float dl = d * static_cast<float>(scale - 32);
    for (int i = 0; i < 32; ++i)
      numbers[32 * group + i] =
          dl * static_cast<float>(kFourBitValues[nibble(packed + 16 * group, i)]);
  }
}

// Powers of three, five to a byte.
void decode_tq1_0(const std::uint8_t* block, float* numbers) {
  static constexpr int kPowers[5] = {1, 3, 9, 27, 81};
  const float d = half_at(block + 52);
  const auto put = [&](std::uint8_t byte, int power) {
    const int q = ((byte * kPowers[power] & 0xff) * 3 >> 8) - 1;
    *numbers++ = d * static_cast<float>(q);
  };
  for (int power = 0; power < 5; ++power)
    for (int i = 0; i < 32; ++i) put(block[i], power);
  for (int power = 0; power < 5; ++power)
    for (int i = 32; i < 48; ++i) put(block[i], power);
  for (int power = 0; power < 4; ++power)
    for (int i = 48; i < 52; ++i) put(block[i], power);
}

void decode_tq2_0(const std::uint8_t* block, float* numbers) {
  const float d = half_at(block + 64);
  for (int half = 0; half < 2; ++half)
    for (int shift = 0; shift < 8; shift += 2)
      for (int i = 0; i < 32; ++i)
        *numbers++ = d * static_cast<float>((block[32 * half + i] >> shift & 3) - 1);
}

void decode_mxfp4(const std::uint8_t* block, float* numbers) {
  const std::uint32_t e = block[0];
  const float d = std::bit_cast<float>(e < 2 ? 0x00200000U << e : (e - 1) << 23);
  for (int i = 0; i < 32; ++i)
    numbers[i] = d * static_cast<float>(kE2M1Values[nibble(block + 1, i)]);
}

float unsigned_e4m3_half(std::uint8_t bits) {
  if (bits == 0 || bits == 0x7f) return 0;
  const int exponent = bits >> 3 & 0x0f;
  const auto fraction = static_cast<float>(bits & 7);
  const float value =
      exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(1 + fraction / 8, exponent - 7);
  return value / 2;
}

void decode_nvfp4(const std::uint8_t* block, float* numbers) {
  for (int group = 0; group < 4; ++group) {
    const float d = unsigned_e4m3_half(block[group]);
    const std::uint8_t* const packed = block + 4 + 8 * group;
    for (int i = 0; i < 16; ++i) {
      const int q = i < 8 ? packed[i] & 0x0f : packed[i - 8] >> 4;
      *numbers++ = d * static_cast<float>(kE2M1Values[q]);
    }
  }
}

constexpr BlockFormat kBlockFormats[] = {
    {2, "Q4_0", 32, 18, decode_q4_0},        {3, "Q4_1", 32, 20, decode_q4_1},
    {6, "Q5_0", 32, 22, decode_q5_0},        {7, "Q5_1", 32, 24, decode_q5_1},
    {8, "Q8_0", 32, 34, decode_q8_0},        {20, "IQ4_NL", 32, 18, decode_iq4_nl},
    {23, "IQ4_XS", 256, 136, decode_iq4_xs}, {34, "TQ1_0", 256, 54, decode_tq1_0},
    {35, "TQ2_0", 256, 66, decode_tq2_0},    {39, "MXFP4", 32, 17, decode_mxfp4},
    {40, "NVFP4", 64, 36, decode_nvfp4},
};

}  // namespace

float half_at(const std::uint8_t* at) noexcept {
  std::uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return static_cast<float>(Float16::value(bits));
}

std::span<const BlockFormat> block_formats() { return kBlockFormats; }

const BlockFormat* block_format(std::uint32_t id) {
  for (const std::span<const BlockFormat> formats :
       {block_formats(), k_block_formats(), codebook_formats()})
    for (const BlockFormat& format : formats)
      if (format.id == id) return &format;
  return nullptr;
}

}  // namespace nanscope::checkpoint
