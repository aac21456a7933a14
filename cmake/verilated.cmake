# SPDX-License-Identifier: Apache-2.0
# The RTL as shared objects that speak the C ABI of api/mrc_dut.h.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_program(VERILATOR_BIN verilator_bin REQUIRED)
execute_process(COMMAND "${VERILATOR_BIN}" --getenv VERILATOR_ROOT
  OUTPUT_VARIABLE verilator_root OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${VERILATOR_BIN}" --version OUTPUT_VARIABLE verilator_version COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "[0-9]+\\.[0-9]+" verilator_version "${verilator_version}")
get_filename_component(MRC_ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)

# How the model is verilated: speed by default, what the flavour is for otherwise. One optimization makes wrong code of
# some trees of gates, up to 5.026 at least (docs/design/gates.md).
set(MRC_VERILATOR_SAFE -fno-const-bit-op-tree)
set(MRC_VERILATOR_ARGS -O3 ${MRC_VERILATOR_SAFE} --x-assign fast --x-initial fast --output-split 20000)
set(MRC_VERILATED_OPT_FAST -O2)
set(MRC_VERILATED_OPT_UNIT -O1)  # runs for 40 % longer, and takes the compiler half of the time
# Verilated functions store to thousands of members. For each load g++ would look up to 1000 stores back, which is half
# of its time. Nothing runs faster for it (CONTRIBUTING.md, What building costs).
set(MRC_VERILATED_OPT_ALL $<$<CXX_COMPILER_ID:GNU>:--param=sccvn-max-alias-queries-per-access=50>)
set(MRC_VERILATED_RUNTIME verilated.cpp verilated_threads.cpp)
if(MRC_WAVE)
  list(APPEND MRC_VERILATOR_ARGS --trace-fst --trace-structs)
  list(APPEND MRC_VERILATED_RUNTIME verilated_fst_c.cpp)
endif()
if(MRC_COVERAGE)
  list(APPEND MRC_VERILATOR_ARGS --coverage-line --coverage-user -DMRC_COVER)
  list(APPEND MRC_VERILATED_RUNTIME verilated_cov.cpp)
endif()
if(MRC_SANITIZE)
  set(MRC_VERILATOR_ARGS ${MRC_VERILATOR_SAFE})
  set(MRC_VERILATED_OPT_FAST -O1)
endif()

# What everything Verilated needs: Verilator's headers, and its runtime, compiled once for all DUTs. Several DUTs
# live in one process; each keeps the runtime to itself.
add_library(mrc_verilated_headers INTERFACE)
target_include_directories(mrc_verilated_headers SYSTEM INTERFACE
  "${verilator_root}/include" "${verilator_root}/include/vltstd")
target_compile_definitions(mrc_verilated_headers INTERFACE
  VM_COVERAGE=$<BOOL:${MRC_COVERAGE}> VM_SC=0
  VM_TRACE=$<BOOL:${MRC_WAVE}> VM_TRACE_VCD=0 VM_TRACE_FST=$<BOOL:${MRC_WAVE}>)
target_compile_features(mrc_verilated_headers INTERFACE cxx_std_20)
target_link_libraries(mrc_verilated_headers INTERFACE Threads::Threads ZLIB::ZLIB)

# mrc_verilated(TARGET SOURCES...): Verilated sources as objects for a DUT.
function(mrc_verilated target)
  add_library(${target} OBJECT ${ARGN})
  target_link_libraries(${target} PUBLIC mrc_verilated_headers)
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE ${MRC_VERILATED_OPT_ALL}
    $<$<CXX_COMPILER_ID:Clang>:-Wno-parentheses-equality>)
  if(MRC_SANITIZE)
    target_compile_options(${target} PRIVATE ${MRC_COMPAT_VERILATED_SANITIZED})
  endif()
endfunction()

list(TRANSFORM MRC_VERILATED_RUNTIME PREPEND "${verilator_root}/include/")
mrc_verilated(mrc_verilated_runtime ${MRC_VERILATED_RUNTIME})
target_compile_options(mrc_verilated_runtime PRIVATE ${MRC_VERILATED_OPT_FAST}
  -include "${MRC_ROOT}/tb/dut/verilated_hooks.h")

