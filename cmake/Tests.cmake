# nanscope_tests: every *_test.cc beside the core. nanscope_thread_tests: every *_threads_test.cc.
# nanscope_adapter_tests: every *_test.cc beside the adapter. scan_bench: every bench/*_bench.cc.
find_debian_package(GTest libgmock-dev)
find_debian_package(benchmark libbenchmark-dev)
enable_testing()

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/src/*_test.cc" "${PROJECT_SOURCE_DIR}/tests/*_test.cc")
if(test_sources AND TARGET nanscope_core)
  add_executable(nanscope_tests ${test_sources})
  compile_rooms_as_one(nanscope_tests)
  target_compile_options(nanscope_tests PRIVATE ${warnings})
  target_compile_definitions(nanscope_tests PRIVATE
    NANSCOPE_VERSION="${PROJECT_VERSION}" NANSCOPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(nanscope_tests PRIVATE
    nanscope_core nanscope_fmt nlohmann_json::nlohmann_json GTest::gmock GTest::gtest_main)
  target_precompile_headers(nanscope_tests PRIVATE
    <string> <vector> <optional> <fmt/format.h> <gmock/gmock.h> <gtest/gtest.h>)
  add_test(NAME nanscope_tests COMMAND nanscope_tests)
endif()

# What threads share, and its tests with threads, alone and quick to build: for ThreadSanitizer.
file(GLOB thread_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/src/watch/*.cc" "${PROJECT_SOURCE_DIR}/src/origin/*.cc")
set(thread_tests "${thread_sources}")
list(FILTER thread_sources EXCLUDE REGEX "_test\\.cc$")
list(FILTER thread_tests INCLUDE REGEX "_threads_test\\.cc$")
if(thread_tests)
  add_executable(nanscope_thread_tests EXCLUDE_FROM_ALL ${thread_sources} ${thread_tests})
  compile_rooms_as_one(nanscope_thread_tests)
  target_include_directories(nanscope_thread_tests PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_compile_options(nanscope_thread_tests PRIVATE ${warnings})
  target_link_libraries(nanscope_thread_tests PRIVATE GTest::gtest_main)
endif()

# The adapter's functions are hidden in its module; a program of the same objects can call them. It embeds
# Python only as far as torch's libraries ask for its symbols.
file(GLOB_RECURSE adapter_test_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/adapters/*_test.cc")
if(adapter_test_sources AND torch_adapters)
  find_package(Python COMPONENTS Interpreter Development.Module Development.Embed QUIET)
  if(NOT TARGET Python::Python)
    refuse("The adapter's unit tests need libpython${python_minor}: apt-get install libpython${python_minor}-dev")
  endif()
  add_executable(nanscope_adapter_tests ${adapter_test_sources} $<TARGET_OBJECTS:${torch_adapter}>)
  add_library(fake_cuda MODULE "${PROJECT_SOURCE_DIR}/tests/device/fake_cuda.cc")
  # Its fibers jump between stacks, which a fortified longjmp takes for an error.
  target_compile_options(fake_cuda PRIVATE -O1 -U_FORTIFY_SOURCE -Wno-unknown-pragmas)
  set_property(SOURCE "${PROJECT_SOURCE_DIR}/tests/device/fake_cuda.cc" APPEND PROPERTY
    OBJECT_DEPENDS "${PROJECT_SOURCE_DIR}/adapters/torch/device/cuda_probe.cu")
  add_dependencies(nanscope_adapter_tests fake_cuda)
  target_compile_definitions(nanscope_adapter_tests PRIVATE
    NANSCOPE_FAKE_CUDA="$<TARGET_FILE:fake_cuda>")
  target_compile_options(nanscope_adapter_tests PRIVATE ${warnings})
  target_include_directories(nanscope_adapter_tests PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(nanscope_adapter_tests PRIVATE
    nanscope_core ${torch_adapter}_torch nanobind-static Python::Python GTest::gmock GTest::gtest_main)
  set_target_properties(nanscope_adapter_tests PROPERTIES BUILD_RPATH "${torch_dir}/lib")
  add_test(NAME nanscope_adapter_tests COMMAND nanscope_adapter_tests)
endif()

file(GLOB bench_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*_bench.cc")
if(bench_sources AND TARGET nanscope_core)
  set_kernel_options(${bench_sources})
  add_executable(scan_bench ${bench_sources})
  target_compile_options(scan_bench PRIVATE ${warnings})
  target_link_libraries(scan_bench PRIVATE nanscope_core benchmark::benchmark benchmark::benchmark_main)
endif()
