# SPDX-License-Identifier: Apache-2.0
# usage: tclsh bring_up_test.tcl ROOT
#
# fpga/bring_up/bring_up.tcl against a board of registers that are as the list wants them: all of the list runs. Then
# against boards of which one register is not so: the list must stop at the step that reads it, and print what it says.
# At last its calls of the hardware manager, against procs that only note them.

set root [lindex $argv 0]
set argv {}
set list $root/fpga/bring_up/one_cable.list
set starts {0 MRCB 0x1000 MRCN 0x3000 MRCL 0x4000 MRCL 0x5000 MRCH 0x6000 MRCG}
set accesses 0

proc id {name} {
  binary scan $name I value
  return [expr {$value & 0xffffffff}]
}

# Registers by address: what the next expect or poll of the list wants is what is there.
proc axi_read {at} {
  incr ::accesses
  foreach {start name} $::starts next [concat [lmap {a b} [lrange $::starts 2 end] {set a}] 0] {
    if {$at == $start} {return [id $name]}
    if {$at == $start + 12} {return $next}
  }
  if {[dict exists $::broken $at]} {return [dict get $::broken $at]}
  return [expr {[dict exists $::wanted $at] ? [dict get $::wanted $at] : 0}]
}
proc axi_write {at value} {
  incr ::accesses
  dict set ::wanted $at $value
}

source $root/fpga/bring_up/bring_up.tcl

# Before each line of the list its register gets what the line wants.
rename bring_up::line bring_up::list_line
proc bring_up::line {text} {
  if {[regexp {^(expect|poll) (\S+) (\S+) (\S+)} $text - - at - value]} {dict set ::wanted [place $at] [value $value]}
  if {[regexp {^(most|least) (\S+) (\S+)} $text - - at value]} {dict set ::wanted [place $at] [value $value]}
  list_line $text
}

proc demand {condition text} {
  if {!$condition} {
    puts stderr $text
    exit 1
  }
}

# The list, whole.
set wanted {}
set broken {}
demand [bring_up::run $list {OWN=2 PEER=1}] "the list does not run"
demand [expr {$accesses > 220}] "only $accesses accesses"
demand [expr {[dict get $wanted [expr {0x2000 + 0x20}]] == 2}] "OWN is not what was given"

# One register after the other.
foreach {at value step} {
  0x18 0 {the image answers} 0x2004 0x400 {the core runs} 0x3014 0 {both links are up} 0x6058 1 {the first write}
  0x6054 0x11 {the first write} 0x5028 3 {counters agree} 0x6068 99999999 {line rate}
} {
  set wanted {}
  set broken [dict create [expr {$at + 0}] [expr {$value + 0}]]
  # Nobody waits for seconds here.
  rename clock real_clock
  set now 0
  proc clock args {incr ::now 1000000}
  demand [expr {![bring_up::run $list {}]}] "$at is $value, and the list runs"
  rename clock {}
  rename real_clock clock
  demand [expr {[lindex [lsearch -all -inline $bring_up::said {step: *}] end] eq "step: $step"}] \
    "$at is $value: stopped at [lindex [lsearch -all -inline $bring_up::said {step: *}] end]"
  demand [expr {[lsearch $bring_up::said {  look at: *}] >= 0}] "nothing to look at"
}

# The hardware manager's side: each call has the arguments that UG835 names.
rename axi_read {}
rename axi_write {}
set calls {}
foreach name {create_hw_axi_txn run_hw_axi} {proc $name args "lappend ::calls \[concat $name \$args\]"}
proc get_hw_axis {} {return {hw_axi_1}}
proc get_hw_axi_txns {name} {return $name}
proc get_property {what of} {return 0000beef}
set bring_up_base 0x40000000
source $root/fpga/bring_up/bring_up.tcl
demand [expr {[axi_read 0x18] == 0xbeef}] "a read"
axi_write 0x18 0x5a
demand [expr {[llength $calls] == 4}] $calls
demand [expr {[lindex $calls 0] eq
  {create_hw_axi_txn -force bring_up_read hw_axi_1 -type read -address 40000018 -len 1}}] $calls
demand [expr {[lindex $calls 1] eq {run_hw_axi bring_up_read}}] $calls
demand [expr {[lindex $calls 2] eq
  {create_hw_axi_txn -force bring_up_write hw_axi_1 -type write -address 40000018 -len 1 -data 0000005a}}] $calls
puts "bring-up by Tcl: as it should be"
