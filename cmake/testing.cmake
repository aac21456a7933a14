# SPDX-License-Identifier: Apache-2.0
find_package(Catch2 3 REQUIRED)

# mrc_test(NAME SOURCES files... LIBS targets... [TIMEOUT seconds])
# One Catch2 executable NAME; each of its test cases becomes a CTest test NAME/case (discover_tests.cmake) whose labels
# are the tags of the case: testpoints of docs/design/testplan.yaml. Debian's Catch2 brings its main compiled.
function(mrc_test name)
  cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;LIBS" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  add_executable(${name} ${T_SOURCES})
  mrc_together(${name})
  target_link_libraries(${name} PRIVATE ${T_LIBS} mrcnic_warnings mrc_clone_paths
    Catch2::Catch2WithMain)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/cmodel")
  # What is tested is compiled as it is shipped; of the tests, most of the compiler's time would go into CHECKs.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")

  # Catch2 3.7's own discovery knows nothing of tags. Who changes the script has all lists written anew.
  set(list "${CMAKE_CURRENT_BINARY_DIR}/${name}_tests.cmake")
  add_custom_command(TARGET ${name} POST_BUILD BYPRODUCTS "${list}" VERBATIM
    COMMAND "${CMAKE_COMMAND}" -D EXECUTABLE=$<TARGET_FILE:${name}> -D LIST=${list} -D TIMEOUT=${T_TIMEOUT}
      -P "${PROJECT_SOURCE_DIR}/cmake/discover_tests.cmake")
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/discover_tests.cmake")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${list}")
endfunction()
