#include "adapters/torch/device/cuda_libraries.h"

#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>

namespace nanscope::torch_adapter {

OpenLibrary::OpenLibrary(const std::vector<std::string>& names) {
  std::string why = "no library to look for";
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      name_ = name;
      return;
    }
    why = dlerror();
  }
  throw std::runtime_error(why);
}

void* OpenLibrary::address_of(const char* symbol) const {
  void* const address = dlsym(handle_, symbol);
  if (address == nullptr) throw std::runtime_error(name_ + " has no function " + symbol);
  return address;
}

// The names with _v2 are those that a program compiled today calls.
CudaDriver::CudaDriver(const std::string& name) : OpenLibrary({name}) {
  find(ctx_get_current, "cuCtxGetCurrent");
  find(ctx_get_device, "cuCtxGetDevice");
  find(device_get_attribute, "cuDeviceGetAttribute");
  find(module_load_data, "cuModuleLoadData");
  find(module_unload, "cuModuleUnload");
  find(module_get_function, "cuModuleGetFunction");
  find(mem_alloc, "cuMemAlloc_v2");
  find(mem_free, "cuMemFree_v2");
  find(memset_d8, "cuMemsetD8_v2");
  find(mem_host_alloc, "cuMemHostAlloc");
  find(mem_free_host, "cuMemFreeHost");
  find(mem_host_get_device_pointer, "cuMemHostGetDevicePointer_v2");
  find(launch_kernel, "cuLaunchKernel");
  find(stream_synchronize, "cuStreamSynchronize");
  find(get_error_string, "cuGetErrorString");
}

void CudaDriver::check(Status status, const char* what) const {
  if (status == 0) return;
  const char* words = nullptr;
  if (get_error_string(status, &words) != 0 || words == nullptr) words = "unknown error";
  throw std::runtime_error(std::string(what) + ": " + words + " (" + std::to_string(status) + ")");
}

CudaCompiler::CudaCompiler(const std::vector<std::string>& names) : OpenLibrary(names) {
  find(version, "nvrtcVersion");
  find(create_program, "nvrtcCreateProgram");
  find(destroy_program, "nvrtcDestroyProgram");
  find(compile_program, "nvrtcCompileProgram");
  find(get_program_log_size, "nvrtcGetProgramLogSize");
  find(get_program_log, "nvrtcGetProgramLog");
  find(get_cubin_size, "nvrtcGetCUBINSize");
  find(get_cubin, "nvrtcGetCUBIN");
  find(get_error_string, "nvrtcGetErrorString");
}

std::vector<std::string> names_of_cuda_compilers(const std::string& torch_library) {
  const std::filesystem::path packages =
      std::filesystem::path(torch_library).parent_path().parent_path().parent_path();
  std::vector<std::string> names;
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"}) {
    names.emplace_back(name);
    for (const char* folder : {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib", "torch/lib"})
      names.push_back((packages / folder / name).string());
  }
  return names;
}

}  // namespace nanscope::torch_adapter
