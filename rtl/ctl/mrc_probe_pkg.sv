// SPDX-License-Identifier: Apache-2.0

/// What those who send or answer probes share: of reliability probes mrc_tx_probe, mrc_ack_gen and
/// mrc_rx_track, of endpoint requests mrc_tx_probe and mrc_endpoint. Ids that no probe of an EV
/// has, the bytes of the extension headers (docs/blocks/tx/tx_probe.md,
/// docs/blocks/ctl/endpoint.md).
package mrc_probe_pkg;

  import mrc_pkg::*;

  localparam logic [15:0] StateProbeId = 16'hFFFE;  // asks for a peer's state
  localparam logic [15:0] NoProbeId = 16'hFFFF;  // answers nobody's probe

  /// The probe's extension header; it counts in ticks or in units of 8 ticks (tsr_us).
  function automatic logic [8*PethBytes-1:0] peth(logic [15:0] id, logic [15:0] spdcid,
                                                  logic [15:0] dpdcid, logic [18:0] tick,
                                                  logic tsr_us);
    logic [15:0] ts;
    logic [8*PethBytes-1:0] ext;
    ts = tsr_us ? tick[18:3] : tick[15:0];
    ext = '0;
    ext[4*8+:16] = {id[7:0], id[15:8]};
    ext[8*8+:16] = {spdcid[7:0], spdcid[15:8]};
    ext[10*8+:16] = {dpdcid[7:0], dpdcid[15:8]};
    ext[12*8+:16] = {ts[7:0], ts[15:8]};
    ext[14*8+7] = tsr_us;
    ext[15*8+:8] = 8'h01;
    return ext;
  endfunction

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
    logic [15:0] ts;
    logic [8:0] mask;
    logic [8*ErthBytes-1:0] ext;
    ts = tsr_us ? tick[18:3] : tick[15:0];
    mask = from_0 ? {1'b0, ports_up} : {ports_up, 1'b0};
    ext = '0;
    ext[1*8+:2] = op;
    ext[6*8+:16] = {mask[7:0], 7'd0, mask[8]};
    ext[12*8+:16] = {ts[7:0], ts[15:8]};
    ext[14*8+7] = tsr_us;
    ext[15*8+:8] = 8'h01;
    return ext;
  endfunction

endpackage
