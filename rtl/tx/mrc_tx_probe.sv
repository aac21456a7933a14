// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Brings bad EVs back (docs/design/blocks/tx/tx_probe.md): sends EV probes or reliability probes
/// on EVs in ASSUMED_BAD, at growing intervals, until several answers in a row revive them; with
/// either kind allowed, the one that was answered last. One operation per cycle; one slot visited
/// every 16 cycles. It probes ProbeSlots EVs at once, those of QPs that can send; when all slots
/// are taken, a newcomer gets that of an EV that has failed at the longest interval, or is counted
/// and not kept.
module mrc_tx_probe
  import mrc_pkg::*;
  import mrc_probe_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 4,
    parameter int unsigned ProbeSlots = 4,
    parameter int unsigned NumDests = 4,
    parameter int unsigned TickCycles = 128,
    parameter int unsigned TickParts = 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input tx_probe_csr_t csr_i,

    input logic bad_valid_i,
    output logic bad_ready_o,
    input badev_t bad_i,
    input logic pres_valid_i,
    output logic pres_ready_o,
    input pres_t pres_i,
    input logic pans_valid_i,
    output logic pans_ready_o,
    input pans_t pans_i,

    output logic fb_valid_o,
    input logic fb_ready_i,
    output fb_t fb_o,
    output logic probe_valid_o,
    input logic probe_ready_i,
    output ctlpkt_t probe_o,

    input logic [NumPlanes-1:0] port_up_i,
    output tx_probe_pulses_t pulses_o,

    input cfg_t cfg_i,
    output logic cfg_ack_o
);

  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned PlaneW = $clog2(NumPlanes);
  localparam int unsigned SlotW = $clog2(ProbeSlots);
  localparam int unsigned DestW = $clog2(NumDests);

  if (NumPlanes < 2 || NumPlanes > MaxPlanes || NumPlanes != 2 ** PlaneW
      || NumQps < 2 || NumQps != 2 ** QpW)
  begin : gen_bad_params
    $error("%m: NumPlanes (at most 8) and NumQps must be powers of two, at least 2");
  end
  if (NumDests < 2 || NumDests != 2 ** DestW) begin : gen_bad_dests
    $error("%m: NumDests must be a power of two, at least 2");
  end
  if (ProbeSlots < 2 || ProbeSlots > 64 || ProbeSlots != 2 ** SlotW) begin : gen_bad_slots
    $error("%m: ProbeSlots must be a power of two, 2 to 64");
  end

  typedef struct packed {
    logic marked;  // an answer that counts asked for a skip
    qp_index_t qp;
    logic [DestW-1:0] dest;  // of the QP: a new context takes its slots away
    logic [15:0] ev_idx;
    logic [31:0] ev;
    logic [3:0] fails;
    logic [2:0] succ;
    logic [31:0] due;
  } slot_t;

  // ---- inputs

  logic bad_v, pres_v, pans_v, bad_pop, pres_pop, pans_pop;
  badev_t bad;
  pres_t pres;
  pans_t pans;
  logic [2:0][1:0] unused_counts;

  mrc_fifo #(
      .T(badev_t),
      .Depth(2)
  ) u_bad (
      .clk_i,
      .rst_ni,
      .valid_i(bad_valid_i),
      .ready_o(bad_ready_o),
      .data_i(bad_i),
      .valid_o(bad_v),
      .ready_i(bad_pop),
      .data_o(bad),
      .count_o(unused_counts[0])
  );

  mrc_fifo #(
      .T(pres_t),
      .Depth(2)
  ) u_pres (
      .clk_i,
      .rst_ni,
      .valid_i(pres_valid_i),
      .ready_o(pres_ready_o),
      .data_i(pres_i),
      .valid_o(pres_v),
      .ready_i(pres_pop),
      .data_o(pres),
      .count_o(unused_counts[1])
  );

  mrc_fifo #(
      .T(pans_t),
      .Depth(2)
  ) u_pans (
      .clk_i,
      .rst_ni,
      .valid_i(pans_valid_i),
      .ready_o(pans_ready_o),
      .data_i(pans_i),
      .valid_o(pans_v),
      .ready_i(pans_pop),
      .data_o(pans),
      .count_o(unused_counts[2])
  );

  // ---- registers

  logic cfg_ack_q, cfg_ack_d;
  logic tick;
  logic [31:0] tick_q;
  logic [3:0] div_q, div_d;
  logic visit_due_q, visit_due_d;
  logic turn_q, turn_d;  // an answer was taken last: bad EVs and visits go first
  logic [SlotW-1:0] visit_q, visit_d;
  logic [ProbeSlots-1:0] busy_q, busy_d;
  logic [ProbeSlots-1:0] waiting_q, waiting_d;  // for the answer to a probe
  logic [ProbeSlots-1:0] evp_q, evp_d;  // the newest probe is, or the first is to be, an EV probe
  logic [ProbeSlots-1:0] slow_q, slow_d;  // has failed at the longest interval
  logic [ProbeSlots-1:0][7:0] seq_q, seq_d;
  logic [QpW-1:0] slot_qp_q[0:ProbeSlots-1];  // of the slots, all of them compared at once
  logic [15:0] slot_ev_q[0:ProbeSlots-1];
  logic sent_inc_q, sent_inc_d, revived_inc_q, revived_inc_d, full_inc_q, full_inc_d;

  mrc_tick #(
      .Cycles(TickCycles),
      .Parts(TickParts)
  ) u_tick (
      .clk_i,
      .rst_ni,
      .tick_o(tick)
  );
  assign div_d = div_q + 4'd1;

  // ---- the choice of the cycle

  logic fb_free, probe_free;
  logic op_cfg, op_pres, op_pans, op_bad, op_visit, answers_wait, answers_go;
  logic cfg_ctx_we, cfg_state_we, cfg_ports_we, cfg_qpn_we, cfg_high_we, cfg_live;
  tbl_qp_ctx_t cfg_ctx;
  tbl_qp_qpn_t cfg_qpn;
  tbl_qp_state_t cfg_state;
  logic [QpW-1:0] cfg_qp;

  assign cfg_ctx = cfg_i.data;
  assign cfg_qp = cfg_i.index[QpW-1:0];
  assign op_cfg = cfg_i.req && !cfg_ack_q;
  assign cfg_state = cfg_i.data[$bits(tbl_qp_state_t)-1:0];
  assign cfg_ctx_we = op_cfg && cfg_i.tbl == CfgTableQpCtx;
  assign cfg_state_we = op_cfg && cfg_i.tbl == CfgTableQpState;
  assign cfg_ports_we = op_cfg && cfg_i.tbl == CfgTablePeerPorts;
  assign cfg_qpn = cfg_i.data[$bits(tbl_qp_qpn_t)-1:0];
  assign cfg_qpn_we = op_cfg && cfg_i.tbl == CfgTableQpQpn;
  assign cfg_high_we = cfg_qpn_we || (cfg_ctx_we
      && (cfg_ctx.state == QpStateReset || cfg_ctx.state == QpStateInit));
  assign cfg_live = (cfg_ctx_we ? cfg_ctx.state : cfg_state.state) == QpStateRts;
  // Answers in turn with all else. Bug 120: they go first, however many come.
  assign answers_wait = turn_q && (bad_v || visit_due_q) && bug_i != BugAnswersFirst;
  assign answers_go = !op_cfg && !answers_wait && fb_free;
  assign op_pres = answers_go && pres_v;
  assign op_pans = answers_go && !pres_v && pans_v;
  assign op_bad = !op_cfg && !op_pres && !op_pans && bad_v;
  assign op_visit = !op_cfg && !op_pres && !op_pans && !op_bad && visit_due_q;
  assign pres_pop = op_pres;
  assign pans_pop = op_pans;
  assign bad_pop = op_bad;

  // ---- the slot of the operation

  logic all_busy, none_free, slot_we, op_take, wanted, probed;
  logic [ProbeSlots-1:0] offered;
  logic [SlotW-1:0] free_slot, s, seen;
  slot_t slot, slot_d;
  logic [15:0] dqpn;  // low bits
  localparam int unsigned HighW = (QpW < 16) ? 16 - QpW : 1;  // 65 536 QPs need none

  logic [HighW-1:0] high;
  logic [4:0] timeout;
  logic [DestW-1:0] bad_dest;

  // EVs that stay bad come again by the scrub of tx_path: they make room when nothing is free.
  assign all_busy = &busy_q;
  assign offered = all_busy ? slow_q & ~waiting_q : ~busy_q;
  assign none_free = offered == '0;
  always_comb begin
    free_slot = '0;
    if (op_bad) begin
      for (int unsigned i = ProbeSlots; i > 0; i--) begin
        if (offered[i-1]) begin
          free_slot = SlotW'(i - 1);
        end
      end
    end
  end
  always_comb begin
    probed = 1'b0;  // the EV has a slot already
    if (op_bad) begin
      for (int unsigned i = 0; i < ProbeSlots; i++) begin
        if (busy_q[i] && slot_qp_q[i] == bad.qp[QpW-1:0] && slot_ev_q[i] == bad.ev_idx) begin
          probed = 1'b1;
        end
      end
    end
  end
  logic bad_live;  // its QP can send
  assign wanted = op_bad && bad_live && !probed;

  mrc_rf_reset #(
      .Width(1),
      .Depth(NumQps)
  ) u_live (
      .clk_i,
      .rst_ni,
      .raddr_i(bad.qp[QpW-1:0]),
      .rdata_o(bad_live),
      .we_i(cfg_ctx_we || cfg_state_we),
      .waddr_i(cfg_qp),
      .wdata_i(cfg_live)
  );
  assign op_take = wanted && !none_free;

  // Whose row is looked at; a slot that is taken is written only.
  always_comb begin
    seen = visit_q;
    if (op_pres) begin
      seen = pres.id[SlotW-1:0];
    end else if (op_pans) begin
      seen = pans.id[SlotW-1:0];
    end
  end
  assign s = op_bad ? free_slot : seen;

  mrc_rf_1r1w #(
      .Width($bits(slot_t)),
      .Depth(ProbeSlots)
  ) u_slots (
      .clk_i,
      .raddr_i(seen),
      .rdata_o(slot),
      .we_i(slot_we),
      .waddr_i(s),
      .wdata_i(slot_d)
  );

  mrc_rf_1r1w #(
      .Width(16 + 5),
      .Depth(NumQps)
  ) u_qp (
      .clk_i,
      .raddr_i(slot.qp[QpW-1:0]),
      .rdata_o({dqpn, timeout}),
      .we_i(cfg_ctx_we),
      .waddr_i(cfg_qp),
      .wdata_i({cfg_ctx.dqpn[15:0], cfg_ctx.timeout})
  );

  // Upper bits of its QPN, of those that are sent.
  mrc_rf_1r1w #(
      .Width(HighW),
      .Depth(NumQps)
  ) u_high (
      .clk_i,
      .raddr_i(slot.qp[QpW-1:0]),
      .rdata_o(high),
      .we_i(cfg_high_we),
      .waddr_i(cfg_qp),
      .wdata_i(cfg_qpn_we ? cfg_qpn.high[HighW-1:0] : '0)
  );

  mrc_rf_1r1w #(
      .Width(DestW),
      .Depth(NumQps)
  ) u_dest (
      .clk_i,
      .raddr_i(bad.qp[QpW-1:0]),
      .rdata_o(bad_dest),
      .we_i(cfg_ctx_we),
      .waddr_i(cfg_qp),
      .wdata_i(cfg_ctx.dest[DestW-1:0])
  );

  // ---- an answer

  // One to a reliability probe says what the peer makes of the EV, one to an EV probe that it came.
  logic heard, heard_evp, answered, refused, revived, marked_next;
  logic [2:0] succ_next;
  assign heard = op_pres && busy_q[seen] && waiting_q[seen] && !evp_q[seen]
      && slot.qp[QpW-1:0] == pres.qp[QpW-1:0]
      && pres.id[15:SlotW] == (16 - SlotW)'(seq_q[seen]);
  assign heard_evp = op_pans && busy_q[seen] && waiting_q[seen] && evp_q[seen]
      && pans.id[13:SlotW] == (14 - SlotW)'(seq_q[seen]);
  // The peer may say that it does not want this EV.
  assign answered = (heard && !pres.m[1]) || heard_evp;
  assign refused = heard && pres.m[1];
  assign marked_next = slot.marked || (heard && pres.m == MarkSkipOnce);
  assign succ_next = slot.succ + 3'd1;
  assign revived = answered && succ_next == csr_i.probe_successes;

  // ---- a visit

  logic [31:0] late;
  logic visit_now, lost, failed, send, send_evp, plane_up;
  logic [3:0] fails_next, cap;
  logic [PlaneW-1:0] ev_plane;
  logic [NumPlanes-1:0] pmask;  // planes the peer's ports can receive on
  logic [7:0] seq_next;
  assign late = tick_q - slot.due;
  assign visit_now = op_visit && busy_q[seen] && !late[31];
  assign lost = visit_now && waiting_q[seen];
  assign failed = lost || refused;
  assign ev_plane = slot.ev_idx[PlaneW-1:0];
  assign plane_up = port_up_i[ev_plane] && pmask[ev_plane];
  assign send = visit_now && !waiting_q[seen] && probe_free && plane_up;
  assign send_evp = csr_i.probe_kind == ReviveEvProbe
      || (csr_i.probe_kind != ReviveReliability && evp_q[seen]);
  assign cap = (csr_i.probe_cap == 4'd15) ? 4'd14 : csr_i.probe_cap;
  assign fails_next = (slot.fails < cap) ? slot.fails + 4'd1 : cap;
  assign seq_next = seq_q[seen] + 8'd1;

  mrc_rf_reset #(
      .Width(NumPlanes),
      .Depth(NumDests),
      .Reset({NumPlanes{1'b1}})
  ) u_pmask (
      .clk_i,
      .rst_ni,
      .raddr_i(slot.dest),
      .rdata_o(pmask),
      .we_i(cfg_ports_we),
      .waddr_i(cfg_i.index[DestW-1:0]),
      .wdata_i(cfg_i.data[NumPlanes-1:0])
  );

  // ---- what becomes of the slot

  always_comb begin
    slot_we = 1'b0;
    slot_d = slot;
    if (op_bad) begin
      slot_we = op_take;
      slot_d = '{
          marked: 1'b0,
          qp: bad.qp,
          dest: bad_dest,
          ev_idx: bad.ev_idx,
          ev: bad.ev,
          fails: 4'd0,
          succ: 3'd0,
          due: tick_q + {16'd0, csr_i.probe_interval}
      };
    end else if (answered) begin
      slot_we = 1'b1;
      slot_d.marked = marked_next;
      slot_d.succ = succ_next;
      slot_d.due = tick_q + {16'd0, csr_i.probe_interval};
    end else if (failed) begin
      slot_we = 1'b1;
      // Bug 30: answers before a failure still count.
      if (bug_i != BugProbeCountKept && !csr_i.probe_keep_count) begin
        slot_d.succ = 3'd0;
      end
      if (!csr_i.probe_keep_count) begin
        slot_d.marked = 1'b0;
      end
      slot_d.fails = fails_next;
      slot_d.due = tick_q + ({16'd0, csr_i.probe_interval} << fails_next);
    end else if (send) begin
      slot_we = 1'b1;
      slot_d.due = tick_q + (32'd8 << timeout);
    end
  end

  always_comb begin
    busy_d = busy_q;
    if (cfg_ctx_we || (cfg_state_we && !cfg_live)) begin
      for (int unsigned i = 0; i < ProbeSlots; i++) begin
        if (slot_qp_q[i] == cfg_qp) begin
          busy_d[i] = 1'b0;
        end
      end
    end else if (revived) begin
      busy_d[seen] = 1'b0;
    end else if (op_take) begin
      busy_d[free_slot] = 1'b1;
    end
  end

  always_comb begin
    waiting_d = waiting_q;
    slow_d = slow_q;
    if (op_take) begin
      waiting_d[free_slot] = 1'b0;
      slow_d[free_slot] = 1'b0;
    end else if (answered || failed) begin
      waiting_d[seen] = 1'b0;
      // Bug 63: nobody makes room.
      slow_d[seen] = failed && (slow_q[seen] || slot.fails == cap) && bug_i != BugSlotForGood;
    end else if (send) begin
      waiting_d[seen] = 1'b1;
    end
  end

  // Who does not answer one kind may answer the other.
  always_comb begin
    evp_d = evp_q;
    if (op_take) begin
      evp_d[free_slot] = 1'b1;
    end else if (lost) begin
      // Bug 95: the same kind for ever.
      evp_d[seen] = evp_q[seen] != (bug_i != BugProbeKindStuck);
    end else if (send) begin
      evp_d[seen] = send_evp;
    end
  end

  always_comb begin
    seq_d = seq_q;
    if (send) begin
      seq_d[seen] = seq_next;
    end
  end

  assign turn_d = op_pres || op_pans || (turn_q && !op_bad && !op_visit);
  assign visit_due_d = div_q == 4'd15 || (visit_due_q && !op_visit);
  assign visit_d = op_visit ? visit_q + SlotW'(1) : visit_q;

  // ---- outputs

  fb_t fb_d;
  ctlpkt_t probe_d;
  logic [15:0] id, spdcid, dpdcid;

  assign fb_d = '{
          qp: slot.qp,
          ev_idx: slot.ev_idx,
          entropy: 32'd0,
          kind: (marked_next && !csr_i.probe_skip_good) ? FbKindRevivedSkip : FbKindRevivedGood
      };
  assign id = {(16 - SlotW)'(seq_next), seen};
  assign spdcid = csr_i.pdcid_zero ? 16'd0 : 16'({high, slot.qp[QpW-1:0]}) + 16'(QpnBase);
  assign dpdcid = csr_i.pdcid_zero ? 16'd0 : dqpn;

  always_comb begin
    probe_d = '0;
    if (send) begin
      probe_d.qp = slot.qp;
      // Bug 31: every probe leaves on plane 0.
      probe_d.plane = (bug_i == BugProbeOnPlane0) ? 4'd0 : {{(4 - PlaneW) {1'b0}}, ev_plane};
      probe_d.ev = slot.ev;
      if (send_evp) begin
        probe_d.opcode = OpcodeEndpointRequest;
        probe_d.psn = {8'd0, KindBad, id[13:0]};
        probe_d.ext_len = 8'(ErthBytes);
        probe_d.ext[8*ErthBytes-1:0] = erth(2'(ErthOpEvProbe), MaxPlanes'(port_up_i),
                                            csr_i.ports_from_0, tick_q[18:0], csr_i.tsr_us);
      end else begin
        probe_d.opcode = OpcodeProbeRequest;
        probe_d.ext_len = 8'(PethBytes);
        probe_d.ext[8*PethBytes-1:0] = peth(id, spdcid, dpdcid, tick_q[18:0], csr_i.tsr_us);
      end
    end
  end

  mrc_out_reg #(
      .T(fb_t)
  ) u_fb (
      .clk_i,
      .rst_ni,
      .load_i(revived),
      .data_i(fb_d),
      .free_o(fb_free),
      .valid_o(fb_valid_o),
      .ready_i(fb_ready_i),
      .data_o(fb_o)
  );

  mrc_out_reg #(
      .T(ctlpkt_t)
  ) u_probe (
      .clk_i,
      .rst_ni,
      .load_i(send),
      .data_i(probe_d),
      .free_o(probe_free),
      .valid_o(probe_valid_o),
      .ready_i(probe_ready_i),
      .data_o(probe_o)
  );

  assign sent_inc_d = send;
  assign revived_inc_d = revived;
  assign full_inc_d = wanted && none_free;
  assign pulses_o = '{sent: sent_inc_q, revived: revived_inc_q, full: full_inc_q};
  assign cfg_ack_d = cfg_i.req;
  assign cfg_ack_o = cfg_ack_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cfg_ack_q <= 1'b0;
      tick_q <= 32'd0;
      div_q <= 4'd0;
      visit_due_q <= 1'b0;
      turn_q <= 1'b0;
      visit_q <= '0;
      busy_q <= '0;
      seq_q <= '0;
      sent_inc_q <= 1'b0;
      revived_inc_q <= 1'b0;
      full_inc_q <= 1'b0;
    end else begin
      cfg_ack_q <= cfg_ack_d;
      tick_q <= tick_q + 32'(tick);
      div_q <= div_d;
      visit_due_q <= visit_due_d;
      turn_q <= turn_d;
      visit_q <= visit_d;
      busy_q <= busy_d;
      seq_q <= seq_d;
      sent_inc_q <= sent_inc_d;
      revived_inc_q <= revived_inc_d;
      full_inc_q <= full_inc_d;
    end
  end

  always_ff @(posedge clk_i) begin
    waiting_q <= waiting_d;
    evp_q <= evp_d;
    slow_q <= slow_d;
    if (op_take) begin
      slot_ev_q[free_slot] <= bad.ev_idx;
      slot_qp_q[free_slot] <= bad.qp[QpW-1:0];
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, unused_counts, cfg_i.index, cfg_ctx.srv6, cfg_ctx.dip,
                       cfg_ctx.mpr_dest, cfg_ctx.dmac, cfg_ctx.rqmsn, cfg_ctx.msn,
                       cfg_ctx.max_wimm_dest, cfg_ctx.rq_psn, cfg_ctx.max_wimm, cfg_ctx.sq_psn,
                       cfg_ctx.retry_exp, cfg_ctx.pkey, cfg_ctx.retry_linear,
                       cfg_ctx.backup, cfg_ctx.profile, cfg_ctx.mpr, cfg_ctx.rsvd13, cfg_ctx.cc,
                       cfg_ctx.dyn_mpr, cfg_ctx.svc_time, cfg_ctx.trim_nack, cfg_ctx.ts,
                       cfg_ctx.encap, cfg_ctx.mtu, cfg_state.rsvd3, cfg_qpn, late};

  // ---- what always holds

  `MRC_POPS_A_WORD(Pres, pres_pop, pres_v)
  `MRC_POPS_A_WORD(Pans, pans_pop, pans_v)
  `MRC_POPS_A_WORD(Bad, bad_pop, bad_v)
  `MRC_ONE_HOT0(OneOperation, {op_cfg, op_pres, op_pans, op_bad, op_visit},
      "two operations in one cycle")
  `MRC_ASSERT_IF(TakesAFreeSlot, op_take && busy_q[free_slot],
      slow_q[free_slot] && !waiting_q[free_slot],
      "a slot is taken from an EV that still needs it")
  `MRC_ASSERT_IF(WaitsWhenBusy, answered, busy_q[seen],
      "a free slot has its answer")
  `MRC_ASSERT_IF(AnswersItsKind, answered, evp_q[seen] == op_pans,
      "an answer to the other kind of probe counts")
  `MRC_ASSERT_IF(OneSlotPerEv, op_take, !probed,
      "an EV gets two slots")
  `MRC_ASSERT_IF(SendsOnAPortThatIsUp, send, port_up_i[ev_plane],
      "a probe leaves on a plane whose port is down")
  `MRC_ASSERT_IF(RevivesABusySlot, revived, busy_q[seen] && waiting_q[seen],
      "an EV comes back that was not asked")
  `MRC_ASSERT_IF(FailsInRange, failed, fails_next <= cap,
      "more failures than the cap")

endmodule
