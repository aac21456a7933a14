// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// From NIC to NIC (docs/design/blocks/ctl/endpoint.md): port status to and from peers, EV probes,
/// answers to tx_probe's. One operation per cycle, packets of peers in turn with all else.
module mrc_endpoint
  import mrc_pkg::*;
  import mrc_probe_pkg::*;
  import mrc_addr_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 4,
    parameter int unsigned NumDests = 4
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input endpoint_csr_t csr_i,
    input logic eprx_valid_i,
    output logic eprx_ready_o,
    input eprx_t eprx_i,
    input logic want_valid_i,
    output logic want_ready_o,
    input want_t want_i,
    input logic evp_valid_i,
    output logic evp_ready_o,
    input evp_t evp_i,

    output logic req_valid_o,
    input logic req_ready_i,
    output ctlpkt_t req_o,
    output logic resp_valid_o,
    input logic resp_ready_i,
    output resp_t resp_o,
    output logic okev_valid_o,
    input logic okev_ready_i,
    output okev_t okev_o,
    output logic pmask_valid_o,
    input logic pmask_ready_i,
    output pmask_t pmask_o,
    output logic evr_valid_o,
    input logic evr_ready_i,
    output evr_t evr_o,
    output logic pans_valid_o,
    input logic pans_ready_i,
    output pans_t pans_o,

    input logic [NumPlanes-1:0] port_up_i,
    input logic [31:0] tick_i,
    output endpoint_pulses_t pulses_o,

    input cfg_t cfg_i,
    output logic cfg_ack_o
);

  localparam int unsigned PlaneW = $clog2(NumPlanes);
  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned DestW = $clog2(NumDests);
  // The id of an update: its destination, and its number in the other of 14 bits.
  localparam int unsigned IdDestW = (DestW > 8) ? DestW : 8;
  localparam int unsigned SeqW = 14 - IdDestW;

  if (NumPlanes < 2 || NumPlanes > MaxPlanes || NumPlanes != 2 ** PlaneW) begin : gen_bad_planes
    $error("%m: NumPlanes must be a power of two, 2 to 8");
  end
  if (NumQps < 2 || NumQps != 2 ** QpW) begin : gen_bad_qps
    $error("%m: NumQps must be a power of two, at least 2");
  end
  if (NumDests < 2 || NumDests > 4096 || NumDests != 2 ** DestW) begin : gen_bad_dests
    $error("%m: NumDests must be a power of two, 2 to 4096");
  end

  // The others of the page are in mrc_endpoint_lists: here it is StIdle, and not idle.
  typedef enum logic [1:0] {
    StIdle,
    StFind,
    StSend
  } state_e;

  /// An EV probe.
  typedef struct packed {
    logic busy;  // ordered or on its way
    logic send;  // not sent yet
    logic [DestW-1:0] dest;
    logic [PlaneW-1:0] plane;
    logic [31:0] ev;
    logic [13:0] seq;
    logic [31:0] over;  // tick at which it is given up
  } probe_t;

  /// The code point that the controller gave its probe, if it gave one.
  typedef struct packed {
    logic valid;
    logic [5:0] tc;
  } class_t;

  localparam logic [3:0] RepeatForEver = 4'd15;
  localparam logic [3:0] MostDoublings = 4'd10;  // 64 ticks so often doubled is beyond any interval

  function automatic logic [31:0] lfsr_next(logic [31:0] x);
    return {1'b0, x[31:1]} ^ (x[0] ? 32'hA3000000 : 32'd0);
  endfunction

  // ---- inputs

  logic eprx_v, want_v, evp_v, eprx_pop, want_pop, evp_pop;
  eprx_t rx, e_q;
  want_t want;
  evp_t evp;
  logic [1:0] unused_evp_count;
  logic [4:0] unused_eprx_count, unused_want_count;

  // An answer takes a cycle for each destination of the address's fold: requests wait here before
  // they stop the lanes.
  mrc_fifo #(
      .T(eprx_t),
      .Depth(16)
  ) u_eprx (
      .clk_i,
      .rst_ni,
      .valid_i(eprx_valid_i),
      .ready_o(eprx_ready_o),
      .data_i(eprx_i),
      .valid_o(eprx_v),
      .ready_i(eprx_pop),
      .data_o(rx),
      .count_o(unused_eprx_count)
  );

  mrc_fifo #(
      .T(want_t),
      .Depth(16)
  ) u_want (
      .clk_i,
      .rst_ni,
      .valid_i(want_valid_i),
      .ready_o(want_ready_o),
      .data_i(want_i),
      .valid_o(want_v),
      .ready_i(want_pop),
      .data_o(want),
      .count_o(unused_want_count)
  );

  mrc_fifo #(
      .T(evp_t),
      .Depth(2)
  ) u_evp (
      .clk_i,
      .rst_ni,
      .valid_i(evp_valid_i),
      .ready_o(evp_ready_o),
      .data_i(evp_i),
      .valid_o(evp_v),
      .ready_i(evp_pop),
      .data_o(evp),
      .count_o(unused_evp_count)
  );

  // ---- registers and memories

  state_e state_q, state_d;
  request_kind_e kind_q, kind_d;  // of what is sent
  logic cfg_ack_q, cfg_ack_d;
  logic [NumPlanes-1:0] up_q;
  logic [PlaneW-1:0] rot_q, rot_d;
  logic [DestW-1:0] dest_q, dest_d;  // written to in Send
  logic [3:0] div_q, div_d;
  logic visit_due_q, visit_due_d;
  logic turn_q, turn_d;  // a packet of a peer was taken last: all else goes first
  probe_t cp_q, cp_d, rp_q, rp_d;  // of the controller, of a reverse path
  class_t cp_class_q;
  logic [31:0] lfsr_q, lfsr_d, lfsr_after, seed_q;
  logic req_inc_q, req_inc_d, rsp_inc_q, rsp_inc_d, drop_inc_q, drop_inc_d;

  logic [1:0][NumPlanes-1:0] peer;  // of the destination of a want, of an update
  logic [1:0][SeqW-1:0] seq;  // of the destination of a response, of an update

  assign div_d = div_q + 4'd1;

  // ---- destinations

  logic cp_valid, rp_valid, evp_valid, want_valid, looked_valid, visit_valid, own_valid;
  logic rx_waiting, owed_we, cfg_ctx_we, forgotten, changed, idle, visit_on, hurry;
  logic [DestW-1:0] cfg_dest, rx_dest, owed_dest, forgotten_dest, looked_dest, visit;
  owed_t owed, own, owed_d;  // of visit; of the row of a table, or of dest_q; what it becomes

  mrc_endpoint_owed #(
      .NumDests(NumDests),
      .Reads(5)
  ) u_owed (
      .clk_i,
      .rst_ni,
      .changed_i(changed),
      .dests_i({looked_dest, want.dest[DestW-1:0], evp.dest[DestW-1:0], rp_q.dest, cp_q.dest}),
      .valid_o({looked_valid, want_valid, evp_valid, rp_valid, cp_valid}),
      .visit_i(visit),
      .visit_valid_o(visit_valid),
      .visit_o(owed),
      .rx_i(rx_dest),
      .rx_waiting_o(rx_waiting),
      .own_i(idle ? cfg_dest : dest_q),
      .own_valid_o(own_valid),
      .own_o(own),
      .we_i(owed_we),
      .dest_i(owed_dest),
      .owed_i(owed_d),
      .gains_i(cfg_ctx_we),
      .loses_i(forgotten)
  );

  // ---- the choice of the cycle

  logic req_free, resp_free, okev_free, pmask_free, evr_free, pans_free;
  logic op_plane, op_cfg, cfg_peer_we, op_rx, op_evp, op_want, op_cp_over, op_rp_over;
  logic op_cp_send, op_rp_send, op_visit;
  logic [31:0] cp_late, rp_late;
  logic cfg_owes, cfg_ctx_gone, cfg_state_gone, stale, lists_busy;
  tbl_qp_ctx_t cfg_ctx;
  tbl_qp_state_t cfg_state;

  assign cfg_ctx = cfg_i.data;
  assign cfg_state = cfg_i.data[$bits(tbl_qp_state_t)-1:0];
  assign cfg_dest = cfg_ctx.dest[DestW-1:0];
  assign cp_late = tick_i - cp_q.over;
  assign rp_late = tick_i - rp_q.over;

  assign idle = state_q == StIdle && !lists_busy;
  assign op_plane = idle && stale;
  assign op_cfg = idle && !stale && cfg_i.req && !cfg_ack_q;
  assign cfg_ctx_we = op_cfg && cfg_i.tbl == CfgTableQpCtx && cfg_ctx.state != QpStateReset;
  assign cfg_owes = cfg_ctx_we && port_up_i != {NumPlanes{1'b1}};
  assign cfg_ctx_gone = op_cfg && cfg_i.tbl == CfgTableQpCtx && cfg_ctx.state == QpStateReset;
  assign cfg_state_gone = op_cfg && cfg_i.tbl == CfgTableQpState && cfg_state.state == QpStateReset;
  assign cfg_peer_we = op_cfg && cfg_i.tbl == CfgTablePeerPorts;
  assign cfg_ack_d = cfg_i.req && (cfg_ack_q || op_cfg);
  assign cfg_ack_o = cfg_ack_q;

  // What peers send takes turns with all else. Bug 119: it goes first, however much comes.
  logic rx_can, rx_first, op_other;
  assign rx_can = eprx_v && resp_free && okev_free && pmask_free && evr_free && pans_free;
  assign rx_first = rx_can && (!turn_q || bug_i == BugPeersFirst);

  always_comb begin
    op_evp = 1'b0;
    op_want = 1'b0;
    op_cp_over = 1'b0;
    op_rp_over = 1'b0;
    op_cp_send = 1'b0;
    op_rp_send = 1'b0;
    op_visit = 1'b0;
    if (idle && !stale && !op_cfg && !rx_first) begin
      if (evp_v && evr_free) begin
        op_evp = 1'b1;
      end else if (want_v && !rp_q.busy) begin
        op_want = 1'b1;
      end else if (cp_q.busy && !cp_late[31] && evr_free) begin
        op_cp_over = 1'b1;
      end else if (rp_q.busy && !rp_late[31]) begin
        op_rp_over = 1'b1;
      end else if (cp_q.send && req_free && port_up_i[cp_q.plane] && cp_valid) begin
        op_cp_send = 1'b1;
      end else if (rp_q.send && req_free && port_up_i[rp_q.plane] && rp_valid) begin
        op_rp_send = 1'b1;
      end else begin
        op_visit = visit_on && (hurry ? req_free : visit_due_q);
      end
    end
  end

  assign op_other = op_evp || op_want || op_cp_over || op_rp_over || op_cp_send || op_rp_send
      || op_visit;
  assign op_rx = idle && !stale && !op_cfg && rx_can && !op_other;
  assign turn_d = op_rx || (turn_q && !op_other);

  assign eprx_pop = op_rx;
  assign evp_pop = op_evp;
  assign want_pop = op_want;
  assign visit_due_d = div_q == 4'd15 || (visit_due_q && !op_visit);

  // ---- memories

  logic addr_re, send, send_update, plane_on, rx_request, rx_known, find_goes_on, find_last;
  logic lists_leave;
  logic [6:0] plane_lsb;
  logic [DestW-1:0] addr_raddr;
  logic [127:0] dip;
  qp_index_t lender;
  logic [31:0] sent;  // tick at which the newest update to visit left

  mrc_endpoint_lists #(
      .NumQps(NumQps),
      .NumDests(NumDests)
  ) u_lists (
      .clk_i,
      .rst_ni,
      .busy_o(lists_busy),
      .plane_on_i(csr_i.ip_plane_enable),
      .plane_lsb_i(csr_i.ip_plane_lsb),
      .plane_on_o(plane_on),
      .plane_lsb_o(plane_lsb),
      .stale_o(stale),
      .anew_i(op_plane),
      .ctx_we_i(cfg_ctx_we),
      .ctx_gone_i(cfg_ctx_gone),
      .state_gone_i(cfg_state_gone),
      .qp_i(cfg_i.index[QpW-1:0]),
      .dest_i(cfg_dest),
      .dip_i(cfg_ctx.dip),
      .had_i(own_valid),
      .leaves_o(lists_leave),
      .forgotten_o(forgotten),
      .forgotten_dest_o(forgotten_dest),
      .find_i(rx_request && rx_known),
      .sip_i(rx.sip),
      .found_any_o(rx_known),
      .go_on_i(find_goes_on),
      .last_o(find_last),
      .dest_o(looked_dest),
      .dest_valid_i(looked_valid),
      .read_i(addr_re),
      .read_dest_i(addr_raddr),
      .dip_o(dip),
      .lender_o(lender)
  );

  mrc_rf_reset #(
      .Width(32),
      .Depth(NumDests)
  ) u_sent (
      .clk_i,
      .rst_ni,
      .raddr_i(visit),
      .rdata_o(sent),
      .we_i(send_update),
      .waddr_i(dest_q),
      .wdata_i(tick_i)
  );

  // ---- responses, by the upper bits of their id

  logic rx_update, rx_ctl, rx_rev, rx_bad, rx_drop;
  assign rx_dest = rx.id[DestW-1:0];
  // Bug 50: the answer to an update that has been overtaken ends it as well.
  assign rx_update = op_rx && rx.resp && rx.id[15:14] == KindUpdate && rx_waiting
      && (rx.id[13:IdDestW] == seq[0] || bug_i == BugAnyResponseCounts);
  assign rx_ctl = op_rx && rx.resp && rx.id[15:14] == KindCtl && cp_q.busy && !cp_q.send
      && rx.id[13:0] == cp_q.seq;
  assign rx_rev = op_rx && rx.resp && rx.id[15:14] == KindRev && rp_q.busy && !rp_q.send
      && rx.id[13:0] == rp_q.seq;
  // Whether it fits is tx_probe's to say.
  assign rx_bad = op_rx && rx.resp && rx.id[15:14] == KindBad;
  assign rx_request = op_rx && !rx.resp && !rx.op[1];
  assign rx_drop = op_rx && !rx_update && !rx_ctl && !rx_rev && !rx_bad
      && !(rx_request && rx_known);

  // ---- requests: whose are they?

  // The peer's address on the plane that the request came on.
  logic found, not_found;
  logic [127:0] from;
  always_comb begin
    from = 128'd0;
    if (state_q == StFind) begin
      from = at_plane(dip, plane_on, plane_lsb, e_q.plane[2:0]);
    end
  end
  assign found = state_q == StFind && from == e_q.sip;
  assign not_found = state_q == StFind && !found && find_last;
  assign find_goes_on = state_q == StFind && !found && !find_last;

  // ---- visits: who has to hear of our ports?

  logic visit_open, visit_again, visit_send, give_up, for_ever, visit_stays;
  logic passed_wait, passed_gap;
  logic [3:0] tries_most, doubled;
  logic [15:0] first_wait, until_again;
  logic [31:0] passed;  // ticks since its newest update

  assign changed = port_up_i != up_q;

  mrc_endpoint_visits #(
      .NumDests(NumDests)
  ) u_visits (
      .clk_i,
      .rst_ni,
      .bug_i,
      .changed_i(changed),
      .port_wait_i(csr_i.port_wait),
      .stop_i(op_cfg || lists_leave),
      .new_i(cfg_dest),
      .know_i(cfg_ctx_we && !own_valid),
      .owe_i(cfg_owes),
      .forget_i(forgotten),
      .gone_i(forgotten_dest),
      .visit_on_o(visit_on),
      .visit_o(visit),
      .hurry_o(hurry),
      .visit_i(op_visit),
      .due_i(visit_stays)
  );

  // Updates to one destination are so far apart that its numbers last for 128 ticks.
  // 64 << 10 is more than any interval.
  assign passed = tick_i - sent;
  assign passed_gap = passed[31:IdDestW-7] != '0;
  assign passed_wait = passed[31:16] != '0 || passed[15:0] >= until_again;
  assign doubled = (owed.tries >= MostDoublings) ? MostDoublings : owed.tries;
  assign first_wait = 16'd64 << doubled;
  always_comb begin
    until_again = csr_i.ep_interval;
    if (!csr_i.port_wait && doubled != MostDoublings && first_wait < csr_i.ep_interval) begin
      until_again = first_wait;
    end
  end

  assign visit_open = op_visit && visit_valid && owed.due;
  // Bug 49: an update that nobody answers is not repeated.
  assign visit_again = visit_open && owed.waiting && passed_wait && bug_i != BugPortsToldOnce;
  assign for_ever = csr_i.ep_repeats == RepeatForEver;
  assign give_up = !for_ever && owed.tries >= csr_i.ep_repeats;
  // For ever: as far as the wait doubles.
  assign tries_most = (owed.tries >= MostDoublings) ? MostDoublings : owed.tries + 4'd1;
  // Bug 126: the numbers of updates come round sooner.
  assign visit_send = visit_open && !owed.waiting && req_free && port_up_i != '0
      && (passed_gap || bug_i == BugNoGap);
  assign visit_stays = visit_open && !(visit_again && give_up);

  // ---- EV probes

  logic evp_known, want_known;
  assign evp_known = op_evp && evp_valid;
  // A port that is down here or there is not probed.
  assign want_known = op_want && want_valid && port_up_i[want.plane[PlaneW-1:0]]
      && peer[0][want.plane[PlaneW-1:0]];
  assign send_update = state_q == StSend && kind_q == KindUpdate && port_up_i != '0;
  assign send = send_update || (state_q == StSend && kind_q != KindUpdate);

  always_comb begin
    cp_d = cp_q;
    if (evp_known) begin
      cp_d = '{
          busy: 1'b1,
          send: 1'b1,
          dest: evp.dest[DestW-1:0],
          plane: evp.plane[PlaneW-1:0],
          ev: evp.ev,
          seq: cp_q.seq + 14'd1,
          over: tick_i + 32'(csr_i.ep_interval)
      };
    end else if (rx_ctl || op_cp_over) begin
      cp_d.busy = 1'b0;
      cp_d.send = 1'b0;
    end else if (send && kind_q == KindCtl) begin
      cp_d.send = 1'b0;
    end
  end

  always_comb begin
    rp_d = rp_q;
    if (want_known) begin
      rp_d = '{
          busy: 1'b1,
          send: 1'b1,
          dest: want.dest[DestW-1:0],
          plane: want.plane[PlaneW-1:0],
          ev: lfsr_after,
          seq: rp_q.seq + 14'd1,
          over: tick_i + 32'(csr_i.ep_interval)
      };
    end else if (rx_rev || op_rp_over) begin
      rp_d.busy = 1'b0;
      rp_d.send = 1'b0;
    end else if (send && kind_q == KindRev) begin
      rp_d.send = 1'b0;
    end
  end

  assign lfsr_after = lfsr_next(lfsr_q);

  // A new seed counts, not one that stands there. 0 would never become anything else.
  always_comb begin
    lfsr_d = lfsr_q;
    if (csr_i.rev_seed != seed_q) begin
      lfsr_d = (csr_i.rev_seed == 32'd0) ? 32'd1 : csr_i.rev_seed;
    end else if (want_known) begin
      lfsr_d = lfsr_after;
    end
  end

  // ---- what each destination is owed

  assign owed_we = cfg_ctx_we || rx_update || visit_again || send_update || forgotten;

  always_comb begin
    owed_dest = cfg_dest;
    owed_d = own;
    if (cfg_owes) begin
      owed_d = '{due: 1'b1, waiting: 1'b0, tries: 4'd0};
    end
    if (visit_again) begin
      owed_dest = visit;
      owed_d = '{due: !give_up, waiting: 1'b0, tries: owed.tries};
      if (for_ever && !csr_i.port_wait) begin
        owed_d.tries = tries_most;
      end else if (!for_ever && !give_up && bug_i != BugUpdateForEver) begin
        // Bug 97: nobody counts.
        owed_d.tries = owed.tries + 4'd1;
      end
    end
    if (send_update) begin
      owed_dest = dest_q;
      owed_d.waiting = 1'b1;
    end
    if (rx_update || forgotten) begin
      owed_dest = rx_update ? rx_dest : forgotten_dest;
      owed_d = '0;
    end
  end

  // ---- states

  always_comb begin
    state_d = state_q;
    kind_d = kind_q;
    dest_d = dest_q;
    addr_re = 1'b0;
    addr_raddr = '0;
    unique case (state_q)
      StIdle: begin
        if (rx_request && rx_known) begin
          state_d = StFind;
        end else if (op_cp_send) begin
          kind_d = KindCtl;
          addr_re = 1'b1;
          addr_raddr = cp_q.dest;
          state_d = StSend;
        end else if (op_rp_send) begin
          kind_d = KindRev;
          addr_re = 1'b1;
          addr_raddr = rp_q.dest;
          state_d = StSend;
        end else if (visit_send) begin
          kind_d = KindUpdate;
          dest_d = visit;
          addr_re = 1'b1;
          addr_raddr = visit;
          state_d = StSend;
        end
      end
      StFind: begin
        if (!find_goes_on) begin
          state_d = StIdle;
        end
      end
      default: state_d = StIdle;
    endcase
  end

  // ---- requests sent

  logic [NumPlanes-1:0] heard, choice;
  logic [PlaneW-1:0] update_plane, lane;
  logic lane_found;

  assign heard = port_up_i & peer[1];
  assign choice = (heard == '0) ? port_up_i : heard;

  // In turn over the planes on which both sides can hear, or over our own.
  always_comb begin
    update_plane = '0;
    lane = '0;
    lane_found = 1'b0;
    if (send_update) begin
      for (int unsigned k = 0; k < NumPlanes; k++) begin
        lane = rot_q + PlaneW'(k);
        if (!lane_found && choice[lane]) begin
          lane_found = 1'b1;
          update_plane = lane;
        end
      end
    end
  end

  assign rot_d = send_update ? update_plane + PlaneW'(1) : rot_q;

  ctlpkt_t req_d;
  logic [PlaneW-1:0] req_plane;
  logic [15:0] id;
  logic [31:0] req_ev;
  logic [1:0] req_op;
  logic [SeqW-1:0] seq_next;

  assign seq_next = seq[1] + SeqW'(1);

  always_comb begin
    if (kind_q == KindUpdate) begin
      req_plane = update_plane;
      req_ev = csr_i.rev_ev[update_plane];
      req_op = 2'(ErthOpPortStatus);
      id = {KindUpdate, seq_next, IdDestW'(dest_q)};
    end else begin
      req_plane = (kind_q == KindCtl) ? cp_q.plane : rp_q.plane;
      req_ev = (kind_q == KindCtl) ? cp_q.ev : rp_q.ev;
      req_op = 2'(ErthOpEvProbe);
      id = {kind_q, (kind_q == KindCtl) ? cp_q.seq : rp_q.seq};
    end
  end

  always_comb begin
    req_d = '0;
    if (send) begin
      req_d.qp = lender;
      req_d.plane = 4'(req_plane);
      req_d.ev = req_ev;
      req_d.opcode = OpcodeEndpointRequest;
      req_d.psn = {8'd0, id};
      req_d.ext_len = 8'(ErthBytes);
      req_d.tc = (kind_q == KindCtl && cp_class_q.valid) ? cp_class_q.tc : csr_i.dscp_ep;
      req_d.ext[8*ErthBytes-1:0] = erth(req_op, MaxPlanes'(port_up_i), csr_i.ports_from_0,
                                        tick_i[18:0], csr_i.tsr_us);
    end
  end

  mrc_out_reg #(
      .T(ctlpkt_t)
  ) u_req (
      .clk_i,
      .rst_ni,
      .load_i(send),
      .data_i(req_d),
      .free_o(req_free),
      .valid_o(req_valid_o),
      .ready_i(req_ready_i),
      .data_o(req_o)
  );

  // ---- the other outputs

  resp_t resp_d;
  okev_t okev_d;
  pmask_t pmask_d;
  evr_t evr_d;
  pans_t pans_d;
  logic [31:0] said;
  logic [15:0] rtt;

  always_comb begin
    resp_d = '0;
    if (found) begin
      resp_d.kind = CtlKindEndpoint;
      resp_d.qp = lender;
      resp_d.plane = e_q.plane;
      resp_d.psn = {8'd0, e_q.id};
      resp_d.reason = {6'd0, e_q.op};
      resp_d.ts = e_q.ts;
      resp_d.tsv = e_q.tsv;
      resp_d.at = e_q.at;
    end
  end

  assign okev_d = '{dest: 16'(rp_q.dest), plane: 4'(rp_q.plane), ev: rp_q.ev};
  // Bug 51: ports counted from the wrong end of the first bit.
  assign said = (csr_i.ports_from_0 != (bug_i == BugPortMaskShifted)) ? e_q.mask : e_q.mask >> 1;
  assign pmask_d = '{dest: 16'(looked_dest), mask: 8'(said[NumPlanes-1:0])};
  assign rtt = csr_i.tsr_us ? {rx.at[15:3] - rx.ts[12:0], 3'd0} : rx.at - rx.ts;
  assign evr_d = '{answered: rx_ctl, rtt: rx_ctl ? rtt : 16'd0};
  assign pans_d = '{id: rx.id[13:0]};

  mrc_out_reg #(
      .T(resp_t)
  ) u_resp (
      .clk_i,
      .rst_ni,
      .load_i(found),
      .data_i(resp_d),
      .free_o(resp_free),
      .valid_o(resp_valid_o),
      .ready_i(resp_ready_i),
      .data_o(resp_o)
  );

  mrc_out_reg #(
      .T(okev_t)
  ) u_okev (
      .clk_i,
      .rst_ni,
      .load_i(rx_rev),
      .data_i(okev_d),
      .free_o(okev_free),
      .valid_o(okev_valid_o),
      .ready_i(okev_ready_i),
      .data_o(okev_o)
  );

  mrc_out_reg #(
      .T(pmask_t)
  ) u_pmask (
      .clk_i,
      .rst_ni,
      .load_i(found && e_q.op == 2'(ErthOpPortStatus)),
      .data_i(pmask_d),
      .free_o(pmask_free),
      .valid_o(pmask_valid_o),
      .ready_i(pmask_ready_i),
      .data_o(pmask_o)
  );

  mrc_out_reg #(
      .T(evr_t)
  ) u_evr (
      .clk_i,
      .rst_ni,
      .load_i(rx_ctl || op_cp_over || (op_evp && !evp_known)),
      .data_i(evr_d),
      .free_o(evr_free),
      .valid_o(evr_valid_o),
      .ready_i(evr_ready_i),
      .data_o(evr_o)
  );

  mrc_out_reg #(
      .T(pans_t)
  ) u_pans (
      .clk_i,
      .rst_ni,
      .load_i(rx_bad),
      .data_i(pans_d),
      .free_o(pans_free),
      .valid_o(pans_valid_o),
      .ready_i(pans_ready_i),
      .data_o(pans_o)
  );

  assign req_inc_d = send;
  assign rsp_inc_d = found;
  assign drop_inc_d = rx_drop || not_found;
  assign pulses_o = '{req: req_inc_q, rsp: rsp_inc_q, drop: drop_inc_q};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      cfg_ack_q <= 1'b0;
      up_q <= {NumPlanes{1'b1}};
      rot_q <= '0;
      div_q <= 4'd0;
      visit_due_q <= 1'b0;
      turn_q <= 1'b0;
      cp_q <= '0;
      rp_q <= '0;
      lfsr_q <= 32'd1;
      seed_q <= 32'd1;
      req_inc_q <= 1'b0;
      rsp_inc_q <= 1'b0;
      drop_inc_q <= 1'b0;
    end else begin
      state_q <= state_d;
      cfg_ack_q <= cfg_ack_d;
      up_q <= port_up_i;
      rot_q <= rot_d;
      div_q <= div_d;
      visit_due_q <= visit_due_d;
      turn_q <= turn_d;
      cp_q <= cp_d;
      rp_q <= rp_d;
      lfsr_q <= lfsr_d;
      seed_q <= csr_i.rev_seed;
      req_inc_q <= req_inc_d;
      rsp_inc_q <= rsp_inc_d;
      drop_inc_q <= drop_inc_d;
    end
  end

  mrc_rf_reset #(
      .Width(NumPlanes),
      .Depth(NumDests),
      .Reads(2),
      .Reset({NumPlanes{1'b1}})
  ) u_peer (
      .clk_i,
      .rst_ni,
      .raddr_i({dest_q, want.dest[DestW-1:0]}),
      .rdata_o(peer),
      .we_i(cfg_peer_we),
      .waddr_i(cfg_i.index[DestW-1:0]),
      .wdata_i(cfg_i.data[NumPlanes-1:0])
  );

  mrc_rf_reset #(
      .Width(SeqW),
      .Depth(NumDests),
      .Reads(2)
  ) u_seq (
      .clk_i,
      .rst_ni,
      .raddr_i({dest_q, rx_dest}),
      .rdata_o(seq),
      .we_i(send_update),
      .waddr_i(dest_q),
      .wdata_i(seq_next)
  );

  always_ff @(posedge clk_i) begin
    kind_q <= kind_d;
    dest_q <= dest_d;
    if (op_rx) begin
      e_q <= rx;
    end
    if (evp_known) begin
      cp_class_q <= '{valid: evp.tc_valid, tc: evp.tc};
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, unused_eprx_count, unused_want_count, unused_evp_count,
                       cfg_ctx.srv6, cfg_ctx.mpr_dest, cfg_ctx.dmac, cfg_ctx.rqmsn, cfg_ctx.msn,
                       cfg_ctx.max_wimm_dest, cfg_ctx.rq_psn, cfg_ctx.max_wimm, cfg_ctx.sq_psn,
                       cfg_ctx.retry_exp, cfg_ctx.timeout, cfg_ctx.pkey,
                       cfg_ctx.retry_linear, cfg_ctx.backup, cfg_ctx.dqpn, cfg_ctx.profile,
                       cfg_ctx.mpr, cfg_ctx.rsvd13, cfg_ctx.cc, cfg_ctx.dyn_mpr, cfg_ctx.svc_time,
                       cfg_ctx.trim_nack, cfg_ctx.ts, cfg_ctx.encap, cfg_ctx.mtu, cp_late, rp_late,
                       said, e_q.resp, cfg_state.rsvd3};

  // ---- what always holds

  `MRC_POPS_A_WORD(Eprx, eprx_pop, eprx_v)
  `MRC_POPS_A_WORD(Evp, evp_pop, evp_v)
  `MRC_POPS_A_WORD(Want, want_pop, want_v)
  `MRC_ONE_HOT0(OneOperation,
      {op_plane, op_cfg, op_rx, op_evp, op_want, op_cp_over, op_rp_over, op_cp_send, op_rp_send,
       op_visit},
      "two operations in one cycle")
  `MRC_ASSERT_IF(WorksWhenIdle, op_cfg || op_rx || op_evp || op_want || op_visit, idle && !stale,
      "an operation begins in the middle of another")
  `MRC_ASSERT(StateInRange, state_q <= StSend,
      "no such state")
  `MRC_ASSERT_IF(KindInRange, state_q == StSend, kind_q <= KindRev,
      "no such kind of request")
  `MRC_ASSERT_IF(TriesInRange, visit_again, owed.tries != 4'd15,
      "the count of repeats comes round")
  `MRC_ASSERT_IF(WaitsAtMostTheInterval, op_visit, until_again <= csr_i.ep_interval,
      "an update waits longer than the interval")
  `MRC_ASSERT(SeedLives, lfsr_q != 32'd0,
      "the generator stands still")
  `MRC_ASSERT_IF(FindsALender, state_q == StFind, looked_valid,
      "a destination without a lender is looked at")

endmodule
