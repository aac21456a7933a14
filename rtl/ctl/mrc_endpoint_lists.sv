// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Who leads where: the addresses and lenders of the destinations of mrc_endpoint, the rings of
/// their QPs and the chains by which they are found (docs/design/blocks/ctl/endpoint.md). It takes
/// a table row or a new IP_PLANE when mrc_endpoint is in Idle, and is busy in the states Leave,
/// Join, Link, Unchain, Chain, Clear and Again. When it is not, others look into addresses and
/// along chains.
module mrc_endpoint_lists
  import mrc_pkg::*;
  import mrc_addr_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    parameter int unsigned NumDests = 4,
    localparam int unsigned QpW = $clog2(NumQps),
    localparam int unsigned DestW = $clog2(NumDests)
) (
    input logic clk_i,
    input logic rst_ni,
    output logic busy_o,

    // IP_PLANE, and the rule by which the chains stand.
    input logic plane_on_i,
    input logic [6:0] plane_lsb_i,
    output logic plane_on_o,
    output logic [6:0] plane_lsb_o,
    output logic stale_o,  // they differ
    input logic anew_i,  // then the chains are made anew

    // Rows of tables.
    input logic ctx_we_i,  // QP_CTX, not Reset
    input logic ctx_gone_i,  // QP_CTX, Reset
    input logic state_gone_i,  // QP_STATE, Reset
    input logic [QpW-1:0] qp_i,
    input logic [DestW-1:0] dest_i,
    input logic [127:0] dip_i,
    input logic had_i,  // that destination has a lender
    output logic leaves_o,  // state Leave
    output logic forgotten_o,  // in it: this one has none any more
    output logic [DestW-1:0] forgotten_dest_o,

    // Whose is an address? The destination that is looked at, and whether it has a lender.
    input logic find_i,  // begin with the first of its bucket
    input logic [127:0] sip_i,
    output logic found_any_o,  // there is one
    input logic go_on_i,  // to the one behind
    output logic last_o,  // there is none
    output logic [DestW-1:0] dest_o,
    input logic dest_valid_i,

    // The row that was read: for find_i and go_on_i, or for read_i.
    input logic read_i,
    input logic [DestW-1:0] read_dest_i,
    output logic [127:0] dip_o,
    output qp_index_t lender_o
);

  typedef enum logic [2:0] {
    StDone,
    StLeave,
    StJoin,
    StLink,
    StUnchain,
    StChain,
    StClear,
    StAgain
  } state_e;

  /// A peer's address, and the QP that lends the rest: its lender.
  typedef struct packed {
    logic [127:0] dip;
    logic [QpW-1:0] qp;
  } addr_t;

  /// Who leaves which destination.
  typedef struct packed {
    logic [QpW-1:0] qp;
    logic [DestW-1:0] dest;
    logic keep;  // it may go on lending when there is no other
    logic member;  // it stands in the ring
  } left_t;

  /// Who comes to which destination.
  typedef struct packed {
    logic [QpW-1:0] qp;
    logic [DestW-1:0] dest;
    logic [127:0] dip;
    logic had;  // the destination had a lender
    logic member;  // the QP stands in the ring
  } join_t;

  /// Where a QP goes.
  typedef struct packed {
    logic row;  // dest is that of its QP_CTX row
    logic leads;  // and it is not in RESET
    logic [DestW-1:0] dest;
  } to_t;

  state_e state_q, state_d, then_q, then_d;
  left_t left_q;
  join_t join_q;
  logic join_on_q, join_on_d, moves_q, plane_on_q;
  logic [6:0] plane_lsb_q;
  logic [QpW-1:0] lent_q;
  logic [DestW-1:0] gone_q, bucket_q;

  assign busy_o = state_q != StDone;
  assign leaves_o = state_q == StLeave;
  assign plane_on_o = plane_on_q;
  assign plane_lsb_o = plane_lsb_q;
  assign stale_o = {plane_on_i, plane_lsb_i} != {plane_on_q, plane_lsb_q};

  // ---- where QPs go

  logic leave;
  to_t to;  // of the QP of a row, or of a lender, as it was before

  assign leave = to.row && (ctx_gone_i || state_gone_i || (ctx_we_i && dest_i != to.dest));

  mrc_rf_reset #(
      .Width($bits(to_t)),
      .Depth(NumQps)
  ) u_to (
      .clk_i,
      .rst_ni,
      .raddr_i((state_q == StDone) ? qp_i : lender_o[QpW-1:0]),
      .rdata_o(to),
      .we_i(ctx_we_i || ctx_gone_i || state_gone_i),
      .waddr_i(qp_i),
      .wdata_i({state_gone_i ? to.row : ctx_we_i, ctx_we_i, ctx_we_i ? dest_i : to.dest})
  );

  // ---- addresses

  logic addr_re, addr_we, look;
  logic [DestW-1:0] addr_raddr, look_dest;
  addr_t addr, addr_d;

  assign dip_o = addr.dip;
  assign lender_o = qp_index_t'(addr.qp);

  mrc_ram_1r1w #(
      .Width($bits(addr_t)),
      .Depth(NumDests)
  ) u_addr (
      .clk_i,
      .re_i(addr_re),
      .raddr_i(addr_raddr),
      .rdata_o(addr),
      .we_i(addr_we),
      .waddr_i((state_q == StJoin) ? join_q.dest : left_q.dest),
      .wdata_i(addr_d)
  );

  // The end of Leave and Unchain may be the begin of Join.
  logic to_join;
  assign to_join = state_q != StDone && state_d == StJoin;
  assign look = find_i || go_on_i || (state_d == StAgain);
  assign addr_re = read_i || leave || ctx_we_i || to_join || look;

  always_comb begin
    addr_raddr = look_dest;
    if (read_i) begin
      addr_raddr = read_dest_i;
    end
    if (ctx_we_i || ctx_gone_i || state_gone_i) begin
      addr_raddr = leave ? to.dest : dest_i;
    end
    if (to_join) begin
      addr_raddr = join_q.dest;
    end
  end

  // ---- rings

  logic lender_left, others, enters, alone;
  logic [QpW-1:0] behind;

  assign lender_left = lender_o[QpW-1:0] == left_q.qp;
  assign others = left_q.member && !alone;
  assign forgotten_o = state_q == StLeave && !others && lender_left && !left_q.keep;
  assign forgotten_dest_o = left_q.dest;
  // A lender in RESET has left its ring, which nobody else was in.
  assign enters = state_q == StJoin && !join_q.member && join_q.had
      && lender_o[QpW-1:0] != join_q.qp && to.leads;

  logic [QpW-1:0] ring_at;
  always_comb begin
    ring_at = left_q.qp;
    if (state_q == StJoin) begin
      ring_at = lender_o[QpW-1:0];
    end
    if (state_q == StLink) begin
      ring_at = lent_q;
    end
  end

  mrc_endpoint_rings #(
      .NumQps(NumQps)
  ) u_rings (
      .clk_i,
      .rst_ni,
      .at_i(ring_at),
      .next_o(behind),
      .alone_o(alone),
      .leave_i(state_q == StLeave && left_q.member),
      .alone_i(state_q == StJoin && !join_q.member && !enters),
      .enter_i(enters),
      .link_i(state_q == StLink),
      .new_i(join_q.qp)
  );

  assign addr_we = state_q == StJoin || (state_q == StLeave && others && lender_left);
  assign addr_d = (state_q == StJoin) ? '{dip: join_q.dip, qp: join_q.qp}
      : '{dip: addr.dip, qp: behind};

  // ---- chains

  logic stays, out, at_last, start, jump;
  logic [127:0] looked;
  logic [DestW-1:0] bucket, jump_dest;

  // By the address that somebody asks for, that comes, or that was read.
  always_comb begin
    looked = addr.dip;
    if (state_q == StDone) begin
      looked = sip_i;
    end
    if (state_q == StChain) begin
      looked = join_q.dip;
    end
  end

  always_comb begin
    bucket = DestW'(address_fold(looked, plane_on_q, plane_lsb_q));
    if (state_q == StUnchain || (state_q == StChain && !join_on_q)) begin
      bucket = bucket_q;
    end
    if (state_q == StClear) begin
      bucket = dest_o;
    end
  end

  assign stays = join_q.had
      && at_plane(addr.dip, plane_on_q, plane_lsb_q, 3'd0)
          == at_plane(join_q.dip, plane_on_q, plane_lsb_q, 3'd0);
  assign out = state_q == StUnchain && dest_o == gone_q;
  assign at_last = dest_o == DestW'(NumDests - 1);
  assign start = find_i || forgotten_o || (state_q == StJoin && join_q.had);

  // To the one that comes; to 0 and to each behind it when chains are made anew.
  always_comb begin
    jump = anew_i || state_q == StClear || (state_q == StJoin && !join_q.had) || out
        || (state_q == StChain && !join_on_q) || (state_q == StAgain && !dest_valid_i);
    jump_dest = dest_o + DestW'(1);
    if (state_q == StJoin || state_q == StUnchain) begin
      jump_dest = join_q.dest;
    end
    if (anew_i) begin
      jump_dest = '0;
    end
  end

  mrc_endpoint_chains #(
      .NumDests(NumDests)
  ) u_chains (
      .clk_i,
      .rst_ni,
      .bucket_i(bucket),
      .any_o(found_any_o),
      .dest_o,
      .last_o,
      .next_o(look_dest),
      .start_i(start),
      .go_on_i(go_on_i || (state_q == StUnchain && !out)),
      .jump_i(jump),
      .jump_dest_i(jump_dest),
      .put_i(state_q == StChain),
      .out_i(out),
      .clear_i(state_q == StClear)
  );

  // ---- states

  always_comb begin
    then_d = StChain;
    if (join_q.had) begin
      then_d = stays ? StDone : StUnchain;
    end
  end

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StDone: begin
        if (anew_i) begin
          state_d = StClear;
        end else if (leave) begin
          state_d = StLeave;
        end else if (ctx_we_i) begin
          state_d = StJoin;
        end
      end
      StLeave: begin
        if (forgotten_o) begin
          state_d = StUnchain;
        end else begin
          state_d = join_on_q ? StJoin : StDone;
        end
      end
      StJoin: state_d = enters ? StLink : then_d;
      StLink: state_d = then_q;
      StUnchain: begin
        if (out && moves_q) begin
          state_d = StChain;
        end else if (out) begin
          state_d = join_on_q ? StJoin : StDone;
        end
      end
      StChain: state_d = (join_on_q || at_last) ? StDone : StAgain;
      StClear: state_d = at_last ? StAgain : StClear;
      StAgain: begin
        if (dest_valid_i) begin
          state_d = StChain;
        end else begin
          state_d = at_last ? StDone : StAgain;
        end
      end
      default: state_d = StDone;
    endcase
  end

  // Nothing ends before who comes has come.
  assign join_on_d = ctx_we_i || (join_on_q && state_d != StDone);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StDone;
      join_on_q <= 1'b0;
      plane_on_q <= 1'b0;
      plane_lsb_q <= 7'd64;
    end else begin
      state_q <= state_d;
      join_on_q <= join_on_d;
      if (anew_i) begin
        plane_on_q <= plane_on_i;
        plane_lsb_q <= plane_lsb_i;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (leave) begin
      left_q <= '{qp: qp_i, dest: to.dest, keep: state_gone_i, member: to.leads};
    end
    if (ctx_we_i) begin
      join_q <= '{
          qp: qp_i,
          dest: dest_i,
          dip: dip_i,
          had: had_i,
          member: to.leads && to.dest == dest_i
      };
    end
    if (state_q == StJoin) begin
      lent_q <= lender_o[QpW-1:0];
      then_q <= then_d;
    end
    if (state_q == StLeave || state_q == StJoin || state_q == StAgain) begin
      bucket_q <= bucket;
    end
    if (state_q == StLeave || state_q == StJoin) begin
      gone_q <= (state_q == StJoin) ? join_q.dest : left_q.dest;
      moves_q <= state_q == StJoin;
    end
  end

  // ---- what always holds

  `MRC_ASSERT_IF(TakesWhenDone,
      ctx_we_i || ctx_gone_i || state_gone_i || anew_i || find_i || go_on_i || read_i, !busy_o,
      "something is asked of the lists while they change")
  `MRC_ASSERT_IF(LeadsByARow, to.leads, to.row,
      "a QP without a row leads somewhere")
  `MRC_ASSERT_IF(LenderLeadsThere, enters, to.dest == join_q.dest,
      "a destination's lender leads to another one")
  `MRC_ASSERT_IF(MemberHasALender, state_q == StJoin && join_q.member, join_q.had,
      "a QP stands in the ring of a destination without a lender")
  `MRC_ASSERT_IF(FindsWhoGoes, state_q == StUnchain && !out, !last_o,
      "a destination that is to leave a chain is not in it")
  `MRC_ASSERT_IF(WalksAlongLenders, go_on_i || (state_q == StUnchain && !out), dest_valid_i,
      "a destination without a lender stands in a chain")
  `MRC_ASSERT_IF(ChainsALender, state_q == StChain, dest_valid_i,
      "a destination without a lender enters a chain")

endmodule
