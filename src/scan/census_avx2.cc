// The same loop, compiled for 32 bytes at a time.

#include "scan/census_kernels.h"

#if defined(__AVX2__)

#include "scan/census_loops.h"

namespace nanscope {
namespace {
constinit const CensusKernels kTable = census_kernels_named("avx2");
}  // namespace

const CensusKernels* avx2_census_kernels() noexcept { return &kTable; }

}  // namespace nanscope

#else

namespace nanscope {
const CensusKernels* avx2_census_kernels() noexcept { return nullptr; }
}  // namespace nanscope

#endif
