// Every element as float64, exactly: float64 holds every type that can be scanned.
#pragma once

#include <cstddef>
#include <span>

#include "base/dtype.h"

namespace nanscope {

// A complex element gives two numbers. `numbers` has room for all; `dtype` must be scannable.
void widen(const void* data, std::size_t elements, DType dtype, std::span<double> numbers) noexcept;

}  // namespace nanscope
