// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_axi_mux with masters that offer what they like, and keep it until it is taken, and a
/// memory that takes and answers when it likes. The bytes of a beat are its master's number. One
/// address is followed: how many that were taken before it have not left, and how many bursts of
/// beats of before it.
module formal_fpga_axi_mux #(
    localparam int unsigned Bursts = 2
) (
    input logic clk_i,
    input logic [1:0] want_aw_i,
    input logic [1:0] want_ar_i,
    input logic [1:0] want_w_i,
    input logic [1:0] last_i,
    input logic [1:0] aw_id_i,
    input logic [1:0] ar_id_i,
    input logic follow_aw_i,
    input logic follow_ar_i,
    input logic m_awready_i,
    input logic m_wready_i,
    input logic m_arready_i,
    input logic m_bvalid_i,
    input logic [1:0] m_bid_i,
    input logic m_rvalid_i,
    input logic [1:0] m_rid_i,
    input logic [1:0] s_bready_i,
    input logic [1:0] s_rready_i
);
  `MRC_RESET

  logic [1:0] s_awvalid_i, s_awready_o, s_wvalid_i, s_wready_o, s_wlast_i, s_bvalid_o;
  logic [1:0] s_arvalid_i, s_arready_o, s_rvalid_o;
  logic [1:0][0:0] s_awid_i, s_arid_i;
  logic [1:0][3:0] s_awaddr_i, s_araddr_i;
  logic [1:0][7:0] s_awlen_i, s_arlen_i, s_wdata_i;
  logic [1:0][0:0] s_wstrb_i;
  logic m_awvalid_o, m_wvalid_o, m_wlast_o, m_bready_o, m_arvalid_o, m_rready_o;
  logic [1:0] m_awid_o, m_arid_o;
  logic [3:0] m_awaddr_o, m_araddr_o;
  logic [7:0] m_awlen_o, m_arlen_o, m_wdata_o;
  logic [0:0] m_wstrb_o;

  mrc_fpga_axi_mux #(
      .WordBytes(1),
      .AddrW(4),
      .IdW(1),
      .Bursts(Bursts)
  ) dut (
      .*
  );

  // What a master offered and still does.
  logic [1:0] aw_held_q, ar_held_q, w_held_q, aw_id_q, ar_id_q, last_q;
  assign s_awvalid_i = (want_aw_i | aw_held_q) & {2{rst_ni}};
  assign s_arvalid_i = (want_ar_i | ar_held_q) & {2{rst_ni}};
  assign s_wvalid_i = (want_w_i | w_held_q) & {2{rst_ni}};
  for (genvar k = 0; k < 2; k++) begin : gen_master
    assign s_awid_i[k] = aw_held_q[k] ? aw_id_q[k] : aw_id_i[k];
    assign s_arid_i[k] = ar_held_q[k] ? ar_id_q[k] : ar_id_i[k];
    assign s_wlast_i[k] = w_held_q[k] ? last_q[k] : last_i[k];
    assign s_awaddr_i[k] = {3'd5, s_awid_i[k]};
    assign s_araddr_i[k] = {3'd2, s_arid_i[k]};
    assign s_awlen_i[k] = 8'(k);
    assign s_arlen_i[k] = 8'(k);
    assign s_wdata_i[k] = 8'(k);
    assign s_wstrb_i[k] = k == 1;
  end

  logic aw_in, aw_out, ar_in, ar_out, w_out, w_end;
  assign aw_in = (s_awvalid_i & s_awready_o) != '0;
  assign ar_in = (s_arvalid_i & s_arready_o) != '0;
  assign aw_out = m_awvalid_o && m_awready_i;
  assign ar_out = m_arvalid_o && m_arready_i;
  assign w_out = m_wvalid_o && m_wready_i;
  assign w_end = w_out && m_wlast_o;

  // Inside: addresses, and bursts whose last beat has not left; of the one that is followed, so
  // many are before it; whose it is, and its id.
  logic [1:0] aws_q, ars_q, aw_ahead_q, ar_ahead_q;
  logic [2:0] bursts_q, w_ahead_q;
  logic aw_on_q, aw_who_q, aw_tag_q, w_on_q, ar_on_q, ar_who_q, ar_tag_q, aw_mark, ar_mark;
  // Addresses of the other that were taken while this one was on offer.
  logic [1:0][1:0] aw_waits_q, ar_waits_q;
  logic aw_stays_q, ar_stays_q, w_stays_q, w_last_q;
  logic [1:0] aw_id_out_q, ar_id_out_q;
  logic [7:0] w_data_q;

  assign aw_mark = aw_in && follow_aw_i && !aw_on_q && !w_on_q;
  assign ar_mark = ar_in && follow_ar_i && !ar_on_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {aw_held_q, ar_held_q, w_held_q, aws_q, ars_q, bursts_q} <= '0;
      {aw_on_q, w_on_q, ar_on_q, aw_waits_q, ar_waits_q} <= '0;
      {aw_stays_q, ar_stays_q, w_stays_q} <= '0;
    end else begin
      aw_held_q <= s_awvalid_i & ~s_awready_o;
      ar_held_q <= s_arvalid_i & ~s_arready_o;
      w_held_q <= s_wvalid_i & ~s_wready_o;
      aws_q <= aws_q + 2'(aw_in) - 2'(aw_out);
      ars_q <= ars_q + 2'(ar_in) - 2'(ar_out);
      bursts_q <= bursts_q + 3'(aw_in) - 3'(w_end);
      aw_on_q <= aw_mark || (aw_on_q && !(aw_out && aw_ahead_q == '0));
      w_on_q <= aw_mark || (w_on_q && !(w_end && w_ahead_q == '0));
      ar_on_q <= ar_mark || (ar_on_q && !(ar_out && ar_ahead_q == '0));
      aw_stays_q <= m_awvalid_o && !m_awready_i;
      ar_stays_q <= m_arvalid_o && !m_arready_i;
      w_stays_q <= m_wvalid_o && !m_wready_i;
      for (int unsigned k = 0; k < 2; k++) begin
        aw_waits_q[k] <= (s_awvalid_i[k] && !s_awready_o[k])
            ? aw_waits_q[k] + 2'(aw_in && aw_waits_q[k] != '1) : '0;
        ar_waits_q[k] <= (s_arvalid_i[k] && !s_arready_o[k])
            ? ar_waits_q[k] + 2'(ar_in && ar_waits_q[k] != '1) : '0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    aw_id_q <= s_awid_i;
    ar_id_q <= s_arid_i;
    last_q <= s_wlast_i;
    aw_ahead_q <= aw_mark ? aws_q - 2'(aw_out) : aw_ahead_q - 2'(aw_out && aw_ahead_q != '0);
    ar_ahead_q <= ar_mark ? ars_q - 2'(ar_out) : ar_ahead_q - 2'(ar_out && ar_ahead_q != '0);
    w_ahead_q <= aw_mark ? bursts_q - 3'(w_end) : w_ahead_q - 3'(w_end && w_ahead_q != '0);
    if (aw_mark) begin
      aw_who_q <= s_awready_o[1];
      aw_tag_q <= s_awid_i[s_awready_o[1]];
    end
    if (ar_mark) begin
      ar_who_q <= s_arready_o[1];
      ar_tag_q <= s_arid_i[s_arready_o[1]];
    end
    aw_id_out_q <= m_awid_o;
    ar_id_out_q <= m_arid_o;
    w_data_q <= m_wdata_o;
    w_last_q <= m_wlast_o;
  end

  `MRC_PROVE(aw_in_order, !(m_awvalid_o && aw_on_q && aw_ahead_q == '0)
      || (m_awid_o == {aw_who_q, aw_tag_q} && m_awaddr_o == {3'd5, aw_tag_q}
          && m_awlen_o == 8'(aw_who_q)))
  `MRC_PROVE(ar_in_order, !(m_arvalid_o && ar_on_q && ar_ahead_q == '0)
      || (m_arid_o == {ar_who_q, ar_tag_q} && m_araddr_o == {3'd2, ar_tag_q}
          && m_arlen_o == 8'(ar_who_q)))
  `MRC_PROVE(w_in_order, !(m_wvalid_o && w_on_q && w_ahead_q == '0)
      || (m_wdata_o == 8'(aw_who_q) && m_wstrb_o == aw_who_q))
  `MRC_PROVE(w_requested, !m_wvalid_o || bursts_q != '0)
  `MRC_PROVE(in_turn, aw_waits_q[0] <= 2'd1 && aw_waits_q[1] <= 2'd1 && ar_waits_q[0] <= 2'd1
      && ar_waits_q[1] <= 2'd1)
  `MRC_PROVE(stays, (!aw_stays_q || (m_awvalid_o && m_awid_o == aw_id_out_q))
      && (!ar_stays_q || (m_arvalid_o && m_arid_o == ar_id_out_q))
      && (!w_stays_q || (m_wvalid_o && m_wdata_o == w_data_q && m_wlast_o == w_last_q)))
  `MRC_PROVE(answers, (s_bvalid_o == (!m_bvalid_i ? 2'd0 : m_bid_i[1] ? 2'd2 : 2'd1))
      && (s_rvalid_o == (!m_rvalid_i ? 2'd0 : m_rid_i[1] ? 2'd2 : 2'd1))
      && m_bready_o == s_bready_i[m_bid_i[1]] && m_rready_o == s_rready_i[m_rid_i[1]])
  `MRC_COVER(aw_in_order, m_awvalid_o && aw_on_q && aw_ahead_q == '0 && aw_who_q && aws_q == 2'd2)
  `MRC_COVER(ar_in_order, m_arvalid_o && ar_on_q && ar_ahead_q == '0 && ar_who_q && ars_q == 2'd2)
  `MRC_COVER(w_in_order, m_wvalid_o && w_on_q && w_ahead_q == '0 && aw_who_q && bursts_q == 3'd3)
  `MRC_COVER(w_requested, m_wvalid_o && m_wlast_o && bursts_q == 3'd1)
  `MRC_COVER(in_turn, aw_waits_q[0] == 2'd1 && ar_waits_q[1] == 2'd1)
  `MRC_COVER(stays, aw_stays_q && ar_stays_q && w_stays_q)
  `MRC_COVER(answers, s_bvalid_o[1] && s_rvalid_o[0])
endmodule
