// The kernel's text on an emulated grid against the scan of the CPU, and every call of the driver
// against a fake one that checks it: tests/device/fake_cuda.cc.
#include "adapters/torch/device/cuda_probe.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "adapters/torch/watch/watcher.h"
#include "scan/elements.h"
#include "scan/test_patterns.h"

namespace nanscope::torch_adapter {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr char kFake[] = NANSCOPE_FAKE_CUDA;
const auto kStream = reinterpret_cast<CudaDriver::Stream>(0x5000);

template <class Result, class... Arguments>
Result ask(const char* function, Arguments... arguments) {
  static void* const library = dlopen(kFake, RTLD_NOW);
  return reinterpret_cast<Result (*)(Arguments...)>(dlsym(library, function))(arguments...);
}
std::uint64_t asked(const char* what) {
  return ask<unsigned long long>((std::string("fake_cuda_") + what).c_str());
}

// There is one for the process.
Lock& lock_of_probes() {
  Watcher::get();
  return *lock_of(LockRank::kCudaProbes);
}

class CudaProbeTest : public testing::Test {
 protected:
  ~CudaProbeTest() override {
    ask<void>("fake_cuda_let_fail", "");
    ask<void>("fake_cuda_be", 90, true);
    EXPECT_STREQ(ask<const char*>("fake_cuda_wrong"), "");
    EXPECT_EQ(asked("alive"), alive_);
  }

  int looked_at(CudaProbe& probe, const TensorView& view) {
    const auto look = probe.launch(view, kStream);
    return look ? probe.wait(*look, view.dtype, kStream) : -1;
  }

  std::uint64_t alive_ = asked("alive");
  CudaDriver driver_{kFake};
  CudaCubins cubins_{{kFake}, ""};
  Lock& lock_ = lock_of_probes();
};

// Of one element after the other. The wide scan of the CPU may tell a bound that is higher.
int reference(const TensorView& view) {
  return with_element(view.dtype, [&](auto element) {
    using Format = typename decltype(element)::Format;
    constexpr std::size_t kWidth = decltype(element)::kWidth;
    const Layout layout = layout_in_row_major(view, kWidth);
    typename Format::Bits worst = 0;
    for_each_row(layout, [&](const std::byte* row) {
      for (std::int64_t i = 0; i < layout.row.size; ++i, row += layout.row.step) {
        for (std::size_t part = 0; part < kWidth; part += sizeof worst)
          worst = std::max(worst, Format::signless(Format::load(row + part)));
      }
      return true;
    });
    return Format::ceiling(worst);
  });
}

// One dimension, over bytes of its own.
class Numbers {
 public:
  Numbers(DType dtype, std::int64_t length, std::int64_t step = 1, std::int64_t offset = 0)
      : dtype_(dtype),
        width_(static_cast<std::int64_t>(patterns_of(dtype).width)),
        parts_(is_complex(dtype) ? 2 : 1),
        offset_(offset),
        sizes_{length},
        strides_{step},
        bytes_((offset + length * step + 1) * width_ * parts_ + 16) {
    // What lies between is not to be seen.
    for (std::int64_t at = 0; at + 1 <= components(); ++at) put(at, patterns_of(dtype).nan[0]);
    for (std::int64_t i = 0; i < length * parts_; ++i) plant(i, patterns_of(dtype).finite[i % 5]);
  }
  // By component.
  void plant(std::int64_t i, std::uint64_t bits) {
    put((offset_ + i / parts_ * strides_[0]) * parts_ + i % parts_, bits);
  }
  [[nodiscard]] std::int64_t length() const { return sizes_[0] * parts_; }
  [[nodiscard]] TensorView view() const {
    return {start() + offset_ * width_ * parts_, dtype_, sizes_, strides_};
  }

 private:
  [[nodiscard]] std::byte* start() const {
    auto* const data = const_cast<std::byte*>(bytes_.data());
    return data + (16 - reinterpret_cast<std::uintptr_t>(data) % 16) % 16;
  }
  [[nodiscard]] std::int64_t components() const {
    return (static_cast<std::int64_t>(bytes_.size()) - 16) / width_;
  }
  void put(std::int64_t at, std::uint64_t bits) {
    std::memcpy(start() + at * width_, &bits, width_);
  }

