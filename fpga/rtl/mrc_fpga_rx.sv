// SPDX-License-Identifier: Apache-2.0

/// Reception of a lane, from the MAC's clock to the core's: see docs/design/boards/lane.md. The
/// MAC's side has no ready; what does not fit is dropped by whole frames and counted. Counters are
/// in the core's clock, 32 bit, and wrap around.
module mrc_fpga_rx #(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned PortBytes = 32,
    parameter int unsigned MaxWords = 70,
    parameter int unsigned Depth = 512,
    localparam int unsigned LenW = $clog2(WordBytes),
    localparam int unsigned CntW = $clog2(Depth) + 1
) (
    input logic mac_clk_i,
    input logic mac_rst_ni,
    input logic mac_reset_i,
    input logic s_tvalid_i,
    input logic [WordBytes*8-1:0] s_tdata_i,
    input logic [WordBytes-1:0] s_tkeep_i,
    input logic s_tlast_i,
    input logic s_tuser_i,
    input logic clk_i,
    input logic rst_ni,
    output logic tvalid_o,
    output logic [PortBytes*8-1:0] tdata_o,
    output logic [PortBytes-1:0] tkeep_o,
    output logic tlast_o,
    output logic tuser_o,
    output logic [31:0] cnt_frames_o,
    output logic [31:0] cnt_full_o,
    output logic [31:0] cnt_long_o,
    output logic [31:0] cnt_cut_o,
    output logic [31:0] cnt_bad_o
);

  if (Depth < MaxWords) begin : gen_bad_depth
    $error("%m: Depth must take a largest frame, MaxWords words");
  end

  logic push, in_err, in_last, valid, ready, err, last;
  logic [WordBytes*8-1:0] in_data, data;
  logic [LenW-1:0] in_end, word_end;
  logic [CntW-1:0] free;
  logic [4:0] events;
  logic [4:0][31:0] counts;

  mrc_fpga_rx_in #(
      .WordBytes(WordBytes),
      .MaxWords(MaxWords),
      .CntW(CntW)
  ) u_in (
      .clk_i(mac_clk_i),
      .rst_ni(mac_rst_ni),
      .mac_reset_i,
      .valid_i(s_tvalid_i),
      .data_i(s_tdata_i),
      .keep_i(s_tkeep_i),
      .last_i(s_tlast_i),
      .user_i(s_tuser_i),
      .free_i(free),
      .push_o(push),
      .data_o(in_data),
      .end_o(in_end),
      .err_o(in_err),
      .last_o(in_last),
      .frame_o(events[0]),
      .full_o(events[1]),
      .long_o(events[2]),
      .cut_o(events[3]),
      .bad_o(events[4])
  );

  mrc_fpga_afifo #(
      .Width(WordBytes * 8 + LenW + 1),
      .Depth(Depth)
  ) u_fifo (
      .wclk_i(mac_clk_i),
      .wrst_ni(mac_rst_ni),
      .push_i(push),
      .last_i(in_last),
      .data_i({in_err, in_end, in_data}),
      .free_o(free),
      .rclk_i(clk_i),
      .rrst_ni(rst_ni),
      .valid_o(valid),
      .ready_i(ready),
      .last_o(last),
      .data_o({err, word_end, data})
  );

  mrc_fpga_rx_out #(
      .WordBytes(WordBytes),
      .PortBytes(PortBytes)
  ) u_out (
      .clk_i,
      .rst_ni,
      .valid_i(valid),
      .ready_o(ready),
      .data_i(data),
      .end_i(word_end),
      .err_i(err),
      .last_i(last),
      .tvalid_o,
      .tdata_o,
      .tkeep_o,
      .tlast_o,
      .tuser_o
  );

  for (genvar i = 0; i < 5; i++) begin : gen_count
    mrc_fpga_events u_count (
        .src_clk_i(mac_clk_i),
        .src_rst_ni(mac_rst_ni),
        .event_i(events[i]),
        .dst_clk_i(clk_i),
        .dst_rst_ni(rst_ni),
        .count_o(counts[i])
    );
  end
  assign {cnt_bad_o, cnt_cut_o, cnt_long_o, cnt_full_o, cnt_frames_o} = counts;

endmodule
