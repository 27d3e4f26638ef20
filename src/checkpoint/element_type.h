// What the elements of a stored tensor are, by the names torch gives them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/dtype.h"

namespace nanscope::checkpoint {

struct BlockFormat;  // of GGUF: checkpoint/gguf_blocks.h

struct ElementType {
  std::string_view name;          // "float32", "int64", "Q4_K"
  DType dtype = DType::kInteger;  // kInteger: cannot hold NaN or Inf
  std::uint32_t width = 0;        // bytes of an element
  bool big_endian = false;
  const BlockFormat* block = nullptr;  // elements that are packed in blocks; `width` is 0 then

  [[nodiscard]] bool can_be_bad() const { return block != nullptr || is_scannable(dtype); }
};

// "float32", "int64", "bool", "quint8", ...
[[nodiscard]] std::optional<ElementType> type_named(std::string_view torch_name) noexcept;

}  // namespace nanscope::checkpoint
