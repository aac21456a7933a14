# SPDX-License-Identifier: Apache-2.0
# The RTL as shared objects that speak the C ABI of tb/mrc_dut.h.

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

# mrc_verilated_dut(PRESET): libmrc_dut_rtl_PRESET.so out of rtl/gen/mrc_nic_PRESET.sv.
# To be called from the top folder: rtl/mrc_nic.f names files from there.
function(mrc_verilated_dut preset)
  set(top mrc_nic_${preset})
  set(dut mrc_dut_rtl_${preset})
  string(TOUPPER ${preset} preset_macro)

  message(NOTICE "-- Verilating ${top}")
  add_library(V${top} STATIC)
  verilate(V${top} PREFIX V${top} TOP_MODULE ${top}
    SOURCES rtl/lint/verilator.vlt rtl/gen/${top}.sv
    VERILATOR_ARGS -f rtl/mrc_nic.f ${MRC_VERILATOR_ARGS}
    OPT_FAST ${MRC_VERILATED_OPT_FAST} OPT_GLOBAL -O2 OPT_SLOW -O1)
  set_target_properties(V${top} PROPERTIES CXX_VISIBILITY_PRESET hidden)

  add_library(${dut} MODULE tb/dut/verilated_dut.cpp)
  target_compile_definitions(${dut} PRIVATE
    MRC_PRESET_${preset_macro} MRC_PRESET_NAME="${preset}"
    MRC_TOP=V${top} MRC_TOP_HEADER="V${top}.h"
    VM_TRACE=$<BOOL:${MRC_WAVE}> VM_TRACE_FST=$<BOOL:${MRC_WAVE}> VM_COVERAGE=$<BOOL:${MRC_COVERAGE}>)
  target_include_directories(${dut} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/cmodel")
  target_include_directories(${dut} SYSTEM PRIVATE
    $<TARGET_PROPERTY:V${top},INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(${dut} PRIVATE V${top} mrcnic_warnings ZLIB::ZLIB)
  # Several DUTs live in one process; each keeps its Verilator runtime to itself.
  set_target_properties(${dut} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_options(${dut} PRIVATE
    "LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/dut.map"
    $<$<NOT:$<BOOL:${MRC_SANITIZE}>>:LINKER:-z,defs>)
  set_target_properties(${dut} PROPERTIES LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/dut.map")
  install(TARGETS ${dut} LIBRARY DESTINATION "${MRC_DUT_DIR}")
endfunction()
