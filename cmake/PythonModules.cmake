# nanscope._core and the torch adapters, all over the one shared core, and how they are installed.
if(NOT (CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64"))
  refuse("nanscope needs Linux on x86-64, this is ${CMAKE_SYSTEM_NAME} on ${CMAKE_SYSTEM_PROCESSOR}.")
endif()
find_package(Python COMPONENTS Interpreter QUIET)
include(Torch)
supported(PYTHON pythons)
string(REPLACE ";" ", " python_list "${pythons}")
string(REGEX MATCH "^[0-9]+\\.[0-9]+" python_minor "${Python_VERSION}")
if(NOT python_minor IN_LIST pythons)
  refuse("nanscope needs CPython ${python_list}, this is Python ${Python_VERSION}.")
endif()
execute_process(
  COMMAND "${Python_EXECUTABLE}" -c "import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"
  OUTPUT_VARIABLE free_threaded OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(free_threaded)
  refuse("nanscope needs the GIL, this is a free-threaded build of Python ${Python_VERSION}: use the ordinary one.")
endif()
find_package(Python COMPONENTS Interpreter Development.Module QUIET)
if(NOT Python_Development.Module_FOUND)
  refuse("nanscope needs the headers of Python ${python_minor} to build: apt-get install python3-dev")
endif()

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
  # Alone: it takes Python.h in another way (seams/python_frame.h).
  set_source_files_properties("${PROJECT_SOURCE_DIR}/adapters/python/running.cc"
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  add_python_module(_core ${binding_sources})
  nanobind_add_stub(_core_stub MODULE _core OUTPUT _core.pyi
    PYTHON_PATH "$<TARGET_FILE_DIR:_core>" DEPENDS _core)
  install(FILES "${PROJECT_BINARY_DIR}/_core.pyi" DESTINATION nanscope COMPONENT nanscope)
endif()

include(TorchAdapter)

# Nanobind's own files are made to be compiled as one, too (its nb_combined.cpp).
set_target_properties(nanobind-static PROPERTIES UNITY_BUILD ${NANSCOPE_UNITY} UNITY_BUILD_BATCH_SIZE 0)

if(NANSCOPE_CORE)
  install(FILES "${NANSCOPE_CORE}" DESTINATION nanscope COMPONENT nanscope)
else()
  install(TARGETS nanscope_core LIBRARY DESTINATION nanscope COMPONENT nanscope)
endif()
# What torch's functions do, and do inside: known with the ops, read where source text is.
install(FILES "${PROJECT_SOURCE_DIR}/adapters/torch/ops/composites.py"
  "${PROJECT_SOURCE_DIR}/adapters/torch/ops/functions.py"
  DESTINATION nanscope/telling COMPONENT nanscope)

# What a wheel needs; scikit-build-core builds this and not the tests.
add_custom_target(nanscope_package)
if(NOT NANSCOPE_CORE)
  add_dependencies(nanscope_package nanscope_core)
endif()
foreach(module _core _core_stub ${torch_adapters} report_page)
  if(TARGET ${module})
    add_dependencies(nanscope_package ${module})
  endif()
endforeach()
