# Makes the report page: cmake -DSOURCE=web -DBUILD=build/web -DOUT=page.html -DNODE=... -DNPM=... -P build_page.cmake
#
# What npm installs is kept while the lock file is the same.
file(COPY "${SOURCE}/package.json" "${SOURCE}/package-lock.json" "${SOURCE}/build.mjs" DESTINATION "${BUILD}")
file(REMOVE_RECURSE "${BUILD}/src")
file(COPY "${SOURCE}/src" DESTINATION "${BUILD}")

function(run_or_go_without)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${BUILD}"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    get_filename_component(folder "${OUT}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    if(EXISTS "${SOURCE}/report.html")
      file(COPY "${SOURCE}/report.html" DESTINATION "${folder}")
      message(STATUS "With the report page of the source archive")
    else()
      file(WRITE "${OUT}" "")  # an empty page is none
      message(WARNING "nanscope is built without the report page: ${output}")
    endif()
    set(failed TRUE PARENT_SCOPE)
  endif()
endfunction()

file(READ "${SOURCE}/package-lock.json" wanted)
set(installed "")
if(EXISTS "${BUILD}/node_modules/.done")
  file(READ "${BUILD}/node_modules/.done" installed)
endif()
if(NOT installed STREQUAL wanted)
  run_or_go_without("${NPM}" ci --ignore-scripts --omit=dev --include=prod --no-audit --no-fund --loglevel=error)
  if(failed)
    return()
  endif()
  file(WRITE "${BUILD}/node_modules/.done" "${wanted}")
endif()
run_or_go_without("${NODE}" build.mjs "${OUT}")