# mrc_verilate(TARGET TOP SOURCES files... [ARGS ...] [PARTS n] [NAME name]): a module, or what a .f file lists,
# Verilated with its assertions, as objects, the fast ones in n sources; file names are relative to the repository. The
# class is V and NAME, or the module's. Whoever links it defines the hooks of tb/dut/verilated_hooks.h. It is for tests
# of seconds; what runs for long is a DUT.
function(mrc_verilate target top)
  cmake_parse_arguments(V "" "PARTS;NAME" "SOURCES;ARGS" ${ARGN})
  if(NOT V_NAME)
    set(V_NAME ${top})
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}")
  if(NOT V_PARTS)
    set(V_PARTS 1)
  endif()
  set(fast)
  math(EXPR last "${V_PARTS} - 1")
  foreach(part RANGE ${last})
    list(APPEND fast "${folder}/fast_${part}.cpp")
  endforeach()
  set(outputs ${fast} "${folder}/slow_0.cpp")
  set(sources)
  foreach(source ${V_SOURCES})
    if(source MATCHES "\\.f$")
      list(APPEND sources -f)
    endif()
    list(APPEND sources ${source})
  endforeach()
  list(TRANSFORM V_SOURCES PREPEND "${MRC_ROOT}/")
  # The header is one of them: who includes it is compiled again in the same build.
  add_custom_command(OUTPUT ${outputs} BYPRODUCTS "${folder}/V${V_NAME}.h" VERBATIM
    COMMAND "${CMAKE_COMMAND}" -D VERILATOR=${VERILATOR_BIN} -D FOLDER=${folder} -D PREFIX=V${V_NAME}
      -D FAST=${V_PARTS} -D SLOW=1 -P "${MRC_ROOT}/cmake/verilate.cmake" --
      --top-module ${top} --assert ${V_ARGS} ${MRC_VERILATOR_ARGS} ${sources}
    WORKING_DIRECTORY "${MRC_ROOT}"
    DEPENDS "${MRC_ROOT}/cmake/verilate.cmake" ${V_SOURCES} DEPFILE "${folder}/deps"
    COMMENT "Verilating ${V_NAME}")
  set_source_files_properties(${fast} PROPERTIES COMPILE_OPTIONS "${MRC_VERILATED_OPT_UNIT}")
  set_source_files_properties("${folder}/slow_0.cpp" PROPERTIES COMPILE_OPTIONS -O0)
  mrc_verilated(${target} ${outputs})
  target_include_directories(${target} SYSTEM INTERFACE "${folder}")
endfunction()

# mrc_dut(TARGET PRESET SOURCES files... [VERILATOR_ARGS ...] [DEPENDS files...] [OPT level]): libTARGET.so out
# of sources that hold the module mrc_nic_PRESET. Verilator runs when TARGET is built, in the CMakeLists.txt's folder.
# RANDOM: what starts undefined starts at random, by the run's seed, and not at 0. Without OPT a device with assertions
# is compiled as for tests of seconds, unless all devices have them (MRC_ASSERT).
# INSIDE: the sources are our RTL and tb/dut/inside.vlt, and the DUT shows what moves inside.
function(mrc_dut dut preset)
  cmake_parse_arguments(D "INSIDE;RANDOM" "OPT" "SOURCES;VERILATOR_ARGS;DEPENDS" ${ARGN})
  if(NOT D_OPT)
    set(D_OPT ${MRC_VERILATED_OPT_FAST})
    if("--assert" IN_LIST D_VERILATOR_ARGS AND NOT MRC_ASSERT)
      set(D_OPT ${MRC_VERILATED_OPT_UNIT})
    endif()
  endif()
  set(undefined)
  if(D_RANDOM)
    set(undefined --x-assign unique --x-initial unique)
  endif()
  set(top mrc_nic_${preset})
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${dut}")
  set(fast_parts 4)
  set(slow_parts 1)
  foreach(kind fast slow)
    set(${kind})
    math(EXPR last "${${kind}_parts} - 1")
    foreach(part RANGE ${last})
      list(APPEND ${kind} "${folder}/${kind}_${part}.cpp")
    endforeach()
  endforeach()
  # The headers are among them: who includes them is compiled again in the same build.
  add_custom_command(OUTPUT ${fast} ${slow} BYPRODUCTS "${folder}/V${top}.h" "${folder}/assertions.h" VERBATIM
    COMMAND "${CMAKE_COMMAND}" -D VERILATOR=${VERILATOR_BIN} -D FOLDER=${folder} -D PREFIX=V${top}
      -D FAST=${fast_parts} -D SLOW=${slow_parts} -P "${MRC_ROOT}/cmake/verilate.cmake" --
      --top-module ${top} ${D_VERILATOR_ARGS} ${MRC_VERILATOR_ARGS} ${undefined} ${D_SOURCES}
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    DEPENDS "${MRC_ROOT}/cmake/verilate.cmake" ${D_DEPENDS} DEPFILE "${folder}/deps"
    COMMENT "Verilating ${top}")
  set_source_files_properties(${fast} PROPERTIES COMPILE_OPTIONS "${D_OPT}")
  set_source_files_properties(${slow} PROPERTIES COMPILE_OPTIONS -O0)
  mrc_verilated(${dut}_verilated ${fast} ${slow})
  target_include_directories(${dut}_verilated SYSTEM INTERFACE "${folder}")

  add_library(${dut} MODULE "${MRC_ROOT}/tb/dut/verilated_dut.cpp")
  target_compile_definitions(${dut} PRIVATE
    MRC_PRESET_NAME="${preset}" MRC_TOP=V${top} MRC_TOP_HEADER="V${top}.h")
  if(D_RANDOM)
    target_compile_definitions(${dut} PRIVATE MRC_RANDOM_START)
  endif()
  if(D_INSIDE)
    target_compile_definitions(${dut} PRIVATE
      MRC_INSIDE=${top}__DOT__u_nic__DOT__ MRC_INSIDE_HEADER="V${top}___024root.h")
  endif()
  target_include_directories(${dut} PRIVATE "${MRC_ROOT}" "${MRC_ROOT}/cmodel")
  target_link_libraries(${dut} PRIVATE ${dut}_verilated mrc_verilated_runtime)
  set_target_properties(${dut} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON LINK_DEPENDS "${MRC_ROOT}/cmake/dut.map")
  target_link_options(${dut} PRIVATE "LINKER:--version-script=${MRC_ROOT}/cmake/dut.map")
