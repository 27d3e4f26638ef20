// The element types nanscope can tell apart, and which of them it can look into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nanscope {

enum class DType : std::uint8_t {
  kFloat64,
  kFloat32,
  kFloat16,
  kBFloat16,
  kComplex64,
  kComplex128,
  kComplex32,  // pairs of float16
  kFloat8,     // any of the float8 kinds: counted as not watched
  kInteger,    // any integer or bool: cannot hold NaN or Inf
};

// The names torch prints, without "torch.".
[[nodiscard]] std::string_view name_of(DType dtype) noexcept;
// Bytes of one element; 0 where the type stands for several widths.
[[nodiscard]] std::size_t width_of(DType dtype) noexcept;
// True for the types whose elements can be tested for NaN and Inf.
[[nodiscard]] bool is_scannable(DType dtype) noexcept;
[[nodiscard]] bool is_complex(DType dtype) noexcept;
// Largest finite magnitude of one component: 65504 for float16; 0 if not scannable.
[[nodiscard]] double largest_of(DType dtype) noexcept;

}  // namespace nanscope
