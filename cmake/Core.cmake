# libnanscope_core.so and the plain programs over it.
find_debian_package(fmt libfmt-dev)
find_debian_package(CLI11 libcli11-dev)
find_debian_package(nlohmann_json nlohmann-json3-dev)

file(GLOB_RECURSE core_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.cc")
set(main_sources "${core_sources}")
list(FILTER core_sources EXCLUDE REGEX "_(test|main)\\.cc$")
list(FILTER main_sources INCLUDE REGEX "_main\\.cc$")
if(NOT core_sources)
  return()
endif()

# A kernel's instruction set is in its file name; it runs only where the CPU has it.
function(set_instruction_sets)
  foreach(source IN LISTS ARGN)
    if(source MATCHES "_avx2\\.cc$")
      set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "-mavx2;-mf16c;-mfma")
    elseif(source MATCHES "_avx512\\.cc$")
      set_source_files_properties("${source}" PROPERTIES
        COMPILE_OPTIONS "-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq")
    endif()
  endforeach()
endfunction()
set_instruction_sets(${core_sources})

# g++ 12 takes some additions of std::string for overlapping copies (its bug 105651).
set(warnings -Wall -Wextra $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)

# Shared, so that the binding and the torch adapter see one state. libFuzzer wants one program.
set(core_kind SHARED)
if(NANSCOPE_FUZZ)
  set(core_kind STATIC)
endif()
add_library(nanscope_core ${core_kind} ${core_sources})
target_include_directories(nanscope_core PUBLIC "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
target_compile_definitions(nanscope_core PRIVATE NANSCOPE_VERSION="${PROJECT_VERSION}")
target_compile_options(nanscope_core PRIVATE ${warnings} -fno-semantic-interposition)
target_link_libraries(nanscope_core PRIVATE fmt::fmt-header-only CLI11::CLI11 nlohmann_json::nlohmann_json)
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
