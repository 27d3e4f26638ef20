# Stops the configuration with one sentence. The leading blank keeps CMake from breaking it into lines.
function(refuse sentence)
  message(FATAL_ERROR " ${sentence}")
endfunction()

# find_package for libraries that Debian ships: the message of a missing one names its package.
macro(find_debian_package name debian_package)
  find_package(${name} QUIET)
  if(NOT ${name}_FOUND)
    refuse("nanscope needs ${name} to build: apt-get install ${debian_package}")
  endif()
endmacro()
