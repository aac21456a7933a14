// SPDX-License-Identifier: Apache-2.0

/// What mrc_tx_path and its parts share (docs/design/blocks/tx/tx_path.md): states of the
/// operations and what the states of an EV mean.
package mrc_tx_path_pkg;

  import mrc_pkg::*;

  typedef enum logic [3:0] {
    StIdle,
    StInit,
    StDeny,
    StGen,
    StFb,
    StFind,
    StTest,
    StJudge,
    StScrub
  } state_e;

  /// ev_idx of a packet that has no path
  localparam logic [15:0] NoEv = 16'hFFFF;

  /// Marked: the walk passes it over, once, twice, or for a time.
  function automatic logic is_skip(logic [2:0] st);
    return st == 3'(EvSkip) || st == 3'(EvSkip2) || st == 3'(EvSkip3);
  endfunction

  /// In use: the QP's count of active EVs counts it. A marked EV is in use.
  function automatic logic in_use(logic [2:0] st);
    return st == 3'(EvGood) || is_skip(st);
  endfunction

  /// The state of an EV that is marked in a turn of SKIP by time.
  function automatic logic [2:0] tag_of(logic [1:0] turn);
    unique case (turn)
      2'd1: return 3'(EvSkip2);
      2'd2: return 3'(EvSkip3);
      default: return 3'(EvSkip);
    endcase
  endfunction

  /// Turns count 0, 1, 2, 0.
  function automatic logic [1:0] turn_after(logic [1:0] turn);
    return (turn == 2'd2) ? 2'd0 : turn + 2'd1;
  endfunction

endpackage
