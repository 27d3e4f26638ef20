// The dense kernels behind scan/finite.h, one table for each instruction set.
//
// Internal to scan/: the tests run one suite against every table of this machine.
//
// Note [Wide units share no inline code]
// A file compiled for a wider instruction set must not emit a function that the
// linker may merge with another file's copy: the wide copy could win and crash an
// older machine. So those files keep everything in unnamed namespaces, call no
// library templates, and this header gives them only declarations, constants and
// consteval functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "scan/ceiling.h"
#include "scan/float8_bits.h"
#include "scan/float_bits.h"

namespace nanscope {

inline constexpr std::uint8_t kNanBit = 1;
inline constexpr std::uint8_t kInfBit = 2;

// `bytes` is a whole number of components; any alignment. See `ceiling_of` in scan/finite.h.
using CeilingKernel = int (*)(const std::byte* data, std::size_t bytes) noexcept;
// kNanBit and kInfBit of what was seen; stops when both were.
using KindsKernel = std::uint8_t (*)(const std::byte* data, std::size_t bytes) noexcept;

struct KernelPair {
  CeilingKernel ceiling;
  KindsKernel kinds;
};

inline constexpr std::size_t kDTypeCount = static_cast<std::size_t>(DType::kInteger) + 1;

struct Kernels {
  const char* name;
  KernelPair of[kDTypeCount];  // by DType

  [[nodiscard]] const KernelPair& operator[](DType dtype) const noexcept {
    return of[static_cast<std::size_t>(dtype)];
  }
};

// The kernels of types that cannot be looked into: nothing is ever wrong.
[[nodiscard]] int opaque_ceiling(const std::byte* data, std::size_t bytes) noexcept;
[[nodiscard]] std::uint8_t opaque_kinds(const std::byte* data, std::size_t bytes) noexcept;

// A complex type has the kernels of its components.
template <template <class> class KernelsOf>
consteval Kernels table_of(const char* name) {
  Kernels table{name, {}};
  for (KernelPair& pair : table.of) pair = {opaque_ceiling, opaque_kinds};
  const auto set = [&table](DType dtype, KernelPair pair) {
    table.of[static_cast<std::size_t>(dtype)] = pair;
  };
  set(DType::kFloat64, KernelsOf<Float64>::kPair);
  set(DType::kFloat32, KernelsOf<Float32>::kPair);
  set(DType::kFloat16, KernelsOf<Float16>::kPair);
  set(DType::kBFloat16, KernelsOf<BFloat16>::kPair);
  set(DType::kComplex64, KernelsOf<Float32>::kPair);
  set(DType::kComplex128, KernelsOf<Float64>::kPair);
  set(DType::kComplex32, KernelsOf<Float16>::kPair);
  set(DType::kFloat8E5M2, KernelsOf<Float8E5M2>::kPair);
  set(DType::kFloat8E4M3FN, KernelsOf<Float8E4M3FN>::kPair);
  set(DType::kFloat8E4M3FNUZ, KernelsOf<Float8E4M3FNUZ>::kPair);
  set(DType::kFloat8E5M2FNUZ, KernelsOf<Float8E5M2FNUZ>::kPair);
  set(DType::kFloat8E8M0FNU, KernelsOf<Float8E8M0FNU>::kPair);
  return table;
}

[[nodiscard]] const Kernels* scalar_kernels() noexcept;
// Null where this build has none; ask the machine before calling theirs.
[[nodiscard]] const Kernels* avx2_kernels() noexcept;
[[nodiscard]] const Kernels* avx512_kernels() noexcept;

// Every table this machine can run, the reference first and the fastest last;
// null after that. scan/finite.h uses the fastest.
[[nodiscard]] std::array<const Kernels*, 3> runnable_kernels() noexcept;

}  // namespace nanscope
