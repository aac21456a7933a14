# SPDX-License-Identifier: Apache-2.0
# Compiler, linker and output folders, the same for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # the DUTs are shared objects
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)    # clang-tidy reads them

# The build tree has the layout of an installation, so that bin/mrc finds its DUTs and scripts in both.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}")
set(MRC_DUT_DIR "${CMAKE_INSTALL_LIBDIR}/mrcnic")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${MRC_DUT_DIR}")
set(MRC_DATA_DIR "${CMAKE_INSTALL_DATADIR}/mrcnic")
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_DATADIR}")
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME mrcnic)  # what a package holds; cmake/package.cmake
set(MRC_PACKAGED_PRESETS asic800 tiny)
file(CREATE_LINK "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/${MRC_DATA_DIR}" SYMBOLIC)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "build type" FORCE)
endif()

# One cache serves every clone: paths below this one are told to ccache as seen from the build folder, and no object
# holds another. What a source must know of its clone it includes (clone_paths.hpp): a -D would be of all files.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(MRC_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
    "${CCACHE_PROGRAM}")
  set(CMAKE_C_COMPILER_LAUNCHER "${MRC_LAUNCHER}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${MRC_LAUNCHER}")
endif()
# Nor does __FILE__ name the clone, with ccache or without: an installation leads nowhere back.
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>")
configure_file(cmake/clone_paths.hpp.in "${PROJECT_BINARY_DIR}/clone/clone_paths.hpp" @ONLY)
add_library(mrc_clone_paths INTERFACE)
target_include_directories(mrc_clone_paths INTERFACE "${PROJECT_BINARY_DIR}/clone")

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

option(MRC_WAVE "compile FST tracing into the Verilated RTL" OFF)
option(MRC_COVERAGE "collect line and user coverage of RTL and C++" OFF)
option(MRC_SANITIZE "address and undefined-behaviour sanitizers" OFF)
option(MRC_WIDE "devices with the widest window (tiny) and with 4096 QPs and destinations (asic800), and their tests in lockstep" OFF)
option(MRC_ASSERT "assertions of the RTL in every device; off: in those named _asserted" OFF)

# MRC_CHECK of util/check.hpp: the model asserts what its contracts say.
set(MRC_CHECKS OFF)
if(MRC_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(MRC_CHECKS ON)
endif()

if(MRC_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

# Warnings for our own sources; generated and Verilated ones do not link this.
add_library(mrcnic_warnings INTERFACE)
target_compile_options(mrcnic_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual ${MRC_COMPAT_WARNINGS}
  $<$<CXX_COMPILER_ID:Clang>:-Wno-bitwise-instead-of-logical>)  # | of two bools has no branch
if(MRC_COVERAGE)
  target_compile_options(mrcnic_warnings INTERFACE --coverage)
  add_link_options(--coverage)
endif()

# mrc_together(TARGET): its sources are compiled twenty at a time, since the declarations of the standard library take
# longer than their own code. So what a source has for itself needs a name that no other one of its folder has.
option(MRC_TOGETHER "compile the sources of a library together, for a third of the processor time" OFF)
function(mrc_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${MRC_TOGETHER} UNITY_BUILD_BATCH_SIZE 20)
  # g++ takes sources that it includes for headers, whose classes have no members of types that a file has for itself.
  if(MRC_TOGETHER)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# mrc_library(NAME SOURCES... ): a static library mrcnic_NAME with the include root cmodel/. As MRC_CHECKS says, the
# model's checks are on in it and in all that links it.
function(mrc_library name)
  add_library(mrcnic_${name} STATIC ${ARGN})
  add_library(mrcnic::${name} ALIAS mrcnic_${name})
  set_target_properties(mrcnic_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(mrcnic_${name} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/cmodel>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/mrcnic>")
  target_compile_features(mrcnic_${name} PUBLIC cxx_std_20)
  mrc_together(mrcnic_${name})
  if(MRC_CHECKS)
    target_compile_definitions(mrcnic_${name} PUBLIC MRC_CHECKS=1)
  endif()
  target_link_libraries(mrcnic_${name} PRIVATE "$<BUILD_INTERFACE:mrcnic_warnings>")
endfunction()

# mrc_install(TARGET FOLDER [EXPORT SET]): a program or shared object into FOLDER of an installation. Wherever that is
# moved, it looks for what it is linked with beside the DUTs, too, where a .tar.zst has it.
function(mrc_install target folder)
  file(RELATIVE_PATH beside "/${folder}" "/${MRC_DUT_DIR}")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${beside}" BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS ${target} ${ARGN} RUNTIME_DEPENDENCY_SET mrc_runtime
    RUNTIME DESTINATION "${folder}" LIBRARY DESTINATION "${folder}")
endfunction()

# mrc_glob(VARIABLE PATTERN...): files by pattern, each pattern within one folder. CMake runs again when the
# folder changes; unlike CONFIGURE_DEPENDS that costs a build with nothing to do no time.
function(mrc_glob variable)
  file(GLOB files ${ARGN})
  foreach(pattern ${ARGN})
    get_filename_component(folder "${pattern}" DIRECTORY)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${folder}")
  endforeach()
  set(${variable} "${files}" PARENT_SCOPE)
endfunction()
