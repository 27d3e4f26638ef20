// The IQ1, IQ2 and IQ3 types of GGUF: 256 elements, as vectors of a codebook with signs and scales.

#include <bit>
#include <cstddef>
#include <cstring>

#include "checkpoint/gguf_blocks.h"
#include "checkpoint/gguf_codebooks.h"

namespace nanscope::checkpoint {
namespace {

constexpr float kShift = 0.125F;  // of the vectors of IQ1, to either side

template <class Word>
Word word_at(const std::uint8_t* bytes, int number) {
  Word word;
  std::memcpy(&word, bytes + static_cast<std::size_t>(number) * sizeof word, sizeof word);
  return word;
}

int nibble_at(const std::uint8_t* bytes, int number) {
  return bytes[number / 2] >> (number % 2 * 4) & 0x0f;
}

// The eighth of eight signs makes the number of minuses even.
std::uint32_t with_eighth_sign(std::uint32_t seven) {
  return seven | static_cast<std::uint32_t>(std::popcount(seven) & 1) << 7;
}

float signed_by(std::uint32_t signs, int i, float number) {
  return (signs >> i & 1) != 0 ? -number : number;
}

// Eight elements of one vector.
float* put_eight(const CodeVector& vector, float scale, std::uint32_t signs, float* numbers) {
  for (int i = 0; i < 8; ++i)
    *numbers++ = signed_by(signs, i, scale * vector[static_cast<std::size_t>(i)]);
  return numbers;
}

// Eight elements of two vectors of four.
float* put_fours(const CodeVector& first, const CodeVector& second, float scale,
                 std::uint32_t signs, float* numbers) {
  for (int i = 0; i < 8; ++i)
    *numbers++ =
        signed_by(signs, i, scale * (i < 4 ? first : second)[static_cast<std::size_t>(i % 4)]);
  return numbers;
}

float* put_shifted(const CodeVector& vector, float scale, float shift, float* numbers) {
  for (const float coordinate : vector) *numbers++ = scale * (coordinate + shift);
  return numbers;
}

void decode_iq2_xxs(const std::uint8_t* block, float* numbers) {
  const float d = half_at(block);
  for (int group = 0; group < 8; ++group) {
    const std::uint8_t* const indices = block + 2 + 8 * group;
    const auto rest = word_at<std::uint32_t>(indices, 1);
    const float scale = d * (0.5F + static_cast<float>(rest >> 28)) * 0.25F;
    for (int k = 0; k < 4; ++k)
      numbers = put_eight(codebook_of_iq2_xxs()[indices[k]], scale,
                          with_eighth_sign(rest >> (7 * k) & 0x7f), numbers);
  }
}

void decode_iq2_xs(const std::uint8_t* block, float* numbers) {
  const float d = half_at(block);
  for (int k = 0; k < 32; ++k) {
    const std::uint32_t both = word_at<std::uint16_t>(block + 2, k);
    const float scale = d * (0.5F + static_cast<float>(nibble_at(block + 66, k / 2))) * 0.25F;
    numbers =
        put_eight(codebook_of_iq2_xs()[both & 0x1ff], scale, with_eighth_sign(both >> 9), numbers);
  }
}

void decode_iq2_s(const std::uint8_t* block, float* numbers) {
  const float d = half_at(block);
  const std::uint8_t* const signs = block + 34;
  const std::uint8_t* const high = block + 66;
  for (int k = 0; k < 32; ++k) {
    const std::uint32_t index = block[2 + k] | (high[k / 4] >> (k % 4 * 2) & 3U) << 8;
    const float scale = d * (0.5F + static_cast<float>(nibble_at(block + 74, k / 2))) * 0.25F;
    numbers = put_eight(codebook_of_iq2_s()[index], scale, signs[k], numbers);
  }
}

void decode_iq3_xxs(const std::uint8_t* block, float* numbers) {
  const float d = half_at(block);
  const std::uint8_t* const indices = block + 2;
  const Codebook& book = codebook_of_iq3_xxs();
  for (int group = 0; group < 8; ++group) {
    const auto rest = word_at<std::uint32_t>(block + 66, group);
    const float scale = d * (0.5F + static_cast<float>(rest >> 28)) * 0.5F;
    for (int k = 0; k < 4; ++k) {
      const std::uint8_t* const two = indices + 8 * group + 2 * k;
      numbers = put_fours(book[two[0]], book[two[1]], scale,
                          with_eighth_sign(rest >> (7 * k) & 0x7f), numbers);
    }
  }
}

void decode_iq3_s(const std::uint8_t* block, float* numbers) {
  const float d = half_at(block);
  const std::uint8_t* const high = block + 66;
  const std::uint8_t* const signs = block + 74;
  const Codebook& book = codebook_of_iq3_s();
  const auto index = [&](int k) { return block[2 + k] | (high[k / 8] >> (k % 8) & 1U) << 8; };
  for (int k = 0; k < 32; ++k) {
    const float scale = d * static_cast<float>(1 + 2 * nibble_at(block + 106, k / 4));
    numbers = put_fours(book[index(2 * k)], book[index(2 * k + 1)], scale, signs[k], numbers);
  }
}

void decode_iq1_s(const std::uint8_t* block, float* numbers) {
  const float d = half_at(block);
  for (int group = 0; group < 8; ++group) {
    const std::uint32_t high = word_at<std::uint16_t>(block + 34, group);
    const float scale = d * static_cast<float>(2 * (high >> 12 & 7) + 1);
    const float shift = (high & 0x8000) != 0 ? -kShift : kShift;
    for (int k = 0; k < 4; ++k) {
      const std::uint32_t index = block[2 + 4 * group + k] | (high >> (3 * k) & 7) << 8;
      numbers = put_shifted(codebook_of_iq1()[index], scale, shift, numbers);
    }
  }
}

// Its scale is spread over the upper bits of four words.
void decode_iq1_m(const std::uint8_t* block, float* numbers) {
  const std::uint8_t* const high = block + 32;
  const std::uint8_t* const scales = block + 48;
  const std::uint8_t bits[2] = {static_cast<std::uint8_t>(scales[1] >> 4 | (scales[3] & 0xf0)),
                                static_cast<std::uint8_t>(scales[5] >> 4 | (scales[7] & 0xf0))};
  const float d = half_at(bits);
  for (int k = 0; k < 32; ++k) {
    const auto more = static_cast<std::uint32_t>(nibble_at(high, k));
    const int part = k / 2;  // 16 elements
    const int step = word_at<std::uint16_t>(scales, part / 4) >> (part % 4 * 3) & 7;
    const std::uint32_t index = block[k] | (more & 7) << 8;
    numbers = put_shifted(codebook_of_iq1()[index], d * static_cast<float>(2 * step + 1),
                          (more & 8) != 0 ? -kShift : kShift, numbers);
  }
}

constexpr BlockFormat kCodebookFormats[] = {
    {16, "IQ2_XXS", 256, 66, decode_iq2_xxs}, {17, "IQ2_XS", 256, 74, decode_iq2_xs},
    {18, "IQ3_XXS", 256, 98, decode_iq3_xxs}, {19, "IQ1_S", 256, 50, decode_iq1_s},
    {21, "IQ3_S", 256, 110, decode_iq3_s},    {22, "IQ2_S", 256, 82, decode_iq2_s},
    {29, "IQ1_M", 256, 56, decode_iq1_m},
};

}  // namespace

std::span<const BlockFormat> codebook_formats() { return kCodebookFormats; }

}  // namespace nanscope::checkpoint
