#include "adapters/torch/device/cuda_cubins.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "adapters/torch/device/cuda_libraries.h"

namespace nanscope::torch_adapter {
namespace {

constexpr char kText[] =
#include "cuda_probe_text.inc"
    ;

// FNV-1a, to name a file and to know a damaged one.
std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

struct Header {
  std::array<char, 8> magic{'N', 'S', 'C', 'U', 'B', 'I', 'N', '1'};
  std::uint64_t size = 0;
  std::uint64_t hash = 0;
};

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;  // no link to one
constexpr std::uint64_t kMostBytes = 4 << 20;  // of a cubin: they have 20 kB

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

  // Nobody but this user can write it.
  [[nodiscard]] bool is_private(mode_t kind) const {
    struct stat found {};
    return is_open() && fstat(descriptor_, &found) == 0 && (found.st_mode & S_IFMT) == kind &&
           found.st_uid == geteuid() && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  }
  [[nodiscard]] bool read_all(void* to, std::size_t bytes) const {
    for (auto* at = static_cast<char*>(to); bytes > 0;) {
      const ssize_t got = ::read(descriptor_, at, bytes);
      if (got <= 0) return false;
      at += got;
      bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }
  [[nodiscard]] bool write_all(const void* from, std::size_t bytes) const {
    for (const auto* at = static_cast<const char*>(from); bytes > 0;) {
      const ssize_t put = ::write(descriptor_, at, bytes);
      if (put <= 0) return false;
      at += put;
      bytes -= static_cast<std::size_t>(put);
    }
    return true;
  }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// A program of the compiler's, until the end of the scope.
class Compilation {
 public:
  explicit Compilation(const CudaCompiler& compiler) : compiler_(compiler) {
    check(compiler.create_program(&program_, kText, "nanscope_probe.cu", 0, nullptr, nullptr));
  }
  ~Compilation() { compiler_.destroy_program(&program_); }
  Compilation(const Compilation&) = delete;

  std::string compile(const std::vector<std::string>& options) {
    std::vector<const char*> texts;
    for (const std::string& option : options) texts.push_back(option.c_str());
    const auto status =
        compiler_.compile_program(program_, static_cast<int>(texts.size()), texts.data());
    if (status != 0)
      throw std::runtime_error(std::string(compiler_.get_error_string(status)) + ": " + log());
    std::size_t size = 0;
    check(compiler_.get_cubin_size(program_, &size));
    if (size == 0) throw std::runtime_error("the compiler gives no cubin");
    std::string cubin(size, '\0');
    check(compiler_.get_cubin(program_, cubin.data()));
    return cubin;
  }

 private:
  void check(CudaCompiler::Status status) const {
    if (status != 0) throw std::runtime_error(compiler_.get_error_string(status));
  }
  [[nodiscard]] std::string log() const {
    std::size_t size = 0;
    if (compiler_.get_program_log_size(program_, &size) != 0 || size == 0) return "";
    std::string text(size, '\0');
    if (compiler_.get_program_log(program_, text.data()) != 0) return "";
    return text.substr(0, text.find_first_of(std::string_view("\n\0", 2)));
  }

  const CudaCompiler& compiler_;
  CudaCompiler::Program program_ = nullptr;
};

std::string hexadecimal(std::uint64_t number) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  return digits;
}

}  // namespace

std::string_view cuda_probe_text() noexcept { return {kText, sizeof kText - 1}; }

const char* cuda_probe_type(DType dtype) noexcept {
  switch (dtype) {
    case DType::kFloat64:
    case DType::kComplex128:
      return "F64";
    case DType::kFloat32:
    case DType::kComplex64:
      return "F32";
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kComplex32:
      return "F16";
    case DType::kFloat8E5M2:
    case DType::kFloat8E4M3FN:
      return "F8";
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2FNUZ:
      return "FNUZ";
    case DType::kFloat8E8M0FNU:
      return "E8M0";
    case DType::kInteger:
      break;
  }
  return nullptr;
}

std::string CubinCache::usual_folder() {
  if (getauxval(AT_SECURE) != 0) return "";
  for (const auto& [name, below] :
       {std::pair{"XDG_CACHE_HOME", "/nanscope"}, std::pair{"HOME", "/.cache/nanscope"}}) {
    const char* const home = std::getenv(name);
    if (home != nullptr && home[0] == '/') return std::string(home) + below;
  }
  return "";
}

std::optional<std::string> CubinCache::read(const std::string& name) const {
  if (folder_.empty()) return std::nullopt;
  const File folder(open(folder_.c_str(), kFolder));
  if (!folder.is_private(S_IFDIR)) return std::nullopt;
  const File file(openat(folder.descriptor(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.is_private(S_IFREG)) return std::nullopt;
  Header header;
  if (!file.read_all(&header, sizeof header) || header.magic != Header().magic ||
      header.size == 0 || header.size > kMostBytes)
    return std::nullopt;
  std::string cubin(header.size, '\0');
  if (!file.read_all(cubin.data(), cubin.size()) || hash_of(cubin) != header.hash)
    return std::nullopt;
  return cubin;
}

// Under a name of its own first: whoever reads meanwhile finds the whole file or none.
void CubinCache::write(const std::string& name, std::string_view cubin) const {
  if (folder_.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(folder_).parent_path(), error);
  mkdir(folder_.c_str(), 0700);
  const File folder(open(folder_.c_str(), kFolder));
  if (!folder.is_private(S_IFDIR)) return;
  const std::string fresh = name + "." + std::to_string(getpid()) + ".new";
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const File file(openat(folder.descriptor(), fresh.c_str(), flags, 0600));
  if (!file.is_open()) return;
  Header header;
  header.size = cubin.size();
  header.hash = hash_of(cubin);
  if (!file.write_all(&header, sizeof header) || !file.write_all(cubin.data(), cubin.size()) ||
      renameat(folder.descriptor(), fresh.c_str(), folder.descriptor(), name.c_str()) != 0)
    unlinkat(folder.descriptor(), fresh.c_str(), 0);
}

std::string CudaCubins::cubin(const char* type, int architecture) const {
  const CudaCompiler compiler(compilers_);
  int major = 0;
  int minor = 0;
  compiler.version(&major, &minor);
  const std::string name = "probe-" + hexadecimal(hash_of(cuda_probe_text())) + "-nvrtc" +
                           std::to_string(major) + "." + std::to_string(minor) + "-sm_" +
                           std::to_string(architecture) + "-" + type + ".cubin";
  if (std::optional<std::string> kept = cache_.read(name)) return *std::move(kept);
  std::string compiled =
      Compilation(compiler).compile({"--std=c++17", std::string("-DT=") + type,
                                     "--gpu-architecture=sm_" + std::to_string(architecture)});
  cache_.write(name, compiled);
  return compiled;
}

}  // namespace nanscope::torch_adapter
