# SPDX-License-Identifier: Apache-2.0
# cmake -D EXECUTABLE=... -D LIST=... -D TIMEOUT=... -P discover_tests.cmake
# Asks a Catch2 executable for its test cases and writes them down for CTest, tags as labels. Names have no blanks, at
# which CTest's list of costs would end them. "lane: what fits, arrives" of test_fpga is
# test_fpga/lane/what_fits_arrives. tools/testplan.py holds all tests to it.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND "${EXECUTABLE}" --list-tests --reporter json
  OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
get_filename_component(executable_name "${EXECUTABLE}" NAME)
string(JSON tests GET "${listing}" listings tests)
string(JSON count LENGTH "${tests}")
set(script "")
if(count GREATER 0)
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    string(JSON name GET "${tests}" ${index} name)
    string(JSON tags GET "${tests}" ${index} tags)
    string(JSON tag_count LENGTH "${tags}")
    set(labels "")
    if(tag_count GREATER 0)
      math(EXPR last_tag "${tag_count} - 1")
      foreach(tag_index RANGE ${last_tag})
        string(JSON tag GET "${tags}" ${tag_index})
        list(APPEND labels "${tag}")
      endforeach()
    endif()
    string(REPLACE ": " "/" ctest_name "${executable_name}/${name}")
    string(REPLACE "'" "" ctest_name "${ctest_name}")
    string(REPLACE "C++" "Cpp" ctest_name "${ctest_name}")
    string(REGEX REPLACE "[^A-Za-z0-9./_-]+" "_" ctest_name "${ctest_name}")
    string(REGEX REPLACE "_+$" "" ctest_name "${ctest_name}")
    string(REGEX REPLACE "_*/_*" "/" ctest_name "${ctest_name}")
    # Characters that a Catch2 test specification would interpret.
    string(REGEX REPLACE "([][,\\*])" "\\\\\\1" specification "${name}")
    string(APPEND script "add_test(${ctest_name} [==[${EXECUTABLE}]==] [==[${specification}]==])\n"
      "set_tests_properties(${ctest_name} PROPERTIES TIMEOUT ${TIMEOUT} LABELS [==[${labels}]==])\n")
  endforeach()
endif()
file(WRITE "${LIST}" "${script}")