  DType dtype_;
  std::int64_t width_;
  std::int64_t parts_;
  std::int64_t offset_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::int64_t> strides_;
  std::vector<std::byte> bytes_;
};

TEST_F(CudaProbeTest, SeesWhatTheScanOfTheCpuSees) {
  CudaProbe probe(driver_, cubins_, lock_);
  // Around 16 bytes, a warp, a block of each width, and more than the grid takes in one turn.
  const std::int64_t lengths[] = {1,    2,    3,    7,    8,     15,    16,   17,
                                  31,   33,   255,  257,  1023,  1025,  2047, 2049,
                                  4095, 4097, 8191, 8193, 16383, 16385, 33000};
  for (const DType dtype : kScannable) {
    const Patterns& patterns = patterns_of(dtype);
    int turn = 0;
    for (const std::int64_t length : lengths) {
      for (const std::int64_t step : {1, 1, 3}) {
        Numbers run(dtype, length, step, turn % 9);
        const std::int64_t places[] = {0, run.length() / 2, run.length() - 1};
        const std::int64_t place = places[turn % 3];
        const auto pick = [&](const std::vector<std::uint64_t>& from) {
          return from[static_cast<std::size_t>(turn) % from.size()];
        };
        ASSERT_EQ(looked_at(probe, run.view()), reference(run.view()))
            << name_of(dtype) << " " << length << " " << step;
        run.plant(place, pick(patterns.finite));
        ASSERT_EQ(looked_at(probe, run.view()), reference(run.view()))
            << name_of(dtype) << " " << length << " " << step << " finite at " << place;
        run.plant(place, turn % 2 == 0 ? pick(patterns.nan) : pick(patterns.inf));
        ASSERT_EQ(looked_at(probe, run.view()), kNoCeiling)
            << name_of(dtype) << " " << length << " " << step << " bad at " << place;
        ++turn;
      }
    }
  }
  EXPECT_GT(ask<unsigned>("fake_cuda_most_blocks"), 4u);
}

TEST_F(CudaProbeTest, ReadsEveryPatternOfSmallTypes) {
  CudaProbe probe(driver_, cubins_, lock_);
  for (const DType dtype : kScannable) {
    const std::size_t width = patterns_of(dtype).width;
    if (width > 2 || is_complex(dtype)) continue;
    const int step = width == 1 ? 1 : 41;
    for (int bits = 0; bits < 1 << 8 * width; bits += step) {
      Numbers run(dtype, 17);
      for (std::int64_t i = 0; i < 17; ++i) run.plant(i, static_cast<std::uint64_t>(bits));
      ASSERT_EQ(looked_at(probe, run.view()), reference(run.view()))
          << name_of(dtype) << " " << bits;
    }
  }
}

TEST_F(CudaProbeTest, WalksAnyStrides) {
  CudaProbe probe(driver_, cubins_, lock_);
  struct Case {
    std::vector<std::int64_t> sizes, strides;
  };
  const Case cases[] = {
      {{}, {}},                 // a number
      {{6, 4, 5}, {20, 5, 1}},  // dense
      {{5, 6, 4}, {1, 20, 5}},  // dense, permuted
      {{6, 3, 5}, {20, 5, 1}},  // rows with gaps
      {{3, 4}, {1, 30}},        // columns
      {{4, 7, 3}, {0, 3, 1}},   // expanded
      {{3, 1, 2, 2}, {40, 7, 15, 4}},
      {{2, 2, 2, 2, 2, 2, 2}, {2, 64, 3, 1, 8, 17, 32}},
  };
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBFloat16, DType::kComplex64,
                            DType::kComplex32, DType::kFloat8E5M2}) {
    for (const Case& each : cases) {
      for (std::int64_t at = 0; at < 120; at += 7) {
        Numbers memory(dtype, 200);
        memory.plant(at * (is_complex(dtype) ? 2 : 1), patterns_of(dtype).inf[0]);
        const TensorView view{memory.view().data, dtype, each.sizes, each.strides};
        ASSERT_EQ(looked_at(probe, view), reference(view)) << name_of(dtype) << " " << at;
      }
    }
  }
  const std::vector<std::int64_t> sizes(9, 2);
  const std::vector<std::int64_t> strides{1, 3, 7, 20, 41, 83, 170, 350, 701};
  EXPECT_FALSE(probe.launch({&probe, DType::kFloat32, sizes, strides}, kStream).has_value());
}

TEST_F(CudaProbeTest, AWordComesWhenTheKernelHasRun) {
  CudaProbe probe(driver_, cubins_, lock_);
  const Numbers good(DType::kFloat32, 100);
  Numbers bad(DType::kFloat32, 100);
  bad.plant(50, 0x7fc00000);
  const auto one = probe.launch(good.view(), kStream);
  const auto other = probe.launch(bad.view(), kStream);
  EXPECT_FALSE(probe.poll(*one, DType::kFloat32).has_value());
  EXPECT_FALSE(probe.poll(*other, DType::kFloat32).has_value());
  EXPECT_EQ(probe.wait(*other, DType::kFloat32, kStream), kNoCeiling);
  EXPECT_EQ(probe.poll(*one, DType::kFloat32), reference(good.view()));
}

TEST_F(CudaProbeTest, OnlySoManyLooksAreInFlight) {
  CudaProbe probe(driver_, cubins_, lock_);
  const Numbers run(DType::kFloat32, 3);
  std::vector<CudaProbe::Look> looks;
  while (const auto look = probe.launch(run.view(), kStream)) looks.push_back(*look);
  EXPECT_EQ(looks.size(), CudaProbe::kMostLooks);
  EXPECT_NE(probe.wait(looks[7], DType::kFloat32, kStream), kNoCeiling);
  EXPECT_TRUE(probe.launch(run.view(), kStream).has_value());
}

