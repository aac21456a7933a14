# SPDX-License-Identifier: Apache-2.0
# What one version of a compiler, simulator or library needs, and from which version on it can go. Nothing of the kind
# stands elsewhere. README names the systems that are tried.

# g++ 12 warns inside std::string (GCC bug 105651). It goes with g++ 12; whether a later one warns, a build there shows.
# MRC_COMPAT_WARNINGS: options for our own sources.
set(MRC_COMPAT_WARNINGS)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND MRC_COMPAT_WARNINGS -Wno-restrict)
endif()

# g++ 12 takes members of CLI11's, and of a std::map in a std::optional, for uninitialized. MRC_COMPAT_COMMANDS: options
# for the commands, which have both.
set(MRC_COMPAT_COMMANDS)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND MRC_COMPAT_COMMANDS -Wno-maybe-uninitialized)
endif()

# Verilator 5.006 reads one word beyond a wide temporary and masks it away. It goes with 5.006, if a build with
# MRC_SANITIZE under a later Verilator finds nothing. MRC_COMPAT_VERILATED_SANITIZED: options for
# Verilated sources where ours are sanitized.
set(MRC_COMPAT_VERILATED_SANITIZED -fno-sanitize=all)
