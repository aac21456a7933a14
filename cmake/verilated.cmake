# SPDX-License-Identifier: Apache-2.0
# The RTL as shared objects that speak the C ABI of tb/mrc_dut.h.
get_filename_component(MRC_ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)

# How the model is verilated: speed by default, what the flavour is for otherwise.
set(MRC_VERILATOR_ARGS -O3 --x-assign fast --x-initial fast --output-split 20000)
set(MRC_VERILATED_OPT_FAST -O2)
if(MRC_WAVE)
  list(APPEND MRC_VERILATOR_ARGS --trace-fst --trace-structs)
endif()
if(MRC_COVERAGE)
  list(APPEND MRC_VERILATOR_ARGS --coverage-line --coverage-user --assert)
endif()
if(MRC_SANITIZE)
  set(MRC_VERILATOR_ARGS --assert)
  set(MRC_VERILATED_OPT_FAST -O1)
endif()

# mrc_dut(TARGET PRESET SOURCES files... [VERILATOR_ARGS ...] [OPT level]): libTARGET.so out of sources that
# hold the module mrc_nic_PRESET.
function(mrc_dut dut preset)
  cmake_parse_arguments(D "" "OPT" "SOURCES;VERILATOR_ARGS" ${ARGN})
  if(NOT D_OPT)
    set(D_OPT ${MRC_VERILATED_OPT_FAST})
  endif()
  set(top mrc_nic_${preset})
  set(verilated ${dut}_verilated)

  message(NOTICE "-- Verilating ${top}")
  add_library(${verilated} STATIC)
  verilate(${verilated} PREFIX V${top} TOP_MODULE ${top} SOURCES ${D_SOURCES}
    VERILATOR_ARGS ${D_VERILATOR_ARGS} ${MRC_VERILATOR_ARGS}
    OPT_FAST ${D_OPT} OPT_GLOBAL ${D_OPT} OPT_SLOW -O0)

  if(MRC_SANITIZE)
    # Verilator 5.006 reads one word beyond a wide temporary and masks it away; ours is what is sanitized.
    target_compile_options(${verilated} PRIVATE -fno-sanitize=all)
  endif()

  add_library(${dut} MODULE "${MRC_ROOT}/tb/dut/verilated_dut.cpp")
  target_compile_features(${dut} PRIVATE cxx_std_20)
  target_compile_definitions(${dut} PRIVATE
    MRC_PRESET_NAME="${preset}" MRC_TOP=V${top} MRC_TOP_HEADER="V${top}.h"
    VM_TRACE=$<BOOL:${MRC_WAVE}> VM_TRACE_FST=$<BOOL:${MRC_WAVE}> VM_COVERAGE=$<BOOL:${MRC_COVERAGE}>)
  target_include_directories(${dut} PRIVATE "${MRC_ROOT}" "${MRC_ROOT}/cmodel")
  target_include_directories(${dut} SYSTEM PRIVATE
    $<TARGET_PROPERTY:${verilated},INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(${dut} PRIVATE ${verilated} ZLIB::ZLIB)

  # Several DUTs live in one process; each keeps its Verilator runtime to itself.
  set_target_properties(${verilated} ${dut} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_options(${dut} PRIVATE "LINKER:--version-script=${MRC_ROOT}/cmake/dut.map")
  set_target_properties(${dut} PROPERTIES LINK_DEPENDS "${MRC_ROOT}/cmake/dut.map")
endfunction()

# mrc_rtl_dut(PRESET): libmrc_dut_rtl_PRESET.so out of rtl/gen/mrc_nic_PRESET.sv. To be called from the
# top folder: rtl/mrc_nic.f names files from there.
function(mrc_rtl_dut preset)
  mrc_dut(mrc_dut_rtl_${preset} ${preset} VERILATOR_ARGS -f rtl/mrc_nic.f
    SOURCES rtl/lint/verilator.vlt rtl/gen/mrc_nic_${preset}.sv)
  target_link_libraries(mrc_dut_rtl_${preset} PRIVATE mrcnic_warnings)
  install(TARGETS mrc_dut_rtl_${preset} LIBRARY DESTINATION "${MRC_DUT_DIR}")
endfunction()
