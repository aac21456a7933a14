// SPDX-License-Identifier: Apache-2.0

/// What mrc_tx_inflight and its parts share (docs/design/blocks/tx/inflight/tx_inflight.md): the
/// row of a block of 16 PSNs, the record of a packet, the registers of a QP and how Progress,
/// restart and a retry change them, and what the parts hand to each other. Block number w holds the
/// PSNs 16 w to 16 w + 15, bit i of it stands for 16 w + i. A name that ends with 1 holds the PSN
/// after the one that it is named for.
package mrc_tx_inflight_pkg;

  import mrc_pkg::*;

  // ---- memories

  typedef struct packed {
    logic [15:0][2:0] age;  // timer steps for which it is spared, and 1
    logic [15:0] mute;  // its EV is not to blame, or has been told already
    logic [15:0] nacked;  // it has left the flight already
    logic [15:0] rtxd;  // sent again since it was first sent
    logic [15:0] pend;  // waits to be sent again
    logic [15:0] sacked;  // reported received
  } win_t;

  /// What was sent; row: of tx_segment's pool
  typedef struct packed {
    logic [15:0] msn;
    pool_row_t row;
    logic [23:0] idx;
    logic [15:0] ev_idx;
    logic [13:0] size;
    logic rtx;
  } sent_t;

  /// Which record is read: of the block whose number was read, of the one whose row was read, of
  /// the newest one of the QP
  typedef enum logic [1:0] {
    SentOfMap,
    SentOfWin,
    SentOfNewest
  } sent_of_e;

  /// When the packets of a block went, by low bits of the tick
  typedef logic [11:0] stamp_t;
  typedef stamp_t [15:0] stamps_t;

  /// What one operation reads and writes in the memories in one cycle. Those of all operations are
  /// or-ed: all zero means nothing.
  typedef struct packed {
    logic map_re;  // the number of block map_block
    logic [19:0] map_block;
    logic win_re;  // the row of the block whose number was read, and its stamps
    logic win_we;  // the row that was read becomes win
    win_t win;
    logic sent_re;  // the record of the packet at sent_pos
    sent_of_e sent_of;
    logic [3:0] sent_pos;
    logic stamp_we;  // the stamp at stamp_pos, of the row that was read, becomes that of now
    logic [3:0] stamp_pos;
  } mem_t;

  // ---- QPs

  /// Retries since the last progress, and what follows from them: the timer's step is 2 << shift
  /// ticks, a quarter of its interval
  typedef struct packed {
    logic [5:0] count;
    logic [4:0] shift;
    logic exhausted;
  } retry_t;

  /// Registers of a QP that the main machine writes, but for rtx_lo and base. dest comes first: of
  /// its bits mrc_tx_inflight_qps keeps only the low log2 NumDests.
  typedef struct packed {
    logic [15:0] dest;
    logic [23:0] una;
    logic [23:0] hi1;  // PSN after the highest one known received
    logic [15:0] msn_done;
    logic [31:0] start;
    logic [3:0][23:0] marks;
    logic [1:0] cnt;
    logic [23:0] low;  // the lowest PSN not reported when the timer last walked
    retry_t retry;
    logic [27:0] fgone;
    logic [7:0] credit;  // bytes of packets NACKed or lost that had left the flight before
    logic [19:0] owed;  // bytes that left the flight before a SACK told of them
    logic [23:0] rcvdl;
    logic [17:0] trip;  // the longest round trip of late, in 256ths of a tick
    logic trims;  // that is of a trim: no round trip has been as long since
    logic [2:0] queries;  // questions since a SACK about data moved una
    logic [7:0] mprv;
    logic [4:0] timeout;
    logic [2:0] retry_linear;
    logic [4:0] retry_exp;
    logic ts;
    logic dyn_mpr;
    logic [2:0] mtu;
  } qp_t;

  /// Registers of a QP that Record writes, but for cur
  typedef struct packed {
    logic [23:0] nxt;
    logic [15:0] msn_sent;
    logic [27:0] fsent;
  } out_t;

  /// Flags of a QP
  typedef struct packed {
    logic live;
    logic fresh;  // nothing sent since QP_CTX
    logic held;  // it holds blocks
    logic kept;  // its newest block is full and all of it acknowledged
    logic armed;
    logic inq;  // it waits to give blocks back
    logic dup;  // its newest packet is to be sent again, for the sake of its ACK
    logic stays;  // what is lost may still be in flight
    logic cc;
  } flags_t;

  /// One QP as an operation sees it
  typedef struct packed {
    flags_t is;
    qp_t row;
  } view_t;

  /// What one operation makes of its QP in one cycle. Those of all operations are or-ed: all zero
  /// means nothing.
  typedef struct packed {
    logic we;  // the registers become row
    qp_t row;
    logic rtx_lo_we;
    logic [23:0] rtx_lo;
    logic moved;  // una is in another block than base: blocks are given back
    logic enlist;  // something is to be sent again
    logic stays_set;  // with enlist: lost, and still in flight
    logic stays_clear;
    logic turn;  // the head of the list goes to its end
    logic delist;  // the head of the list has nothing to send again, and leaves it
    logic dup_set;
    logic dup_clear;
    logic armed_we;
    logic armed;
    logic unfresh;  // fresh := 0
    logic freed;  // a block that tx_segment has counted was never begun
    logic landed;  // nothing of it is in flight any more
    logic fail;  // Fail
    logic over;  // the peer ends it
  } change_t;

  // ---- the main machine

  typedef enum logic [4:0] {
    StIdle,
    StRec,
    StReclaim,
    StCtl0,
    StCtl1,
    StRow,
    StDone,
    StSame0,
    StSame1,
    StAck,
    StRetx0,
    StScan,
    StRetx1,
    StRetxW,
    StWalk0,
    StWalk,
    StNotified0,
    StNotified,
    StSeek,
    StPort0,
    StPort1,
    StPort2,
    StPort3
  } state_e;

  /// Choice of an Idle cycle: one of them, or none
  typedef struct packed {
    logic ctx;  // QP_CTX: carried out (new), or the QP ends first
    logic ctx_new;
    logic ended;  // QP_STATE other than Rts
    logic other;  // QP_STATE Rts, PEER_PORTS and the tables of others
    logic peer;  // with other: PEER_PORTS
    logic ports;
    logic reclaim;
    logic visit;
    logic retx;
    logic ctl;
    logic rec;
  } op_t;

  /// The SACK, NACK or ACK at hand
  typedef struct packed {
    ctl_t ctl;
    logic [23:0] cack1;
    logic [23:0] psn1;
    logic [23:0] last;  // last PSN of its bitmap
  } msg_t;

  /// What happens to the lists of QPs with something to send again and with blocks to give back
  typedef struct packed {
    logic push;
    logic pop;
    logic rq_push;
  } lists_t;

  // ---- what the parts tell each other

  /// A packet that Record takes in
  typedef struct packed {
    logic go;
    logic begins;  // with go: as the first of its block,
    logic take;  // whose number comes from the pool,
    logic reuse;  // or is the one that the QP has kept
  } recording_t;

  /// Where a SACK stands (mrc_tx_inflight_sack)
  typedef struct packed {
    logic valid;  // Ctl0
    logic [19:0] block;  // Ctl0: the first to be looked at
    logic none;  // Ctl1: there is none
    logic last;  // Row: this is the last
    logic look;  // Done: una is to be looked at: by its EV, or by time
  } sack_steps_t;

  /// What a SACK says (mrc_tx_inflight_sack), in Done
  typedef struct packed {
    logic moved;  // una moves
    logic [23:0] una;
    logic new_mpr;
    logic recent;  // of the packet that brought it the record is there: sent again, EV
    logic rtx;
    logic [15:0] ev_idx;
  } sack_t;

  /// Losses by time (mrc_tx_inflight_time)
  typedef struct packed {
    logic knows;  // Row, Done: the SACK knows what is old
    logic [15:0] old;  // Row, Same1: with knows, of the block: sent too long before what it answers
    logic gives_time;  // Done: the SACK tells time
    logic [17:0] trip;  // Ctl1, Done: of the QP from now on, as the next one
    logic trims;
  } overdue_t;

  /// A NACK or an ACK (mrc_tx_inflight_answer)
  typedef struct packed {
    logic event_;  // a NACK because of UNEXP_EVENT
    logic takes;  // a NACK: psn leaves the flight
    logic trimmed;  // a NACK: news about psn's EV
    logic changed;  // an ACK: una or msn_done
    logic nak;
    logic [23:0] una;
  } answer_t;

  /// Where a retransmission stands (mrc_tx_inflight_scan)
  typedef struct packed {
    logic send;  // Scan: there is one,
    logic stop;  // or the QP's turn is over
    logic granted;  // RetxW: the controller takes it,
    logic refused;  // or not now,
    logic leave;  // and what is lost begins to leave the flight
    logic left;  // Retx0, Scan: nothing is left that is to leave
    logic passed;  // Retx0: una has passed where the search was
    logic at_we;  // where the search for it goes on
    logic [23:0] at;
  } scan_steps_t;

  /// A packet to be sent again (mrc_tx_inflight_scan), in Retx1 and RetxW
  typedef struct packed {
    logic [23:0] p;
    logic loss;  // it has not left the flight yet
    logic blame;  // its EV is to be told: a gap or the timer, not a NACK
  } scan_t;

  /// Where the timer stands (mrc_tx_inflight_timer)
  typedef struct packed {
    logic walk;  // a visit: the window is to be looked at
    logic more;  // Walk, Told: this is not the last block
    logic notified;  // Walk: the last block; the controller is told of all that flies
  } timer_steps_t;

  /// What the timer says (mrc_tx_inflight_timer)
  typedef struct packed {
    logic query;  // a visit: the peer is asked for its state
    logic dup;  // a visit: the ACK is missing
    logic lost;  // Walk: the last block; something is lost
  } timer_t;

  /// Where what a port reports stands (mrc_tx_inflight_ports)
  typedef struct packed {
    logic hold;  // a row of PEER_PORTS waits
    logic due;  // a QP is to be looked at
    logic look;  // Seek: a block of it
    logic none;  // Port1: nothing is out
    logic last;  // Port2: no PSN behind this one
  } ports_steps_t;

  /// What a port reports (mrc_tx_inflight_ports)
  typedef struct packed {
    logic query;  // Seek: the peer is asked for its state
    logic loses;  // Port3: something is lost
    logic [17:0] bytes;  // that have left the flight
  } ports_t;

  /// Bytes that leave the flight, and what fgone and credit are then (mrc_tx_inflight_flight)
  typedef struct packed {
    logic [27:0] bytes;
    logic [27:0] fgone;
    logic [7:0] credit;
  } taken_t;

  /// What a QP has out, or a part of it: from PSN lo on, before nxt.
  typedef struct packed {
    logic [23:0] lo;
    logic [23:0] nxt;
  } span_t;

  /// A search for what is lost and still in flight
  typedef struct packed {
    logic on;
    logic [23:0] at;  // it goes on here
  } leave_t;

  /// Whose visit comes next.
  typedef struct packed {
    logic on;  // there is a QP to visit; without one its turn is an empty visit
    logic ready;  // whether it sends a question is known, or there is none
  } next_visit_t;

  /// One bit per output: which are free, or which are ready
  typedef struct packed {
    logic retx;
    logic upd;
    logic fb;
    logic pres;
    logic stateq;
    logic ccev;
    logic rtxreq;
    logic okev;
    logic qperr;
  } outputs_t;

  /// The outputs
  typedef struct packed {
    retx_t retx;
    upd_t upd;
    fb_t fb;
    pres_t pres;
    stateq_t stateq;
    ccev_t ccev;
    ccreq_t rtxreq;
    okev_t okev;
    qperr_t qperr;
  } words_t;

  // ---- bits of a block

  // Bits of a block at or behind a, and before it. The block is known not to lie before that of a
  // (from) or not behind it (below).
  function automatic logic [15:0] from(logic [19:0] block, logic [23:0] a);
    return (block == a[23:4]) ? {16{1'b1}} << a[3:0] : {16{1'b1}};
  endfunction

  function automatic logic [15:0] below(logic [19:0] block, logic [23:0] a);
    return (block == a[23:4]) ? ~({16{1'b1}} << a[3:0]) : {16{1'b1}};
  endfunction

  // ---- rules of the page

  /// Time stamps
  function automatic logic [15:0] ticks_since(logic [15:0] tick, logic [15:0] ts, logic us);
    return us ? {tick[15:3] - ts[12:0], 3'd0} : tick - ts;
  endfunction

  /// Retry
  function automatic retry_t retry_of(logic [5:0] count, logic [2:0] linear, logic [4:0] exp,
                                      logic [4:0] timeout);
    logic [6:0] limit, shift;
    limit = {4'd0, linear} + {2'd0, exp};
    shift = {2'd0, timeout} + ((count > {3'd0, linear}) ? {1'b0, count} - {4'd0, linear} : 7'd0);
    return '{
        count: count,
        shift: (shift > 7'd27) ? 5'd27 : shift[4:0],
        exhausted: {1'b0, count} >= limit && exp != 5'd25
    };
  endfunction

  /// retry := retry + 1
  function automatic qp_t retried(qp_t row);
    qp_t r;
    logic [5:0] count;
    r = row;
    count = (row.retry.count == 6'd63) ? 6'd63 : row.retry.count + 6'd1;
    r.retry = retry_of(count, row.retry_linear, row.retry_exp, row.timeout);
    return r;
  endfunction

  /// restart
  function automatic qp_t restart(qp_t row, logic [23:0] nxt, logic [31:0] tick);
    qp_t r;
    r = row;
    r.start = tick;
    r.marks = {4{nxt}};
    r.cnt = 2'd3;
    return r;
  endfunction

  /// Progress
  function automatic qp_t progress(qp_t row, logic [23:0] nxt, logic [31:0] tick, logic [7:0] bug);
    qp_t r;
    r = restart(row, nxt, tick);
    if (bug != BugRetryNotReset) begin
      r.retry = retry_of(6'd0, row.retry_linear, row.retry_exp, row.timeout);
    end
    return r;
  endfunction

endpackage
