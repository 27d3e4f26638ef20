# nanscope._core and nanscope._torch, both over the one shared core, and how they are installed.
if(NOT (CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64"))
  refuse("nanscope needs Linux on x86-64, this is ${CMAKE_SYSTEM_NAME} on ${CMAKE_SYSTEM_PROCESSOR}.")
endif()
find_package(Python COMPONENTS Interpreter QUIET)
if(NOT Python_VERSION MATCHES "^3\\.11\\.")
  refuse("nanscope needs Python 3.11, this is Python ${Python_VERSION}.")
endif()
find_package(Python COMPONENTS Interpreter Development.Module QUIET)
if(NOT Python_Development.Module_FOUND)
  refuse("nanscope needs the headers of Python 3.11 to build: apt-get install python3-dev")
endif()
include(Torch)

execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE nanobind_missing)
if(nanobind_missing)
  refuse("nanscope needs nanobind to build: pip install nanobind==3.1.0")
endif()
find_package(nanobind CONFIG REQUIRED)

if(NOT TARGET nanscope_core)
  return()
endif()

# NOMINSIZE: nanobind would choose -Os.
function(add_python_module name)
  nanobind_add_module(${name} NB_STATIC NOMINSIZE NB_SUPPRESS_WARNINGS ${ARGN})
  target_compile_options(${name} PRIVATE ${warnings} -fvisibility=hidden)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")  # "adapters/python/x.h"
  target_link_libraries(${name} PRIVATE nanscope_core)
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN")
  compile_rooms_as_one(${name})
  install(TARGETS ${name} LIBRARY DESTINATION nanscope COMPONENT nanscope)
endfunction()

file(GLOB binding_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/adapters/python/*.cc")
if(binding_sources)
  add_python_module(_core ${binding_sources})
  nanobind_add_stub(_core_stub MODULE _core OUTPUT _core.pyi
    PYTHON_PATH "$<TARGET_FILE_DIR:_core>" DEPENDS _core)
  install(FILES "${PROJECT_BINARY_DIR}/_core.pyi" DESTINATION nanscope COMPONENT nanscope)
endif()

file(GLOB_RECURSE adapter_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/adapters/torch/*.cc")
list(FILTER adapter_sources EXCLUDE REGEX "_test\\.cc$")
if(adapter_sources)
  add_python_module(_torch ${adapter_sources})
  # The trampolines find a wrapper's members by their offsets, which g++ knows for any class.
  target_compile_options(_torch PRIVATE -O2 -Wno-invalid-offsetof)
  target_compile_definitions(_torch PRIVATE NDEBUG)
  target_link_libraries(_torch PRIVATE nanscope_torch nanscope_fmt)
  # Torch's headers are most of what a file of ours compiles. frames.cc takes Python.h in another way.
  target_precompile_headers(_torch PRIVATE <ATen/core/Tensor.h> <ATen/core/dispatch/Dispatcher.h>
    <torch/csrc/autograd/function.h> <nanobind/nanobind.h> <nanobind/stl/string.h> <nanobind/stl/vector.h>)
  set_source_files_properties(
    "${PROJECT_SOURCE_DIR}/adapters/torch/program/frames.cc"
    "${PROJECT_SOURCE_DIR}/adapters/torch/interpose/trampoline.cc"
    PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)

  # The ABI classes of the kernels, read from torch's own headers.
  set(abi_classes_generator "${PROJECT_SOURCE_DIR}/adapters/torch/interpose/generate_abi_classes.py")
  file(GLOB has_abi_classes_generator CONFIGURE_DEPENDS "${abi_classes_generator}")
  if(has_abi_classes_generator)
    set(abi_classes "${PROJECT_BINARY_DIR}/generated/abi_classes.inc")
    file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/generated")
    add_custom_command(OUTPUT "${abi_classes}"
      COMMAND "${Python_EXECUTABLE}" -I "${abi_classes_generator}" "${torch_dir}/include" "${abi_classes}"
      DEPENDS "${abi_classes_generator}" "${torch_dir}/version.py" VERBATIM)
    # A target of its own: as a source of _torch it would wait, with all of _torch, for the linked core.
    add_custom_target(abi_classes DEPENDS "${abi_classes}")
    add_dependencies(_torch abi_classes)
    target_include_directories(_torch PRIVATE "${PROJECT_BINARY_DIR}/generated")
  endif()
endif()

# Nanobind's own files are made to be compiled as one, too (its nb_combined.cpp).
set_target_properties(nanobind-static PROPERTIES UNITY_BUILD ${NANSCOPE_UNITY} UNITY_BUILD_BATCH_SIZE 0)

install(TARGETS nanscope_core LIBRARY DESTINATION nanscope COMPONENT nanscope)
# What torch's functions do inside: known with the ops, read where source text is.
install(FILES "${PROJECT_SOURCE_DIR}/adapters/torch/ops/composites.py"
  DESTINATION nanscope/telling COMPONENT nanscope)

# What a wheel needs; scikit-build-core builds this and not the tests.
add_custom_target(nanscope_package DEPENDS nanscope_core)
foreach(module _core _core_stub _torch report_page)
  if(TARGET ${module})
    add_dependencies(nanscope_package ${module})
  endif()
endforeach()
