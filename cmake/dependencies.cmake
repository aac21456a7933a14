# SPDX-License-Identifier: Apache-2.0
# Everything comes from Debian; tools/packages.txt names the packages.
find_package(ZLIB REQUIRED)
find_package(Boost REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Threads REQUIRED)
find_package(verilator REQUIRED HINTS /usr/share/verilator)
