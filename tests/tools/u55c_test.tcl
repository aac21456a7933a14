# SPDX-License-Identifier: Apache-2.0
# usage: tclsh u55c_test.tcl ROOT OUT [FILE]
#
# fpga/u55c/build.tcl and its constraints without Vivado: every command of theirs is one of those below, with options
# that are listed with it, every file that they name is there, and every port of a constraint is one of the top's. It says
# nothing of what Vivado makes of them. With FILE: that file alone.

lassign $argv root out

# Commands of Vivado, and which options each may have: with a value (1) or without (0).
set commands {
  read_verilog {-sv 0} read_xdc {-mode 1} write_checkpoint {-force 0}
  synth_design {-top 1 -part 1 -mode 1 -include_dirs 1 -generic 1 -flatten_hierarchy 1}
  report_utilization {-hierarchical 0 -hierarchical_depth 1 -file 1} report_timing_summary {-max_paths 1 -file 1}
  report_cdc {-details 0 -file 1} report_exceptions {-ignored 0 -file 1} report_route_status {-file 1}
  opt_design {} place_design {} phys_opt_design {} route_design {}
  create_clock {-name 1 -period 1} set_false_path {-from 1 -to 1} set_max_delay {-datapath_only 0 -from 1 -to 1}
  get_ports {} get_cells {-hierarchical 0 -filter 1} get_pins {-of_objects 1 -filter 1} all_registers {}
}
set known {set proc foreach lassign if lindex llength error dict file open close split string read regexp lappend return
  global continue list info lrange expr puts while incr}

proc fail {text} {
  puts stderr $text
  exit 1
}

# What a call names: its arguments that are no options.
proc arguments {name given} {
  set options [dict get $::commands $name]
  set rest {}
  for {set i 0} {$i < [llength $given]} {incr i} {
    set argument [lindex $given $i]
    if {![string match -* $argument]} {
      lappend rest $argument
    } elseif {![dict exists $options $argument]} {
      fail "$name has the unknown option $argument"
    } elseif {[dict get $options $argument]} {
      dict lappend ::values $argument [lindex $given [incr i]]
    }
  }
  return $rest
}

set file [open $root/fpga/rtl/mrc_fpga_top.sv]
set text [read $file]
close $file
set ports {}
foreach {- port} [regexp -all -inline {(?:input|output) logic (?:\[[^\]]*\] )?(\w+)} $text] {lappend ports $port}
set parameters {}
foreach {- parameter} [regexp -all -inline {\mparameter [^=\n]*?(\w+) =} $text] {lappend parameters $parameter}

proc called {name args} {
  lappend ::calls $name
  set rest [arguments $name $args]
  switch $name {
    read_verilog - read_xdc {
      foreach path $rest {
        if {![file exists $path]} {fail "$name: there is no $path"}
        if {$name eq {read_xdc}} {run $path}
      }
    }
    get_ports {
      foreach pattern $rest {
        regsub {\[\d+\]$} $pattern {} pattern
        if {[lsearch -glob $::ports $pattern] < 0} {fail "the top has no port $pattern"}
      }
    }
    synth_design {
      foreach generic [lindex [dict get $::values -generic] end] {
        if {[lindex [split $generic =] 0] ni $::parameters} {fail "the top has no parameter of $generic"}
      }
      foreach folder [lindex [dict get $::values -include_dirs] end] {
        if {![file isdirectory $folder]} {fail "there is no folder $folder"}
      }
      if {![file exists $::root/fpga/rtl/[lindex [dict get $::values -top] end].sv]} {fail "there is no such top"}
    }
  }
  return $name
}

# Reads a file with those commands, and what Tcl has of its own among those that are known.
proc run {path {arguments {}}} {
  set child [interp create]
  foreach command [$child eval {info commands}] {
    if {$command ni $::known} {$child hide $command}
  }
  foreach name [dict keys $::commands] {$child alias $name called $name}
  $child eval [list set argv $arguments]
  if {[catch {$child invokehidden source $path} error]} {fail "$path: $error"}
  interp delete $child
}

if {[llength $argv] > 2} {
  set values {}
  run [lindex $argv 2]
  exit 0
}

foreach {how reached} {synth report_exceptions route route_design} {
  set calls {}
  set values {}
  run $root/fpga/u55c/build.tcl [list $out $how BuildId=32'h1]
  if {$reached ni $calls} {fail "$how does not come to $reached"}
  if {[llength [lsearch -all $calls create_clock]] != 5} {fail "not five clocks"}
  if {{set_max_delay} ni $calls} {fail "constraints of crossings are not read"}
}
if {[llength [lsearch -all $calls read_verilog]] < 100} {fail "few sources"}

# It sees what is wrong.
foreach {what line} {
  {unknown option} {read_verilog -vhdl a}
  {there is no} {read_verilog -sv no_such_file.sv}
  {has no port} {get_ports clk}
  {has no parameter} {synth_design -top mrc_fpga_top -generic NoSuch=1 -include_dirs .}
  {invalid command} {sinth_design}
} {
  set path $out/wrong.tcl
  set file [open $path w]
  puts $file $line
  close $file
  set code [catch {exec [info nameofexecutable] [info script] $root $out $path} said]
  if {!$code || ![string match *$what* $said]} {fail "'$line' is not refused as '$what': $said"}
}
puts "fpga/u55c: [llength $calls] calls, as they should be"
