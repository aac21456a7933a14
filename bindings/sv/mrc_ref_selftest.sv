// SPDX-License-Identifier: Apache-2.0
// Tells the judge what stands in a file and compares the verdict with the one at the file's end:
// does the DPI of your simulator bring everything through? A monitor makes the same calls.
//   simv +log=bindings/selftest/right.txt
module mrc_ref_selftest;
  import mrc_ref_pkg::*;

  string path, word, line, error, rule_id, words;
  chandle ref_h;
  int file, code, lines, found, verdict, expected, frames;
  int dir, plane, last, err, kind, op, status, receive, has_imm, up, cut;
  int unsigned qp, rkey, imm, msn, rqmsn, bytes32;
  longint unsigned t, keep, addr, tag, wr_id, remote, bytes, value, frame_no, when;
  longint unsigned a0, a1, a2, a3, a4, a5;
  bit [511:0] w;

  task automatic check(input int result);
    if (result < 0) begin
      $display("line %0d: %s: %s", lines, word, mrc_ref_error(ref_h));
      $fatal(1, "the judge refuses a call");
    end
  endtask

  task automatic rest_of_line();
    code = $fgets(line, file);
  endtask

  initial begin
    if (!$value$plusargs("log=%s", path)) $fatal(1, "no +log=FILE is named");
    file = $fopen(path, "r");
    if (file == 0) $fatal(1, "%s cannot be read", path);
    lines = 0;
    expected = -1;
    while ($fscanf(file, "%s", word) == 1) begin
      lines++;
      case (word)
        "profile": begin
          rest_of_line();
          ref_h = mrc_dpi_open(line, error);
          if (ref_h == null) $fatal(1, "profile: %s", error);
        end
        "qp": begin
          code = $fscanf(file, "%d", t);
          rest_of_line();
          check(mrc_ref_qp_json(ref_h, line, t));
        end
        "mr": begin
          code = $fscanf(file, "%d", t);
          rest_of_line();
          check(mrc_ref_mr_json(ref_h, line, t));
        end
        "beat": begin
          code = $fscanf(file, "%d %d %h %d %d %d %h", dir, plane, keep, last, err, t, w);
          check(mrc_ref_beat(ref_h, dir, plane, w, keep, last, err, 0, t));
        end
        "port": begin
          code = $fscanf(file, "%d %d %d", plane, up, t);
          check(mrc_ref_port(ref_h, plane, up, t));
        end
        "post": begin
          code = $fscanf(file, "%d %d %h %h %d %h %d %h %d", qp, wr_id, addr, remote, bytes, rkey,
                         has_imm, imm, t);
          check(mrc_dpi_post(ref_h, qp, wr_id, addr, remote, bytes, rkey, has_imm, imm, t));
        end
        "cqe": begin
          code = $fscanf(file, "%d %d %d %d %h %d %d %d %d", qp, receive, status, wr_id, imm, msn,
                         rqmsn, bytes, t);
          check(mrc_dpi_cqe(ref_h, qp, receive, status, wr_id, imm, msn, rqmsn, bytes, t));
        end
        "host": begin
          code = $fscanf(file, "%d %h %d %d %d %d %h", op, addr, bytes32, tag, status, t, w);
          check(mrc_dpi_host(ref_h, op, addr, w, bytes32, tag, status, t));
        end
        "counter": begin
          code = $fscanf(file, "%s %d %d", line, value, t);
          check(mrc_ref_counter(ref_h, line, value, t));
        end
        "event": begin
          code = $fscanf(file, "%d %d %h %h %h %h %h %h %d", kind, qp, a0, a1, a2, a3, a4, a5, t);
          check(mrc_dpi_event(ref_h, kind, qp, a0, a1, a2, a3, a4, a5, t));
        end
        "until": begin
          code = $fscanf(file, "%d", t);
          check(mrc_ref_until(ref_h, MRC_SRC_ALL, t));
        end
        "end": code = $fscanf(file, "%d %d %d", cut, expected, frames);
        default: $fatal(1, "line %0d: '%s' is not known", lines, word);
      endcase
      if (code <= 0) $fatal(1, "line %0d: '%s' is cut off", lines, word);
    end
    check(mrc_ref_finish(ref_h, cut));
    found = 0;
    while (mrc_dpi_next(ref_h, verdict, rule_id, words, frame_no, when) == 1) begin
      found++;
      $display("%s at %0d ps, frame %0d: %s", rule_id, when, frame_no, words);
    end
    verdict = mrc_ref_verdict(ref_h);
    $display("%s: %0d lines, %0d packets, %0d findings, verdict %0d, expected %0d",
             mrc_ref_name(), lines, mrc_ref_packets(ref_h), found, verdict, expected);
    if (verdict != expected || mrc_ref_packets(ref_h) != longint'(frames))
      $fatal(1, "the judge heard something else than the file says");
    mrc_ref_close(ref_h);
    $finish;
  end
endmodule
