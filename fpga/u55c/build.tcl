# SPDX-License-Identifier: Apache-2.0
# Never run through Vivado. Synthesizes mrc_fpga_top for an Alveo U55C out of context, without a project: what it costs,
# and whether it meets 250 MHz and 322 MHz. What stands around it (CMAC, HBM, JTAG-to-AXI) is not here.
#
#   vivado -mode batch -source fpga/u55c/build.tcl -tclargs OUT synth      up to a checkpoint and reports in OUT
#   vivado -mode batch -source fpga/u55c/build.tcl -tclargs OUT route      and placed and routed, still out of context
#
# More arguments are parameters of the top, NAME=VALUE, in place of those below.

set root [file normalize [file join [file dirname [info script]] ../..]]
set part xcu55c-fsvh2892-2L-e
set top mrc_fpga_top
set parameters [dict create Tiny 1'b0 Gen 1'b1 Rings 1'b0 NumPorts 0]

if {[llength $argv] < 2 || [lindex $argv 1] ni {synth route}} {error "usage: build.tcl OUT synth|route \[NAME=VALUE ...\]"}
lassign $argv out how
foreach argument [lrange $argv 2 end] {
  lassign [split $argument =] name value
  dict set parameters $name $value
}
file mkdir $out

# What a list of files names: sources in compile order, and folders of headers.
proc listed {list} {
  global root
  set sources {}
  set includes {}
  set file [open $root/$list]
  foreach line [split [read $file] \n] {
    set line [string trim $line]
    if {$line eq {} || [string match //* $line]} continue
    if {[regexp {^\+incdir\+(.+)$} $line - folder]} {
      lappend includes $root/$folder
    } else {
      lappend sources $root/$line
    }
  }
  close $file
  return [list $sources $includes]
}

lassign [listed fpga/mrc_fpga_top.f] sources includes
foreach source $sources {read_verilog -sv $source}
read_xdc -mode out_of_context $root/fpga/u55c/clocks.xdc
read_xdc $root/fpga/mrc_fpga_lane.xdc

set generics {}
dict for {name value} $parameters {lappend generics $name=$value}
synth_design -top $top -part $part -mode out_of_context -include_dirs $includes -generic $generics \
  -flatten_hierarchy rebuilt
write_checkpoint -force $out/synth.dcp
report_utilization -hierarchical -hierarchical_depth 4 -file $out/synth_utilization.txt
report_timing_summary -max_paths 20 -file $out/synth_timing.txt
report_cdc -details -file $out/synth_cdc.txt
report_exceptions -ignored -file $out/synth_exceptions.txt

if {$how eq {route}} {
  opt_design
  place_design
  phys_opt_design
  route_design
  write_checkpoint -force $out/route.dcp
  report_utilization -hierarchical -hierarchical_depth 4 -file $out/route_utilization.txt
  report_timing_summary -max_paths 20 -file $out/route_timing.txt
  report_route_status -file $out/route_status.txt
}
