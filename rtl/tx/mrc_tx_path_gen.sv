// SPDX-License-Identifier: Apache-2.0

/// Fills an EV profile by itself (docs/design/blocks/tx/tx_path.md, Gen): AUTO gives a value per
/// cycle, GENERATED one per 32 cycles, a bit in each. No EV is 0: a value 0 is passed over, a
/// second one in a row is written as 8. It begins with row 0 whenever it has been idle. It knows no
/// QP, and does not write: the values are mrc_tx_path's.
module mrc_tx_path_gen
  import mrc_pkg::*;
#(
    parameter int unsigned EvsPerQp = 16,
    localparam int unsigned EvW = $clog2(EvsPerQp)
) (
    input logic clk_i,
    input logic [7:0] bug_i,
    input logic idle_i,  // no operation runs
    input logic run_i,
    input tbl_ev_gen_t cfg_i,
    output logic write_o,  // the value is complete
    output logic [EvW-1:0] row_o,
    output logic [31:0] value_o,
    output logic last_o
);

  logic [EvW-1:0] row_q, row_d;
  logic [4:0] bit_q, bit_d;
  logic [31:0] num_q, num_d;  // the number of the row
  logic [31:0] rest_q, rest_d;  // the bits of num that the row has not used yet
  logic [31:0] out_q, out_d;
  logic zero_q, zero_d;  // the value before was 0, and was passed over
  logic complete;

  function automatic logic [31:0] xorshift(logic [31:0] x);
    logic [31:0] y;
    y = x ^ (x << 13);
    y = y ^ (y >> 17);
    return y ^ (y << 5);
  endfunction

  assign complete = run_i && (!cfg_i.mode || bit_q == 5'd31);
  assign write_o = complete && (out_d != 32'd0 || zero_q);
  assign last_o = write_o && row_q == EvW'(EvsPerQp - 1);
  assign row_o = row_q;
  assign value_o = (out_d == 32'd0) ? 32'd8 : out_d;

  always_comb begin
    row_d = row_q;
    bit_d = bit_q;
    num_d = num_q;
    rest_d = rest_q;
    out_d = out_q;
    zero_d = complete ? !write_o : zero_q;
    if (idle_i) begin
      zero_d = 1'b0;
      row_d = '0;
      bit_d = 5'd0;
      num_d = cfg_i.seed;
      rest_d = cfg_i.seed;
    end else if (run_i) begin
      row_d = write_o ? row_q + EvW'(1) : row_q;
      if (!cfg_i.mode) begin
        num_d = xorshift(num_q);
        // Bits that do not travel are not random: no mark would find its EV.
        out_d = (cfg_i.mask == 32'd0) ? num_d : (num_d & cfg_i.mask) | (cfg_i.init & ~cfg_i.mask);
      end else begin
        bit_d = bit_q + 5'd1;
        out_d[bit_q] = cfg_i.mask[bit_q] ? rest_q[0] : cfg_i.init[bit_q];
        rest_d = cfg_i.mask[bit_q] ? rest_q >> 1 : rest_q;
        if (complete) begin
          // Bug 46: the numbers go on beyond max_val.
          num_d = (num_q == cfg_i.max_val && bug_i != BugGeneratedEvRunsOn) ? 32'd0
              : num_q + 32'd1;
          rest_d = num_d;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    row_q <= row_d;
    bit_q <= bit_d;
    num_q <= num_d;
    rest_q <= rest_d;
    out_q <= out_d;
    zero_q <= zero_d;
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, cfg_i.rsvd1};

endmodule
