// SPDX-License-Identifier: Apache-2.0

/// First-in first-out queue of Depth words between two clocks. The writer sees at least the free
/// places that there are not (free_o may be late, and is then too small); it pushes only while
/// free_o is not 0, which is asserted in the writer. ByFrames 0: a word can be read four to five
/// edges of rclk_i after its push. ByFrames 1: no word of a frame can be read before the word with
/// wlast_i is written, and then valid_o stays 1 to the end of that frame: a reader that is always
/// ready sees no gap. A frame of more than Depth words would wait for ever. Throughput: one word
/// per cycle of either clock. Both resets come from one source; there is no other way to empty it.
module mrc_fpga_afifo #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 16,
    parameter bit ByFrames = 1'b0,
    localparam int unsigned PtrW = $clog2(Depth),
    localparam int unsigned CntW = $clog2(Depth) + 1
) (
    input logic wclk_i,
    input logic wrst_ni,
    input logic push_i,
    input logic last_i,
    input logic [Width-1:0] data_i,
    output logic [CntW-1:0] free_o,
    input logic rclk_i,
    input logic rrst_ni,
    output logic valid_o,
    input logic ready_i,
    output logic last_o,
    output logic [Width-1:0] data_o
);

  if (Depth < 4 || (Depth & (Depth - 1)) != 0) begin : gen_bad_depth
    $error("%m: Depth must be a power of two, and at least 4");
  end

  // The writer: words pushed, and what of them the reader has fetched.
  logic [CntW-1:0] pushed_q, pushed_d, fetched_seen;
  // The reader: the next word in the memory, marks taken, marks that are written.
  logic [PtrW-1:0] fetched_q, fetched_d;
  logic [CntW-1:0] marks_q, marks_d, marks_seen, marks_next;
  logic valid_q, valid_d, fetch, take, mark;

  assign pushed_d = pushed_q + CntW'(push_i);
  assign free_o = CntW'(Depth) - (pushed_q - fetched_seen);

  always_ff @(posedge wclk_i or negedge wrst_ni) begin
    if (!wrst_ni) begin
      pushed_q <= '0;
    end else begin
      pushed_q <= pushed_d;
    end
  end

  // What tells the reader: words, or frames. It is counted when it is in the memory.
  mrc_fpga_gray #(
      .Width(CntW)
  ) u_written (
      .src_clk_i(wclk_i),
      .src_rst_ni(wrst_ni),
      .inc_i(push_i && (last_i || !ByFrames)),
      .dst_clk_i(rclk_i),
      .dst_rst_ni(rrst_ni),
      .dst_count_o(marks_seen)
  );

  mrc_fpga_gray #(
      .Width(CntW)
  ) u_fetched (
      .src_clk_i(rclk_i),
      .src_rst_ni(rrst_ni),
      .inc_i(fetch),
      .dst_clk_i(wclk_i),
      .dst_rst_ni(wrst_ni),
      .dst_count_o(fetched_seen)
  );

  mrc_fpga_ram #(
      .Width(Width + 1),
      .Depth(Depth)
  ) u_mem (
      .wclk_i,
      .we_i(push_i),
      .waddr_i(pushed_q[PtrW-1:0]),
      .wdata_i({last_i, data_i}),
      .rclk_i,
      .re_i(fetch),
      .raddr_i(fetched_q),
      .rdata_o({last_o, data_o})
  );

  // The word at the output counts as read when its mark is compared: behind a last word only the
  // next frame can follow.
  assign mark = valid_q && (last_o || !ByFrames);
  assign take = valid_q && ready_i;
  assign marks_next = marks_q + CntW'(mark);
  assign fetch = marks_seen != marks_next && (!valid_q || ready_i);
  assign fetched_d = fetched_q + PtrW'(fetch);
  assign marks_d = take ? marks_next : marks_q;
  assign valid_d = fetch || (valid_q && !ready_i);
  assign valid_o = valid_q;

  always_ff @(posedge rclk_i or negedge rrst_ni) begin
    if (!rrst_ni) begin
      fetched_q <= '0;
      marks_q <= '0;
      valid_q <= 1'b0;
    end else begin
      fetched_q <= fetched_d;
      marks_q <= marks_d;
      valid_q <= valid_d;
    end
  end

endmodule
