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
    case DType::kFloat8:
      return "float8";
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
    case DType::kFloat8:
      return 1;
    case DType::kInteger:
      return 0;
  }
  return 0;
}

bool is_scannable(DType dtype) noexcept {
  return dtype != DType::kFloat8 && dtype != DType::kInteger;
}

bool is_complex(DType dtype) noexcept {
  return dtype == DType::kComplex64 || dtype == DType::kComplex128 || dtype == DType::kComplex32;
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
    case DType::kFloat8:
    case DType::kInteger:
      return 0.0;
  }
  return 0.0;
}

}  // namespace nanscope