TEST_F(CudaProbeTest, CompilesATypeOnce) {
  const auto before = asked("compiled");
  CudaProbe probe(driver_, cubins_, lock_);
  const Numbers single(DType::kFloat32, 3);
  const Numbers half(DType::kFloat16, 3);
  const Numbers brain(DType::kBFloat16, 3);
  for (const Numbers* run : {&single, &half, &brain, &single}) looked_at(probe, run->view());
  EXPECT_EQ(asked("compiled") - before, 2u);
  EXPECT_EQ(probe.architecture(), 90);
}

TEST_F(CudaProbeTest, SaysWhatFails) {
  const Numbers run(DType::kFloat32, 3);
  const auto look = [&] {
    CudaProbe probe(driver_, cubins_, lock_);
    looked_at(probe, run.view());
  };
  for (const char* function : {"cuMemAlloc", "cuMemHostAlloc", "cuStreamSynchronize",
                               "cuModuleLoadData", "cuLaunchKernel"}) {
    ask<void>("fake_cuda_let_fail", function);
    EXPECT_THAT(look, ThrowsMessage<std::runtime_error>(HasSubstr(function)));
  }
  ask<void>("fake_cuda_let_fail", "nvrtcCompileProgram");
  EXPECT_THAT(look,
              ThrowsMessage<std::runtime_error>("NVRTC_ERROR_OF_THE_FAKE: no such architecture"));
  ask<void>("fake_cuda_be", 90, false);
  EXPECT_THAT(look, ThrowsMessage<std::runtime_error>(HasSubstr("cuCtxGetDevice")));
}

TEST_F(CudaProbeTest, AMissingLibraryIsNamed) {
  EXPECT_THAT([] { CudaDriver driver("libnanscope_has_no_such.so"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("libnanscope_has_no_such.so")));
  EXPECT_THAT([] { CudaDriver driver("libc.so.6"); },
              ThrowsMessage<std::runtime_error>("libc.so.6 has no function cuCtxGetCurrent"));
}

// ---------------------------------------------------------------- the cache
class CubinCacheTest : public CudaProbeTest {
 protected:
  CubinCacheTest() {
    std::string name = (std::filesystem::temp_directory_path() / "cubins.XXXXXX").string();
    parent_ = mkdtemp(name.data());
    folder_ = parent_ + "/below/nanscope";
  }
  ~CubinCacheTest() override { std::filesystem::remove_all(parent_); }

  // How many times it is compiled now.
  std::uint64_t compiled() {
    const auto before = asked("compiled");
    const std::string cubin = CudaCubins({kFake}, folder_).cubin("F32", 80);
    EXPECT_THAT(cubin, HasSubstr("sm_80 F32"));
    return asked("compiled") - before;
  }
  [[nodiscard]] std::filesystem::path only_file() const {
    std::filesystem::path found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      EXPECT_TRUE(found.empty());
      found = entry.path();
    }
    return found;
  }

  std::string parent_, folder_;
};

TEST_F(CubinCacheTest, KeepsWhatWasCompiled) {
  EXPECT_EQ(compiled(), 1u);
  EXPECT_EQ(compiled(), 0u);
  EXPECT_THAT(only_file().filename().string(), HasSubstr("-sm_80-F32.cubin"));
  struct stat found {};
  ASSERT_EQ(stat(folder_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700u);
}

TEST_F(CubinCacheTest, BelievesNoFileThatIsNotWhole) {
  EXPECT_EQ(compiled(), 1u);
  const auto file = only_file();
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  EXPECT_EQ(compiled(), 1u);
  EXPECT_EQ(compiled(), 0u);
  std::fstream(file, std::ios::in | std::ios::out).seekp(40) << "x";
  EXPECT_EQ(compiled(), 1u);
}

TEST_F(CubinCacheTest, BelievesNothingThatOthersCanWrite) {
  EXPECT_EQ(compiled(), 1u);
  const auto file = only_file();
  std::filesystem::permissions(file, std::filesystem::perms(0666));
  EXPECT_EQ(compiled(), 1u);
  EXPECT_EQ(compiled(), 0u);
  std::filesystem::permissions(folder_, std::filesystem::perms(0777));
  EXPECT_EQ(compiled(), 1u);
  EXPECT_EQ(compiled(), 1u);
  std::filesystem::permissions(folder_, std::filesystem::perms(0700));
  std::filesystem::rename(file, parent_ + "/elsewhere");
  std::filesystem::create_symlink(parent_ + "/elsewhere", file);
  EXPECT_EQ(compiled(), 1u);
}

TEST_F(CubinCacheTest, AFolderThatCannotBeMadeIsNoTrouble) {
  folder_ = "/proc/nanscope";
  EXPECT_EQ(compiled(), 1u);
  folder_ = "";
  EXPECT_EQ(compiled(), 1u);
}

}  // namespace
}  // namespace nanscope::torch_adapter
