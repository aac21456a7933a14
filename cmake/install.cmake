# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` gives: mrc with the scripts that it starts, and to other projects find_package(mrcnic) and
# mrcnic.pc. docs/start/install.md says what is where.
include(CMakePackageConfigHelpers)

# The part of the source tree that a user reads, or that mrc reads and starts: at the same places below share/mrcnic.
function(mrc_install_tree) # FOLDER or FILE...
  foreach(name ${ARGN})
    get_filename_component(folder "${MRC_DATA_DIR}/${name}" DIRECTORY)
    if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/${name}")
      install(DIRECTORY "${name}" DESTINATION "${folder}" USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE)
    elseif(name MATCHES "\\.py$")
      install(PROGRAMS "${name}" DESTINATION "${folder}")
    else()
      install(FILES "${name}" DESTINATION "${folder}")
    endif()
  endforeach()
endfunction()
file(GLOB specs RELATIVE "${PROJECT_SOURCE_DIR}" cmodel/spec/*.yaml)
mrc_install_tree(README.md CHANGELOG.md CONTRIBUTING.md LICENSE docs
  rtl fpga Bender.yml mrcnic.core bindings ${specs}
  libmrc/include conformance plans tb/scenarios tools/api.py tools/regress.py tools/regression tools/report tools/gen tools/shrink.py tools/rtl.py
  tools/npm.py tools/wireshark)
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/mrcnic" RENAME copyright)
install(CODE "
  set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  file(CREATE_LINK ../../${CMAKE_INSTALL_BINDIR}/mrc \"\${prefix}/${MRC_DATA_DIR}/mrc\" SYMBOLIC)
  foreach(name README.md CHANGELOG.md docs)
    file(CREATE_LINK ../../mrcnic/\${name} \"\${prefix}/${CMAKE_INSTALL_DATADIR}/doc/mrcnic/\${name}\" SYMBOLIC)
  endforeach()")

set(mrc_libraries)
foreach(name input wire log reference protocol pipeline)
  list(APPEND mrc_libraries mrcnic_${name})
endforeach()
foreach(name util input wire log reference protocol pipeline)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/cmodel/${name}"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/mrcnic"
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
endforeach()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/cmodel/gen"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/mrcnic" FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/cmodel/api"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/mrcnic" FILES_MATCHING PATTERN "*.h")
# mrc_nic.h alone: mrcnic::nic.
add_library(mrc_nic_api INTERFACE)
set_target_properties(mrc_nic_api PROPERTIES EXPORT_NAME nic)
target_include_directories(mrc_nic_api INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/mrcnic>")
install(TARGETS mrc_nic_api EXPORT mrcnicTargets)
mrc_install(mrc_ref "${CMAKE_INSTALL_LIBDIR}" EXPORT mrcnicTargets)
install(TARGETS ${mrc_libraries} EXPORT mrcnicTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")

# Manual pages and completion, which the built mrc writes: it knows its commands, and asks scripts for theirs.
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" -E env \"MRC_ROOT=${PROJECT_SOURCE_DIR}\" \"$<TARGET_FILE:mrc>\" help
  --share \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\" COMMAND_ERROR_IS_FATAL ANY)")

set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/mrcnic")
install(EXPORT mrcnicTargets NAMESPACE mrcnic:: DESTINATION "${config_dir}")
# Component systemc: modules of the fabric, with NICs of every fidelity.
set(mrc_systemc_libraries mrcnic_sim mrcnic_systemc_modules mrcnic_tb mrcnic_cycle
  mrcnic_systemc_pins)
foreach(name sim tb)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${name}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/mrcnic"
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN bench EXCLUDE PATTERN scenarios EXCLUDE)
endforeach()
install(TARGETS ${mrc_systemc_libraries} EXPORT mrcnicSystemcTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT mrcnicSystemcTargets NAMESPACE mrcnic:: DESTINATION "${config_dir}")
configure_package_config_file(cmake/mrcnic-config.cmake.in
  "${PROJECT_BINARY_DIR}/mrcnic-config.cmake" INSTALL_DESTINATION "${config_dir}"
  PATH_VARS MRC_DUT_DIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/mrcnic-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/mrcnic-config.cmake"
  "${PROJECT_BINARY_DIR}/mrcnic-config-version.cmake" DESTINATION "${config_dir}")

# pkg-config: static libraries, the dependent ones first. ${pcfiledir} keeps the tree movable.
list(REVERSE mrc_libraries)
list(TRANSFORM mrc_libraries PREPEND "-l" OUTPUT_VARIABLE MRC_PC_LIBS)
list(JOIN MRC_PC_LIBS " " MRC_PC_LIBS)
configure_file(cmake/mrcnic.pc.in "${PROJECT_BINARY_DIR}/mrcnic.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/mrcnic.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
