// The packed element types of GGUF, decoded as gguf-py does.
//
// NaN and Inf hide in the scales: a block whose scale is not finite has no finite element.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace nanscope::checkpoint {

struct BlockFormat {
  std::uint32_t id;  // in the file
  std::string_view name;
  std::uint32_t elements;                                     // of a block
  std::uint32_t bytes;                                        // of a block
  void (*decode)(const std::uint8_t* block, float* numbers);  // writes `elements` numbers
};

// Those that can be decoded.
[[nodiscard]] std::span<const BlockFormat> block_formats();
[[nodiscard]] std::span<const BlockFormat> k_block_formats();
[[nodiscard]] std::span<const BlockFormat> codebook_formats();
[[nodiscard]] const BlockFormat* block_format(std::uint32_t id);

// A float16 inside a block.
[[nodiscard]] float half_at(const std::uint8_t* at) noexcept;

}  // namespace nanscope::checkpoint
