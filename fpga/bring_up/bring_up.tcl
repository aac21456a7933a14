# SPDX-License-Identifier: Apache-2.0
# Runs a list of fpga/bring_up on a board, by JTAG-to-AXI of Vivado's hardware manager. Never run through Vivado.
#
#   vivado -mode tcl -source fpga/bring_up/bring_up.tcl -tclargs fpga/bring_up/one_cable.list OWN=1 PEER=1
#
# with the hardware target open and the device programmed; the first JTAG-to-AXI master of the device must reach the
# board's AXI4-Lite at address 0 (set ::bring_up_base for another one). With tclsh the same file reads a list and runs it
# against whatever procs axi_read and axi_write do (tests/fpga/first_run/bring_up_test.tcl).

if {![info exists ::bring_up_base]} {set ::bring_up_base 0}

# ---- a board: 32 bits at an address of the map

if {[info commands axi_read] eq {}} {
  proc axi_read {at} {
    set address [format %08x [expr {$::bring_up_base + $at}]]
    create_hw_axi_txn -force bring_up_read [lindex [get_hw_axis] 0] -type read -address $address -len 1
    run_hw_axi [get_hw_axi_txns bring_up_read]
    return [expr {"0x[get_property DATA [get_hw_axi_txns bring_up_read]]"}]
  }
  proc axi_write {at value} {
    set address [format %08x [expr {$::bring_up_base + $at}]]
    create_hw_axi_txn -force bring_up_write [lindex [get_hw_axis] 0] -type write -address $address -len 1 \
      -data [format %08x $value]
    run_hw_axi [get_hw_axi_txns bring_up_write]
  }
}

# ---- a list, line by line

namespace eval bring_up {
  variable constants {} given {} blocks {} step {} shows {} fails {} looks {} said {}

  # Walks the map: where the blocks of each name begin.
  proc walk {} {
    variable blocks
    set blocks {}
    set at 0
    while 1 {
      set id [axi_read $at]
      set name {}
      foreach shift {24 16 8 0} {append name [format %c [expr {$id >> $shift & 0xff}]]}
      dict lappend blocks $name $at
      set next [axi_read [expr {$at + 12}]]
      if {$next == 0} return
      if {$next <= $at} {error "the list of blocks goes back"}
      set at $next
    }
  }

  proc value {text} {
    variable constants
    if {[string index $text 0] eq {$}} {return [dict get $constants [string range $text 1 end]]}
    return [expr {$text + 0}]
  }

  proc place {at} {
    variable blocks
    if {![regexp {^(....)(?:\.(\d+))?:(0x[0-9a-fA-F]+)$} $at - name number offset]} {error "'$at' is no register"}
    if {$number eq {}} {set number 0}
    if {![dict exists $blocks $name] || $number >= [llength [dict get $blocks $name]]} {
      error "the board has no block $at"
    }
    return [expr {[lindex [dict get $blocks $name] $number] + $offset}]
  }

  proc say {text} {
    variable said
    lappend said $text
    puts $text
  }

  # The step has failed: what a person looks at.
  proc failed {what} {
    variable shows; variable fails; variable looks
    say "  FAILED: $what"
    say "  should show: $shows"
    say "  look at: $fails"
    foreach {at text} $looks {
      if {[catch {axi_read [place $at]} got]} {say "  $at: $got"} else {say "  $at = [format 0x%08x $got]  $text"}
    }
    return -code error "bring-up stops"
  }

  proc check {at relation mask wanted got} {
    switch $relation {
      most {set good [expr {$got <= $wanted}]}
      least {set good [expr {$got >= $wanted}]}
      default {set good [expr {($got & $mask) == $wanted}]}
    }
    if {!$good} {failed "$at is [format 0x%08x $got], $relation [format 0x%08x $wanted] of bits [format 0x%08x $mask]"}
  }

  proc line {text} {
    variable constants; variable given; variable step; variable shows; variable fails; variable looks
    if {[string index $text 0] eq {#}} return
    set text [string trim [regsub {   #.*$} $text {}]]
    if {$text eq {}} return
    set words [regexp -all -inline {\S+} $text]
    set key [lindex $words 0]
    set at [lindex $words 1]
    set rest [string trim [string range $text [string length $key] end]]
    set behind [string trim [string range $rest [string length $at] end]]
    switch $key {
      const {if {![dict exists $given $at]} {dict set constants $at [value [lindex $words 2]]}}
      step {
        set step $rest
        lassign {{} {} {}} shows fails looks
        say "step: $step"
      }
      shows {append shows $rest { }}
      fails {append fails $rest { }}
      look {lappend looks $at $behind}
      write {axi_write [place $at] [value [lindex $words 2]]}
      show {say "  $at = [format 0x%08x [axi_read [place $at]]]  $behind"}
      most - least {check $at $key 0xffffffff [value [lindex $words 2]] [axi_read [place $at]]}
      expect {check $at wanted [value [lindex $words 2]] [value [lindex $words 3]] [axi_read [place $at]]}
      poll {
        set mask [value [lindex $words 2]]
        set wanted [value [lindex $words 3]]
        set end [expr {[clock microseconds] + [value [lindex $words 4]]}]
        while {([set got [axi_read [place $at]]] & $mask) != $wanted && [clock microseconds] < $end} {}
        check $at wanted $mask $wanted $got
      }
      default {error "'$key' is not known"}
    }
  }

  # NAME=VALUE takes the place of a constant of the list. Returns 1: every step is as it should be.
  proc run {list arguments} {
    variable constants; variable given; variable said
    lassign {{} {} {}} constants given said
    foreach argument $arguments {
      lassign [split $argument =] name number
      dict set given $name [expr {$number + 0}]
    }
    set constants $given
    set file [open $list]
    set lines [split [read $file] \n]
    close $file
    walk
    foreach text $lines {
      if {[catch {line $text} error]} {
        if {$error ne {bring-up stops}} {say "  FAILED: $error"}
        return 0
      }
    }
    say "all steps are as they should be"
    return 1
  }
}

if {[info exists argv] && [llength $argv] > 0} {
  exit [expr {![bring_up::run [lindex $argv 0] [lrange $argv 1 end]]}]
}
