// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_merge with streams that begin frames when they like, have no gap inside them, and end
/// them with a reset of the MAC. A word says whose it is, and whether it is the first of a frame.
module formal_fpga_merge #(
    parameter int unsigned NumIn = 3,
    localparam int unsigned IdW = 2
) (
    input logic clk_i,
    input logic mac_reset_i,
    input logic [NumIn-1:0] want_i,
    input logic [NumIn-1:0] end_i,
    input logic [NumIn-1:0][4:0] rest_i,
    input logic m_tready_i
);
  `MRC_RESET

  logic [NumIn-1:0] tvalid_i, tready_o, tlast_i, tuser_i, open_q, offered_q, last_q;
  logic [NumIn-1:0][7:0] tdata_i, data_q;
  logic [NumIn-1:0][0:0] tkeep_i;
  logic m_tvalid_o, m_tlast_o, m_tuser_o;
  logic [7:0] m_tdata_o;
  logic [0:0] m_tkeep_o;

  mrc_fpga_merge #(
      .NumIn(NumIn),
      .WordBytes(1)
  ) dut (
      .*
  );

  // The streams. open_q: a word of a frame was taken, and not the last.
  for (genvar s = 0; s < NumIn; s++) begin : gen_stream
    assign tvalid_i[s] = want_i[s] || open_q[s] || offered_q[s];
    assign tdata_i[s] = offered_q[s] ? data_q[s] : {rest_i[s], IdW'(s), !open_q[s]};
    assign tlast_i[s] = offered_q[s] ? last_q[s] : end_i[s];
    assign tkeep_i[s] = 1'b1;
    assign tuser_i[s] = 1'b0;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q <= '0;
      offered_q <= '0;
    end else begin
      for (int unsigned s = 0; s < NumIn; s++) begin
        open_q[s] <= !mac_reset_i && ((tvalid_i[s] && tready_o[s]) ? !tlast_i[s] : open_q[s]);
        offered_q[s] <= !mac_reset_i && tvalid_i[s] && !tready_o[s];
      end
    end
  end
  always_ff @(posedge clk_i) begin
    data_q <= tdata_i;
    last_q <= tlast_i;
  end

  // The MAC: inside a frame of owner_q; what was on offer; a cycle with an offer that it did not
  // see.
  logic inside_q, held_q, idle_q, taken, others_end;
  logic [IdW-1:0] owner_q, id;
  logic [7:0] held_data_q;
  // Any stream: how many others have ended a frame while it had one to begin.
  logic [IdW-1:0] k_q, waits_q;
  always_ff @(posedge clk_i) k_q <= k_q;
  assign id = m_tdata_o[1+:IdW];
  assign taken = m_tvalid_o && m_tready_i;
  assign others_end = taken && m_tlast_o && id != k_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      held_q <= 1'b0;
      idle_q <= 1'b0;
      waits_q <= '0;
    end else begin
      inside_q <= !mac_reset_i && (taken ? !m_tlast_o : inside_q);
      held_q <= m_tvalid_o && !m_tready_i && !mac_reset_i;
      idle_q <= tvalid_i != '0 && !m_tvalid_o && !mac_reset_i;
      if (!tvalid_i[k_q] || tready_o[k_q] || mac_reset_i) begin
        waits_q <= '0;
      end else begin
        waits_q <= waits_q + IdW'(others_end);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    owner_q <= taken ? id : owner_q;
    held_data_q <= m_tdata_o;
  end

  `MRC_GIVEN(a_stream, 32'(k_q) < NumIn)
  `MRC_PROVE(no_gap, !inside_q || m_tvalid_o)
  `MRC_PROVE(not_mixed, !inside_q || id == owner_q)
  `MRC_PROVE(begins_first, !m_tvalid_o || m_tdata_o[0] == !inside_q)
  `MRC_PROVE(taken_once, (tvalid_i & tready_o) == (taken ? NumIn'(1) << id : NumIn'(0)))
  `MRC_PROVE(stays, !held_q || (m_tvalid_o && m_tdata_o == held_data_q))
  `MRC_PROVE(in_turn, 32'(waits_q) < NumIn)
  `MRC_PROVE(at_once, !idle_q || m_tvalid_o)
  `MRC_COVER(no_gap, inside_q && m_tlast_o && owner_q == IdW'(2))
  `MRC_COVER(not_mixed, inside_q && m_tvalid_o && tvalid_i == '1)
  `MRC_COVER(begins_first, m_tvalid_o && !inside_q && owner_q == IdW'(1) && id == IdW'(1))
  `MRC_COVER(taken_once, taken && id == IdW'(2) && tvalid_i == '1)
  `MRC_COVER(stays, held_q && inside_q)
  `MRC_COVER(in_turn, 32'(waits_q) == NumIn - 1)
  `MRC_COVER(at_once, idle_q && id == IdW'(1))
endmodule
