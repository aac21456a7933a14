# SPDX-License-Identifier: Apache-2.0
# CPack reads this once for each kind of package: which components it holds.
set(CPACK_COMPONENTS_ALL mrcnic)
if(CPACK_GENERATOR STREQUAL "TZST")
  list(APPEND CPACK_COMPONENTS_ALL bundled)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()
