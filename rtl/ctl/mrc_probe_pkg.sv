// SPDX-License-Identifier: Apache-2.0

/// What those who send or answer probes share: of reliability probes mrc_tx_probe, mrc_ack_gen and
/// mrc_rx_track, of endpoint requests mrc_tx_probe and mrc_endpoint. Ids that no probe of an EV
/// has, the bytes of the extension headers (docs/design/blocks/tx/tx_probe.md,
/// docs/design/blocks/ctl/endpoint.md); and what mrc_endpoint owes a peer.
package mrc_probe_pkg;

  import mrc_pkg::*;

  // Not every block that shares this package uses all of it.
  /* verilator lint_off UNUSEDPARAM */
  localparam logic [15:0] StateProbeId = 16'hFFFE;  // asks for a peer's state
  localparam logic [15:0] NoProbeId = 16'hFFFF;  // answers nobody's probe
  /* verilator lint_on UNUSEDPARAM */

  /// The probe's extension header; it counts in ticks or in units of 8 ticks (tsr_us).
  function automatic logic [8*PethBytes-1:0] peth(logic [15:0] id, logic [15:0] spdcid,
                                                  logic [15:0] dpdcid, logic [18:0] tick,
                                                  logic tsr_us);
    hdr_peth_t h;
    h = '0;
    h.probe_id = id;
    h.spdcid = spdcid;
    h.dpdcid = dpdcid;
    h.tx_timestamp16 = tsr_us ? tick[18:3] : tick[15:0];
    h.tsr = tsr_us;
    h.ftype = FtypeTimestamp16;
    return bytes_of_peth(h);
  endfunction

  /// What a destination is owed
  typedef struct packed {
    logic due;  // it has not answered the newest state of our ports
    logic waiting;  // for the answer to an update
    logic [3:0] tries;  // updates sent again since one is due
  } owed_t;

  // Upper bits of an endpoint request's id: whose the answer is.
  typedef enum logic [1:0] {
    KindUpdate = 2'd0,
    KindCtl = 2'd1,  // EV probe of the controller
    KindRev = 2'd2,  // EV probe of a reverse path
    KindBad = 2'd3  // EV probe of an ASSUMED_BAD EV (mrc_tx_probe)
  } request_kind_e;

  /// The endpoint request's extension header; ports_up: bit p is plane p. Ports count from 1 or,
  /// with from_0, from 0.
  function automatic logic [8*ErthBytes-1:0] erth(logic [1:0] op, logic [MaxPlanes-1:0] ports_up,
                                                  logic from_0, logic [18:0] tick, logic tsr_us);
    hdr_erth_t h;
    h = '0;
    h.op = op;
    h.port_status_mask = from_0 ? 32'(ports_up) : 32'({ports_up, 1'b0});
    h.tx_timestamp16 = tsr_us ? tick[18:3] : tick[15:0];
    h.tsr = tsr_us;
    h.ftype = FtypeTimestamp16;
    return bytes_of_erth(h);
  endfunction

endpackage
