# SPDX-License-Identifier: Apache-2.0
# cmake -D SOURCE=folder -D OUT=file.cpp -P built_from.cmake
# Writes kCommit and kChanged of cli/version.hpp: which commit SOURCE is, and whether files of it were changed since. A tree without
# git, or within the repository of something else, has none.
cmake_minimum_required(VERSION 3.25)
function(git result)
  execute_process(COMMAND git -C "${SOURCE}" ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT code EQUAL 0)
    set(said "none")
  endif()
  set(${result} "${said}" PARENT_SCOPE)
endfunction()

set(commit "unknown: built without git")
set(changed false)
git(above rev-parse --show-prefix)
git(head rev-parse --short=12 HEAD)
if(above STREQUAL "" AND NOT head STREQUAL "none")
  set(commit "${head}")
  git(changes status --porcelain --untracked-files=no)
  if(NOT changes STREQUAL "")
    set(changed true)
  endif()
endif()
file(WRITE "${OUT}" "// Written by cmake/built_from.cmake.
#include \"cli/version.hpp\"

namespace mrc::cli {
const char* const kCommit = \"${commit}\";
const bool kChanged = ${changed};
}
")
