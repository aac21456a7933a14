// SPDX-License-Identifier: Apache-2.0

/// What the machines of mrc_tx_segment share: the registers of a QP as one struct, what each
/// machine writes of them in a cycle, and when a QP can send
/// (docs/design/blocks/tx/segment/tx_segment.md).
package mrc_tx_segment_pkg;

  import mrc_pkg::*;

  // The registers of a QP that more than one machine reads.
  typedef struct packed {
    logic rts;  // of the state only this matters here
    logic active;  // in tx_sched, or on its way there or back
    logic failed;  // it is over until QP_CTX
    logic fresh;  // nothing sent since QP_CTX
    logic held;  // its next message waits until an immediate completes
    logic [15:0] tail;  // MSN of the next WQE
    logic [15:0] una_msn;  // oldest incomplete MSN
    logic [23:0] una;
    logic [7:0] mpr;  // units of 128 PSNs
    logic [15:0] head;  // MSN being segmented
    pool_row_t hrow;  // its row of the pool
    logic [23:0] idx;  // its next packet
    logic [23:0] psn;  // next
    logic [7:0] wsent;  // immediates sent in part at least
    logic [7:0] wout;  // immediates completed
    logic [2:0] mtu;
    logic [7:0] mpr_max;
    logic [5:0] profile;
    logic [7:0] max_wimm;
    logic ts;
    logic cc;
    logic [15:0] dest;
  } qp_regs_t;

  // Who reads which port of the QPs' registers.
  localparam int unsigned Reads = 7;
  localparam int unsigned RdCfg = 0;
  localparam int unsigned RdWqe = 1;
  localparam int unsigned RdUpd = 2;
  localparam int unsigned RdDone = 3;
  localparam int unsigned RdGrant = 4;
  localparam int unsigned RdF1 = 5;
  localparam int unsigned RdEmit = 6;

  // Writes of a cycle, by machine; cfg writes through the ports of Intake and Progress, which stand
  // still meanwhile.
  typedef struct packed {
    logic we;
    logic go;  // the QP becomes active
    qp_index_t qp;
    logic [15:0] tail;
  } intake_wr_t;

  typedef struct packed {
    logic msn_we;
    logic una_we;  // una and mpr
    logic fail;
    logic go;
    qp_index_t qp;
    logic [15:0] una_msn;
    logic [23:0] una;
    logic [7:0] mpr;
    logic wout_we;  // an immediate of c1_qp completes, or is forgotten
    logic release_held;  // with wout_we: it is held no more
    qp_index_t c1_qp;
    logic [7:0] wout;
  } progress_wr_t;

  typedef struct packed {
    logic we;
    logic inactive;  // the QP leaves tx_sched
    logic hold;  // and waits until an immediate completes
    qp_index_t qp;
    logic [15:0] head;
    pool_row_t hrow;
    logic [23:0] idx;
    logic [23:0] psn;
    logic [7:0] wsent;
  } emit_wr_t;

  typedef struct packed {
    logic ctx_we;  // a context: failed := 0, fresh := 1, and everything else of it
    logic state_we;
    logic fail;
    qp_index_t qp;
    pool_row_t number;  // the QP's empty row
    tbl_qp_ctx_t row;
  } cfg_wr_t;

  // A WQE as Fetch and Emit need it, and the RQMSN it was given. next: row of the QP's next WQE;
  // only as many bits as the pool has rows are kept.
  typedef struct packed {
    pool_row_t next;
    logic imm_valid;
    logic [63:0] laddr;
    logic [63:0] raddr;
    logic [31:0] rkey;
    logic [31:0] length;
    logic [31:0] imm;
    logic [15:0] rqmsn;
  } work_t;

  // A WQE as its completion needs it.
  typedef struct packed {
    pool_row_t next;
    logic [31:0] wr_id;
    logic [31:0] length;
    logic imm_valid;
  } done_row_t;

  typedef struct packed {
    qp_index_t qp;
    logic [15:0] msn;
    logic [7:0] syndrome;
    logic flush;  // nothing but flushing is left
    logic silent;  // the QP begins anew: rows are given back without completions
  } done_t;

  // A row fetched for Emit. The last packet's index and sizes are worked out on the way.
  typedef struct packed {
    logic first;  // of a burst
    logic last_row;  // the burst ends with it
    logic dead;  // the QP could not send when the row was there
    qp_index_t qp;
    logic [15:0] msn;
    pool_row_t number;  // of the row
    work_t work;
    logic [23:0] last_idx;
    logic [12:0] last_plen;
    logic [13:0] last_size;  // UDP length + 40
  } fetched_t;

  // The same for an order of retransmission.
  typedef struct packed {
    retx_t order;
    work_t work;
    logic [23:0] last_idx;
    logic [12:0] last_plen;
  } again_t;

  function automatic logic msn_before(logic [15:0] a, logic [15:0] b);
    logic [15:0] d;
    d = b - a;
    return d != 16'd0 && !d[15];
  endfunction

  // May a packet with this psn go? one_more is injected bug 1; blocks (a power of two) is how many
  // blocks of 16 PSNs the ring holds.
  function automatic logic window_open(logic [23:0] psn, logic [23:0] una, logic [7:0] mpr,
                                       logic [19:0] blocks, logic one_more);
    logic [23:0] d;
    logic [19:0] b;
    d = psn - una;
    b = psn[23:4] - una[23:4];
    return b < blocks && (d[23:7] < {9'd0, mpr} || (one_more && d == {9'd0, mpr, 7'd0}));
  endfunction

  // A syndrome that ends the QP: a remote NAK, or the window gave up.
  function automatic logic ends_qp(logic [7:0] syndrome);
    return syndrome[7:5] == AethClassNak || syndrome == CqStatusRetryExceeded
        || syndrome == CqStatusRemEvent;
  endfunction

  function automatic logic [12:0] mtu_bytes(logic [2:0] mtu);
    return 13'd256 << mtu;
  endfunction

  // Nominal size of a packet of one MTU without immediate; UDP length + 40, if nothing else counts.
  function automatic logic [13:0] full_size(logic [2:0] mtu, logic ts, logic [1:0] nominal);
    logic [6:0] around;
    unique case (nominal)
      NominalPayload: around = 7'd0;
      NominalPayload40: around = 7'd40;
      default: around = ts ? 7'd88 : 7'd84;
    endcase
    return {1'b0, mtu_bytes(mtu)} | {7'd0, around};
  endfunction

  // The same of a message's last packet, whose UDP length + 40 is known.
  function automatic logic [13:0] end_size(logic [12:0] plen, logic [13:0] udp_40,
                                           logic [1:0] nominal);
    unique case (nominal)
      NominalPayload: return {1'b0, plen};
      NominalPayload40: return {1'b0, plen} + 14'd40;
      default: return udp_40;
    endcase
  endfunction

  // The registers of qp at the end of a cycle with these writes.
  function automatic qp_regs_t written(qp_regs_t q, qp_index_t qp, intake_wr_t a,
                                       progress_wr_t p, emit_wr_t e, cfg_wr_t c);
    qp_regs_t n;
    n = q;
    if (e.inactive && e.qp == qp) begin
      n.active = 1'b0;
    end
    if (a.qp == qp) begin
      if (a.we) begin
        n.tail = a.tail;
      end
      n.active = n.active || a.go;
    end
    if (p.qp == qp) begin
      if (p.msn_we) begin
        n.una_msn = p.una_msn;
      end
      if (p.una_we) begin
        n.una = p.una;
        n.mpr = p.mpr;
      end
      n.failed = n.failed || p.fail;
      n.active = n.active || p.go;
    end
    if (e.hold && e.qp == qp) begin
      n.held = 1'b1;
    end
    if (p.wout_we && p.c1_qp == qp) begin
      n.wout = p.wout;
      n.held = n.held && !p.release_held;
    end
    if (e.we && e.qp == qp) begin
      n.head = e.head;
      n.hrow = e.hrow;
      n.idx = e.idx;
      n.psn = e.psn;
      n.wsent = e.wsent;
      n.fresh = 1'b0;
    end
    if (c.qp == qp) begin
      if (c.ctx_we) begin
        n.failed = 1'b0;
        n.fresh = 1'b1;
        n.held = 1'b0;
        n.wsent = 8'd0;
        n.wout = 8'd0;
        n.head = c.row.msn;
        n.hrow = c.number;
        n.idx = 24'd0;
        n.psn = c.row.sq_psn;
        n.mtu = c.row.mtu;
        n.mpr_max = c.row.mpr;
        n.profile = c.row.profile;
        n.max_wimm = c.row.max_wimm;
        n.ts = c.row.ts;
        n.cc = c.row.cc;
        n.dest = c.row.dest;
      end
      if (c.state_we) begin
        n.rts = c.row.state == QpStateRts;
      end
      n.failed = n.failed || c.fail;
    end
    return n;
  endfunction

endpackage
