// A tensor as the core sees it: an address, a type, sizes and strides.
//
// Nothing is owned. Strides count elements and may be zero (expanded) or
// negative; `data` points at element [0, 0, ...]. A 0-dim tensor has no sizes.
#pragma once

#include <cstdint>
#include <span>

#include "base/dtype.h"

namespace nanscope {

struct TensorView {
  const void* data = nullptr;
  DType dtype = DType::kInteger;
  std::span<const std::int64_t> sizes;
  std::span<const std::int64_t> strides;
  // Of kInteger only: bytes of one element, 0 if not known; bool is 1, unsigned.
  std::uint8_t int_width = 0;
  bool int_signed = true;

  [[nodiscard]] std::int64_t numel() const noexcept {
    std::int64_t n = 1;
    for (const std::int64_t size : sizes) n *= size;
    return n;
  }
};

}  // namespace nanscope
