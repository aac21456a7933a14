# SPDX-License-Identifier: Apache-2.0
# Packages of an installation: mrcnic_VERSION_ARCHITECTURE.deb, and a .tar.zst that runs from any folder. `mrc package`
# (tools/package.sh) builds what they hold and calls cpack; docs/start/install.md.
# Component mrcnic: what both hold. Component bundled: shared libraries, which the .deb depends on and the .tar.zst
# brings; Debian has static ones of some alone. RTL of a preset that is in no package is a component of its own.
add_custom_target(mrc_installation)
add_dependencies(mrc_installation mrc mrc_host mrc_api_suite mrc_device_host mrc_nic_model mrc_ref ${mrc_libraries} ${mrc_systemc_libraries})
foreach(preset ${MRC_PACKAGED_PRESETS})
  add_dependencies(mrc_installation mrc_dut_rtl_${preset})
endforeach()

install(RUNTIME_DEPENDENCY_SET mrc_runtime COMPONENT bundled EXCLUDE_FROM_ALL
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|gcc_s|stdc[+][+])[.]so"
  RUNTIME DESTINATION "${MRC_DUT_DIR}" LIBRARY DESTINATION "${MRC_DUT_DIR}")
install(CODE "
  foreach(name libfmt[0-9]* libsystemc libtomlplusplus[0-9]* libzstd1 zlib1g)
    file(GLOB license /usr/share/doc/\${name}/copyright)
    if(NOT license)
      message(WARNING \"no license of \${name} in /usr/share/doc; the .tar.zst lacks it\")
      continue()
    endif()
    string(REGEX REPLACE \".*/doc/(.*)/copyright\" \"\\\\1\" name \"\${license}\")
    file(INSTALL \"\${license}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/doc/mrcnic\"
      RENAME \"copyright.\${name}\")
  endforeach()" COMPONENT bundled EXCLUDE_FROM_ALL)

string(TOLOWER "mrcnic-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" CPACK_PACKAGE_FILE_NAME)
set(CPACK_GENERATOR DEB TZST)
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/cmake/package_components.cmake")
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "The authors of mrcnic <maintainers@users.noreply.a-seed-2d208368.example>")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION electronics)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "The model and the Verilated RTL, mrc with all that needs no compiler,
the judge as a library, headers, conformance vectors, the RTL itself, bindings and documents.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3 (>= 3.11), python3-yaml")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "verilator, g++, cmake, gnuplot-nox, iproute2, wireshark-common, python3-jinja2, npm")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