endfunction()

# mrc_rtl_dut(PRESET): libmrc_dut_rtl_PRESET.so out of rtl/gen/mrc_nic_PRESET.sv. To be called from the
# top folder: rtl/mrc_nic.f names files from there. Without MRC_ASSERT it is built for speed, and beside it stands
# libmrc_dut_rtl_PRESET_asserted.so; tiny's for the tests, the others when somebody asks for them.
function(mrc_rtl_dut preset)
  set(duts mrc_dut_rtl_${preset})
  if(NOT MRC_ASSERT)
    list(APPEND duts mrc_dut_rtl_${preset}_asserted)
  endif()
  foreach(dut ${duts})
    set(assertions RANDOM VERILATOR_ARGS --assert)  # unique case, too
    if(NOT MRC_ASSERT AND NOT dut MATCHES "_asserted$")
      set(assertions VERILATOR_ARGS -DMRC_ASSERT_OFF)
    endif()
    mrc_dut(${dut} ${preset} INSIDE ${assertions} -f rtl/mrc_nic.f DEPENDS rtl/mrc_nic.f
      SOURCES rtl/lint/verilator.vlt tb/dut/inside.vlt rtl/gen/mrc_nic_${preset}.sv)
    target_link_libraries(${dut} PRIVATE mrcnic_warnings)
    if(dut MATCHES "_asserted$" AND NOT preset STREQUAL "tiny")
      set_target_properties(${dut} ${dut}_verilated PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
  endforeach()
  set(component "${CMAKE_INSTALL_DEFAULT_COMPONENT_NAME}")
  if(NOT preset IN_LIST MRC_PACKAGED_PRESETS)
    set(component ${preset})
  endif()
  install(TARGETS mrc_dut_rtl_${preset} LIBRARY DESTINATION "${MRC_DUT_DIR}" COMPONENT ${component})
endfunction()

# mrc_stalled_dut(PRESET): libmrc_dut_rtl_PRESET_stalled.so, our RTL with its assertions and words that wait at random
# between its blocks (tools/stalled_rtl.py), a lawful NIC that is not ours cycle by cycle. To be called from the top
# folder.
function(mrc_stalled_dut preset)
  set(dut mrc_dut_rtl_${preset}_stalled)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${dut}_top")
  mrc_glob(specs cmodel/spec/*.yaml cmodel/spec/gen/*.py)
  add_custom_command(OUTPUT "${folder}/mrc_nic.sv" "${folder}/stalled.f" VERBATIM
    COMMAND /usr/bin/python3 "${MRC_ROOT}/tools/stalled_rtl.py" "${folder}"
    DEPENDS tools/stalled_rtl.py tools/rtl.py rtl/gen/mrc_nic.sv rtl/mrc_nic.f ${specs}
    COMMENT "RTL with stalls between its blocks")
  mrc_dut(${dut} ${preset} INSIDE VERILATOR_ARGS --assert -f "${folder}/stalled.f"
    DEPENDS "${folder}/stalled.f" "${folder}/mrc_nic.sv" tb/dut/mrc_stall.sv
    SOURCES rtl/lint/verilator.vlt tb/dut/inside.vlt rtl/gen/mrc_nic_${preset}.sv)
  target_link_libraries(${dut} PRIVATE mrcnic_warnings)
endfunction()

# mrc_sized_dut(DUT PRESET PARAMETER=VALUE...): libDUT.so, our RTL of a preset with other sizes, its assertions on. The
# preset's pins must not change. To be called from the top folder.
function(mrc_sized_dut dut preset)
  set(source "${MRC_ROOT}/rtl/gen/mrc_nic_${preset}.sv")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  file(READ "${source}" text)
  foreach(size ${ARGN})
    string(REPLACE "=" ";" size "${size}")
    list(GET size 0 name)
    list(GET size 1 value)
    if(NOT text MATCHES "unsigned ${name} = [0-9]+")
      message(FATAL_ERROR "${source} has no parameter ${name}")
    endif()
    string(REGEX REPLACE "unsigned ${name} = [0-9]+" "unsigned ${name} = ${value}" text "${text}")
  endforeach()
  set(sized "${CMAKE_CURRENT_BINARY_DIR}/${dut}_top/mrc_nic_${preset}.sv")
  file(CONFIGURE OUTPUT "${sized}" CONTENT "${text}" @ONLY)
  mrc_dut(${dut} ${preset} INSIDE RANDOM VERILATOR_ARGS --assert -f rtl/mrc_nic.f DEPENDS rtl/mrc_nic.f "${sized}"
    SOURCES rtl/lint/verilator.vlt tb/dut/inside.vlt "${sized}")
  target_link_libraries(${dut} PRIVATE mrcnic_warnings)
endfunction()
