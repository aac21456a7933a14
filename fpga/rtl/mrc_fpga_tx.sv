// SPDX-License-Identifier: Apache-2.0

/// Transmission of a lane, from the core's clock to the MAC's: see docs/design/boards/lane.md. A
/// frame leaves when all of it is there, and without a gap; the core is never held longer than
/// WaitCycles cycles. Counters are in the core's clock, 32 bit, and wrap around.
module mrc_fpga_tx #(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned PortBytes = 32,
    parameter int unsigned MaxWords = 70,
    parameter int unsigned Depth = 256,
    parameter int unsigned WaitCycles = 2500,
    localparam int unsigned LenW = $clog2(WordBytes),
    localparam int unsigned CntW = $clog2(Depth) + 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic up_i,
    input logic tvalid_i,
    output logic tready_o,
    input logic [PortBytes*8-1:0] tdata_i,
    input logic [PortBytes-1:0] tkeep_i,
    input logic tlast_i,
    input logic mac_clk_i,
    input logic mac_rst_ni,
    input logic mac_reset_i,
    output logic m_tvalid_o,
    input logic m_tready_i,
    output logic [WordBytes*8-1:0] m_tdata_o,
    output logic [WordBytes-1:0] m_tkeep_o,
    output logic m_tlast_o,
    output logic m_tuser_o,
    output logic [31:0] cnt_frames_o,
    output logic [31:0] cnt_drop_o,
    output logic [31:0] cnt_long_o,
    output logic [31:0] cnt_cut_o,
    output logic [31:0] cnt_flush_o
);

  logic push, in_err, in_last, valid, ready, err, last, cut, flush;
  logic [WordBytes*8-1:0] in_data, data;
  logic [LenW-1:0] in_end, word_end;
  logic [CntW-1:0] free;
  logic [2:0] events;
  logic [2:0][31:0] counts_q, counts_d;

  mrc_fpga_tx_in #(
      .WordBytes(WordBytes),
      .PortBytes(PortBytes),
      .MaxWords(MaxWords),
      .CntW(CntW),
      .WaitCycles(WaitCycles)
  ) u_in (
      .clk_i,
      .rst_ni,
      .up_i,
      .tvalid_i,
      .tready_o,
      .tdata_i,
      .tkeep_i,
      .tlast_i,
      .free_i(free),
      .push_o(push),
      .data_o(in_data),
      .end_o(in_end),
      .err_o(in_err),
      .last_o(in_last),
      .frame_o(events[0]),
      .drop_o(events[1]),
      .long_o(events[2])
  );

  mrc_fpga_afifo #(
      .Width(WordBytes * 8 + LenW + 1),
      .Depth(Depth),
      .ByFrames(1'b1)
  ) u_fifo (
      .wclk_i(clk_i),
      .wrst_ni(rst_ni),
      .push_i(push),
      .last_i(in_last),
      .data_i({in_err, in_end, in_data}),
      .free_o(free),
      .rclk_i(mac_clk_i),
      .rrst_ni(mac_rst_ni),
      .valid_o(valid),
      .ready_i(ready),
      .last_o(last),
      .data_o({err, word_end, data})
  );

  mrc_fpga_tx_out #(
      .WordBytes(WordBytes)
  ) u_out (
      .clk_i(mac_clk_i),
      .rst_ni(mac_rst_ni),
      .mac_reset_i,
      .valid_i(valid),
      .ready_o(ready),
      .data_i(data),
      .end_i(word_end),
      .err_i(err),
      .last_i(last),
      .tvalid_o(m_tvalid_o),
      .tready_i(m_tready_i),
      .tdata_o(m_tdata_o),
      .tkeep_o(m_tkeep_o),
      .tlast_o(m_tlast_o),
      .tuser_o(m_tuser_o),
      .cut_o(cut),
      .flush_o(flush)
  );

  mrc_fpga_events u_cut (
      .src_clk_i(mac_clk_i),
      .src_rst_ni(mac_rst_ni),
      .event_i(cut),
      .dst_clk_i(clk_i),
      .dst_rst_ni(rst_ni),
      .count_o(cnt_cut_o)
  );
  mrc_fpga_events u_flush (
      .src_clk_i(mac_clk_i),
      .src_rst_ni(mac_rst_ni),
      .event_i(flush),
      .dst_clk_i(clk_i),
      .dst_rst_ni(rst_ni),
      .count_o(cnt_flush_o)
  );

  always_comb begin
    counts_d = counts_q;
    for (int unsigned i = 0; i < 3; i++) begin
      counts_d[i] = counts_q[i] + 32'(events[i]);
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      counts_q <= '0;
    end else begin
      counts_q <= counts_d;
    end
  end
  assign {cnt_long_o, cnt_drop_o, cnt_frames_o} = counts_q;

endmodule
