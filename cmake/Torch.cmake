# Torch of the interpreter that nanscope is built for, as target nanscope_torch.
#
# It is looked up, never fetched: as a build requirement pip would pull another torch into its
# isolated environment. `-I` makes the interpreter ignore what pip puts around it for isolation,
# so that it sees its own site-packages. Torch is not imported: that takes a second and may fail.
set(NANSCOPE_TORCH_DIR "$ENV{NANSCOPE_TORCH_DIR}" CACHE PATH
  "Folder of the torch package; empty: that of the Python interpreter")
# The version is written down once, where the running package checks it too.
set(support "${PROJECT_SOURCE_DIR}/python/nanscope/support.py")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${support}")
file(STRINGS "${support}" wanted REGEX "^TORCH = ")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" wanted "${wanted}")
set(torch_needed "nanscope needs torch ${wanted} in the environment it is installed into")

set(torch_dir "${NANSCOPE_TORCH_DIR}")
if(NOT torch_dir)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -I -c [[
import importlib.util
spec = importlib.util.find_spec("torch")
print(spec.submodule_search_locations[0] if spec else "")]]
    OUTPUT_VARIABLE torch_dir OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
if(NOT EXISTS "${torch_dir}/version.py")
  refuse("${torch_needed}: pip install torch==${wanted}.0")
endif()
file(STRINGS "${torch_dir}/version.py" torch_version REGEX "^__version__ *= *")
string(REGEX REPLACE "^[^'\"]*['\"]([^'\"]*)['\"].*$" "\\1" torch_version "${torch_version}")
string(REGEX MATCH "^[0-9]+\\.[0-9]+" torch_minor "${torch_version}")
if(NOT torch_minor STREQUAL wanted)
  refuse("${torch_needed}, this is torch ${torch_version}: pip install torch==${wanted}.0")
endif()
message(STATUS "Torch ${torch_version} in ${torch_dir}")

# No search path to torch at run time: `import torch` comes first and has loaded these libraries.
add_library(nanscope_torch INTERFACE)
target_include_directories(nanscope_torch SYSTEM INTERFACE
  "${torch_dir}/include" "${torch_dir}/include/torch/csrc/api/include")
target_link_libraries(nanscope_torch INTERFACE
  "${torch_dir}/lib/libc10.so" "${torch_dir}/lib/libtorch_cpu.so" "${torch_dir}/lib/libtorch_python.so")
