// 32 bytes at a time.

#include "scan/finite_kernels.h"

#if defined(__AVX2__)

#include <immintrin.h>

#include <type_traits>

#include "scan/finite_simd.h"

namespace nanscope {
namespace {

struct Vector256 {
  static constexpr std::size_t kWidth = 32;

  static __m256i load(const std::byte* at) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  }

  // Two loads that overlap, of the largest size that fits.
  static __m256i load_part(const std::byte* at, std::size_t n) noexcept {
    if (n >= 16) {
      const __m128i head = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
      const __m128i tail = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + n - 16));
      return _mm256_inserti128_si256(_mm256_castsi128_si256(head), tail, 1);
    }
    if (n >= 8) {
      const __m128i head = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at));
      const __m128i tail = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at + n - 8));
      return _mm256_zextsi128_si256(_mm_unpacklo_epi64(head, tail));
    }
    if (n >= 4) return pair_of<std::uint32_t>(at, at + n - 4);
    if (n >= 2) return pair_of<std::uint16_t>(at, at + n - 2);
    return pair_of<std::uint8_t>(at, at);
  }

  template <class Word>
  static __m256i pair_of(const std::byte* head_at, const std::byte* tail_at) noexcept {
    Word head, tail;
    __builtin_memcpy(&head, head_at, sizeof head);
    __builtin_memcpy(&tail, tail_at, sizeof tail);
    const std::uint64_t both = std::uint64_t{head} | std::uint64_t{tail} << (8 * sizeof tail);
    return _mm256_zextsi128_si256(_mm_cvtsi64_si128(static_cast<long long>(both)));
  }
};

__m256i broadcast(std::uint64_t x) noexcept {
  return _mm256_set1_epi64x(static_cast<long long>(x));
}
__m256i broadcast(std::uint32_t x) noexcept { return _mm256_set1_epi32(static_cast<int>(x)); }
__m256i broadcast(std::uint16_t x) noexcept { return _mm256_set1_epi16(static_cast<short>(x)); }
__m256i broadcast(std::uint8_t x) noexcept { return _mm256_set1_epi8(static_cast<char>(x)); }

bool any(__m256i mask) noexcept { return _mm256_testz_si256(mask, mask) == 0; }

// Signed comparisons: there is no sign left where they are used.
template <std::size_t kComponent>
__m256i above(__m256i a, __m256i limit) noexcept {
  if constexpr (kComponent == 1) return _mm256_cmpgt_epi8(a, limit);
  if constexpr (kComponent == 2) return _mm256_cmpgt_epi16(a, limit);
  if constexpr (kComponent == 4) return _mm256_cmpgt_epi32(a, limit);
  if constexpr (kComponent == 8) return _mm256_cmpgt_epi64(a, limit);
}

template <std::size_t kComponent>
__m256i equal(__m256i a, __m256i b) noexcept {
  if constexpr (kComponent == 1) return _mm256_cmpeq_epi8(a, b);
  if constexpr (kComponent == 2) return _mm256_cmpeq_epi16(a, b);
  if constexpr (kComponent == 4) return _mm256_cmpeq_epi32(a, b);
  if constexpr (kComponent == 8) return _mm256_cmpeq_epi64(a, b);
}

template <std::size_t kComponent>
__m256i larger(__m256i a, __m256i b) noexcept {
  if constexpr (kComponent == 1) return _mm256_max_epu8(a, b);
  if constexpr (kComponent == 2) return _mm256_max_epu16(a, b);
  if constexpr (kComponent == 4) return _mm256_max_epu32(a, b);
}

template <std::size_t kComponent>
bool any_at_least(__m256i a, __m256i limit) noexcept {
  return any(equal<kComponent>(a, larger<kComponent>(a, limit)));
}

// Keeps the largest magnitude, as an unsigned integer: two operations a vector, or one where
// there is no sign. Of a float64 the upper half tells: there is no 64-bit maximum, and none is
// needed.
template <class Format>
struct CeilingSieve : Vector256 {
  static constexpr std::size_t kComponent = sizeof(typename Format::Bits);
  static constexpr std::size_t kLane = kComponent == 8 ? 4 : kComponent;

