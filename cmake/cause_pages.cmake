# Writes the pages of docs/causes as C++ literals: cmake -DPAGES=... -DOUT=... -P cause_pages.cmake
file(GLOB pages "${PAGES}/*.md")
set(text "")
foreach(page IN LISTS pages)
  get_filename_component(id "${page}" NAME_WE)
  file(READ "${page}" content)
  string(APPEND text "{\"${id}\", R\"page(${content})page\"},\n")
endforeach()
file(WRITE "${OUT}" "${text}")
