// From a type of elements, known at run time, to its format.
#pragma once

#include <cstddef>

#include "base/dtype.h"
#include "scan/float8_bits.h"
#include "scan/float_bits.h"

namespace nanscope {

// An element as its components: one for a real type, two for a complex one.
template <class FormatType, int kPartCount>
struct Element {
  using Format = FormatType;
  static constexpr int kParts = kPartCount;
  static constexpr std::size_t kWidth = kParts * sizeof(typename Format::Bits);
};

// Calls `fn` with the Element of a scannable dtype; with any other, does nothing
// and returns a default value.
template <class Fn>
constexpr auto with_element(DType dtype, Fn&& fn) -> decltype(fn(Element<Float64, 1>{})) {
  switch (dtype) {
    case DType::kFloat64:
      return fn(Element<Float64, 1>{});
    case DType::kFloat32:
      return fn(Element<Float32, 1>{});
    case DType::kFloat16:
      return fn(Element<Float16, 1>{});
    case DType::kBFloat16:
      return fn(Element<BFloat16, 1>{});
    case DType::kComplex64:
      return fn(Element<Float32, 2>{});
    case DType::kComplex128:
      return fn(Element<Float64, 2>{});
    case DType::kComplex32:
      return fn(Element<Float16, 2>{});
    case DType::kFloat8E5M2:
      return fn(Element<Float8E5M2, 1>{});
    case DType::kFloat8E4M3FN:
      return fn(Element<Float8E4M3FN, 1>{});
    case DType::kFloat8E4M3FNUZ:
      return fn(Element<Float8E4M3FNUZ, 1>{});
    case DType::kFloat8E5M2FNUZ:
      return fn(Element<Float8E5M2FNUZ, 1>{});
    case DType::kFloat8E8M0FNU:
      return fn(Element<Float8E8M0FNU, 1>{});
    case DType::kInteger:
      break;
  }
  return decltype(fn(Element<Float64, 1>{}))();
}

// Bytes of a scannable dtype's element; 0 for any other.
constexpr std::size_t scannable_width(DType dtype) noexcept {
  return with_element(dtype, [](auto element) { return decltype(element)::kWidth; });
}

}  // namespace nanscope
