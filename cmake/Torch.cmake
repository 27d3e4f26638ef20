# The torches that adapters are built for: those of NANSCOPE_TORCH_DIR, else that of the interpreter.
#
# It is looked up, never fetched: as a build requirement pip would pull another torch into its
# isolated environment. `-I` makes the interpreter ignore what pip puts around it for isolation,
# so that it sees its own site-packages. Torch is not imported: that takes a second and may fail.
# Of a torch only include/, version.py and three libraries are needed; `make wheels` unpacks no more.
set(NANSCOPE_TORCH_DIR "$ENV{NANSCOPE_TORCH_DIR}" CACHE STRING
  "Folders of torch packages, one per minor, or the folder of all header sets; empty: that of the Python interpreter")
# The versions are written down once, where the running package checks them too.
set(support "${PROJECT_SOURCE_DIR}/python/nanscope/support.py")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${support}")

# supported(NAME result): the versions in the line `NAME = (...)` of support.py.
function(supported name result)
  file(STRINGS "${support}" line REGEX "^${name} = ")
  string(REGEX MATCHALL "[0-9]+\\.[0-9]+" versions "${line}")
  set(${result} "${versions}" PARENT_SCOPE)
endfunction()

# torch_version_of(folder version minor)
function(torch_version_of folder version minor)
  file(STRINGS "${folder}/version.py" found REGEX "^__version__ *= *")
  string(REGEX REPLACE "^[^'\"]*['\"]([^'\"]*)['\"].*$" "\\1" found "${found}")
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" found_minor "${found}")
  set(${version} "${found}" PARENT_SCOPE)
  set(${minor} "${found_minor}" PARENT_SCOPE)
endfunction()

supported(TORCH torch_minors)
list(GET torch_minors 0 oldest)
list(GET torch_minors -1 newest)
set(torch_needed "nanscope needs torch ${oldest} to ${newest} in the environment it is installed into")

set(torch_dirs "${NANSCOPE_TORCH_DIR}")
file(GLOB header_sets "${NANSCOPE_TORCH_DIR}/*/torch/version.py")  # as releases.py lays them out
if(NANSCOPE_TORCH_DIR AND header_sets)
  list(TRANSFORM header_sets REPLACE "/version.py$" "" OUTPUT_VARIABLE torch_dirs)
endif()
if(NOT torch_dirs)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -I -c [[
import importlib.util
spec = importlib.util.find_spec("torch")
print(spec.submodule_search_locations[0] if spec else "")]]
    OUTPUT_VARIABLE torch_dirs OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
if(NOT torch_dirs)
  refuse("${torch_needed}: pip install torch==${newest}.0")
endif()
foreach(torch_dir IN LISTS torch_dirs)
  if(NOT EXISTS "${torch_dir}/version.py")
    refuse("${torch_needed}: pip install torch==${newest}.0")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${torch_dir}/version.py")
  torch_version_of("${torch_dir}" torch_version torch_minor)
  if(NOT torch_minor IN_LIST torch_minors)
    refuse("${torch_needed}, this is torch ${torch_version}: pip install torch==${newest}.0")
  endif()
  message(STATUS "Torch ${torch_version} in ${torch_dir}")
endforeach()
