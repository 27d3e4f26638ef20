# libnanscope_core.so and the plain programs over it.

# The files of a room are compiled as one: what they include is read once, which is most of the time. A file
# with options of its own stays alone. NANSCOPE_UNITY=OFF compiles each alone, as lint does.
function(compile_rooms_as_one target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(room "${source}" DIRECTORY)
    get_filename_component(room "${room}" NAME)
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${room}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${NANSCOPE_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()

# g++ 12 takes some additions of std::string for overlapping copies (its bug 105651), and what a designated
# initializer leaves to its default for forgotten, which clang does not.
set(warnings -Wall -Wextra $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-missing-field-initializers>)

# It knows neither torch nor Python: `make wheels` and the matrix build it once for all of them.
set(NANSCOPE_CORE "" CACHE FILEPATH "A libnanscope_core.so of this very source; empty: build it")
if(NANSCOPE_CORE)
  add_library(nanscope_core SHARED IMPORTED)
  set_target_properties(nanscope_core PROPERTIES IMPORTED_LOCATION "${NANSCOPE_CORE}"
    INTERFACE_INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/src")
  return()
endif()

include(Libraries)

file(GLOB_RECURSE core_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.cc")
set(main_sources "${core_sources}")
list(FILTER core_sources EXCLUDE REGEX "_(test|main)\\.cc$")
list(FILTER main_sources INCLUDE REGEX "_main\\.cc$")
if(NANSCOPE_FUZZ)  # no fuzz target needs the verbs, which take longest to compile
  list(FILTER core_sources EXCLUDE REGEX "/src/cli/")
  set(main_sources "")
endif()
if(NOT core_sources)
  return()
endif()

# The scan is the hot part. A kernel's instruction set is in its file name; it runs only where the CPU
# has it.
function(set_kernel_options)
  foreach(source IN LISTS ARGN)
    set(options "")
    if(source MATCHES "/(scan|bench)/")
      list(APPEND options "$<$<CONFIG:Release>:-O3>")
    endif()
    if(source MATCHES "_avx2\\.cc$")
      list(APPEND options -mavx2 -mf16c -mfma)
    elseif(source MATCHES "_avx512\\.cc$")
      list(APPEND options -mavx512f -mavx512bw -mavx512vl -mavx512dq)
    endif()
    if(options)  # a precompiled header fits the options it was made with
      set_source_files_properties("${source}" PROPERTIES
        COMPILE_OPTIONS "${options}" SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()
set_kernel_options(${core_sources})

# `nanscope explain` prints the pages of docs/causes; they are part of the library.
file(GLOB cause_pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/causes/*.md")
set(pages_in_cc "${PROJECT_BINARY_DIR}/generated/cause_pages.inc")
add_custom_command(
  OUTPUT "${pages_in_cc}"
  COMMAND "${CMAKE_COMMAND}" "-DPAGES=${PROJECT_SOURCE_DIR}/docs/causes" "-DOUT=${pages_in_cc}"
          -P "${PROJECT_SOURCE_DIR}/cmake/cause_pages.cmake"
  DEPENDS ${cause_pages} "${PROJECT_SOURCE_DIR}/cmake/cause_pages.cmake"
  VERBATIM)
add_custom_target(cause_pages DEPENDS "${pages_in_cc}")

# Shared, so that the binding and the torch adapter see one state. libFuzzer wants one program.
set(core_kind SHARED)
if(NANSCOPE_FUZZ)
  set(core_kind STATIC)
endif()
add_library(nanscope_core ${core_kind} ${core_sources})
add_dependencies(nanscope_core cause_pages)
compile_rooms_as_one(nanscope_core)
target_include_directories(nanscope_core PRIVATE "${PROJECT_BINARY_DIR}/generated")
target_include_directories(nanscope_core PUBLIC "${PROJECT_SOURCE_DIR}/src")
target_precompile_headers(nanscope_core PRIVATE
  <string> <vector> <optional> <unordered_map> <algorithm> <fmt/format.h> <nlohmann/json.hpp>)
target_compile_definitions(nanscope_core PRIVATE NANSCOPE_VERSION="${PROJECT_VERSION}")
target_compile_options(nanscope_core PRIVATE ${warnings} -fno-semantic-interposition)
target_link_libraries(nanscope_core PRIVATE nanscope_fmt nlohmann_json::nlohmann_json nanscope_zlib Threads::Threads)
# Calls inside the core are direct: nobody interposes its functions.
target_link_options(nanscope_core PRIVATE
  -Wl,-Bsymbolic-functions -Wl,--no-undefined "-Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map")
set_target_properties(nanscope_core PROPERTIES LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/exports.map")

# src/cli/nanscope_main.cc is `nanscope-reader`: the readers' verbs for machines without Python.
foreach(source IN LISTS main_sources)
  get_filename_component(name "${source}" NAME_WE)
  string(REGEX REPLACE "_main$" "" name "${name}")
  if(name STREQUAL "nanscope")
    set(name nanscope-reader)
  endif()
  add_executable(${name} "${source}")
  target_compile_options(${name} PRIVATE ${warnings})
  target_link_libraries(${name} PRIVATE nanscope_core)
endforeach()
