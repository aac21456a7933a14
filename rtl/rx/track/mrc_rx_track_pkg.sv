// SPDX-License-Identifier: Apache-2.0

/// What mrc_rx_track and its parts share (docs/design/blocks/rx/track/rx_track.md): the rows of
/// PSNs received, what is known per QP, what Track leaves to Post, a SACK to be written, and
/// arithmetic on the 64 bits of a row. A name that ends with 1 holds the PSN after the one that it
/// is named for.
package mrc_rx_track_pkg;

  import mrc_pkg::*;

  typedef struct packed {
    logic [63:0] last;  // the PSN ends a message
    logic [63:0] rcv;
  } row_t;

  // Written by Track.
  typedef struct packed {
    logic [23:0] cack1;
    logic [23:0] max1;
    logic [15:0] ooo;
    logic failed;
  } seq_t;

  // Written by Post, read by the Sack machine too.
  typedef struct packed {
    logic [31:0] rcvd;
    logic [15:0] emsn;
    logic ackv;
    logic [23:0] ackpsn;
  } report_t;

  // What Track finds a packet to be.
  typedef enum logic [3:0] {
    WhatDiscard,
    WhatNak,
    WhatOver,
    WhatEvent,
    WhatProbe,
    WhatDup,
    WhatRefuse,
    WhatTrim,
    WhatFull,
    WhatNoImm,
    WhatNoRow,
    WhatFatal,
    WhatTake,
    WhatDone
  } what_e;

  // Written by cfg.
  typedef struct packed {
    logic [7:0] mpr;
    logic [7:0] mpr_dest;
    logic trim_nack;
    logic dyn;
  } set_t;

  typedef struct packed {
    qp_index_t qp;
    logic [3:0] plane;
    logic [23:0] psn;
    logic ackreq;
    logic ce;
    logic probe;
    logic [31:0] entropy;
    logic [15:0] ts;
    logic tsv;
    logic [15:0] at;
    logic [6:0] pen;
    logic restore;
  } req_t;

  // Written and read by Post.
  typedef struct packed {
    logic [20:0] trig;
    logic ar;
    logic [7:0] nsyn;
    logic [23:0] npsn;
    logic tmiss;  // a trimmed packet is missing
    logic [23:0] tpsn;  // the newest such
    logic [3:0] armed;  // the incast in which the sender was told to save its window; 0: none
  } own_t;

  // Stage x: what Track leaves to Post.
  typedef struct packed {
    rxpkt_t p;
    what_e what;
    logic [23:0] cack1;
    logic [15:0] ooo;
    logic [12:0] load;  // what its payload counts for sack_trigger
    logic [6:0] l;  // messages that end in the run
    logic [23:0] ackpsn;
    logic acked;
    logic moved;
    logic goes_on;
    logic below;
    logic recorded;
    logic trim_nack;
    report_t report;
    own_t own;
  } stage_x_t;

  // Ones from bit 0 upward without a hole; what is above the first hole is cleared.
  function automatic logic [63:0] run_of(logic [63:0] x);
    logic [63:0] r;
    r = x;
    r = r & ((r << 1) | 64'h1);
    r = r & ((r << 2) | 64'h3);
    r = r & ((r << 4) | 64'hF);
    r = r & ((r << 8) | 64'hFF);
    r = r & ((r << 16) | 64'hFFFF);
    r = r & ((r << 32) | 64'hFFFFFFFF);
    return r;
  endfunction

  // Place of the only one.
  function automatic logic [5:0] place_of(logic [63:0] onehot);
    logic [5:0] i;
    i[0] = (onehot & 64'hAAAAAAAAAAAAAAAA) != 64'd0;
    i[1] = (onehot & 64'hCCCCCCCCCCCCCCCC) != 64'd0;
    i[2] = (onehot & 64'hF0F0F0F0F0F0F0F0) != 64'd0;
    i[3] = (onehot & 64'hFF00FF00FF00FF00) != 64'd0;
    i[4] = (onehot & 64'hFFFF0000FFFF0000) != 64'd0;
    i[5] = (onehot & 64'hFFFFFFFF00000000) != 64'd0;
    return i;
  endfunction

  // Place of the highest one.
  function automatic logic [5:0] top_one(logic [63:0] x);
    logic [63:0] r;
    r = x;
    r = r | (r >> 1);
    r = r | (r >> 2);
    r = r | (r >> 4);
    r = r | (r >> 8);
    r = r | (r >> 16);
    r = r | (r >> 32);
    return place_of(r & ~(r >> 1));
  endfunction

endpackage
