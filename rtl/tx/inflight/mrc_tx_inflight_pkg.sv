// SPDX-License-Identifier: Apache-2.0

/// What mrc_tx_inflight and its parts share (docs/blocks/tx/inflight/tx_inflight.md): the row of a block of 16
/// PSNs, the record of a packet, the registers of a QP, and the arithmetic on PSNs and on the 16 bits
/// of a block. Block number w holds the PSNs 16 w to 16 w + 15, bit i of it stands for 16 w + i.
package mrc_tx_inflight_pkg;

  typedef struct packed {
    logic [15:0][2:0] age;  // timer steps for which it is spared
    logic [15:0] mute;  // its EV is not to blame, or has been told already
    logic [15:0] nacked;  // it has left the flight already
    logic [15:0] rtxd;  // sent again since it was first sent
    logic [15:0] pend;  // waits to be sent again
    logic [15:0] sacked;  // reported received
  } win_t;

  /// What was sent; row: of tx_segment's pool
  typedef struct packed {
    logic [15:0] msn;
    logic [15:0] row;
    logic [23:0] idx;
    logic [15:0] ev_idx;
    logic [13:0] size;
    logic rtx;
  } sent_t;

  /// Retries since the last progress, and what follows from them: the timer's step is 2 << shift
  /// ticks, a quarter of its interval
  typedef struct packed {
    logic [5:0] count;
    logic [4:0] shift;
    logic exhausted;
  } retry_t;

  /// Registers of a QP that the main machine writes, but for rtx_lo and base
  typedef struct packed {
    logic [23:0] una;
    logic [23:0] top;  // PSN after the highest one known received
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
    logic [7:0] mprv;
    logic [4:0] timeout;
    logic [2:0] retry_linear;
    logic [4:0] retry_exp;
    logic [7:0] dest;
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

  /// State of the main machine
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
    StTold0,
    StTold
  } state_e;

  /// Choice of an Idle cycle: one of them, or none
  typedef struct packed {
    logic ctx;  // QP_CTX: carried out (new), or the QP ends first
    logic ctx_new;
    logic ended;  // QP_STATE other than Rts
    logic other;  // QP_STATE Rts and the tables of others
    logic reclaim;
    logic visit;
    logic retx;
    logic ctl;
    logic rec;
  } op_t;

  /// A SACK (mrc_tx_inflight_sack)
  typedef struct packed {
    logic valid;  // Ctl0
    logic whole;  // it acknowledges everything sent
    logic [19:0] block;  // Ctl0: the first to be looked at
    logic none;  // Ctl1: there is none
    logic last;  // Row: this is the last
    win_t win;  // Row: as it is written
    logic [23:0] una;  // Done, to the end
    logic [23:0] top;
    logic moved;  // una moves
    logic new_mpr;
    logic recent;
    logic rtx;  // the record of psn: sent again, EV
    logic [15:0] ev_idx;
    logic lost;  // something is to be sent again
    logic [23:0] rtx_lo;
    logic [23:0] rcvd;  // newly received, in units of 256 bytes
    logic rcvd_new;
    logic [6:0] canc;
    logic same;  // look whether una was sent before psn on the same EV
    logic same_lost;  // Same1: it was
  } sack_t;

  /// A NACK or an ACK (mrc_tx_inflight_answer)
  typedef struct packed {
    logic nack_fail;  // the QP ends
    logic nack_event;  // because of UNEXP_EVENT
    logic nack_counts;  // a retry
    logic nack_mark;  // psn is to be sent again
    logic nack_takes;  // and leaves the flight with that
    logic nack_back;  // and lies before rtx_lo
    logic nack_trimmed;  // news about psn's EV
    win_t win;  // the block, marked
    logic ack_ok;
    logic ack_nak;  // the QP ends
    logic ack_changed;
    logic [23:0] una;
    logic [23:0] rtx_lo;
    logic [23:0] top;
  } answer_t;

  /// The search for a packet to be sent again (mrc_tx_inflight_scan)
  typedef struct packed {
    logic found;
    logic [23:0] psn;  // what was found
    logic [23:0] after;  // the PSN behind it
    logic loss;  // it has not left the flight yet
    logic blame;  // its EV is to be told: a gap or the timer, not a NACK
    win_t win;  // the block without it
    logic more;  // there is a block behind this one
    logic [23:0] next;  // its first PSN
    win_t refused;  // RetxW: the block as it was, but told
  } scan_t;

  /// A visit of a QP by the timer (mrc_tx_inflight_timer)
  typedef struct packed {
    logic armed;
    logic restart;  // start, marks and cnt anew
    logic step;  // another mark
    logic ask;  // and the peer is asked for its state
    logic drift;  // it is done, but bytes still fly
    logic dup;  // the ACK is missing; what still flies is given back
    logic fail;  // the QP ends
    logic walk;  // something may be lost
  } visit_t;

  /// One block of the timer's walk, or of what is told behind it (mrc_tx_inflight_timer)
  typedef struct packed {
    win_t win;  // as it is written
    logic any;  // so far: some were lost, the oldest was, some were spared
    logic old;
    logic seen;  // some packet not reported
    logic spared;
    logic past;  // the oldest mark is behind us
    logic [23:0] first;  // the first lost
    logic [23:0] low;  // the lowest PSN not reported, if seen
    logic more;  // not the last block
    logic fail;  // the end: the QP ends
    logic good;  // the end, not failed
    logic mark;  // then: something is to be sent again
    logic back;  // and lies before rtx_lo
  } walk_t;

  /// What the operation of the main machine has kept
  typedef struct packed {
    logic [19:0] block;  // of a SACK's row, of the walk, of what is told
    logic [23:0] lim;  // PSN after the newest when the search or the walk began
    logic [23:0] p;  // what is to be sent again
    logic loss;  // it has not left the flight yet
    logic blame;  // its EV is to be told
    logic again;  // it is the newest packet, for the sake of its ACK
    logic any;  // the walk: as in walk_t
    logic old;
    logic seen;  // some packet not reported
    logic spared;
    logic past;
    logic [23:0] first;
    logic [23:0] low;
  } now_t;

  function automatic logic psn_before(logic [23:0] a, logic [23:0] b);
    logic [23:0] d;
    d = b - a;
    return a != b && d < 24'h800000;
  endfunction

  // Is p in [a, b)? b is less than half the PSN space behind a. The two differences stand side by
  // side, which is half as deep as comparing distances.
  function automatic logic psn_in(logic [23:0] p, logic [23:0] a, logic [23:0] b);
    logic [23:0] d, e;
    d = p - a;
    e = p - b;
    return d < 24'h800000 && e >= 24'h800000;
  endfunction

  // Bits of a block at or behind a, and before it. The block is known not to lie before that of a
  // (from) or not behind it (below).
  function automatic logic [15:0] from(logic [19:0] block, logic [23:0] a);
    return (block == a[23:4]) ? {16{1'b1}} << a[3:0] : {16{1'b1}};
  endfunction

  function automatic logic [15:0] below(logic [19:0] block, logic [23:0] a);
    return (block == a[23:4]) ? ~({16{1'b1}} << a[3:0]) : {16{1'b1}};
  endfunction

  // The lowest one alone.
  function automatic logic [15:0] lowest_bit(logic [15:0] x);
    logic [15:0] y;
    y = {x[14:0], 1'b0};
    y = y | {y[14:0], 1'b0};
    y = y | {y[13:0], 2'd0};
    y = y | {y[11:0], 4'd0};
    y = y | {y[7:0], 8'd0};
    return x & ~y;
  endfunction

  // Number of zeros below the lowest one.
  function automatic logic [3:0] lowest(logic [15:0] x);
    logic [3:0] n;
    logic [7:0] a;
    logic [3:0] b;
    n[3] = x[7:0] == 8'd0;
    a = n[3] ? x[15:8] : x[7:0];
    n[2] = a[3:0] == 4'd0;
    b = n[2] ? a[7:4] : a[3:0];
    n[1] = b[1:0] == 2'd0;
    n[0] = (n[1] ? b[3:2] : b[1:0]) == 2'b10;
    return n;
  endfunction

  // Number of ones, by adding neighbours.
  function automatic logic [4:0] ones(logic [15:0] x);
    logic [15:0] y;
    y = (x & 16'h5555) + ((x >> 1) & 16'h5555);
    y = (y & 16'h3333) + ((y >> 2) & 16'h3333);
    y = (y & 16'h0F0F) + ((y >> 4) & 16'h0F0F);
    return 5'(y[12:8]) + 5'(y[4:0]);
  endfunction

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

  // Three numbers as two, sum and carry; modulo 2^33.
  function automatic logic [1:0][32:0] carry_save(logic [32:0] a, logic [32:0] b, logic [32:0] c);
    logic [32:0] carry;
    carry = (a & b) | (a & c) | (b & c);
    return {carry << 1, a ^ b ^ c};
  endfunction

endpackage
