// Is this buffer finite, and how large is it at most? The question asked of every result,
// at the speed of reading memory.
//
// Runs on the calling thread, allocates nothing, throws nothing, calls nobody.
// The widest instruction set of this machine is chosen once, at load.
#pragma once

#include <cstddef>

#include "scan/ceiling.h"
#include "scan/view.h"

namespace nanscope {

// Which non-finite kinds a tensor holds; the parts of a complex element count each.
struct Kinds {
  bool nan = false;
  bool inf = false;

  [[nodiscard]] bool any() const noexcept { return nan || inf; }
  friend bool operator==(const Kinds&, const Kinds&) = default;
};

// The least ceiling of all elements (of all components, if complex); kNoCeiling if one is not
// finite. Of the float8 fnuz kinds it is that of the type's largest number. A dense run of `bytes`
// bytes. `dtype` must be scannable.
[[nodiscard]] int ceiling_of(const void* data, std::size_t bytes, DType dtype) noexcept;
// Any strides, any offset. A type that is not scannable counts as zero.
[[nodiscard]] int ceiling_of(const TensorView& view) noexcept;

[[nodiscard]] bool all_finite(const void* data, std::size_t bytes, DType dtype) noexcept;
[[nodiscard]] bool all_finite(const TensorView& view) noexcept;
// Looks at everything, to tell NaN from Inf, until it has met both.
[[nodiscard]] Kinds kinds_of(const TensorView& view) noexcept;

}  // namespace nanscope
