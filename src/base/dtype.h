// The element types nanscope can tell apart, and which of them it can look into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
  kFloat8E5M2,
  kFloat8E4M3FN,    // no Inf
  kFloat8E4M3FNUZ,  // no Inf; one NaN, in the place of -0
  kFloat8E5M2FNUZ,  // the same
  kFloat8E8M0FNU,   // a power of two: no sign, no zero, no Inf, one NaN
  kInteger,         // whatever cannot hold NaN or Inf: integers, bool, float4
};

// The types whose elements can be tested for NaN and Inf.
inline constexpr DType kScannable[] = {
    DType::kFloat64,      DType::kFloat32,        DType::kFloat16,        DType::kBFloat16,
    DType::kComplex64,    DType::kComplex128,     DType::kComplex32,      DType::kFloat8E5M2,
    DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2FNUZ, DType::kFloat8E8M0FNU};

// The names torch prints, without "torch.".
[[nodiscard]] std::string_view name_of(DType dtype) noexcept;
// Bytes of one element; 0 where the type stands for several widths.
[[nodiscard]] std::size_t width_of(DType dtype) noexcept;
[[nodiscard]] bool is_scannable(DType dtype) noexcept;
[[nodiscard]] bool is_complex(DType dtype) noexcept;
[[nodiscard]] bool is_float8(DType dtype) noexcept;
[[nodiscard]] bool has_infinity(DType dtype) noexcept;
[[nodiscard]] std::optional<DType> scannable_named(std::string_view name) noexcept;
// Largest finite magnitude of one component: 65504 for float16; 0 if not scannable.
[[nodiscard]] double largest_of(DType dtype) noexcept;

}  // namespace nanscope
