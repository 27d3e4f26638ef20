// The reference: one element after the other, nothing clever. The wide kernels
// must agree with it, and it serves machines that have none of them.

#include "scan/finite_kernels.h"

namespace nanscope {
namespace {

template <class Format>
int ceiling(const std::byte* data, std::size_t bytes) noexcept {
  typename Format::Bits worst = 0;
  for (const std::byte* end = data + bytes; data != end; data += sizeof worst) {
    const auto magnitude = Format::signless(Format::load(data));
    if (magnitude > worst) worst = magnitude;
  }
  return Format::ceiling(worst);
}

template <class Format>
std::uint8_t kinds(const std::byte* data, std::size_t bytes) noexcept {
  bool nan = false;
  bool inf = false;
  for (const std::byte* end = data + bytes; data != end && !(nan && inf);) {
    const auto bits = Format::load(data);
    nan |= Format::is_nan(bits);
    inf |= Format::is_inf(bits);
    data += sizeof bits;
  }
  return static_cast<std::uint8_t>((nan ? kNanBit : 0) | (inf ? kInfBit : 0));
}

template <class Format>
struct ScalarKernels {
  static constexpr KernelPair kPair{ceiling<Format>, kinds<Format>};
};

constinit const Kernels kTable = table_of<ScalarKernels>("scalar");

}  // namespace

int opaque_ceiling(const std::byte*, std::size_t) noexcept { return kAllZero; }
std::uint8_t opaque_kinds(const std::byte*, std::size_t) noexcept { return 0; }

const Kernels* scalar_kernels() noexcept { return &kTable; }

}  // namespace nanscope
