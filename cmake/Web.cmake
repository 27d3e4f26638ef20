# The report page: web/ bundled into one HTML file, build/_web/report.html, where node 18 or newer is.
#
# Sources are copied into the build tree, so that npm writes nothing into the project. Without node, or
# where npm cannot fetch, the package is built without the page: `report --to html` says how to get it.
option(NANSCOPE_WEB "Build the report page, if node 18 or newer is there" ${NANSCOPE_PYTHON})
if(NANSCOPE_WEB)
  find_program(NODE_EXECUTABLE node)
  find_program(NPM_EXECUTABLE npm)
endif()
set(node_version "")
if(NANSCOPE_WEB AND NODE_EXECUTABLE AND NPM_EXECUTABLE)
  execute_process(COMMAND "${NODE_EXECUTABLE}" --version
    OUTPUT_VARIABLE node_version OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  string(REGEX REPLACE "^v" "" node_version "${node_version}")
endif()
# A source archive carries the page, built.
set(shipped_page "${PROJECT_SOURCE_DIR}/web/report.html")
if(NOT node_version VERSION_GREATER_EQUAL 18 AND NANSCOPE_WEB AND EXISTS "${shipped_page}")
  message(STATUS "With the report page of the source archive")
  install(FILES "${shipped_page}" DESTINATION nanscope/_web COMPONENT nanscope)
  return()
endif()
if(NOT node_version VERSION_GREATER_EQUAL 18)
  message(STATUS "Without the report page: node 18 or newer and npm make it")
  return()
endif()

set(web_build "${PROJECT_BINARY_DIR}/web")
set(web_page "${PROJECT_BINARY_DIR}/_web/report.html")
file(GLOB web_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/web/src/*")
add_custom_command(
  OUTPUT "${web_page}"
  COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}/web" "-DBUILD=${web_build}" "-DOUT=${web_page}"
          "-DNODE=${NODE_EXECUTABLE}" "-DNPM=${NPM_EXECUTABLE}" -P "${PROJECT_SOURCE_DIR}/cmake/build_page.cmake"
  DEPENDS ${web_sources} "${PROJECT_SOURCE_DIR}/web/build.mjs" "${PROJECT_SOURCE_DIR}/web/package-lock.json"
          "${PROJECT_SOURCE_DIR}/cmake/build_page.cmake"
  COMMENT "Bundling the report page" VERBATIM)
add_custom_target(report_page ALL DEPENDS "${web_page}")
install(DIRECTORY "${PROJECT_BINARY_DIR}/_web/" DESTINATION nanscope/_web COMPONENT nanscope)