  __m256i worst = _mm256_setzero_si256();

  void look(__m256i x) noexcept {
    const __m256i kept = kComponent == 8 ? broadcast(std::uint64_t{0x7fffffff00000000})
                                         : broadcast(Format::kSignless);
    worst = larger<kLane>(worst, _mm256_and_si256(x, kept));
  }
  void merge(const CeilingSieve& other) noexcept { worst = larger<kLane>(worst, other.worst); }
  [[nodiscard]] bool settled() const noexcept {
    const __m256i least_bad =
        kComponent == 8 ? broadcast(std::uint32_t{0x7ff00000}) : broadcast(Format::kLeastBad);
    return any_at_least<kLane>(worst, least_bad);
  }

  // A narrow maximum becomes a wider one by looking at the halves side by side.
  [[nodiscard]] int answer() const noexcept {
    __m256i wide = worst;
    if constexpr (kLane == 1) {
      wide = _mm256_max_epu16(_mm256_srli_epi16(wide, 8),
                              _mm256_and_si256(wide, broadcast(std::uint16_t{0xff})));
    }
    if constexpr (kLane <= 2) {
      wide = _mm256_max_epu32(_mm256_srli_epi32(wide, 16),
                              _mm256_and_si256(wide, broadcast(std::uint32_t{0xffff})));
    }
    __m128i most = _mm_max_epu32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
    most = _mm_max_epu32(most, _mm_shuffle_epi32(most, 0x4e));
    most = _mm_max_epu32(most, _mm_shuffle_epi32(most, 0xb1));
    return ceiling_of_bits<Format>(static_cast<std::uint32_t>(_mm_cvtsi128_si32(most)));
  }
};

// NaN is the least of all bytes, if they are taken for signed integers: one operation a vector.
template <int kMantissa>
struct CeilingSieve<Float8FNUZ<kMantissa>> : Vector256 {
  using Format = Float8FNUZ<kMantissa>;
  static constexpr std::size_t kComponent = 1;

  __m256i least = _mm256_setzero_si256();

  void look(__m256i x) noexcept { least = _mm256_min_epi8(least, x); }
  void merge(const CeilingSieve& other) noexcept { look(other.least); }
  [[nodiscard]] bool settled() const noexcept {
    return any(equal<1>(least, broadcast(Format::kNan)));
  }
  [[nodiscard]] int answer() const noexcept { return settled() ? kNoCeiling : Format::kBias; }
};

template <class Format>
struct KindsSieve : Vector256 {
  static constexpr std::size_t kComponent = sizeof(typename Format::Bits);

  __m256i nan = _mm256_setzero_si256();
  __m256i inf = _mm256_setzero_si256();

  void look(__m256i x) noexcept {
    const __m256i magnitude = _mm256_and_si256(x, broadcast(Format::kSignless));
    nan = _mm256_or_si256(nan, above<kComponent>(magnitude, broadcast(Format::kInf)));
    inf = _mm256_or_si256(inf, equal<kComponent>(magnitude, broadcast(Format::kInf)));
  }
  void merge(const KindsSieve& other) noexcept {
    nan = _mm256_or_si256(nan, other.nan);
    inf = _mm256_or_si256(inf, other.inf);
  }
  [[nodiscard]] bool settled() const noexcept { return any(nan) && any(inf); }
  [[nodiscard]] std::uint8_t answer() const noexcept {
    return static_cast<std::uint8_t>((any(nan) ? kNanBit : 0) | (any(inf) ? kInfBit : 0));
  }
};

template <class Format>
struct Avx2Kernels {
  using Kinds =
      std::conditional_t<Format::kHasInf, KindsSieve<Format>, OnlyNan<CeilingSieve<Format>>>;
  static constexpr KernelPair kPair{sift<CeilingSieve<Format>>, sift<Kinds>};
};

constinit const Kernels kTable = table_of<Avx2Kernels>("avx2");

}  // namespace

const Kernels* avx2_kernels() noexcept { return &kTable; }

}  // namespace nanscope

#else

namespace nanscope {
const Kernels* avx2_kernels() noexcept { return nullptr; }
}  // namespace nanscope

#endif
