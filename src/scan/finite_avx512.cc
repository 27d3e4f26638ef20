// 64 bytes at a time; the masked load makes one path of everything up to 64 bytes.

#include "scan/finite_kernels.h"

#if defined(__AVX512F__) && defined(__AVX512BW__)

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
// gcc's own header sets them off: bug 105593.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include <type_traits>

#include "scan/finite_simd.h"

namespace nanscope {
namespace {

struct Vector512 {
  static constexpr std::size_t kWidth = 64;

  static __m512i load(const std::byte* at) noexcept { return _mm512_loadu_si512(at); }
  static __m512i load_part(const std::byte* at, std::size_t n) noexcept {
    return _mm512_maskz_loadu_epi8(~std::uint64_t{0} >> (64 - n), at);
  }
};

__m512i broadcast(std::uint64_t x) noexcept { return _mm512_set1_epi64(static_cast<long long>(x)); }
__m512i broadcast(std::uint32_t x) noexcept { return _mm512_set1_epi32(static_cast<int>(x)); }
__m512i broadcast(std::uint16_t x) noexcept { return _mm512_set1_epi16(static_cast<short>(x)); }
__m512i broadcast(std::uint8_t x) noexcept { return _mm512_set1_epi8(static_cast<char>(x)); }

template <std::size_t kComponent>
__m512i larger(__m512i a, __m512i b) noexcept {
  if constexpr (kComponent == 1) return _mm512_max_epu8(a, b);
  if constexpr (kComponent == 2) return _mm512_max_epu16(a, b);
  if constexpr (kComponent == 4) return _mm512_max_epu32(a, b);
  if constexpr (kComponent == 8) return _mm512_max_epu64(a, b);
}

template <std::size_t kComponent>
__m512i smaller(__m512i a, __m512i b) noexcept {
  if constexpr (kComponent == 1) return _mm512_min_epu8(a, b);
  if constexpr (kComponent == 2) return _mm512_min_epu16(a, b);
  if constexpr (kComponent == 4) return _mm512_min_epu32(a, b);
  if constexpr (kComponent == 8) return _mm512_min_epu64(a, b);
}

template <std::size_t kComponent>
bool any_above(__m512i a, __m512i limit) noexcept {
  if constexpr (kComponent == 1) return _mm512_cmpgt_epu8_mask(a, limit) != 0;
  if constexpr (kComponent == 2) return _mm512_cmpgt_epu16_mask(a, limit) != 0;
  if constexpr (kComponent == 4) return _mm512_cmpgt_epu32_mask(a, limit) != 0;
  if constexpr (kComponent == 8) return _mm512_cmpgt_epu64_mask(a, limit) != 0;
}

template <std::size_t kComponent>
bool any_zero(__m512i a) noexcept {
  if constexpr (kComponent == 1) return _mm512_testn_epi8_mask(a, a) != 0;
  if constexpr (kComponent == 2) return _mm512_testn_epi16_mask(a, a) != 0;
  if constexpr (kComponent == 4) return _mm512_testn_epi32_mask(a, a) != 0;
  if constexpr (kComponent == 8) return _mm512_testn_epi64_mask(a, a) != 0;
}

// Keeps the largest magnitude, as an unsigned integer: two operations a vector, or one where
// there is no sign. Of a float64 the upper half tells, and a 32-bit maximum is the faster one.
template <class Format>
struct CeilingSieve : Vector512 {
  static constexpr std::size_t kComponent = sizeof(typename Format::Bits);
  static constexpr std::size_t kLane = kComponent == 8 ? 4 : kComponent;

  __m512i worst = _mm512_setzero_si512();

  void look(__m512i x) noexcept {
    const __m512i kept = kComponent == 8 ? broadcast(std::uint64_t{0x7fffffff00000000})
                                         : broadcast(Format::kSignless);
    worst = larger<kLane>(worst, _mm512_and_si512(x, kept));
  }
  void merge(const CeilingSieve& other) noexcept { worst = larger<kLane>(worst, other.worst); }
  [[nodiscard]] bool settled() const noexcept {
    using Bits = typename Format::Bits;
    const __m512i largest = kComponent == 8 ? broadcast(std::uint32_t{0x7fefffff})
                                            : broadcast(static_cast<Bits>(Format::kLeastBad - 1));
    return any_above<kLane>(worst, largest);
  }
  // A narrow maximum becomes a wider one by looking at the halves side by side.
  [[nodiscard]] int answer() const noexcept {
    __m512i wide = worst;
    if constexpr (kLane == 1) {
      wide = _mm512_max_epu16(_mm512_srli_epi16(wide, 8),
                              _mm512_and_si512(wide, broadcast(std::uint16_t{0xff})));
    }
    if constexpr (kLane <= 2) {
      wide = _mm512_max_epu32(_mm512_srli_epi32(wide, 16),
                              _mm512_and_si512(wide, broadcast(std::uint32_t{0xffff})));
    }
    return ceiling_of_bits<Format>(_mm512_reduce_max_epu32(wide));
  }
};

// NaN is the least of all bytes, if they are taken for signed integers: one operation a vector.
template <int kMantissa>
struct CeilingSieve<Float8FNUZ<kMantissa>> : Vector512 {
  using Format = Float8FNUZ<kMantissa>;
  static constexpr std::size_t kComponent = 1;

  __m512i least = _mm512_setzero_si512();

  void look(__m512i x) noexcept { least = _mm512_min_epi8(least, x); }
  void merge(const CeilingSieve& other) noexcept { look(other.least); }
  [[nodiscard]] bool settled() const noexcept {
    return _mm512_cmpeq_epi8_mask(least, broadcast(Format::kNan)) != 0;
  }
  [[nodiscard]] int answer() const noexcept { return settled() ? kNoCeiling : Format::kBias; }
};

// NaN is the largest magnitude; Inf is what becomes zero when its own bits are flipped.
template <class Format>
struct KindsSieve : Vector512 {
  static constexpr std::size_t kComponent = sizeof(typename Format::Bits);

  __m512i largest = _mm512_setzero_si512();
  __m512i nearest = broadcast(~std::uint64_t{0});

  void look(__m512i x) noexcept {
    const __m512i magnitude = _mm512_and_si512(x, broadcast(Format::kSignless));
    largest = larger<kComponent>(largest, magnitude);
    nearest = smaller<kComponent>(nearest, _mm512_xor_si512(magnitude, broadcast(Format::kInf)));
  }
  void merge(const KindsSieve& other) noexcept {
    largest = larger<kComponent>(largest, other.largest);
    nearest = smaller<kComponent>(nearest, other.nearest);
  }
  [[nodiscard]] bool settled() const noexcept { return answer() == (kNanBit | kInfBit); }
  [[nodiscard]] std::uint8_t answer() const noexcept {
    const bool nan = any_above<kComponent>(largest, broadcast(Format::kInf));
    const bool inf = any_zero<kComponent>(nearest);
    return static_cast<std::uint8_t>((nan ? kNanBit : 0) | (inf ? kInfBit : 0));
  }
};

template <class Format>
struct Avx512Kernels {
  using Kinds =
      std::conditional_t<Format::kHasInf, KindsSieve<Format>, OnlyNan<CeilingSieve<Format>>>;
  static constexpr KernelPair kPair{sift<CeilingSieve<Format>>, sift<Kinds>};
};

constinit const Kernels kTable = table_of<Avx512Kernels>("avx512");

}  // namespace

const Kernels* avx512_kernels() noexcept { return &kTable; }

}  // namespace nanscope

#else

namespace nanscope {
const Kernels* avx512_kernels() noexcept { return nullptr; }
}  // namespace nanscope

#endif
