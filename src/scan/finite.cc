#include "scan/finite.h"

#include <algorithm>
#include <atomic>

#include "scan/elements.h"
#include "scan/finite_kernels.h"
#include "scan/layout.h"

namespace nanscope {
namespace {

bool runs_avx2() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();  // we may run before libgcc's own constructor
  // clang 14 cannot ask for f16c; no CPU has fma without it.
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

bool runs_avx512() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
#else
  return false;
#endif
}

// Null until chosen. Another library's constructor may ask before ours has run,
// so whoever comes first chooses; all choose the same.
constinit std::atomic<const Kernels*> chosen{nullptr};

[[gnu::noinline, gnu::cold]] const Kernels* choose() noexcept {
  const Kernels* fastest = nullptr;
  for (const Kernels* kernels : runnable_kernels()) {
    if (kernels != nullptr) fastest = kernels;
  }
  chosen.store(fastest, std::memory_order_relaxed);
  return fastest;
}

[[maybe_unused]] const Kernels* const chosen_at_load = choose();

const KernelPair& kernels_of(DType dtype) noexcept {
  const Kernels* kernels = chosen.load(std::memory_order_relaxed);
  if (kernels == nullptr) [[unlikely]]
    kernels = choose();
  return (*kernels)[dtype];
}

// Bytes of a row-major dense view; -1 if it is not one.
std::int64_t dense_bytes(const TensorView& view, std::size_t width) noexcept {
  std::int64_t expected = 1;
  for (std::size_t dim = view.sizes.size(); dim-- > 0;) {
    const std::int64_t size = view.sizes[dim];
    if (size == 0) return 0;
    if (size != 1 && view.strides[dim] != expected) return -1;
    expected *= size;
  }
  return expected * static_cast<std::int64_t>(width);
}

// A row whose elements lie apart.
template <class Element>
int strided_ceiling(const std::byte* at, Layout::Dim row) noexcept {
  using Format = typename Element::Format;
  typename Format::Bits worst = 0;
  for (std::int64_t i = 0; i < row.size; ++i, at += row.step) {
    for (int part = 0; part < Element::kParts; ++part) {
      worst = std::max(worst, Format::signless(Format::load(at + part * sizeof worst)));
    }
  }
  return Format::ceiling(worst);
}

template <class Element>
std::uint8_t strided_kinds(const std::byte* at, Layout::Dim row) noexcept {
  using Format = typename Element::Format;
  bool nan = false;
  bool inf = false;
  for (std::int64_t i = 0; i < row.size; ++i, at += row.step) {
    for (int part = 0; part < Element::kParts; ++part) {
      const auto bits = Format::load(at + part * sizeof(typename Format::Bits));
      nan |= Format::is_nan(bits);
      inf |= Format::is_inf(bits);
    }
  }
  return static_cast<std::uint8_t>((nan ? kNanBit : 0) | (inf ? kInfBit : 0));
}

template <class Element>
int ceiling_in_any_order(const TensorView& view) noexcept {
  const Layout layout = layout_in_any_order(view, Element::kWidth);
  const CeilingKernel dense = kernels_of(view.dtype).ceiling;
  int ceiling = kAllZero;
  if (layout.row.step == Element::kWidth) {
    const auto bytes = static_cast<std::size_t>(layout.row.size * layout.row.step);
    for_each_row(layout, [&](const std::byte* row) {
      return (ceiling = std::max(ceiling, dense(row, bytes))) != kNoCeiling;
    });
  } else {
    for_each_row(layout, [&](const std::byte* row) {
      return (ceiling = std::max(ceiling, strided_ceiling<Element>(row, layout.row))) != kNoCeiling;
    });
  }
  return ceiling;
}

template <class Element>
std::uint8_t kinds_in_any_order(const TensorView& view) noexcept {
  const Layout layout = layout_in_any_order(view, Element::kWidth);
  const KindsKernel dense = kernels_of(view.dtype).kinds;
  std::uint8_t seen = 0;
  if (layout.row.step == Element::kWidth) {
    const auto bytes = static_cast<std::size_t>(layout.row.size * layout.row.step);
    for_each_row(layout, [&](const std::byte* row) {
      return (seen |= dense(row, bytes)) != (kNanBit | kInfBit);
    });
  } else {
    for_each_row(layout, [&](const std::byte* row) {
      return (seen |= strided_kinds<Element>(row, layout.row)) != (kNanBit | kInfBit);
    });
  }
  return seen;
}

}  // namespace

std::array<const Kernels*, 3> runnable_kernels() noexcept {
  std::array<const Kernels*, 3> runnable{scalar_kernels()};
  std::size_t count = 1;
  if (runs_avx2() && avx2_kernels() != nullptr) runnable[count++] = avx2_kernels();
  if (runs_avx512() && avx512_kernels() != nullptr) runnable[count++] = avx512_kernels();
  return runnable;
}

int ceiling_of(const void* data, std::size_t bytes, DType dtype) noexcept {
  return kernels_of(dtype).ceiling(static_cast<const std::byte*>(data), bytes);
}

int ceiling_of(const TensorView& view) noexcept {
  const std::size_t width = scannable_width(view.dtype);
  if (width == 0) return kAllZero;
  const std::int64_t bytes = dense_bytes(view, width);
  if (bytes >= 0) return ceiling_of(view.data, static_cast<std::size_t>(bytes), view.dtype);
  return with_element(view.dtype,
                      [&](auto element) { return ceiling_in_any_order<decltype(element)>(view); });
}

bool all_finite(const void* data, std::size_t bytes, DType dtype) noexcept {
  return ceiling_of(data, bytes, dtype) != kNoCeiling;
}

bool all_finite(const TensorView& view) noexcept { return ceiling_of(view) != kNoCeiling; }

Kinds kinds_of(const TensorView& view) noexcept {
  const std::uint8_t seen = with_element(
      view.dtype, [&](auto element) { return kinds_in_any_order<decltype(element)>(view); });
  return {.nan = (seen & kNanBit) != 0, .inf = (seen & kInfBit) != 0};
}

}  // namespace nanscope
