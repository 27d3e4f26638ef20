// CUDA's driver and its compiler, found where nanscope runs.
//
// Nothing of CUDA is linked, nor needed to build: their functions are looked up by name, and are
// declared here as they are documented. A missing library or function is an exception that says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nanscope::torch_adapter {

// A library, open until the process ends.
class OpenLibrary {
 public:
  // The first of these that can be opened.
  explicit OpenLibrary(const std::vector<std::string>& names);
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 protected:
  template <class Function>
  void find(Function*& function, const char* symbol) {
    function = reinterpret_cast<Function*>(address_of(symbol));
  }

 private:
  [[nodiscard]] void* address_of(const char* symbol) const;

  void* handle_ = nullptr;
  std::string name_;
};

// libcuda.so.1: https://docs.nvidia.com/cuda/cuda-driver-api
struct CudaDriver : OpenLibrary {
  using Status = int;
  using Device = int;
  using Address = unsigned long long;
  using Context = struct OpaqueContext*;
  using Module = struct OpaqueModule*;
  using Function = struct OpaqueFunction*;
  using Stream = struct OpaqueStream*;

  static constexpr int kProcessors = 16;  // attributes of a device
  static constexpr int kMajor = 75;
  static constexpr int kMinor = 76;
  static constexpr unsigned kPortable = 1;  // flags of pinned memory
  static constexpr unsigned kMapped = 2;

  explicit CudaDriver(const std::string& name = "libcuda.so.1");
  // Throws what the driver says of it, unless it went well.
  void check(Status status, const char* what) const;

  Status (*ctx_get_current)(Context*);
  Status (*ctx_get_device)(Device*);
  Status (*device_get_attribute)(int* value, int attribute, Device);
  Status (*module_load_data)(Module*, const void* image);
  Status (*module_unload)(Module);
  Status (*module_get_function)(Function*, Module, const char* name);
  Status (*mem_alloc)(Address*, std::size_t bytes);
  Status (*mem_free)(Address);
  Status (*memset_d8)(Address, unsigned char value, std::size_t bytes);
  Status (*mem_host_alloc)(void**, std::size_t bytes, unsigned flags);
  Status (*mem_free_host)(void*);
  Status (*mem_host_get_device_pointer)(Address*, void* host, unsigned flags);
  Status (*launch_kernel)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, Stream, void** parameters, void** extra);
  Status (*stream_synchronize)(Stream);
  Status (*get_error_string)(Status, const char**);
};

// libnvrtc.so, which comes with torch's wheels for CUDA: https://docs.nvidia.com/cuda/nvrtc
struct CudaCompiler : OpenLibrary {
  using Status = int;
  using Program = struct OpaqueProgram*;

  explicit CudaCompiler(const std::vector<std::string>& names);

  Status (*version)(int* major, int* minor);
  Status (*create_program)(Program*, const char* text, const char* name, int headers,
                           const char* const* header_texts, const char* const* header_names);
  Status (*destroy_program)(Program*);
  Status (*compile_program)(Program, int options, const char* const* option_texts);
  Status (*get_program_log_size)(Program, std::size_t*);
  Status (*get_program_log)(Program, char*);
  Status (*get_cubin_size)(Program, std::size_t*);
  Status (*get_cubin)(Program, char*);
  const char* (*get_error_string)(Status);
};

// Where a compiler may be: loaded already or on the path of libraries, and in the wheels that lie
// beside the one of torch.
[[nodiscard]] std::vector<std::string> names_of_cuda_compilers(const std::string& torch_library);

}  // namespace nanscope::torch_adapter
