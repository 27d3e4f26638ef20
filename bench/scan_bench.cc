// How near the scan is to just reading the memory.
//
// Prints GB/s of all_finite beside a loop that only reads, compiled for the same
// instruction set, and ns a call for small inputs. Times are of the CPU, the best of
// several interleaved runs, so that a busy machine spoils as little as possible.
//
//   scan_bench          the kernels this machine uses
//   scan_bench --all    every kernel it can run

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "scan/finite.h"
#include "scan/finite_kernels.h"
#include "scan/statistics.h"

namespace nanscope {
namespace {

constexpr std::size_t kKiB = 1 << 10;
constexpr std::size_t kMiB = 1 << 20;
constexpr std::size_t kGiB = 1 << 30;
constexpr std::size_t kLargeSizes[] = {16 * kKiB, 256 * kKiB, 4 * kMiB, 256 * kMiB};
constexpr std::size_t kSmallSizes[] = {4, 16, 64, 128, 256, 512, 1024, 2048, 4096};

// Finite in every format.
const std::byte* memory() {
  static const std::byte* const block = [] {
    void* const fresh = std::aligned_alloc(4096, kLargeSizes[3]);
    if (fresh == nullptr) std::abort();
    std::memset(fresh, 0x3c, kLargeSizes[3]);
    return static_cast<const std::byte*>(fresh);
  }();
  return block;
}

// --- The limit: eight independent ORs a step, and nothing else.

void read_scalar(const std::byte* at, std::size_t bytes) {
  std::uint64_t seen[8] = {};
  for (const std::byte* end = at + bytes; at != end; at += sizeof seen) {
    std::uint64_t words[8];
    std::memcpy(words, at, sizeof words);
    for (int i = 0; i < 8; ++i) seen[i] |= words[i];
  }
  benchmark::DoNotOptimize(seen);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void read_avx2(const std::byte* data, std::size_t bytes) {
  const auto* at = reinterpret_cast<const __m256i*>(data);
  __m256i a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{};
  for (const __m256i* end = at + bytes / sizeof *at; at != end; at += 8) {
    a = _mm256_or_si256(a, _mm256_load_si256(at));
    b = _mm256_or_si256(b, _mm256_load_si256(at + 1));
    c = _mm256_or_si256(c, _mm256_load_si256(at + 2));
    d = _mm256_or_si256(d, _mm256_load_si256(at + 3));
    e = _mm256_or_si256(e, _mm256_load_si256(at + 4));
    f = _mm256_or_si256(f, _mm256_load_si256(at + 5));
    g = _mm256_or_si256(g, _mm256_load_si256(at + 6));
    h = _mm256_or_si256(h, _mm256_load_si256(at + 7));
  }
  asm volatile("" : : "x"(a), "x"(b), "x"(c), "x"(d), "x"(e), "x"(f), "x"(g), "x"(h));
}

[[gnu::target("avx512f")]] void read_avx512(const std::byte* data, std::size_t bytes) {
  const auto* at = reinterpret_cast<const __m512i*>(data);
  __m512i a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{};
  for (const __m512i* end = at + bytes / sizeof *at; at != end; at += 8) {
    a = _mm512_or_si512(a, _mm512_load_si512(at));
    b = _mm512_or_si512(b, _mm512_load_si512(at + 1));
    c = _mm512_or_si512(c, _mm512_load_si512(at + 2));
    d = _mm512_or_si512(d, _mm512_load_si512(at + 3));
    e = _mm512_or_si512(e, _mm512_load_si512(at + 4));
    f = _mm512_or_si512(f, _mm512_load_si512(at + 5));
    g = _mm512_or_si512(g, _mm512_load_si512(at + 6));
    h = _mm512_or_si512(h, _mm512_load_si512(at + 7));
  }
  asm volatile("" : : "v"(a), "v"(b), "v"(c), "v"(d), "v"(e), "v"(f), "v"(g), "v"(h));
}
#endif

using ReadLoop = void (*)(const std::byte* at, std::size_t bytes);

ReadLoop read_loop_for(const Kernels& kernels) {
#if defined(__x86_64__)
  if (std::string_view(kernels.name) == "avx512") return read_avx512;
  if (std::string_view(kernels.name) == "avx2") return read_avx2;
#endif
  return read_scalar;
}

// --- What is measured.

const std::string kPlain = "plain read";

std::string cell(const std::string& row, std::size_t bytes) {
  return row + "/" + std::to_string(bytes);
}

// `work`: bytes to go through in one run. A fixed number of calls, because one that
// is guessed from a disturbed first run would spoil all the others.
template <class Fn>
void measure(const std::string& name, std::size_t bytes, std::size_t work, Fn fn) {
  const std::size_t calls = std::min<std::size_t>(std::max<std::size_t>(work / bytes, 1), 200000);
  benchmark::RegisterBenchmark(
      name.c_str(),
      [=](benchmark::State& state) {
        for (auto _ : state) {
          fn();
          benchmark::ClobberMemory();
        }
        state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
      })
      ->Repetitions(9)
      ->Iterations(static_cast<std::int64_t>(calls));
}

TensorView dense_view(DType dtype, const std::int64_t& size) {
  static const std::int64_t kStride = 1;
  return {memory(), dtype, {&size, 1}, {&kStride, 1}};
}

void register_speeds(const Kernels& kernels) {
  const std::string prefix = std::string(kernels.name) + " ";
  const ReadLoop read = read_loop_for(kernels);
  for (const std::size_t bytes : kLargeSizes) {
    measure(cell(prefix + kPlain, bytes), bytes, kGiB, [=] { read(memory(), bytes); });
    for (const DType dtype : kScannable) {
      const KernelPair pair = kernels[dtype];
      const std::string name(name_of(dtype));
      measure(cell(prefix + name, bytes), bytes, kGiB,
              [=] { benchmark::DoNotOptimize(pair.ceiling(memory(), bytes)); });
      measure(cell(prefix + "kinds " + name, bytes), bytes, kGiB,
              [=] { benchmark::DoNotOptimize(pair.kinds(memory(), bytes)); });
    }
  }
}

void register_small() {
  for (const DType dtype : kScannable) {
    for (const std::size_t bytes : kSmallSizes) {
      measure(cell("small " + std::string(name_of(dtype)), bytes), bytes, kGiB,
              [=] { benchmark::DoNotOptimize(all_finite(memory(), bytes, dtype)); });
    }
  }
}

void register_statistics() {
  static std::map<DType, std::int64_t> numel;
  for (const DType dtype : kScannable) {
    const std::int64_t& size = numel[dtype] =
        static_cast<std::int64_t>(kLargeSizes[2] / width_of(dtype));
    measure(cell("statistics " + std::string(name_of(dtype)), kLargeSizes[2]), kLargeSizes[2],
            64 * kMiB,
            [dtype, &size] { benchmark::DoNotOptimize(statistics_of(dense_view(dtype, size))); });
  }
}

// --- The page.

class Table : public benchmark::BenchmarkReporter {
 public:
  explicit Table(std::vector<const Kernels*> shown) : shown_(std::move(shown)) {}

  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      double& best = seconds_[run.run_name.function_name];
      const double seconds = run.cpu_accumulated_time / static_cast<double>(run.iterations);
      best = best == 0 ? seconds : std::min(best, seconds);
    }
  }

