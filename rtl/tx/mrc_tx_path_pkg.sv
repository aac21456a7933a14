// SPDX-License-Identifier: Apache-2.0

/// What mrc_tx_path and its parts share (docs/blocks/tx/tx_path.md): states of the operations and
/// what the states of an EV mean.
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

  /// In use: the QP's count of active EVs counts it. A marked EV is in use.
  function automatic logic in_use(logic [2:0] st);
    return st == 3'(EvGood) || st == 3'(EvSkip) || st == 3'(EvSkip2);
  endfunction

endpackage
