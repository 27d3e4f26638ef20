# nanscope._torch_2_13 and its like: one adapter for each torch minor that Torch.cmake found.
file(GLOB_RECURSE adapter_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/adapters/torch/*.cc")
list(FILTER adapter_sources EXCLUDE REGEX "_test\\.cc$")
set(abi_classes_generator "${PROJECT_SOURCE_DIR}/adapters/torch/interpose/generate_abi_classes.py")

# The text of the kernel for CUDA, as a string: it is compiled where nanscope runs.
set(cuda_probe "${PROJECT_SOURCE_DIR}/adapters/torch/device/cuda_probe.cu")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${cuda_probe}")
file(READ "${cuda_probe}" cuda_probe_text)
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/cuda_probe_text.inc"
  CONTENT "R\"cuda(@cuda_probe_text@)cuda\"\n" @ONLY)

add_custom_target(abi_classes)  # of every adapter: what lint needs to be generated
set_source_files_properties(
  "${PROJECT_SOURCE_DIR}/adapters/torch/program/frames.cc"  # takes Python.h in another way
  "${PROJECT_SOURCE_DIR}/adapters/torch/interpose/trampoline.cc"
  PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)

# add_torch_adapter(name torch_dir): target `name`, and `name`_torch for who compiles against this torch.
function(add_torch_adapter name torch_dir)
  # No search path to torch at run time: `import torch` comes first and has loaded these libraries.
  add_library(${name}_torch INTERFACE)
  target_include_directories(${name}_torch SYSTEM INTERFACE
    "${torch_dir}/include" "${torch_dir}/include/torch/csrc/api/include")
  target_link_libraries(${name}_torch INTERFACE
    "${torch_dir}/lib/libc10.so" "${torch_dir}/lib/libtorch_cpu.so" "${torch_dir}/lib/libtorch_python.so")

  add_python_module(${name} ${adapter_sources})
  # The trampolines find a wrapper's members by their offsets, which g++ knows for any class.
  target_compile_options(${name} PRIVATE -O2 -Wno-invalid-offsetof)
  target_compile_definitions(${name} PRIVATE NDEBUG NANSCOPE_ADAPTER=${name})
  target_link_libraries(${name} PRIVATE ${name}_torch)
  # Torch's headers are most of what a file of ours compiles.
  target_precompile_headers(${name} PRIVATE <ATen/core/Tensor.h> <ATen/core/dispatch/Dispatcher.h>
    <torch/csrc/autograd/function.h> <nanobind/nanobind.h> <nanobind/stl/string.h> <nanobind/stl/vector.h>)

  # The ABI classes of the kernels, read from this torch's own headers.
  set(generated "${PROJECT_BINARY_DIR}/generated/${name}")
  file(MAKE_DIRECTORY "${generated}")
  add_custom_command(OUTPUT "${generated}/abi_classes.inc"
    COMMAND "${Python_EXECUTABLE}" -I "${abi_classes_generator}" "${torch_dir}/include" "${generated}/abi_classes.inc"
    DEPENDS "${abi_classes_generator}" "${torch_dir}/version.py" VERBATIM)
  # A target of its own: as a source of the adapter it would wait, with all of it, for the linked core.
  add_custom_target(${name}_abi_classes DEPENDS "${generated}/abi_classes.inc")
  add_dependencies(${name} ${name}_abi_classes)
  add_dependencies(abi_classes ${name}_abi_classes)
  target_include_directories(${name} PRIVATE "${generated}" "${PROJECT_BINARY_DIR}/generated")
endfunction()

set(torch_adapters "")
foreach(torch_dir IN LISTS torch_dirs)
  torch_version_of("${torch_dir}" torch_version torch_minor)
  string(REPLACE "." "_" adapter "_torch_${torch_minor}")
  add_torch_adapter(${adapter} "${torch_dir}")
  list(APPEND torch_adapters ${adapter})
endforeach()
list(GET torch_dirs 0 torch_dir)
list(GET torch_adapters 0 torch_adapter)  # the unit tests are those of the first
