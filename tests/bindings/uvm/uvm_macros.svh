// SPDX-License-Identifier: Apache-2.0
`define uvm_object_utils(T) typedef uvm_pkg::uvm_object_registry #(T) type_id;
`define uvm_component_utils(T) typedef uvm_pkg::uvm_component_registry #(T) type_id;
`define uvm_info(ID, MSG, VERBOSITY) uvm_pkg::uvm_report(ID, MSG, VERBOSITY);
`define uvm_warning(ID, MSG) uvm_pkg::uvm_report(ID, MSG, 0);
`define uvm_error(ID, MSG) uvm_pkg::uvm_report(ID, MSG, 0);
`define uvm_fatal(ID, MSG) uvm_pkg::uvm_report(ID, MSG, 0);
`define uvm_analysis_imp_decl(SFX) \
  class uvm_analysis_imp``SFX #(type T = int, type IMP = int) extends uvm_port_base #(T); \
    IMP imp; \
    function new(string name, IMP parent); \
      super.new(name); \
      imp = parent; \
    endfunction \
    virtual function void write(T item); \
      imp.write``SFX(item); \
    endfunction \
  endclass
