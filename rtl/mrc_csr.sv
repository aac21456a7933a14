// SPDX-License-Identifier: Apache-2.0

/// Registers of the NIC on AXI4-Lite, the counters, the queue of EV events, and the broadcast of table
/// rows to the blocks.
/// One write and one read at a time, a read answered in the next cycle; a write to TBL_CMD is
/// answered when every block has taken the row. Wrong addresses and writes to read-only registers
/// get SLVERR. It has no interrupts. Contract: docs/blocks/nic.md, registers: cmodel/spec/csr.yaml.
module mrc_csr
  import mrc_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 4,
    parameter int unsigned EvsPerQp = 16,
    parameter int unsigned MaxMpr = 128,
    parameter int unsigned WqeDepth = 4,
    parameter int unsigned NumAcks = 9
) (
    input logic clk_i,
    input logic rst_ni,
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
    // Pulses of the blocks.
    input logic [NumPlanes-1:0] cnt_tx_i,
    input logic [NumPlanes-1:0] cnt_rx_i,
    input logic [NumPlanes-1:0] cnt_ovf_i,
    // In the order of the addresses from CNT_DROP_PARSE to CNT_QP_FAIL, the first in bit 0.
    input logic [17:0] cnt_i,
    input logic evev_valid_i,
    output logic evev_ready_o,
    input evev_t evev_i,
    output logic cfg_req_o,
    output logic [3:0] cfg_table_o,
    output logic [15:0] cfg_index_o,
    output logic [511:0] cfg_data_o,
    input logic [NumAcks-1:0] cfg_ack_i,
    output logic sack_base_self_o,
    output logic oor_drop_o,
    output logic trim_nack_o,
    output logic ev_swap_o,
    output logic bth_m_o,
    output logic [15:0] udp_port_o,
    output logic [5:0] dscp_data_o,
    output logic [5:0] dscp_rtx_o,
    output logic [5:0] dscp_ctl_o,
    output logic [5:0] dscp_trimmed_o,
    output logic [5:0] dscp_lasthop_o,
    output logic [47:0] mac_o,
    output logic [127:0] ip_o,
    output logic [4:0] rto_o,
    output logic [14:0] reorder_o,
    output logic [2:0] retry_linear_o,
    output logic [4:0] retry_exp_o,
    output logic [19:0] sack_trigger_o,
    output logic [3:0] srv6_plane_lsb_o,
    output logic [2:0] srv6_uplink_usid_o,
    output logic [3:0] srv6_uplink_lsb_o,
    output logic [3:0] srv6_uplink_bits_o,
    output logic [MaxPlanes-1:0][31:0] rev_ev_o,
    output logic [8:0] ev_min_active_o,
    output logic [15:0] probe_interval_o,
    output logic [2:0] probe_successes_o,
    output logic probe_skip_good_o
);

  localparam logic [1:0] RespOkay = 2'd0;
  localparam logic [1:0] RespSlvErr = 2'd2;
  // Word addresses.
  localparam int unsigned RwFirst = 32'(CsrCtrl) / 4;
  localparam int unsigned RwWords = (32'(CsrTblData0) / 4) + CsrTblData0Count - RwFirst;
  localparam int unsigned CntFirst = 32'(CsrCntTx0) / 4;
  localparam int unsigned CntWords = 32'(CsrCntQpFail) / 4 - CntFirst + 1;
  localparam int unsigned CntLanes = CsrCntTx0Count;

  function automatic logic [31:0] field(int unsigned lsb, int unsigned width);
    return ~(32'hFFFFFFFF << width) << lsb;
  endfunction

  // Bits that a writable word keeps; 0: there is no register.
  function automatic logic [31:0] mask_of(int unsigned word);
    logic [15:0] a;
    a = 16'(4 * word);
    unique case (a)
      CsrCtrl:
      return field(CsrCtrlSackBaseSelfLsb, CsrCtrlSackBaseSelfWidth) |
          field(CsrCtrlOorDropLsb, CsrCtrlOorDropWidth) |
          field(CsrCtrlTrimNackLsb, CsrCtrlTrimNackWidth) |
          field(CsrCtrlEvSwapLsb, CsrCtrlEvSwapWidth) | field(CsrCtrlBthMLsb, CsrCtrlBthMWidth);
      CsrUdpPort: return field(CsrUdpPortPortLsb, CsrUdpPortPortWidth);
      CsrDscpTx:
      return field(CsrDscpTxDataLsb, CsrDscpTxDataWidth) |
          field(CsrDscpTxRtxLsb, CsrDscpTxRtxWidth) | field(CsrDscpTxCtlLsb, CsrDscpTxCtlWidth);
      CsrDscpTrim:
      return field(CsrDscpTrimTrimmedLsb, CsrDscpTrimTrimmedWidth) |
          field(CsrDscpTrimLasthopLsb, CsrDscpTrimLasthopWidth);
      CsrMacHi: return field(CsrMacHiMacLsb, CsrMacHiMacWidth);
      CsrRto: return field(CsrRtoTimeoutLsb, CsrRtoTimeoutWidth);
      CsrReorder: return field(CsrReorderPktsLsb, CsrReorderPktsWidth);
      CsrRetry:
      return field(CsrRetryLinearLsb, CsrRetryLinearWidth) |
          field(CsrRetryExponentialLsb, CsrRetryExponentialWidth);
      CsrSackTrigger: return field(CsrSackTriggerBytesLsb, CsrSackTriggerBytesWidth);
      CsrSrv6:
      return field(CsrSrv6PlaneLsbLsb, CsrSrv6PlaneLsbWidth) |
          field(CsrSrv6UplinkUsidLsb, CsrSrv6UplinkUsidWidth) |
          field(CsrSrv6UplinkLsbLsb, CsrSrv6UplinkLsbWidth) |
          field(CsrSrv6UplinkBitsLsb, CsrSrv6UplinkBitsWidth);
      CsrEvCtl: return field(CsrEvCtlMinActiveLsb, CsrEvCtlMinActiveWidth);
      CsrEvProbe:
      return field(CsrEvProbeIntervalLsb, CsrEvProbeIntervalWidth) |
          field(CsrEvProbeSuccessesLsb, CsrEvProbeSuccessesWidth) |
          field(CsrEvProbeSkipGoodLsb, CsrEvProbeSkipGoodWidth);
      CsrTblCmd:
      return field(CsrTblCmdIndexLsb, CsrTblCmdIndexWidth) |
          field(CsrTblCmdTableLsb, CsrTblCmdTableWidth);
      CsrMacLo, CsrIp0, CsrIp1, CsrIp2, CsrIp3, CsrRevEv0, CsrRevEv1, CsrRevEv2, CsrRevEv3,
          CsrRevEv4, CsrRevEv5, CsrRevEv6, CsrRevEv7:
      return 32'hFFFFFFFF;
      default: return (a >= CsrTblData0) ? 32'hFFFFFFFF : 32'd0;
    endcase
  endfunction

  function automatic logic [31:0] reset_of(int unsigned word);
    logic [15:0] a;
    a = 16'(4 * word);
    unique case (a)
      CsrCtrl: return CsrCtrlReset;
      CsrUdpPort: return CsrUdpPortReset;
      CsrDscpTx: return CsrDscpTxReset;
      CsrDscpTrim: return CsrDscpTrimReset;
      CsrMacLo: return CsrMacLoReset;
      CsrMacHi: return CsrMacHiReset;
      CsrIp0: return CsrIp0Reset;
      CsrIp1: return CsrIp1Reset;
      CsrIp2: return CsrIp2Reset;
      CsrIp3: return CsrIp3Reset;
      CsrRto: return CsrRtoReset;
      CsrReorder: return CsrReorderReset;
      CsrRetry: return CsrRetryReset;
      CsrSackTrigger: return CsrSackTriggerReset;
      CsrSrv6: return CsrSrv6Reset;
      CsrRevEv0: return CsrRevEv0Reset;
      CsrRevEv1: return CsrRevEv1Reset;
      CsrRevEv2: return CsrRevEv2Reset;
      CsrRevEv3: return CsrRevEv3Reset;
      CsrRevEv4: return CsrRevEv4Reset;
      CsrRevEv5: return CsrRevEv5Reset;
      CsrRevEv6: return CsrRevEv6Reset;
      CsrRevEv7: return CsrRevEv7Reset;
      CsrEvCtl: return CsrEvCtlReset;
      CsrEvProbe: return CsrEvProbeReset;
      CsrTblCmd: return CsrTblCmdReset;
      default: return (a >= CsrTblData0) ? CsrTblData0Reset : 32'd0;
    endcase
  endfunction

  // One word per writable register, from CTRL to TBL_DATA15.
  function automatic logic [RwWords-1:0][31:0] all_masks();
    logic [RwWords-1:0][31:0] m;
    for (int unsigned i = 0; i < RwWords; i++) begin
      m[i] = mask_of(i + RwFirst);
    end
    return m;
  endfunction

  function automatic logic [RwWords-1:0][31:0] all_resets();
    logic [RwWords-1:0][31:0] m;
    for (int unsigned i = 0; i < RwWords; i++) begin
      m[i] = reset_of(i + RwFirst);
    end
    return m;
  endfunction

  localparam logic [RwWords-1:0][31:0] RwMask = all_masks();
  localparam logic [RwWords-1:0][31:0] RwReset = all_resets();
  localparam int unsigned RwIdxW = $clog2(RwWords);

  logic [31:0] rw_q[0:RwWords-1];

  // ---- write

  typedef enum logic [1:0] {
    WIdle,
    WCfg,
    WCfgEnd,
    WResp
  } wstate_e;

  wstate_e wstate_q, wstate_d;
  logic aw_full_q, aw_full_d, w_full_q, w_full_d, aw_take, w_take;
  logic [13:0] awaddr_q, rw_idx;
  logic [31:0] wdata_q, wmask, wvalue;
  logic [3:0] wstrb_q;
  logic bvalid_q, bvalid_d, cfg_req_q, cfg_req_d, w_go, w_hit, w_cmd;
  logic [1:0] bresp_q, bresp_d;
  logic [RwIdxW-1:0] widx;

  assign aw_take = s_axil_awvalid_i && !aw_full_q;
  assign w_take = s_axil_wvalid_i && !w_full_q;
  assign w_go = wstate_q == WIdle && aw_full_q && w_full_q;
  assign rw_idx = awaddr_q - 14'(RwFirst);
  assign widx = rw_idx[RwIdxW-1:0];
  assign w_hit = rw_idx < 14'(RwWords) && RwMask[widx] != 32'd0;
  assign w_cmd = w_hit && awaddr_q == CsrTblCmd[15:2];
  assign wmask = {{8{wstrb_q[3]}}, {8{wstrb_q[2]}}, {8{wstrb_q[1]}}, {8{wstrb_q[0]}}};
  assign wvalue = ((wdata_q & wmask) | (rw_q[widx] & ~wmask)) & RwMask[widx];

  always_comb begin
    wstate_d = wstate_q;
    aw_full_d = aw_full_q || aw_take;
    w_full_d = w_full_q || w_take;
    bvalid_d = bvalid_q;
    bresp_d = bresp_q;
    cfg_req_d = cfg_req_q;
    unique case (wstate_q)
      WIdle: begin
        if (w_go) begin
          if (w_cmd) begin
            cfg_req_d = 1'b1;
            wstate_d = WCfg;
          end else begin
            bvalid_d = 1'b1;
            bresp_d = w_hit ? RespOkay : RespSlvErr;
            wstate_d = WResp;
          end
        end
      end
      WCfg: begin
        if (&cfg_ack_i) begin
          cfg_req_d = 1'b0;
          wstate_d = WCfgEnd;
        end
      end
      WCfgEnd: begin
        if (cfg_ack_i == '0) begin
          bvalid_d = 1'b1;
          bresp_d = RespOkay;
          wstate_d = WResp;
        end
      end
      default: begin
        if (s_axil_bready_i) begin
          bvalid_d = 1'b0;
          aw_full_d = 1'b0;
          w_full_d = 1'b0;
          wstate_d = WIdle;
        end
      end
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wstate_q <= WIdle;
      aw_full_q <= 1'b0;
      w_full_q <= 1'b0;
      bvalid_q <= 1'b0;
      cfg_req_q <= 1'b0;
    end else begin
      wstate_q <= wstate_d;
      aw_full_q <= aw_full_d;
      w_full_q <= w_full_d;
      bvalid_q <= bvalid_d;
      cfg_req_q <= cfg_req_d;
    end
  end

  always_ff @(posedge clk_i) begin
    bresp_q <= bresp_d;
    if (aw_take) begin
      awaddr_q <= s_axil_awaddr_i[15:2];
    end
    if (w_take) begin
      wdata_q <= s_axil_wdata_i;
      wstrb_q <= s_axil_wstrb_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int unsigned i = 0; i < RwWords; i++) begin
        rw_q[i] <= RwReset[i];
      end
    end else if (w_go && w_hit) begin
      rw_q[widx] <= wvalue;
    end
  end

  assign s_axil_awready_o = !aw_full_q;
  assign s_axil_wready_o = !w_full_q;
  assign s_axil_bvalid_o = bvalid_q;
  assign s_axil_bresp_o = bresp_q;

  // ---- counters

  logic [CntWords-1:0] pulse;
  logic [31:0] cnt_q[0:CntWords-1];

  always_comb begin
    pulse = '0;
    pulse[0+:NumPlanes] = cnt_tx_i;
    pulse[CntLanes+:NumPlanes] = cnt_rx_i;
    pulse[2*CntLanes+:NumPlanes] = cnt_ovf_i;
    pulse[3*CntLanes+:18] = cnt_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int unsigned i = 0; i < CntWords; i++) begin
        cnt_q[i] <= 32'd0;
      end
    end else if (pulse != '0) begin
      for (int unsigned i = 0; i < CntWords; i++) begin
        if (pulse[i]) begin
          cnt_q[i] <= cnt_q[i] + 32'd1;
        end
      end
    end
  end

  // ---- EV events: a full queue loses them, it never stops tx_path

  logic evev_v, evq_ready, evq_v, evq_pop;
  evev_t evev, evq;
  logic [31:0] evq_drop_q, evq_word;
  logic [1:0] unused_evev_count;
  logic [4:0] unused_evq_count;

  mrc_fifo #(
      .T(evev_t),
      .Depth(2)
  ) u_evev (
      .clk_i,
      .rst_ni,
      .valid_i(evev_valid_i),
      .ready_o(evev_ready_o),
      .data_i(evev_i),
      .valid_o(evev_v),
      .ready_i(1'b1),
      .data_o(evev),
      .count_o(unused_evev_count)
  );

  mrc_fifo #(
      .T(evev_t),
      .Depth(16)
  ) u_evq (
      .clk_i,
      .rst_ni,
      .valid_i(evev_v),
      .ready_o(evq_ready),
      .data_i(evev),
      .valid_o(evq_v),
      .ready_i(evq_pop),
      .data_o(evq),
      .count_o(unused_evq_count)
  );

  assign evq_word = evq_v ? {1'b1, evq.qp[14:0], evq.floor, evq.state, evq.ev_idx} : 32'd0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      evq_drop_q <= 32'd0;
    end else if (evev_v && !evq_ready) begin
      evq_drop_q <= evq_drop_q + 32'd1;
    end
  end

  // ---- read

  logic rvalid_q, rvalid_d, ar_take;
  logic [31:0] rdata_q, rdata_d;
  logic [1:0] rresp_q, rresp_d;
  logic [13:0] ar_word, ar_rw, ar_cnt;

  assign ar_take = s_axil_arvalid_i && !rvalid_q;
  assign rvalid_d = ar_take || (rvalid_q && !s_axil_rready_i);
  assign ar_word = s_axil_araddr_i[15:2];
  assign ar_rw = ar_word - 14'(RwFirst);
  assign ar_cnt = ar_word - 14'(CntFirst);
  assign evq_pop = ar_take && ar_word == CsrEvq[15:2];

  always_comb begin
    rdata_d = 32'd0;
    rresp_d = RespOkay;
    if (ar_take) begin
      if (ar_word == CsrId[15:2]) begin
        rdata_d = CsrIdReset;
      end else if (ar_word == CsrVersion[15:2]) begin
        rdata_d = CsrVersionReset;
      end else if (ar_word == CsrCaps0[15:2]) begin
        rdata_d = {8'(WqeDepth), 16'(NumQps), 8'(NumPlanes)};
      end else if (ar_word == CsrCaps1[15:2]) begin
        rdata_d = {16'(EvsPerQp), 16'(MaxMpr)};
      end else if (ar_rw < 14'(RwWords) && RwMask[ar_rw[RwIdxW-1:0]] != 32'd0) begin
        rdata_d = rw_q[ar_rw[RwIdxW-1:0]];
      end else if (ar_word == CsrEvq[15:2]) begin
        rdata_d = evq_word;
      end else if (ar_word == CsrEvqDrop[15:2]) begin
        rdata_d = evq_drop_q;
      end else if (ar_cnt < 14'(CntWords)) begin
        rdata_d = cnt_q[ar_cnt[5:0]];
      end else begin
        rresp_d = RespSlvErr;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rvalid_q <= 1'b0;
    end else begin
      rvalid_q <= rvalid_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (ar_take) begin
      rdata_q <= rdata_d;
      rresp_q <= rresp_d;
    end
  end

  assign s_axil_arready_o = !rvalid_q;
  assign s_axil_rvalid_o = rvalid_q;
  assign s_axil_rdata_o = rdata_q;
  assign s_axil_rresp_o = rresp_q;

  // ---- what the blocks see

  localparam int unsigned Ctrl = 32'(CsrCtrl) / 4 - RwFirst;
  localparam int unsigned Udp = 32'(CsrUdpPort) / 4 - RwFirst;
  localparam int unsigned DscpTx = 32'(CsrDscpTx) / 4 - RwFirst;
  localparam int unsigned DscpTrim = 32'(CsrDscpTrim) / 4 - RwFirst;
  localparam int unsigned MacLo = 32'(CsrMacLo) / 4 - RwFirst;
  localparam int unsigned MacHi = 32'(CsrMacHi) / 4 - RwFirst;
  localparam int unsigned Ip0 = 32'(CsrIp0) / 4 - RwFirst;
  localparam int unsigned Rto = 32'(CsrRto) / 4 - RwFirst;
  localparam int unsigned Reorder = 32'(CsrReorder) / 4 - RwFirst;
  localparam int unsigned Retry = 32'(CsrRetry) / 4 - RwFirst;
  localparam int unsigned SackTrigger = 32'(CsrSackTrigger) / 4 - RwFirst;
  localparam int unsigned Srv6 = 32'(CsrSrv6) / 4 - RwFirst;
  localparam int unsigned RevEv0 = 32'(CsrRevEv0) / 4 - RwFirst;
  localparam int unsigned EvCtl = 32'(CsrEvCtl) / 4 - RwFirst;
  localparam int unsigned EvProbe = 32'(CsrEvProbe) / 4 - RwFirst;
  localparam int unsigned TblCmd = 32'(CsrTblCmd) / 4 - RwFirst;
  localparam int unsigned TblData0 = 32'(CsrTblData0) / 4 - RwFirst;

  assign sack_base_self_o = rw_q[Ctrl][CsrCtrlSackBaseSelfLsb];
  assign oor_drop_o = rw_q[Ctrl][CsrCtrlOorDropLsb];
  assign trim_nack_o = rw_q[Ctrl][CsrCtrlTrimNackLsb];
  assign ev_swap_o = rw_q[Ctrl][CsrCtrlEvSwapLsb];
  assign bth_m_o = rw_q[Ctrl][CsrCtrlBthMLsb];
  assign udp_port_o = rw_q[Udp][CsrUdpPortPortLsb+:CsrUdpPortPortWidth];
  assign dscp_data_o = rw_q[DscpTx][CsrDscpTxDataLsb+:CsrDscpTxDataWidth];
  assign dscp_rtx_o = rw_q[DscpTx][CsrDscpTxRtxLsb+:CsrDscpTxRtxWidth];
  assign dscp_ctl_o = rw_q[DscpTx][CsrDscpTxCtlLsb+:CsrDscpTxCtlWidth];
  assign dscp_trimmed_o = rw_q[DscpTrim][CsrDscpTrimTrimmedLsb+:CsrDscpTrimTrimmedWidth];
  assign dscp_lasthop_o = rw_q[DscpTrim][CsrDscpTrimLasthopLsb+:CsrDscpTrimLasthopWidth];
  assign mac_o = {rw_q[MacHi][CsrMacHiMacLsb+:CsrMacHiMacWidth], rw_q[MacLo]};
  assign ip_o = {rw_q[Ip0+3], rw_q[Ip0+2], rw_q[Ip0+1], rw_q[Ip0]};
  assign rto_o = rw_q[Rto][CsrRtoTimeoutLsb+:CsrRtoTimeoutWidth];
  assign reorder_o = rw_q[Reorder][CsrReorderPktsLsb+:CsrReorderPktsWidth];
  assign retry_linear_o = rw_q[Retry][CsrRetryLinearLsb+:CsrRetryLinearWidth];
  assign retry_exp_o = rw_q[Retry][CsrRetryExponentialLsb+:CsrRetryExponentialWidth];
  assign sack_trigger_o = rw_q[SackTrigger][CsrSackTriggerBytesLsb+:CsrSackTriggerBytesWidth];
  assign srv6_plane_lsb_o = rw_q[Srv6][CsrSrv6PlaneLsbLsb+:CsrSrv6PlaneLsbWidth];
  assign srv6_uplink_usid_o = rw_q[Srv6][CsrSrv6UplinkUsidLsb+:CsrSrv6UplinkUsidWidth];
  assign srv6_uplink_lsb_o = rw_q[Srv6][CsrSrv6UplinkLsbLsb+:CsrSrv6UplinkLsbWidth];
  assign srv6_uplink_bits_o = rw_q[Srv6][CsrSrv6UplinkBitsLsb+:CsrSrv6UplinkBitsWidth];
  assign ev_min_active_o = rw_q[EvCtl][CsrEvCtlMinActiveLsb+:CsrEvCtlMinActiveWidth];
  assign probe_interval_o = rw_q[EvProbe][CsrEvProbeIntervalLsb+:CsrEvProbeIntervalWidth];
  assign probe_successes_o = rw_q[EvProbe][CsrEvProbeSuccessesLsb+:CsrEvProbeSuccessesWidth];
  assign probe_skip_good_o = rw_q[EvProbe][CsrEvProbeSkipGoodLsb];
  assign cfg_req_o = cfg_req_q;
  assign cfg_index_o = rw_q[TblCmd][CsrTblCmdIndexLsb+:CsrTblCmdIndexWidth];
  assign cfg_table_o = rw_q[TblCmd][CsrTblCmdTableLsb+:CsrTblCmdTableWidth];

  for (genvar i = 0; i < 8; i++) begin : gen_rev_ev
    assign rev_ev_o[i] = rw_q[RevEv0+i];
  end

  for (genvar i = 0; i < 16; i++) begin : gen_tbl_data
    assign cfg_data_o[32*i+:32] = rw_q[TblData0+i];
  end

  logic unused_bits;
  assign unused_bits = ^{s_axil_awaddr_i[1:0], s_axil_araddr_i[1:0], rw_idx, ar_rw, ar_cnt,
      rw_q[Ctrl], rw_q[Udp], rw_q[DscpTx], rw_q[DscpTrim], rw_q[MacHi], rw_q[Rto], rw_q[Reorder], rw_q[Retry],
      rw_q[SackTrigger], rw_q[Srv6], rw_q[TblCmd], rw_q[EvCtl], rw_q[EvProbe], unused_evev_count, unused_evq_count,
      evq.qp[15]};

endmodule
