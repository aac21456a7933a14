// SPDX-License-Identifier: Apache-2.0

/// What those who send or answer reliability probes share, mrc_tx_probe, mrc_ack_gen and
/// mrc_rx_track: ids that no probe of an EV has, the bytes of the extension header
/// (docs/blocks/tx/tx_probe.md).
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

endpackage
