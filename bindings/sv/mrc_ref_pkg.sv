// SPDX-License-Identifier: Apache-2.0
// The judge for SystemVerilog: imports of cmodel/api/mrc_ref.h and mrc_ref_dpi.c, nothing else.
// Times are ps. docs/guide/judge_library.md
//
//   chandle ref = mrc_dpi_open("{\"planes\": 2}", error);
//   void'(mrc_ref_qp_json(ref, "{\"qp\": 16, ...}", $time));
//   void'(mrc_ref_beat(ref, 0, plane, tdata, tkeep, tlast, tuser, $isunknown(tdata), $time));
//   void'(mrc_ref_until(ref, MRC_SRC_ALL, $time));
//   while (mrc_dpi_next(ref, verdict, rule_id, words, frame, when) == 1)
//     $error("%s: %s", rule_id, words);
package mrc_ref_pkg;
  localparam int MRC_PASS = 0, MRC_DEVIATES = 1, MRC_INCONCLUSIVE = 2, MRC_FAIL = 3, MRC_BROKEN = 4;
  localparam int MRC_SRC_HOST = 64, MRC_SRC_VERBS = 65, MRC_SRC_EVENTS = 66, MRC_SRC_ALL = 255;
  localparam int MRC_HOST_READ = 0, MRC_HOST_READ_DONE = 1;
  localparam int MRC_HOST_WRITE = 2, MRC_HOST_VISIBLE = 3;
  localparam int MRC_TO_DEVICE = 0, MRC_FROM_DEVICE = 1;

  import "DPI-C" function chandle mrc_dpi_open(input string profile, output string error);
  import "DPI-C" function void mrc_ref_close(input chandle h);
  import "DPI-C" function string mrc_ref_error(input chandle h);
  import "DPI-C" function string mrc_ref_name();
  import "DPI-C" function int mrc_ref_waive(
      input chandle h, input string rule_id, input string reason);
  import "DPI-C" function int mrc_ref_shows(input chandle h, input longint unsigned event_kinds);
  import "DPI-C" function int mrc_ref_record(input chandle h, input string path);
  import "DPI-C" function int mrc_ref_beat(
      input chandle h, input int dir, input int plane, input bit [511:0] w,
      input longint unsigned keep, input int last, input int err, input int unknown,
      input longint unsigned t);
  import "DPI-C" function int mrc_ref_port(
      input chandle h, input int plane, input int up, input longint unsigned t);
  import "DPI-C" function int mrc_ref_qp_json(
      input chandle h, input string json, input longint unsigned t);
  import "DPI-C" function int mrc_ref_mr_json(
      input chandle h, input string json, input longint unsigned t);
  import "DPI-C" function int mrc_dpi_post(
      input chandle h, input int unsigned qp, input longint unsigned wr_id,
      input longint unsigned addr, input longint unsigned remote, input longint unsigned bytes,
      input int unsigned rkey, input int has_imm, input int unsigned imm,
      input longint unsigned t);
  import "DPI-C" function int mrc_ref_recv(
      input chandle h, input int unsigned qp, input int unsigned count, input longint unsigned t);
  import "DPI-C" function int mrc_dpi_cqe(
      input chandle h, input int unsigned qp, input int receive, input int unsigned status,
      input longint unsigned wr_id, input int unsigned imm, input int unsigned msn,
      input int unsigned rqmsn, input longint unsigned bytes, input longint unsigned t);
  import "DPI-C" function int mrc_dpi_host(
      input chandle h, input int unsigned op, input longint unsigned addr, input bit [511:0] w,
      input int unsigned bytes, input longint unsigned tag, input int unsigned status,
      input longint unsigned t);
  import "DPI-C" function int mrc_dpi_event(
      input chandle h, input int kind, input int unsigned qp, input longint unsigned a0,
      input longint unsigned a1, input longint unsigned a2, input longint unsigned a3,
      input longint unsigned a4, input longint unsigned a5, input longint unsigned t);
  import "DPI-C" function int mrc_ref_counter(
      input chandle h, input string name, input longint unsigned value, input longint unsigned t);
  import "DPI-C" function int mrc_ref_gap(
      input chandle h, input int source, input longint unsigned from, input longint unsigned to,
      input longint unsigned lost, input string reason);
  import "DPI-C" function int mrc_ref_until(
      input chandle h, input int source, input longint unsigned t);
  import "DPI-C" function int mrc_ref_finish(input chandle h, input int cut);
  import "DPI-C" function int mrc_dpi_next(
      input chandle h, output int verdict, output string rule_id, output string words,
      output longint unsigned frame, output longint unsigned t);
  import "DPI-C" function int mrc_ref_verdict(input chandle h);
  import "DPI-C" function longint unsigned mrc_ref_packets(input chandle h);
endpackage
