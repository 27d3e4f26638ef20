// The reference, for any machine.

#include "scan/census_kernels.h"
#include "scan/census_loops.h"

namespace nanscope {
namespace {
constinit const CensusKernels kTable = census_kernels_named("scalar");
}  // namespace

const CensusKernels* scalar_census_kernels() noexcept { return &kTable; }

}  // namespace nanscope