  void Finalize() override {
    for (const Kernels* kernels : shown_) print_speeds(*kernels);
    print_small();
    print_statistics();
  }

 private:
  [[nodiscard]] double gb_per_second(const std::string& row, std::size_t bytes) const {
    const auto found = seconds_.find(cell(row, bytes));
    return found == seconds_.end() ? 0 : static_cast<double>(bytes) / found->second / 1e9;
  }

  static void print_sizes(const char* title, const auto& sizes) {
    std::printf("\n%-22s", title);
    for (const std::size_t bytes : sizes) {
      if (bytes >= kMiB)
        std::printf("%9zu MiB", bytes / kMiB);
      else if (bytes >= kKiB)
        std::printf("%9zu KiB", bytes / kKiB);
      else
        std::printf("%9zu B  ", bytes);
    }
    std::printf("\n");
  }

  void print_speeds(const Kernels& kernels) const {
    const std::string prefix = std::string(kernels.name) + " ";
    const std::string title = prefix + "GB/s";
    print_sizes(title.c_str(), kLargeSizes);
    std::vector<std::string> rows{kPlain};
    for (const DType dtype : kScannable) rows.emplace_back(name_of(dtype));
    for (const DType dtype : kScannable) rows.push_back("kinds " + std::string(name_of(dtype)));
    for (const std::string& row : rows) {
      std::printf("  %-20s", row.c_str());
      for (const std::size_t bytes : kLargeSizes) {
        const double speed = gb_per_second(prefix + row, bytes);
        const double limit = gb_per_second(prefix + kPlain, bytes);
        if (row == kPlain)
          std::printf("%8.1f     ", speed);
        else
          std::printf("%8.1f %3.0f%%", speed, limit > 0 ? 100 * speed / limit : 0);
      }
      std::printf("\n");
    }
  }

  void print_small() const {
    print_sizes("ns a call", kSmallSizes);
    for (const DType dtype : kScannable) {
      std::printf("  %-20s", std::string(name_of(dtype)).c_str());
      for (const std::size_t bytes : kSmallSizes) {
        const auto found = seconds_.find(cell("small " + std::string(name_of(dtype)), bytes));
        if (bytes < width_of(dtype))
          std::printf("%9s    ", "-");
        else
          std::printf("%9.1f    ", found == seconds_.end() ? 0.0 : 1e9 * found->second);
      }
      std::printf("\n");
    }
  }

  void print_statistics() const {
    std::printf("\nstatistics GB/s of 4 MiB\n");
    for (const DType dtype : kScannable) {
      const std::string name(name_of(dtype));
      std::printf("  %-20s%8.1f\n", name.c_str(),
                  gb_per_second("statistics " + name, kLargeSizes[2]));
    }
  }

  std::vector<const Kernels*> shown_;
  std::map<std::string, double> seconds_;
};

}  // namespace
}  // namespace nanscope

int main(int argc, char** argv) {
  using namespace nanscope;
  std::vector<char*> arguments(argv, argv + argc);
  const bool all = std::erase_if(
      arguments, [](const char* argument) { return std::strcmp(argument, "--all") == 0; });
  std::string interleave = "--benchmark_enable_random_interleaving=true";
  arguments.push_back(interleave.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());

  std::vector<const Kernels*> shown;
  for (const Kernels* kernels : runnable_kernels()) {
    if (kernels == nullptr) continue;
    if (!all) shown.clear();  // the fastest comes last
    shown.push_back(kernels);
  }
  for (const Kernels* kernels : shown) register_speeds(*kernels);
  register_small();
  register_statistics();
  Table table(shown);
  benchmark::RunSpecifiedBenchmarks(&table);
  return 0;
}
