# The libraries of the core: those of the system, or packages of PyPI that carry them.
#
# An install must not need root: where a library is missing, scripts/build_backend.py asks pip for
# its package and puts it on CMAKE_PREFIX_PATH.
set_property(GLOBAL PROPERTY FIND_LIBRARY_USE_LIB64_PATHS TRUE)  # Debian's CMake would pass it over

# cannot_find(name debian_package python_package)
function(cannot_find name debian_package python_package)
  refuse("nanscope needs ${name} to build: apt-get install ${debian_package}, or pip install ${python_package}")
endfunction()

find_package(Threads REQUIRED)

find_package(fmt QUIET)
if(NOT fmt_FOUND)
  cannot_find(fmt libfmt-dev cmeel-fmt)
endif()
if(fmt_VERSION MATCHES "^9\\.")
  add_library(nanscope_fmt STATIC "${PROJECT_SOURCE_DIR}/cmake/fmt_once.cc")
  target_include_directories(nanscope_fmt PUBLIC $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
else()
  add_library(nanscope_fmt INTERFACE)
  target_link_libraries(nanscope_fmt INTERFACE fmt::fmt-header-only)
endif()

find_package(nlohmann_json QUIET)
if(NOT nlohmann_json_FOUND)
  find_path(json_include nlohmann/json.hpp)
  if(NOT json_include)
    cannot_find(nlohmann-json nlohmann-json3-dev nlohmann-json)
  endif()
  add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
  target_include_directories(nlohmann_json::nlohmann_json INTERFACE "${json_include}")
endif()

# Deflated members of a checkpoint. The archive, where there is one that a shared library can take:
# nothing more is needed at run time then. Else libz.so.1, which CPython needs too.
find_path(zlib_include zlib.h)
find_library(zlib_archive libz.a)
find_library(zlib_shared z)
if(zlib_include AND zlib_archive)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS -fPIC)
  set(CMAKE_REQUIRED_LINK_OPTIONS -shared "-Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map")
  set(CMAKE_REQUIRED_INCLUDES "${zlib_include}")
  set(CMAKE_REQUIRED_LIBRARIES "${zlib_archive}")
  check_cxx_source_compiles([[
#include <zlib.h>
extern "C" int nanscope_inflate(z_stream* stream) { return inflateInit2(stream, -15) + inflate(stream, 0); }]]
    zlib_archive_is_for_shared_libraries)
  foreach(setting FLAGS LINK_OPTIONS INCLUDES LIBRARIES)
    unset(CMAKE_REQUIRED_${setting})
  endforeach()
endif()
add_library(nanscope_zlib INTERFACE)
if(zlib_archive_is_for_shared_libraries)
  target_link_libraries(nanscope_zlib INTERFACE "${zlib_archive}")
elseif(zlib_include AND zlib_shared)
  target_link_libraries(nanscope_zlib INTERFACE "${zlib_shared}")
else()
  cannot_find(zlib zlib1g-dev cmeel-zlib)
endif()
target_include_directories(nanscope_zlib SYSTEM INTERFACE "${zlib_include}")
