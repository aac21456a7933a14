// SPDX-License-Identifier: Apache-2.0

/// Registers of mrc_fpga_record, block MRCX behind its header. A write acts in the cycle of w_go_i
/// or is refused by w_good_o = 0; a read is combinational. Contract: docs/design/boards/record.md.
module mrc_fpga_record_regs #(
    parameter int unsigned HostBytes = 64,
    parameter int unsigned WindowLog2 = 10,
    parameter int unsigned CycleW = 48,
    parameter int unsigned BurstWords = 16,
    localparam int unsigned BlockW = 52,
    localparam int unsigned SizeW = 32
) (
    input logic clk_i,
    input logic rst_ni,
    input logic w_go_i,
    input logic [9:0] w_word_i,
    input logic [31:0] w_data_i,
    input logic [3:0] w_strb_i,
    output logic w_good_o,
    input logic [9:0] r_word_i,
    output logic r_good_o,
    output logic [31:0] r_data_o,

    output logic arm_o,
    output logic stop_o,
    output logic [BlockW-1:0] base_o,
    output logic [SizeW-1:0] size_o,
    input logic run_i,
    // 0 idle, 1 armed, 2 records, 3 ends.
    input logic [1:0] state_i,
    input logic [2:0] why_i,
    input logic [63:0] bytes_i,
    input logic [CycleW-1:0] cycles_i,
    input logic [31:0] failed_i,
    input logic [31:0] strays_i
);

  typedef enum logic [9:0] {
    WordControl = 10'h004,
    WordStatus = 10'h005,
    WordShape = 10'h006,
    WordBaseLow = 10'h008,
    WordBaseHigh = 10'h009,
    WordSize = 10'h00a,
    WordBytesLow = 10'h00c,
    WordBytesHigh = 10'h00d,
    WordCyclesLow = 10'h00e,
    WordCyclesHigh = 10'h00f,
    WordFailed = 10'h010,
    WordStrays = 10'h011
  } word_e;

  logic [BlockW-1:0] base_q;
  logic [SizeW-1:0] size_q;
  logic idle, fits, start, stop;
  logic [63:0] base, cycles;

  function automatic logic [31:0] written(logic [31:0] old, logic [31:0] data, logic [3:0] strb);
    for (int unsigned i = 0; i < 4; i++) begin
      written[8*i+:8] = strb[i] ? data[8*i+:8] : old[8*i+:8];
    end
  endfunction

  assign idle = state_i == 2'd0;
  // Up to the last byte of 2^64.
  assign fits = size_q != '0 && {1'b0, base_q} + (BlockW + 1)'(size_q) <= {1'b1, BlockW'(0)};
  assign start = w_word_i == WordControl && w_strb_i[0] && w_data_i[0];
  assign stop = w_word_i == WordControl && w_strb_i[0] && w_data_i[1];
  assign arm_o = w_go_i && start && w_good_o;
  assign stop_o = w_go_i && stop && !start;

  always_comb begin
    unique case (w_word_i)
      WordControl: w_good_o = !start || (idle && !run_i && fits);
      WordBaseLow, WordBaseHigh, WordSize: w_good_o = idle;
      default: w_good_o = 1'b0;
    endcase
  end

  assign base = {base_q, 12'd0};
  assign cycles = 64'(cycles_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      base_q <= '0;
      size_q <= '0;
    end else if (w_go_i && w_good_o) begin
      unique case (w_word_i)
        WordBaseLow: base_q[19:0] <= 20'(written(base[31:0], w_data_i, w_strb_i) >> 12);
        WordBaseHigh: base_q[51:20] <= written(base[63:32], w_data_i, w_strb_i);
        WordSize: size_q <= written(size_q, w_data_i, w_strb_i);
        default: begin
        end
      endcase
    end
  end

  always_comb begin
    r_good_o = 1'b1;
    unique case (r_word_i)
      WordControl: r_data_o = 32'd0;
      WordStatus: r_data_o = {21'd0, why_i, 6'd0, state_i};
      WordShape: r_data_o = {16'(BurstWords), 8'(HostBytes), 8'(WindowLog2)};
      WordBaseLow: r_data_o = base[31:0];
      WordBaseHigh: r_data_o = base[63:32];
      WordSize: r_data_o = size_q;
      WordBytesLow: r_data_o = bytes_i[31:0];
      WordBytesHigh: r_data_o = bytes_i[63:32];
      WordCyclesLow: r_data_o = cycles[31:0];
      WordCyclesHigh: r_data_o = cycles[63:32];
      WordFailed: r_data_o = failed_i;
      WordStrays: r_data_o = strays_i;
      default: begin
        r_data_o = 32'd0;
        r_good_o = 1'b0;
      end
    endcase
  end

  assign base_o = base_q;
  assign size_o = size_q;

endmodule
