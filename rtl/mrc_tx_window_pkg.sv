// SPDX-License-Identifier: Apache-2.0

/// The window of PSNs sent and not yet acknowledged, 64 to a row (docs/blocks/tx_inflight.md): a
/// row, and the arithmetic on PSNs and on the 64 bits of a row that mrc_tx_inflight and
/// mrc_tx_sackrow share. Bit i of a row whose first PSN is p0 is PSN p0+i; p0 is a multiple of 64.
package mrc_tx_window_pkg;

  typedef struct packed {
    logic [63:0] nacked;  // its loss is accounted for already
    logic [63:0] rtxd;  // sent again since it was first sent
    logic [63:0] pend;  // waits to be sent again
    logic [63:0] sacked;  // reported received
  } win_t;

  function automatic logic psn_before(logic [23:0] a, logic [23:0] b);
    logic [23:0] d;
    d = b - a;
    return d != 24'd0 && !d[23];
  endfunction

  // Bits below position n; all of them from 64 on.
  function automatic logic [63:0] below(logic [24:0] n);
    return (n >= 25'd64) ? {64{1'b1}} : ~({64{1'b1}} << n[5:0]);
  endfunction

  // Mask of the bits i with p0+i in [a, b), b at most half the PSN space after a.
  function automatic logic [63:0] range(logic [23:0] p0, logic [23:0] a, logic [23:0] b);
    logic [23:0] from;
    logic [24:0] to;
    from = a - p0;
    to = {1'b0, from} + {1'b0, 24'(b - a)};
    if (from < 24'd64) begin
      return below(to) & ~below({1'b0, from});
    end
    // The range begins behind this word, or before it: then it has wrapped when it gets here.
    return to[24] ? below({1'b0, to[23:0]}) : 64'd0;
  endfunction

  // Number of zeros below the lowest one.
  function automatic logic [5:0] lowest(logic [63:0] x);
    logic [5:0] n;
    logic [31:0] a;
    logic [15:0] b;
    logic [7:0] c;
    logic [3:0] d;
    n[5] = x[31:0] == 32'd0;
    a = n[5] ? x[63:32] : x[31:0];
    n[4] = a[15:0] == 16'd0;
    b = n[4] ? a[31:16] : a[15:0];
    n[3] = b[7:0] == 8'd0;
    c = n[3] ? b[15:8] : b[7:0];
    n[2] = c[3:0] == 4'd0;
    d = n[2] ? c[7:4] : c[3:0];
    n[1] = d[1:0] == 2'd0;
    n[0] = n[1] ? d[3:2] == 2'b10 : !d[0];
    return n;
  endfunction

  // Number of ones, by adding neighbours: pairs, nibbles, bytes, then all eight bytes.
  function automatic logic [6:0] ones(logic [63:0] x);
    logic [63:0] y;
    logic [31:0] z;
    y = (x & {16{4'h5}}) + ((x >> 1) & {16{4'h5}});
    y = (y & {16{4'h3}}) + ((y >> 2) & {16{4'h3}});
    y = (y & {8{8'h0F}}) + ((y >> 4) & {8{8'h0F}});
    z = y[63:32] + y[31:0];
    return 7'(z[7:0] + z[15:8] + z[23:16] + z[31:24]);
  endfunction

endpackage
