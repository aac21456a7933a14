// SPDX-License-Identifier: Apache-2.0

/// The NIC: requestor and responder of reliable multi-plane WRITEs between a host's memory and
/// NumPlanes Ethernet ports, configured over AXI4-Lite. This module only checks the parameters,
/// connects the blocks by the names of streams.yaml and shows every boundary on obs_core_o and
/// obs_lane_o (leave them open in synthesis). It has no MAC and no memory of the host.
/// Contract: docs/blocks/nic.md.
module mrc_nic
  import mrc_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned PortBytes = 16,
    parameter int unsigned HostBytes = 32,
    parameter int unsigned NumQps = 4,
    parameter int unsigned EvsPerQp = 16,
    parameter int unsigned NumProfiles = 2,
    parameter int unsigned MaxMpr = 128,
    parameter int unsigned WqeDepth = 8,
    parameter int unsigned MaxWimm = 32,
    parameter int unsigned NumMrs = 8,
    parameter int unsigned NumRxRows = 6,
    parameter int unsigned NumImms = 16,
    parameter int unsigned NumWqes = 24,
    parameter int unsigned NumBlocks = 20,
    parameter int unsigned ProbeSlots = 4,
    parameter int unsigned NumDests = 4,
    parameter int unsigned NumCcProfiles = 2,
    parameter int unsigned TickCycles = 128,
    parameter int unsigned LaneFifo = 4,
    parameter int unsigned TxLaneFifo = 16,
    parameter int unsigned LineFifo = 16,
    parameter int unsigned RxBufWords = 1024
) (
    input logic clk_i,
    input logic rst_ni,
    // Injected bug, 0: none.
    input logic [7:0] bug_i,
    input logic [NumPlanes-1:0] link_up_i,

    input logic s_axil_awvalid_i,
    output logic s_axil_awready_o,
    input logic [15:0] s_axil_awaddr_i,
    input logic s_axil_wvalid_i,
    output logic s_axil_wready_o,
    input logic [31:0] s_axil_wdata_i,
    input logic [3:0] s_axil_wstrb_i,
    output logic s_axil_bvalid_o,
    input logic s_axil_bready_i,
    output logic [1:0] s_axil_bresp_o,
    input logic s_axil_arvalid_i,
    output logic s_axil_arready_o,
    input logic [15:0] s_axil_araddr_i,
    output logic s_axil_rvalid_o,
    input logic s_axil_rready_i,
    output logic [31:0] s_axil_rdata_o,
    output logic [1:0] s_axil_rresp_o,

    input logic wqe_valid_i,
    output logic wqe_ready_o,
    input wqe_t wqe_i,
    output logic cqe_valid_o,
    input logic cqe_ready_i,
    output cqe_t cqe_o,

    output logic host_rd_valid_o,
    input logic host_rd_ready_i,
    output rdreq_t host_rd_o,
    input logic host_rsp_valid_i,
    input logic [3:0] host_rsp_plane_i,
    input logic [HostBytes*8-1:0] host_rsp_data_i,
    output logic host_wr_valid_o,
    input logic host_wr_ready_i,
    output logic [63:0] host_wr_addr_o,
    output logic [7:0] host_wr_len_o,
    output logic [HostBytes*8-1:0] host_wr_data_o,

    output logic [NumPlanes-1:0] tx_tvalid_o,
    input logic [NumPlanes-1:0] tx_tready_i,
    output logic [NumPlanes-1:0][PortBytes*8-1:0] tx_tdata_o,
    output logic [NumPlanes-1:0][PortBytes-1:0] tx_tkeep_o,
    output logic [NumPlanes-1:0] tx_tlast_o,
    input logic [NumPlanes-1:0] rx_tvalid_i,
    input logic [NumPlanes-1:0][PortBytes*8-1:0] rx_tdata_i,
    input logic [NumPlanes-1:0][PortBytes-1:0] rx_tkeep_i,
    input logic [NumPlanes-1:0] rx_tlast_i,
    input logic [NumPlanes-1:0] rx_tuser_i,

    output obs_core_t obs_core_o,
    output obs_lane_t [NumPlanes-1:0] obs_lane_o
);

  // ---- parameters

  function automatic logic pow2_in(int unsigned x, int unsigned low, int unsigned high);
    return x >= low && x <= high && (x & (x - 1)) == 0;
  endfunction

  if (!pow2_in(NumPlanes, 2, MaxPlanes)) begin : gen_bad_num_planes
    $error("%m: NumPlanes = %0d, must be 2, 4 or 8", NumPlanes);
  end
  if (!pow2_in(PortBytes, 16, 32)) begin : gen_bad_port_bytes
    $error("%m: PortBytes = %0d, must be 16 or 32", PortBytes);
  end
  if (!pow2_in(HostBytes, PortBytes, MaxLineBytes)) begin : gen_bad_host_bytes
    $error("%m: HostBytes = %0d, must be a power of two, PortBytes to 128", HostBytes);
  end
  if (!pow2_in(NumQps, 2, 256)) begin : gen_bad_num_qps
    $error("%m: NumQps = %0d, must be a power of two, 2 to 256", NumQps);
  end
  if (!pow2_in(EvsPerQp, 8, 256) || EvsPerQp < 2 * NumPlanes) begin : gen_bad_evs_per_qp
    $error("%m: EvsPerQp = %0d, must be a power of two, 8 to 256, two per plane at least", EvsPerQp);
  end
  if (!pow2_in(NumProfiles, 1, 64)) begin : gen_bad_num_profiles
    $error("%m: NumProfiles = %0d, must be a power of two, 1 to 64", NumProfiles);
  end
  if (!pow2_in(MaxMpr, 128, 4096)) begin : gen_bad_max_mpr
    $error("%m: MaxMpr = %0d, must be a power of two, 128 to 4096", MaxMpr);
  end
  if (!pow2_in(MaxWimm, 4, 64)) begin : gen_bad_max_wimm
    $error("%m: MaxWimm = %0d, must be a power of two, 4 to 64", MaxWimm);
  end
  if (WqeDepth < 2 || WqeDepth > 4096) begin : gen_bad_wqe_depth
    $error("%m: WqeDepth = %0d, must be 2 to 4096", WqeDepth);
  end
  if (!pow2_in(NumMrs, 2, 256)) begin : gen_bad_num_mrs
    $error("%m: NumMrs = %0d, must be a power of two, 2 to 256", NumMrs);
  end
  if (NumRxRows < 2 || NumRxRows > 4096) begin : gen_bad_num_rx_rows
    $error("%m: NumRxRows = %0d, must be 2 to 4096", NumRxRows);
  end
  if (NumImms < 12 || NumImms > 8192) begin : gen_bad_num_imms
    $error("%m: NumImms = %0d, must be 12 to 8192", NumImms);
  end
  if (NumWqes <= NumQps || NumWqes > 16384) begin : gen_bad_num_wqes
    $error("%m: NumWqes = %0d, must be more than NumQps, 16384 at most", NumWqes);
  end
  if (NumBlocks <= NumQps || NumBlocks > 16384) begin : gen_bad_num_blocks
    $error("%m: NumBlocks = %0d, must be more than NumQps, 16384 at most", NumBlocks);
  end
  if (!pow2_in(ProbeSlots, 2, 64)) begin : gen_bad_probe_slots
    $error("%m: ProbeSlots = %0d, must be a power of two, 2 to 64", ProbeSlots);
  end
  if (!pow2_in(NumDests, 2, 256)) begin : gen_bad_num_dests
    $error("%m: NumDests = %0d, must be a power of two, 2 to 256", NumDests);
  end
  if (!pow2_in(NumCcProfiles, 2, 16)) begin : gen_bad_num_cc_profiles
    $error("%m: NumCcProfiles = %0d, must be a power of two, 2 to 16", NumCcProfiles);
  end
  if (!pow2_in(TickCycles, 2, 256)) begin : gen_bad_tick_cycles
    $error("%m: TickCycles = %0d, must be a power of two, 2 to 256", TickCycles);
  end
  if (!pow2_in(TxLaneFifo, 16, 64)) begin : gen_bad_tx_lane_fifo
    $error("%m: TxLaneFifo = %0d, must be a power of two, 16 to 64", TxLaneFifo);
  end
  if (!pow2_in(LaneFifo, 4, 32)) begin : gen_bad_lane_fifo
    $error("%m: LaneFifo = %0d, must be a power of two, 4 to 32", LaneFifo);
  end
  if (!pow2_in(LineFifo, 4, 128)) begin : gen_bad_line_fifo
    $error("%m: LineFifo = %0d, must be a power of two, 4 to 128", LineFifo);
  end
  if (!pow2_in(RxBufWords, 256, 2048) || RxBufWords < 2 * 4096 / PortBytes) begin : gen_bad_rx_buf
    $error("%m: RxBufWords = %0d, must be a power of two, two packets (8192/PortBytes) to 2048", RxBufWords);
  end
  // Packets of a plane that are done while a completion waits in rx_reorder for another plane, at
  // most, and the completions behind it: its counters must not come round (docs/blocks/rx/rx_reorder.md).
  localparam int unsigned DoneAhead =
      RxBufWords / 2 + RxBufWords * PortBytes / HostBytes + LaneFifo + 4 * NumPlanes;
  if (DoneAhead >= 2048) begin : gen_bad_done_ahead
    $error("%m: RxBufWords = %0d, too many: DoneAhead = %0d, must be below 2048", RxBufWords, DoneAhead);
  end

  localparam int unsigned PlaneW = $clog2(NumPlanes);
  localparam int unsigned NumAcks = 12;

  // ---- ports that are up; the bug, behind a register so that it is no input of all the logic

  logic [NumPlanes-1:0] port_up_q;
  logic [7:0] bug_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      port_up_q <= '0;
    end else begin
      port_up_q <= link_up_i;
    end
  end

  always_ff @(posedge clk_i) begin
    bug_q <= bug_i;
  end

  // ---- streams, named as in streams.yaml

  logic tx_segment_push_valid, tx_segment_push_ready;
  sched_t tx_segment_push;
  logic tx_sched_grant_valid, tx_sched_grant_ready;
  grant_t tx_sched_grant;
  logic tx_segment_pkt_valid, tx_segment_pkt_ready;
  pkt_t tx_segment_pkt;
  logic tx_segment_cqe_valid, tx_segment_cqe_ready;
  cqe_t tx_segment_cqe;
  logic tx_path_path_valid, tx_path_path_ready;
  path_t tx_path_path;
  logic tx_path_rec_valid, tx_path_rec_ready;
  rec_t tx_path_rec;
  logic tx_path_evev_valid, tx_path_evev_ready;
  evev_t tx_path_evev;
  logic tx_path_bad_valid, tx_path_bad_ready;
  badev_t tx_path_bad;
  logic tx_inflight_retx_valid, tx_inflight_retx_ready;
  retx_t tx_inflight_retx;
  logic tx_inflight_upd_valid, tx_inflight_upd_ready;
  upd_t tx_inflight_upd;
  logic tx_inflight_fb_valid, tx_inflight_fb_ready;
  fb_t tx_inflight_fb;
  logic tx_inflight_pres_valid, tx_inflight_pres_ready;
  pres_t tx_inflight_pres;
  logic tx_inflight_stateq_valid, tx_inflight_stateq_ready;
  stateq_t tx_inflight_stateq;
  logic tx_probe_fb_valid, tx_probe_fb_ready;
  fb_t tx_probe_fb;
  logic tx_probe_probe_valid, tx_probe_probe_ready;
  ctlpkt_t tx_probe_probe;
  logic tx_header_hdr_valid, tx_header_hdr_ready;
  hdr_t tx_header_hdr;
  logic rx_check_rxpkt_valid, rx_check_rxpkt_ready;
  rxpkt_t rx_check_rxpkt;
  logic rx_check_ctl_valid, rx_check_ctl_ready;
  ctl_t rx_check_ctl;
  logic rx_track_verdict_valid, rx_track_verdict_ready;
  verdict_t rx_track_verdict;
  logic rx_track_resp_valid, rx_track_resp_ready;
  resp_t rx_track_resp;
  logic rx_track_ackev_valid, rx_track_ackev_ready;
  ackev_t rx_track_ackev;
  logic rx_track_ord_valid, rx_track_ord_ready;
  ord_t rx_track_ord;
  logic rx_reorder_cqe_valid, rx_reorder_cqe_ready;
  cqe_t rx_reorder_cqe;
  logic ack_gen_ctlpkt_valid, ack_gen_ctlpkt_ready;
  ctlpkt_t ack_gen_ctlpkt;
  logic tx_segment_park_valid, tx_segment_park_ready;
  grant_t tx_segment_park;
  logic tx_segment_ask_valid, tx_segment_ask_ready;
  ccask_t tx_segment_ask;
  logic tx_segment_ret_valid, tx_segment_ret_ready;
  ccret_t tx_segment_ret;
  logic tx_inflight_ccev_valid, tx_inflight_ccev_ready;
  ccev_t tx_inflight_ccev;
  logic tx_inflight_rask_valid, tx_inflight_rask_ready;
  ccask_t tx_inflight_rask;
  logic tx_inflight_okev_valid, tx_inflight_okev_ready;
  okev_t tx_inflight_okev;
  logic tx_inflight_qperr_valid, tx_inflight_qperr_ready;
  qperr_t tx_inflight_qperr;
  logic cc_nscc_ans_valid, cc_nscc_ans_ready;
  ccans_t cc_nscc_ans;
  logic cc_nscc_rans_valid, cc_nscc_rans_ready;
  ccans_t cc_nscc_rans;
  logic cc_nscc_wake_valid, cc_nscc_wake_ready;
  ccwake_t cc_nscc_wake;
  logic rx_check_eprx_valid, rx_check_eprx_ready;
  eprx_t rx_check_eprx;
  logic rx_track_qperr_valid, rx_track_qperr_ready;
  qperr_t rx_track_qperr;
  logic rx_reorder_qperr_valid, rx_reorder_qperr_ready;
  qperr_t rx_reorder_qperr;
  logic ack_gen_want_valid, ack_gen_want_ready;
  want_t ack_gen_want;
  logic endpoint_req_valid, endpoint_req_ready;
  ctlpkt_t endpoint_req;
  logic endpoint_resp_valid, endpoint_resp_ready;
  resp_t endpoint_resp;
  logic endpoint_okev_valid, endpoint_okev_ready;
  okev_t endpoint_okev;
  logic endpoint_pmask_valid, endpoint_pmask_ready;
  pmask_t endpoint_pmask;
  logic endpoint_evr_valid, endpoint_evr_ready;
  evr_t endpoint_evr;
  logic endpoint_pans_valid, endpoint_pans_ready;
  pans_t endpoint_pans;
  logic csr_evp_valid, csr_evp_ready;
  evp_t csr_evp;
  line_t rx_place_line;
  logic imm_ok, hold_ok;
  logic [NumQps-1:0] over;
  logic block_freed;
  logic done_valid;
  logic [3:0] done_plane;

  logic [NumPlanes-1:0] hdr_ready_ctl, hdr_ready_data, lane_room;
  logic [NumPlanes-1:0] lane_rdreq_valid, lane_rdreq_ready;
  rdreq_t [NumPlanes-1:0] lane_rdreq;
  logic [NumPlanes-1:0] lane_desc_valid, lane_desc_ready;
  rxdesc_t lane_desc[0:NumPlanes-1];
  logic [NumPlanes-1:0] lane_verdict_ready;
  logic [NumPlanes-1:0] lane_line_valid, lane_line_ready;
  line_t lane_line[0:NumPlanes-1];
  logic [NumPlanes-1:0] tx_inc, rx_inc, ovf_inc;

  // ---- registers

  logic cfg_req;
  logic [3:0] cfg_table;
  logic [15:0] cfg_index;
  logic [511:0] cfg_data;
  logic [NumAcks-1:0] cfg_ack;
  logic [17:0] cnt;
  logic sack_base_self, oor_drop, err_silent, ev_swap, bth_m;
  logic rtt_rtx, rev_fixed, ports_from_0, rev_probe, same_ev;
  logic bth_m_high, eeth_op_high, tsr_us, pdcid_zero;
  logic ack_with_sack, zero_drop, skip_twice, icrc_outer, ack_plane, trim_silent;
  logic state_silent;
  logic [1:0] nominal;
  logic [7:0] nak_invalid, nak_access;
  logic nores_inc, nopath_inc, req_inc, rsp_inc, drop_inc, md_inc, qa_inc, hold_inc;
  logic state_inc;
  logic [31:0] tick;
  logic [15:0] ep_interval, ack_gap, ar_gap;
  logic [15:0] udp_port;
  logic udp_only;
  logic [5:0] dscp_data, dscp_rtx, dscp_ctl, dscp_trimmed, dscp_lasthop;
  logic [47:0] mac;
  logic [127:0] ip;
  logic ip_plane;
  logic [6:0] ip_plane_lsb;
  logic [3:0] ep_repeats;
  logic [14:0] reorder;
  logic [19:0] sack_trigger;
  logic [3:0] srv6_plane_lsb, srv6_uplink_lsb, srv6_uplink_bits;
  logic [2:0] srv6_uplink_usid;
  logic [MaxPlanes-1:0][31:0] rev_ev;
  logic [31:0] rev_seed;
  logic [8:0] ev_min_active;
  logic [15:0] probe_interval;
  logic [2:0] probe_successes;
  logic probe_skip_good, probe_keep_count;
  logic [3:0] probe_cap;
  logic [1:0] probe_kind;

  mrc_csr #(
      .NumPlanes(NumPlanes),
      .NumQps(NumQps),
      .EvsPerQp(EvsPerQp),
      .MaxMpr(MaxMpr),
      .WqeDepth(WqeDepth),
      .NumProfiles(NumProfiles),
      .NumDests(NumDests),
      .MaxWimm(MaxWimm),
      .TickCycles(TickCycles),
      .NumAcks(NumAcks)
  ) u_csr (
      .clk_i,
      .rst_ni,
      .bug_i(bug_q),
      .port_up_i(port_up_q),
      .s_axil_awvalid_i,
      .s_axil_awready_o,
      .s_axil_awaddr_i,
      .s_axil_wvalid_i,
      .s_axil_wready_o,
      .s_axil_wdata_i,
      .s_axil_wstrb_i,
      .s_axil_bvalid_o,
      .s_axil_bready_i,
      .s_axil_bresp_o,
      .s_axil_arvalid_i,
      .s_axil_arready_o,
      .s_axil_araddr_i,
      .s_axil_rvalid_o,
      .s_axil_rready_i,
      .s_axil_rdata_o,
      .s_axil_rresp_o,
      .cnt_tx_i(tx_inc),
      .cnt_rx_i(rx_inc),
      .cnt_ovf_i(ovf_inc),
      .cnt_i(cnt),
      .nores_inc_i(nores_inc),
      .nopath_inc_i(nopath_inc),
      .req_inc_i(req_inc),
      .rsp_inc_i(rsp_inc),
      .drop_inc_i(drop_inc),
      .md_inc_i(md_inc),
      .qa_inc_i(qa_inc),
      .hold_inc_i(hold_inc),
      .state_inc_i(state_inc),
      .evev_valid_i(tx_path_evev_valid),
      .evev_ready_o(tx_path_evev_ready),
      .evev_i(tx_path_evev),
      .pmask_valid_i(endpoint_pmask_valid),
      .pmask_ready_o(endpoint_pmask_ready),
      .pmask_i(endpoint_pmask),
      .qperr_valid_i({rx_reorder_qperr_valid, rx_track_qperr_valid, tx_inflight_qperr_valid}),
      .qperr_ready_o({rx_reorder_qperr_ready, rx_track_qperr_ready, tx_inflight_qperr_ready}),
      .qperr_i({rx_reorder_qperr, rx_track_qperr, tx_inflight_qperr}),
      .evp_valid_o(csr_evp_valid),
      .evp_ready_i(csr_evp_ready),
      .evp_o(csr_evp),
      .evr_valid_i(endpoint_evr_valid),
      .evr_ready_o(endpoint_evr_ready),
      .evr_i(endpoint_evr),
      .tick_o(tick),
      .cfg_req_o(cfg_req),
      .cfg_table_o(cfg_table),
      .cfg_index_o(cfg_index),
      .cfg_data_o(cfg_data),
      .cfg_ack_i(cfg_ack),
      .sack_base_self_o(sack_base_self),
      .oor_drop_o(oor_drop),
      .err_silent_o(err_silent),
      .ev_swap_o(ev_swap),
      .bth_m_o(bth_m),
      .rtt_rtx_o(rtt_rtx),
      .rev_fixed_o(rev_fixed),
      .ports_from_0_o(ports_from_0),
      .bth_m_high_o(bth_m_high),
      .eeth_op_high_o(eeth_op_high),
      .tsr_us_o(tsr_us),
      .pdcid_zero_o(pdcid_zero),
      .ack_with_sack_o(ack_with_sack),
      .zero_drop_o(zero_drop),
      .skip_twice_o(skip_twice),
      .icrc_outer_o(icrc_outer),
      .ack_plane_o(ack_plane),
      .trim_silent_o(trim_silent),
      .state_silent_o(state_silent),
      .nominal_o(nominal),
      .nak_invalid_o(nak_invalid),
      .nak_access_o(nak_access),
      .udp_port_o(udp_port),
      .udp_only_o(udp_only),
      .dscp_data_o(dscp_data),
      .dscp_rtx_o(dscp_rtx),
      .dscp_ctl_o(dscp_ctl),
      .dscp_trimmed_o(dscp_trimmed),
      .dscp_lasthop_o(dscp_lasthop),
      .mac_o(mac),
      .ip_o(ip),
      .ip_plane_o(ip_plane),
      .ip_plane_lsb_o(ip_plane_lsb),
      .ep_interval_o(ep_interval),
      .ep_repeats_o(ep_repeats),
      .ack_gap_o(ack_gap),
      .ar_gap_o(ar_gap),
      .rev_probe_o(rev_probe),
      .reorder_o(reorder),
      .same_ev_o(same_ev),
      .sack_trigger_o(sack_trigger),
      .srv6_plane_lsb_o(srv6_plane_lsb),
      .srv6_uplink_usid_o(srv6_uplink_usid),
      .srv6_uplink_lsb_o(srv6_uplink_lsb),
      .srv6_uplink_bits_o(srv6_uplink_bits),
      .rev_ev_o(rev_ev),
      .rev_seed_o(rev_seed),
      .ev_min_active_o(ev_min_active),
      .probe_interval_o(probe_interval),
      .probe_successes_o(probe_successes),
      .probe_skip_good_o(probe_skip_good),
      .probe_cap_o(probe_cap),
      .probe_keep_count_o(probe_keep_count),
      .probe_kind_o(probe_kind)
  );

  // ---- transmit

  mrc_tx_sched #(
      .NumQps(NumQps),
      .NumDests(NumDests)
  ) u_tx_sched (
      .clk_i,
      .rst_ni,
      .bug_i(bug_q),
      .push_valid_i(tx_segment_push_valid),
      .push_ready_o(tx_segment_push_ready),
      .push_i(tx_segment_push),
      .park_valid_i(tx_segment_park_valid),
      .park_ready_o(tx_segment_park_ready),
      .park_i(tx_segment_park),
      .wake_valid_i(cc_nscc_wake_valid),
      .wake_ready_o(cc_nscc_wake_ready),
      .wake_i(cc_nscc_wake),
      .grant_valid_o(tx_sched_grant_valid),
      .grant_ready_i(tx_sched_grant_ready),
      .grant_o(tx_sched_grant),
      .cfg_req_i(cfg_req),
      .cfg_table_i(cfg_table),
      .cfg_index_i(cfg_index),
      .cfg_data_i(cfg_data),
      .cfg_ack_o(cfg_ack[9])
  );

  mrc_cc_nscc #(
      .NumDests(NumDests),
      .NumCcProfiles(NumCcProfiles)
  ) u_cc_nscc (
      .clk_i,
      .rst_ni,
      .bug_i(bug_q),
      .ev_valid_i(tx_inflight_ccev_valid),
      .ev_ready_o(tx_inflight_ccev_ready),
      .ev_i(tx_inflight_ccev),
      .ask_valid_i(tx_segment_ask_valid),
      .ask_ready_o(tx_segment_ask_ready),
      .ask_i(tx_segment_ask),
      .rask_valid_i(tx_inflight_rask_valid),
      .rask_ready_o(tx_inflight_rask_ready),
      .rask_i(tx_inflight_rask),
      .ret_valid_i(tx_segment_ret_valid),
      .ret_ready_o(tx_segment_ret_ready),
      .ret_i(tx_segment_ret),
      .ans_valid_o(cc_nscc_ans_valid),
      .ans_ready_i(cc_nscc_ans_ready),
      .ans_o(cc_nscc_ans),
      .rans_valid_o(cc_nscc_rans_valid),
      .rans_ready_i(cc_nscc_rans_ready),
      .rans_o(cc_nscc_rans),
      .wake_valid_o(cc_nscc_wake_valid),
      .wake_ready_i(cc_nscc_wake_ready),
      .wake_o(cc_nscc_wake),
      .tick_i(tick),
      .md_inc_o(md_inc),
      .qa_inc_o(qa_inc),
      .hold_inc_o(hold_inc),
      .cfg_req_i(cfg_req),
      .cfg_table_i(cfg_table),
      .cfg_index_i(cfg_index),
      .cfg_data_i(cfg_data),
      .cfg_ack_o(cfg_ack[10])
  );

  mrc_tx_segment #(
      .NumQps(NumQps),
      .WqeDepth(WqeDepth),
      .NumWqes(NumWqes),
      .NumBlocks(NumBlocks),
      .MaxMpr(MaxMpr)
  ) u_tx_segment (
      .clk_i,
      .rst_ni,
      .bug_i(bug_q),
      .wqe_valid_i,
      .wqe_ready_o,
      .wqe_i,
      .grant_valid_i(tx_sched_grant_valid),
      .grant_ready_o(tx_sched_grant_ready),
      .grant_i(tx_sched_grant),
      .retx_valid_i(tx_inflight_retx_valid),
      .retx_ready_o(tx_inflight_retx_ready),
      .retx_i(tx_inflight_retx),
      .upd_valid_i(tx_inflight_upd_valid),
      .upd_ready_o(tx_inflight_upd_ready),
      .upd_i(tx_inflight_upd),
      .ans_valid_i(cc_nscc_ans_valid),
      .ans_ready_o(cc_nscc_ans_ready),
      .ans_i(cc_nscc_ans),
      .pkt_valid_o(tx_segment_pkt_valid),
      .pkt_ready_i(tx_segment_pkt_ready),
      .pkt_o(tx_segment_pkt),
      .push_valid_o(tx_segment_push_valid),
      .push_ready_i(tx_segment_push_ready),
      .push_o(tx_segment_push),
      .cqe_valid_o(tx_segment_cqe_valid),
      .cqe_ready_i(tx_segment_cqe_ready),
      .cqe_o(tx_segment_cqe),
      .park_valid_o(tx_segment_park_valid),
      .park_ready_i(tx_segment_park_ready),
      .park_o(tx_segment_park),
      .ask_valid_o(tx_segment_ask_valid),
      .ask_ready_i(tx_segment_ask_ready),
      .ask_o(tx_segment_ask),
      .ret_valid_o(tx_segment_ret_valid),
      .ret_ready_i(tx_segment_ret_ready),
      .ret_o(tx_segment_ret),
      .freed_i(block_freed),
      .nominal_i(nominal),
      .ar_gap_i(ar_gap),
      .cfg_req_i(cfg_req),
      .cfg_table_i(cfg_table),
      .cfg_index_i(cfg_index),
      .cfg_data_i(cfg_data),
      .cfg_ack_o(cfg_ack[0])
  );

  mrc_tx_path #(
      .NumPlanes(NumPlanes),
      .NumQps(NumQps),
      .EvsPerQp(EvsPerQp),
      .NumProfiles(NumProfiles),
      .NumDests(NumDests)
  ) u_tx_path (
      .clk_i,
      .rst_ni,
      .bug_i(bug_q),
      .pkt_valid_i(tx_segment_pkt_valid),
      .pkt_ready_o(tx_segment_pkt_ready),
      .pkt_i(tx_segment_pkt),
      .fb_valid_i(tx_inflight_fb_valid),
      .fb_ready_o(tx_inflight_fb_ready),
      .fb_i(tx_inflight_fb),
      .pfb_valid_i(tx_probe_fb_valid),
      .pfb_ready_o(tx_probe_fb_ready),
      .pfb_i(tx_probe_fb),
      .ev_min_active_i(ev_min_active),
      .skip_twice_i(skip_twice),
      .lane_room_i(lane_room),
      .port_up_i(port_up_q),
      .path_valid_o(tx_path_path_valid),
      .path_ready_i(tx_path_path_ready),
      .path_o(tx_path_path),
      .rec_valid_o(tx_path_rec_valid),
      .rec_ready_i(tx_path_rec_ready),
      .rec_o(tx_path_rec),
      .evev_valid_o(tx_path_evev_valid),
      .evev_ready_i(tx_path_evev_ready),
      .evev_o(tx_path_evev),
      .bad_valid_o(tx_path_bad_valid),
      .bad_ready_i(tx_path_bad_ready),
      .bad_o(tx_path_bad),
      .skip_inc_o(cnt[11]),
      .bad_inc_o(cnt[12]),
      .floor_inc_o(cnt[13]),
      .nopath_inc_o(nopath_inc),
      .cfg_req_i(cfg_req),
      .cfg_table_i(cfg_table),
      .cfg_index_i(cfg_index),
      .cfg_data_i(cfg_data),
      .cfg_ack_o(cfg_ack[1])
  );

  mrc_tx_inflight #(
      .NumPlanes(NumPlanes),
      .NumQps(NumQps),
      .NumBlocks(NumBlocks),
      .NumWqes(NumWqes),
      .MaxMpr(MaxMpr)
  ) u_tx_inflight (
      .clk_i,
      .rst_ni,
      .bug_i(bug_q),
      .rec_valid_i(tx_path_rec_valid),
      .rec_ready_o(tx_path_rec_ready),
      .rec_i(tx_path_rec),
      .ctl_valid_i(rx_check_ctl_valid),
      .ctl_ready_o(rx_check_ctl_ready),
      .ctl_i(rx_check_ctl),
      .rans_valid_i(cc_nscc_rans_valid),
      .rans_ready_o(cc_nscc_rans_ready),
      .rans_i(cc_nscc_rans),
      .retx_valid_o(tx_inflight_retx_valid),
      .retx_ready_i(tx_inflight_retx_ready),
      .retx_o(tx_inflight_retx),
      .upd_valid_o(tx_inflight_upd_valid),
      .upd_ready_i(tx_inflight_upd_ready),
      .upd_o(tx_inflight_upd),
      .fb_valid_o(tx_inflight_fb_valid),
      .fb_ready_i(tx_inflight_fb_ready),
      .fb_o(tx_inflight_fb),
      .pres_valid_o(tx_inflight_pres_valid),
      .pres_ready_i(tx_inflight_pres_ready),
      .pres_o(tx_inflight_pres),
      .stateq_valid_o(tx_inflight_stateq_valid),
      .stateq_ready_i(tx_inflight_stateq_ready),
      .stateq_o(tx_inflight_stateq),
      .ccev_valid_o(tx_inflight_ccev_valid),
      .ccev_ready_i(tx_inflight_ccev_ready),
      .ccev_o(tx_inflight_ccev),
      .rask_valid_o(tx_inflight_rask_valid),
      .rask_ready_i(tx_inflight_rask_ready),
      .rask_o(tx_inflight_rask),
      .okev_valid_o(tx_inflight_okev_valid),
      .okev_ready_i(tx_inflight_okev_ready),
      .okev_o(tx_inflight_okev),
      .qperr_valid_o(tx_inflight_qperr_valid),
      .qperr_ready_i(tx_inflight_qperr_ready),
      .qperr_o(tx_inflight_qperr),
      .reorder_i(reorder),
      .same_ev_i(same_ev),
      .rtt_rtx_i(rtt_rtx),
      .tsr_us_i(tsr_us),
      .nominal_i(nominal),
      .state_silent_i(state_silent),
      .tick_i(tick),
      .rtx_inc_o(cnt[9]),
      .rto_inc_o(cnt[10]),
      .state_inc_o(state_inc),
      .fail_inc_o(cnt[17]),
      .freed_o(block_freed),
      .cfg_req_i(cfg_req),
      .cfg_table_i(cfg_table),
      .cfg_index_i(cfg_index),
      .cfg_data_i(cfg_data),
      .cfg_ack_o(cfg_ack[2])
  );

  mrc_tx_probe #(
      .NumPlanes(NumPlanes),
      .NumQps(NumQps),
      .ProbeSlots(ProbeSlots),
      .NumDests(NumDests),
      .TickCycles(TickCycles)
  ) u_tx_probe (
      .clk_i,
      .rst_ni,
      .bug_i(bug_q),
      .bad_valid_i(tx_path_bad_valid),
      .bad_ready_o(tx_path_bad_ready),
      .bad_i(tx_path_bad),
      .pres_valid_i(tx_inflight_pres_valid),
      .pres_ready_o(tx_inflight_pres_ready),
      .pres_i(tx_inflight_pres),
      .pans_valid_i(endpoint_pans_valid),
      .pans_ready_o(endpoint_pans_ready),
      .pans_i(endpoint_pans),
      .fb_valid_o(tx_probe_fb_valid),
      .fb_ready_i(tx_probe_fb_ready),
      .fb_o(tx_probe_fb),
      .probe_valid_o(tx_probe_probe_valid),
      .probe_ready_i(tx_probe_probe_ready),
      .probe_o(tx_probe_probe),
      .port_up_i(port_up_q),
      .interval_i(probe_interval),
      .successes_i(probe_successes),
      .skip_good_i(probe_skip_good),
      .cap_i(probe_cap),
      .keep_count_i(probe_keep_count),
      .kind_i(probe_kind),
      .ports_from_0_i(ports_from_0),
      .tsr_us_i(tsr_us),
      .pdcid_zero_i(pdcid_zero),
      .sent_inc_o(cnt[14]),
      .revived_inc_o(cnt[15]),
      .full_inc_o(cnt[16]),
      .cfg_req_i(cfg_req),
      .cfg_table_i(cfg_table),
      .cfg_index_i(cfg_index),
      .cfg_data_i(cfg_data),
      .cfg_ack_o(cfg_ack[8])
  );

  mrc_tx_header #(
      .NumQps(NumQps),
      .TickCycles(TickCycles)
  ) u_tx_header (
      .clk_i,
      .rst_ni,
      .bug_i(bug_q),
      .path_valid_i(tx_path_path_valid),
      .path_ready_o(tx_path_path_ready),
      .path_i(tx_path_path),
      .ctlpkt_valid_i(ack_gen_ctlpkt_valid),
      .ctlpkt_ready_o(ack_gen_ctlpkt_ready),
      .ctlpkt_i(ack_gen_ctlpkt),
      .probe_valid_i(tx_probe_probe_valid),
      .probe_ready_o(tx_probe_probe_ready),
      .probe_i(tx_probe_probe),
      .eprq_valid_i(endpoint_req_valid),
      .eprq_ready_o(endpoint_req_ready),
      .eprq_i(endpoint_req),
      .hdr_valid_o(tx_header_hdr_valid),
      .hdr_ready_i(tx_header_hdr_ready),
      .hdr_o(tx_header_hdr),
      .mac_i(mac),
      .ip_i(ip),
      .ip_plane_i(ip_plane),
      .ip_plane_lsb_i(ip_plane_lsb),
      .udp_port_i(udp_port),
      .dscp_data_i(dscp_data),
      .dscp_rtx_i(dscp_rtx),
      .dscp_ctl_i(dscp_ctl),
      .ev_swap_i(ev_swap),
      .bth_m_i(bth_m),
      .bth_m_high_i(bth_m_high),
      .icrc_outer_i(icrc_outer),
      .tsr_us_i(tsr_us),
      .srv6_plane_lsb_i(srv6_plane_lsb),
      .srv6_uplink_usid_i(srv6_uplink_usid),
      .srv6_uplink_lsb_i(srv6_uplink_lsb),
      .srv6_uplink_bits_i(srv6_uplink_bits),
      .cfg_req_i(cfg_req),
      .cfg_table_i(cfg_table),
      .cfg_index_i(cfg_index),
      .cfg_data_i(cfg_data),
      .cfg_ack_o(cfg_ack[3])
  );

  logic [PlaneW-1:0] hdr_plane;
  assign hdr_plane = tx_header_hdr.plane[PlaneW-1:0];
  assign tx_header_hdr_ready = tx_header_hdr.ctl ? hdr_ready_ctl[hdr_plane] : hdr_ready_data[hdr_plane];

  mrc_tx_fetch #(
      .NumPlanes(NumPlanes)
  ) u_tx_fetch (
      .clk_i,
      .rst_ni,
      .rdreq_valid_i(lane_rdreq_valid),
      .rdreq_ready_o(lane_rdreq_ready),
      .rdreq_i(lane_rdreq),
      .rdreq_valid_o(host_rd_valid_o),
      .rdreq_ready_i(host_rd_ready_i),
      .rdreq_o(host_rd_o)
  );

  // ---- lanes

  for (genvar p = 0; p < int'(NumPlanes); p++) begin : gen_lane
    logic hdr_valid, rsp_valid, verdict_valid;

    assign hdr_valid = tx_header_hdr_valid && tx_header_hdr.plane == 4'(p);
    assign rsp_valid = host_rsp_valid_i && host_rsp_plane_i == 4'(p);
    assign verdict_valid = rx_track_verdict_valid && rx_track_verdict.plane == 4'(p);

    mrc_tx_lane #(
        .PortBytes(PortBytes),
        .HostBytes(HostBytes),
        .TxLaneFifo(TxLaneFifo),
        .LineFifo(LineFifo)
    ) u_tx_lane (
        .clk_i,
        .rst_ni,
        .bug_i(bug_q),
        .plane_i(4'(p)),
        .hdr_valid_i(hdr_valid),
        .hdr_i(tx_header_hdr),
        .hdr_ready_ctl_o(hdr_ready_ctl[p]),
        .hdr_ready_data_o(hdr_ready_data[p]),
        .lane_room_o(lane_room[p]),
        .rdreq_valid_o(lane_rdreq_valid[p]),
        .rdreq_ready_i(lane_rdreq_ready[p]),
        .rdreq_o(lane_rdreq[p]),
        .rsp_valid_i(rsp_valid),
        .rsp_data_i(host_rsp_data_i),
        .tx_tvalid_o(tx_tvalid_o[p]),
        .tx_tdata_o(tx_tdata_o[p]),
        .tx_tkeep_o(tx_tkeep_o[p]),
        .tx_tlast_o(tx_tlast_o[p]),
        .tx_tready_i(tx_tready_i[p]),
        .tx_inc_o(tx_inc[p])
    );

    mrc_rx_lane #(
        .PortBytes(PortBytes),
        .HostBytes(HostBytes),
        .LaneFifo(LaneFifo),
        .RxBufWords(RxBufWords)
    ) u_rx_lane (
        .clk_i,
        .rst_ni,
        .bug_i(bug_q),
        .udp_port_i(udp_port),
        .udp_only_i(udp_only),
        .ev_swap_i(ev_swap),
        .icrc_outer_i(icrc_outer),
        .dscp_trimmed_i(dscp_trimmed),
        .dscp_lasthop_i(dscp_lasthop),
        .tick_i(tick[15:0]),
        .rx_tvalid_i(rx_tvalid_i[p]),
        .rx_tdata_i(rx_tdata_i[p]),
        .rx_tkeep_i(rx_tkeep_i[p]),
        .rx_tlast_i(rx_tlast_i[p]),
        .rx_tuser_i(rx_tuser_i[p]),
        .desc_valid_o(lane_desc_valid[p]),
        .desc_ready_i(lane_desc_ready[p]),
        .desc_o(lane_desc[p]),
        .verdict_valid_i(verdict_valid),
        .verdict_ready_o(lane_verdict_ready[p]),
        .verdict_i(rx_track_verdict),
        .line_valid_o(lane_line_valid[p]),
        .line_ready_i(lane_line_ready[p]),
        .line_o(lane_line[p]),
        .rx_inc_o(rx_inc[p]),
        .ovf_inc_o(ovf_inc[p])
    );

    assign obs_lane_o[p].tx_lane_rdreq =
        obs_of_rdreq(lane_rdreq_valid[p], lane_rdreq_ready[p], lane_rdreq[p]);
    assign obs_lane_o[p].rx_lane_desc =
        obs_of_rxdesc(lane_desc_valid[p], lane_desc_ready[p], lane_desc[p]);
    assign obs_lane_o[p].rx_lane_line =
        obs_of_line(lane_line_valid[p], lane_line_ready[p], lane_line[p]);
  end

  // ---- receive

  mrc_rx_check #(
      .NumPlanes(NumPlanes),
      .NumQps(NumQps),
      .NumMrs(NumMrs)
  ) u_rx_check (
      .clk_i,
      .rst_ni,
      .bug_i(bug_q),
      .cfg_req_i(cfg_req),
      .cfg_table_i(cfg_table),
      .cfg_index_i(cfg_index),
      .cfg_data_i(cfg_data),
      .cfg_ack_o(cfg_ack[4]),
      .desc_valid_i(lane_desc_valid),
      .desc_ready_o(lane_desc_ready),
      .desc_i(lane_desc),
      .rxpkt_valid_o(rx_check_rxpkt_valid),
      .rxpkt_ready_i(rx_check_rxpkt_ready),
      .rxpkt_o(rx_check_rxpkt),
      .ctl_valid_o(rx_check_ctl_valid),
      .ctl_ready_i(rx_check_ctl_ready),
      .ctl_o(rx_check_ctl),
      .eprx_valid_o(rx_check_eprx_valid),
      .eprx_ready_i(rx_check_eprx_ready),
      .eprx_o(rx_check_eprx),
      .nominal_i(nominal),
      .zero_drop_i(zero_drop),
      .nak_invalid_i(nak_invalid),
      .nak_access_i(nak_access),
      .drop_parse_o(cnt[0]),
      .drop_icrc_o(cnt[1]),
      .drop_qp_o(cnt[2]),
      .drop_pkey_o(cnt[3]),
      .drop_len_o(cnt[4]),
      .access_o(cnt[5])
  );

  mrc_rx_track #(
      .NumPlanes(NumPlanes),
      .NumQps(NumQps),
      .MaxMpr(MaxMpr),
      .NumRxRows(NumRxRows)
  ) u_rx_track (
      .clk_i,
      .rst_ni,
      .bug_i(bug_q),
      .sack_base_self_i(sack_base_self),
      .oor_drop_i(oor_drop),
      .err_silent_i(err_silent),
      .ack_with_sack_i(ack_with_sack),
      .trim_silent_i(trim_silent),
      .sack_trigger_i(sack_trigger),
      .imm_ok_i(imm_ok),
      .hold_ok_i(hold_ok),
      .over_i(over),
      .nak_invalid_i(nak_invalid),
      .cfg_req_i(cfg_req),
      .cfg_table_i(cfg_table),
      .cfg_index_i(cfg_index),
      .cfg_data_i(cfg_data),
      .cfg_ack_o(cfg_ack[5]),
      .rxpkt_valid_i(rx_check_rxpkt_valid),
      .rxpkt_ready_o(rx_check_rxpkt_ready),
      .rxpkt_i(rx_check_rxpkt),
      .verdict_valid_o(rx_track_verdict_valid),
      .verdict_ready_i(rx_track_verdict_ready),
      .verdict_o(rx_track_verdict),
      .resp_valid_o(rx_track_resp_valid),
      .resp_ready_i(rx_track_resp_ready),
      .resp_o(rx_track_resp),
      .ackev_valid_o(rx_track_ackev_valid),
      .ackev_ready_i(rx_track_ackev_ready),
      .ackev_o(rx_track_ackev),
      .ord_valid_o(rx_track_ord_valid),
      .ord_ready_i(rx_track_ord_ready),
      .ord_o(rx_track_ord),
      .qperr_valid_o(rx_track_qperr_valid),
      .qperr_ready_i(rx_track_qperr_ready),
      .qperr_o(rx_track_qperr),
      .nores_inc_o(nores_inc),
      .dup_inc_o(cnt[6]),
      .oor_inc_o(cnt[7]),
      .trim_inc_o(cnt[8])
  );

  assign rx_track_verdict_ready = lane_verdict_ready[rx_track_verdict.plane[PlaneW-1:0]];

  mrc_rx_place #(
      .NumPlanes(NumPlanes)
  ) u_rx_place (
      .clk_i,
      .rst_ni,
      .bug_i(bug_q),
      .line_valid_i(lane_line_valid),
      .line_ready_o(lane_line_ready),
      .line_i(lane_line),
      .line_valid_o(host_wr_valid_o),
      .line_ready_i(host_wr_ready_i),
      .line_o(rx_place_line),
      .done_valid_o(done_valid),
      .done_plane_o(done_plane)
  );

  assign host_wr_addr_o = rx_place_line.addr;
  assign host_wr_len_o = rx_place_line.len;
  assign host_wr_data_o = rx_place_line.data[HostBytes*8-1:0];

  mrc_rx_reorder #(
      .NumPlanes(NumPlanes),
      .NumQps(NumQps),
      .MaxWimm(MaxWimm),
      .NumImms(NumImms)
  ) u_rx_reorder (
      .clk_i,
      .rst_ni,
      .bug_i(bug_q),
      .cfg_req_i(cfg_req),
      .cfg_table_i(cfg_table),
      .cfg_index_i(cfg_index),
      .cfg_data_i(cfg_data),
      .cfg_ack_o(cfg_ack[6]),
      .ord_valid_i(rx_track_ord_valid),
      .ord_ready_o(rx_track_ord_ready),
      .ord_i(rx_track_ord),
      .done_valid_i(done_valid),
      .done_plane_i(done_plane),
      .qperr_valid_o(rx_reorder_qperr_valid),
      .qperr_ready_i(rx_reorder_qperr_ready),
      .qperr_o(rx_reorder_qperr),
      .cqe_valid_o(rx_reorder_cqe_valid),
      .cqe_ready_i(rx_reorder_cqe_ready),
      .cqe_o(rx_reorder_cqe),
      .imm_ok_o(imm_ok),
      .over_o(over),
      .hold_ok_o(hold_ok)
  );

  mrc_ack_gen #(
      .NumPlanes(NumPlanes),
      .NumQps(NumQps),
      .NumDests(NumDests)
  ) u_ack_gen (
      .clk_i,
      .rst_ni,
      .bug_i(bug_q),
      .port_up_i(port_up_q),
      .rev_ev_i(rev_ev),
      .rev_fixed_i(rev_fixed),
      .ack_plane_i(ack_plane),
      .eeth_op_high_i(eeth_op_high),
      .tsr_us_i(tsr_us),
      .pdcid_zero_i(pdcid_zero),
      .rev_probe_i(rev_probe),
      .interval_i(ep_interval),
      .ack_gap_i(ack_gap),
      .tick_i(tick),
      .cfg_req_i(cfg_req),
      .cfg_table_i(cfg_table),
      .cfg_index_i(cfg_index),
      .cfg_data_i(cfg_data),
      .cfg_ack_o(cfg_ack[7]),
      .resp_valid_i(rx_track_resp_valid),
      .resp_ready_o(rx_track_resp_ready),
      .resp_i(rx_track_resp),
      .ackev_valid_i(rx_track_ackev_valid),
      .ackev_ready_o(rx_track_ackev_ready),
      .ackev_i(rx_track_ackev),
      .eresp_valid_i(endpoint_resp_valid),
      .eresp_ready_o(endpoint_resp_ready),
      .eresp_i(endpoint_resp),
      .okev_valid_i(tx_inflight_okev_valid),
      .okev_ready_o(tx_inflight_okev_ready),
      .okev_i(tx_inflight_okev),
      .eokev_valid_i(endpoint_okev_valid),
      .eokev_ready_o(endpoint_okev_ready),
      .eokev_i(endpoint_okev),
      .stateq_valid_i(tx_inflight_stateq_valid),
      .stateq_ready_o(tx_inflight_stateq_ready),
      .stateq_i(tx_inflight_stateq),
      .want_valid_o(ack_gen_want_valid),
      .want_ready_i(ack_gen_want_ready),
      .want_o(ack_gen_want),
      .ctlpkt_valid_o(ack_gen_ctlpkt_valid),
      .ctlpkt_ready_i(ack_gen_ctlpkt_ready),
      .ctlpkt_o(ack_gen_ctlpkt)
  );

  mrc_endpoint #(
      .NumPlanes(NumPlanes),
      .NumDests(NumDests)
  ) u_endpoint (
      .clk_i,
      .rst_ni,
      .bug_i(bug_q),
      .port_up_i(port_up_q),
      .tick_i(tick),
      .rev_ev_i(rev_ev),
      .rev_seed_i(rev_seed),
      .interval_i(ep_interval),
      .repeats_i(ep_repeats),
      .ip_plane_i(ip_plane),
      .ip_plane_lsb_i(ip_plane_lsb),
      .ports_from_0_i(ports_from_0),
      .tsr_us_i(tsr_us),
      .eprx_valid_i(rx_check_eprx_valid),
      .eprx_ready_o(rx_check_eprx_ready),
      .eprx_i(rx_check_eprx),
      .want_valid_i(ack_gen_want_valid),
      .want_ready_o(ack_gen_want_ready),
      .want_i(ack_gen_want),
      .evp_valid_i(csr_evp_valid),
      .evp_ready_o(csr_evp_ready),
      .evp_i(csr_evp),
      .req_valid_o(endpoint_req_valid),
      .req_ready_i(endpoint_req_ready),
      .req_o(endpoint_req),
      .resp_valid_o(endpoint_resp_valid),
      .resp_ready_i(endpoint_resp_ready),
      .resp_o(endpoint_resp),
      .okev_valid_o(endpoint_okev_valid),
      .okev_ready_i(endpoint_okev_ready),
      .okev_o(endpoint_okev),
      .pmask_valid_o(endpoint_pmask_valid),
      .pmask_ready_i(endpoint_pmask_ready),
      .pmask_o(endpoint_pmask),
      .evr_valid_o(endpoint_evr_valid),
      .evr_ready_i(endpoint_evr_ready),
      .evr_o(endpoint_evr),
      .pans_valid_o(endpoint_pans_valid),
      .pans_ready_i(endpoint_pans_ready),
      .pans_o(endpoint_pans),
      .req_inc_o(req_inc),
      .rsp_inc_o(rsp_inc),
      .drop_inc_o(drop_inc),
      .cfg_req_i(cfg_req),
      .cfg_table_i(cfg_table),
      .cfg_index_i(cfg_index),
      .cfg_data_i(cfg_data),
      .cfg_ack_o(cfg_ack[11])
  );

  mrc_cq_mux u_cq_mux (
      .clk_i,
      .rst_ni,
      .cqe_valid_i({rx_reorder_cqe_valid, tx_segment_cqe_valid}),
      .cqe_ready_o({rx_reorder_cqe_ready, tx_segment_cqe_ready}),
      .cqe_i({rx_reorder_cqe, tx_segment_cqe}),
      .cqe_valid_o,
      .cqe_ready_i,
      .cqe_o
  );

  // ---- every boundary, for the bench

  assign obs_core_o.host_wqe = obs_of_wqe(wqe_valid_i, wqe_ready_o, wqe_i);
  assign obs_core_o.tx_segment_push =
      obs_of_sched(tx_segment_push_valid, tx_segment_push_ready, tx_segment_push);
  assign obs_core_o.tx_sched_grant =
      obs_of_grant(tx_sched_grant_valid, tx_sched_grant_ready, tx_sched_grant);
  assign obs_core_o.tx_segment_pkt =
      obs_of_pkt(tx_segment_pkt_valid, tx_segment_pkt_ready, tx_segment_pkt);
  assign obs_core_o.tx_segment_cqe =
      obs_of_cqe(tx_segment_cqe_valid, tx_segment_cqe_ready, tx_segment_cqe);
  assign obs_core_o.tx_path_path =
      obs_of_path(tx_path_path_valid, tx_path_path_ready, tx_path_path);
  assign obs_core_o.tx_path_rec = obs_of_rec(tx_path_rec_valid, tx_path_rec_ready, tx_path_rec);
  assign obs_core_o.tx_path_evev =
      obs_of_evev(tx_path_evev_valid, tx_path_evev_ready, tx_path_evev);
  assign obs_core_o.tx_path_bad = obs_of_badev(tx_path_bad_valid, tx_path_bad_ready, tx_path_bad);
  assign obs_core_o.tx_inflight_retx =
      obs_of_retx(tx_inflight_retx_valid, tx_inflight_retx_ready, tx_inflight_retx);
  assign obs_core_o.tx_inflight_upd =
      obs_of_upd(tx_inflight_upd_valid, tx_inflight_upd_ready, tx_inflight_upd);
  assign obs_core_o.tx_inflight_fb =
      obs_of_fb(tx_inflight_fb_valid, tx_inflight_fb_ready, tx_inflight_fb);
  assign obs_core_o.tx_inflight_pres =
      obs_of_pres(tx_inflight_pres_valid, tx_inflight_pres_ready, tx_inflight_pres);
  assign obs_core_o.tx_inflight_stateq =
      obs_of_stateq(tx_inflight_stateq_valid, tx_inflight_stateq_ready, tx_inflight_stateq);
  assign obs_core_o.tx_probe_fb = obs_of_fb(tx_probe_fb_valid, tx_probe_fb_ready, tx_probe_fb);
  assign obs_core_o.tx_probe_probe =
      obs_of_ctlpkt(tx_probe_probe_valid, tx_probe_probe_ready, tx_probe_probe);
  assign obs_core_o.tx_header_hdr =
      obs_of_hdr(tx_header_hdr_valid, tx_header_hdr_ready, tx_header_hdr);
  assign obs_core_o.tx_fetch_rdreq = obs_of_rdreq(host_rd_valid_o, host_rd_ready_i, host_rd_o);
  assign obs_core_o.rx_check_rxpkt =
      obs_of_rxpkt(rx_check_rxpkt_valid, rx_check_rxpkt_ready, rx_check_rxpkt);
  assign obs_core_o.rx_check_ctl = obs_of_ctl(rx_check_ctl_valid, rx_check_ctl_ready, rx_check_ctl);
  assign obs_core_o.rx_track_verdict =
      obs_of_verdict(rx_track_verdict_valid, rx_track_verdict_ready, rx_track_verdict);
  assign obs_core_o.rx_track_resp =
      obs_of_resp(rx_track_resp_valid, rx_track_resp_ready, rx_track_resp);
  assign obs_core_o.rx_track_ackev =
      obs_of_ackev(rx_track_ackev_valid, rx_track_ackev_ready, rx_track_ackev);
  assign obs_core_o.rx_track_ord = obs_of_ord(rx_track_ord_valid, rx_track_ord_ready, rx_track_ord);
  assign obs_core_o.rx_reorder_cqe =
      obs_of_cqe(rx_reorder_cqe_valid, rx_reorder_cqe_ready, rx_reorder_cqe);
  assign obs_core_o.ack_gen_ctlpkt =
      obs_of_ctlpkt(ack_gen_ctlpkt_valid, ack_gen_ctlpkt_ready, ack_gen_ctlpkt);
  assign obs_core_o.tx_segment_park =
      obs_of_grant(tx_segment_park_valid, tx_segment_park_ready, tx_segment_park);
  assign obs_core_o.tx_segment_ask =
      obs_of_ccask(tx_segment_ask_valid, tx_segment_ask_ready, tx_segment_ask);
  assign obs_core_o.tx_segment_ret =
      obs_of_ccret(tx_segment_ret_valid, tx_segment_ret_ready, tx_segment_ret);
  assign obs_core_o.tx_inflight_ccev =
      obs_of_ccev(tx_inflight_ccev_valid, tx_inflight_ccev_ready, tx_inflight_ccev);
  assign obs_core_o.tx_inflight_rask =
      obs_of_ccask(tx_inflight_rask_valid, tx_inflight_rask_ready, tx_inflight_rask);
  assign obs_core_o.tx_inflight_okev =
      obs_of_okev(tx_inflight_okev_valid, tx_inflight_okev_ready, tx_inflight_okev);
  assign obs_core_o.tx_inflight_qperr =
      obs_of_qperr(tx_inflight_qperr_valid, tx_inflight_qperr_ready, tx_inflight_qperr);
  assign obs_core_o.cc_nscc_ans = obs_of_ccans(cc_nscc_ans_valid, cc_nscc_ans_ready, cc_nscc_ans);
  assign obs_core_o.cc_nscc_rans =
      obs_of_ccans(cc_nscc_rans_valid, cc_nscc_rans_ready, cc_nscc_rans);
  assign obs_core_o.cc_nscc_wake =
      obs_of_ccwake(cc_nscc_wake_valid, cc_nscc_wake_ready, cc_nscc_wake);
  assign obs_core_o.rx_check_eprx =
      obs_of_eprx(rx_check_eprx_valid, rx_check_eprx_ready, rx_check_eprx);
  assign obs_core_o.rx_track_qperr =
      obs_of_qperr(rx_track_qperr_valid, rx_track_qperr_ready, rx_track_qperr);
  assign obs_core_o.rx_reorder_qperr =
      obs_of_qperr(rx_reorder_qperr_valid, rx_reorder_qperr_ready, rx_reorder_qperr);
  assign obs_core_o.ack_gen_want =
      obs_of_want(ack_gen_want_valid, ack_gen_want_ready, ack_gen_want);
  assign obs_core_o.endpoint_req =
      obs_of_ctlpkt(endpoint_req_valid, endpoint_req_ready, endpoint_req);
  assign obs_core_o.endpoint_resp =
      obs_of_resp(endpoint_resp_valid, endpoint_resp_ready, endpoint_resp);
  assign obs_core_o.endpoint_okev =
      obs_of_okev(endpoint_okev_valid, endpoint_okev_ready, endpoint_okev);
  assign obs_core_o.endpoint_pmask =
      obs_of_pmask(endpoint_pmask_valid, endpoint_pmask_ready, endpoint_pmask);
  assign obs_core_o.endpoint_evr = obs_of_evr(endpoint_evr_valid, endpoint_evr_ready, endpoint_evr);
  assign obs_core_o.endpoint_pans =
      obs_of_pans(endpoint_pans_valid, endpoint_pans_ready, endpoint_pans);
  assign obs_core_o.csr_evp = obs_of_evp(csr_evp_valid, csr_evp_ready, csr_evp);
  assign obs_core_o.rx_place_line = obs_of_line(host_wr_valid_o, host_wr_ready_i, rx_place_line);
  assign obs_core_o.cq_mux_cqe = obs_of_cqe(cqe_valid_o, cqe_ready_i, cqe_o);

endmodule
