#include "base/dtype.h"

#include <limits>

namespace nanscope {

std::string_view name_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::kFloat64:
      return "float64";
    case DType::kFloat32:
      return "float32";
    case DType::kFloat16:
      return "float16";
    case DType::kBFloat16:
      return "bfloat16";
    case DType::kComplex64:
      return "complex64";
    case DType::kComplex128:
      return "complex128";
    case DType::kComplex32:
      return "complex32";
    case DType::kFloat8E5M2:
      return "float8_e5m2";
    case DType::kFloat8E4M3FN:
      return "float8_e4m3fn";
    case DType::kFloat8E4M3FNUZ:
      return "float8_e4m3fnuz";
    case DType::kFloat8E5M2FNUZ:
      return "float8_e5m2fnuz";
    case DType::kFloat8E8M0FNU:
      return "float8_e8m0fnu";
    case DType::kInteger:
      return "integer";
  }
  return "unknown";
}

std::size_t width_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::kFloat64:
      return 8;
    case DType::kFloat32:
      return 4;
    case DType::kFloat16:
      return 2;
    case DType::kBFloat16:
      return 2;
    case DType::kComplex64:
      return 8;
    case DType::kComplex128:
      return 16;
    case DType::kComplex32:
      return 4;
    case DType::kFloat8E5M2:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2FNUZ:
    case DType::kFloat8E8M0FNU:
      return 1;
    case DType::kInteger:
      return 0;
  }
  return 0;
}

bool is_scannable(DType dtype) noexcept { return dtype != DType::kInteger; }

bool is_complex(DType dtype) noexcept {
  return dtype == DType::kComplex64 || dtype == DType::kComplex128 || dtype == DType::kComplex32;
}

bool is_float8(DType dtype) noexcept { return width_of(dtype) == 1; }

bool has_infinity(DType dtype) noexcept {
  return is_scannable(dtype) && (!is_float8(dtype) || dtype == DType::kFloat8E5M2);
}

std::optional<DType> scannable_named(std::string_view name) noexcept {
  for (const DType dtype : kScannable)
    if (name_of(dtype) == name) return dtype;
  return std::nullopt;
}

double largest_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::kFloat64:
    case DType::kComplex128:
      return std::numeric_limits<double>::max();
    case DType::kFloat32:
    case DType::kComplex64:
      return std::numeric_limits<float>::max();
    case DType::kFloat16:
    case DType::kComplex32:
      return 65504.0;
    case DType::kBFloat16:
      return 0x1.fep127;
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
      return 57344.0;
    case DType::kFloat8E4M3FN:
      return 448.0;
    case DType::kFloat8E4M3FNUZ:
      return 240.0;
    case DType::kFloat8E8M0FNU:
      return 0x1p127;
    case DType::kInteger:
      return 0.0;
  }
  return 0.0;
}

}  // namespace nanscope
