# SPDX-License-Identifier: Apache-2.0
# cmake -D OUT=file.cpp -D HEADER=header.hpp -D NAMESPACE=a::b -D FUNCTION=f -D FILES=one,two -P embed.cmake
# Writes f(), which gives the names and texts of the files, in this order.
cmake_minimum_required(VERSION 3.25)
string(REPLACE "," ";" files "${FILES}")
set(text "// SPDX-License-Identifier: Apache-2.0\n// Written by cmake/embed.cmake.\n#include \"${HEADER}\"\n\n")
string(APPEND text "namespace ${NAMESPACE} {\n\nstd::span<const EmbeddedFile> ${FUNCTION}() {\n")
string(APPEND text "  static constexpr EmbeddedFile kFiles[] = {\n")
foreach(file ${files})
  file(READ "${file}" content)
  string(FIND "${content}" ")embed\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${file}: holds )embed\", which ends its text in C++")
  endif()
  get_filename_component(name "${file}" NAME_WE)
  string(APPEND text "      {\"${name}\", R\"embed(${content})embed\"},\n")
endforeach()
string(APPEND text "  };\n  return kFiles;\n}\n\n}  // namespace ${NAMESPACE}\n")
file(WRITE "${OUT}" "${text}")
