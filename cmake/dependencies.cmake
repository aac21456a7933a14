# SPDX-License-Identifier: Apache-2.0
# Everything comes from Debian; tools/packages.txt names the packages.
find_package(ZLIB REQUIRED)
find_package(zstd REQUIRED)
find_package(Boost REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Threads REQUIRED)

# Debian's SystemC brings no CMake package; its library is built as C++17, which units that include it must say.
find_path(SYSTEMC_INCLUDE_DIR systemc REQUIRED)
find_library(SYSTEMC_LIBRARY systemc REQUIRED)
add_library(mrcnic_systemc INTERFACE)
target_include_directories(mrcnic_systemc SYSTEM INTERFACE "${SYSTEMC_INCLUDE_DIR}")
target_compile_definitions(mrcnic_systemc INTERFACE SC_CPLUSPLUS=201703L)
target_link_libraries(mrcnic_systemc INTERFACE "${SYSTEMC_LIBRARY}" Threads::Threads)
