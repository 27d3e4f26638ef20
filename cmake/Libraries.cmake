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

# Deflated members of a checkpoint. The archive, where there is one: nothing more is needed at run time then.
set(ZLIB_USE_STATIC_LIBS ON)
find_package(ZLIB QUIET)
if(NOT ZLIB_FOUND)
  set(ZLIB_USE_STATIC_LIBS OFF)
  find_package(ZLIB QUIET)
endif()
if(NOT ZLIB_FOUND)
  cannot_find(zlib zlib1g-dev cmeel-zlib)
endif()
