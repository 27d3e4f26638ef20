// The kernel of cuda_probe.cu, compiled for one architecture and one type.
//
// A cubin and not PTX: an older driver may refuse the PTX of a newer compiler. What was compiled
// is kept in a folder of the user's, by the text, the compiler, the architecture and the type. It
// is code that will run, so a file is believed only if nobody else could have written it and if it
// is whole; else it is compiled again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace nanscope::torch_adapter {

// The text of cuda_probe.cu.
[[nodiscard]] std::string_view cuda_probe_text() noexcept;
// What it calls the type of these elements' components; null for one that it does not read.
[[nodiscard]] const char* cuda_probe_type(DType dtype) noexcept;

// A folder of compiled kernels that only this user can write.
class CubinCache {
 public:
  // Nothing is kept where the name is empty.
  explicit CubinCache(std::string folder) : folder_(std::move(folder)) {}
  // In the user's cache folder; none in a process that has another user's rights.
  [[nodiscard]] static std::string usual_folder();

  [[nodiscard]] std::optional<std::string> read(const std::string& name) const;
  // What cannot be written is not kept; nobody is told.
  void write(const std::string& name, std::string_view cubin) const;

 private:
  std::string folder_;
};

class CudaCubins {
 public:
  CudaCubins(std::vector<std::string> compilers, std::string cache_folder)
      : compilers_(std::move(compilers)), cache_(std::move(cache_folder)) {}

  // `architecture`: 90 for sm_90. Throws why it cannot be compiled.
  [[nodiscard]] std::string cubin(const char* type, int architecture) const;

 private:
  std::vector<std::string> compilers_;
  CubinCache cache_;
};

}  // namespace nanscope::torch_adapter
