// SPDX-License-Identifier: Apache-2.0

/// Addresses of a NIC that has one per plane (docs/blocks/tx/tx_header.md, A-76).
package mrc_addr_pkg;

  /// The address on a plane: the three bits from lsb on are its number. Bits beyond 127 fall off;
  /// without `on` there is one address for all planes.
  function automatic logic [127:0] at_plane(logic [127:0] ip, logic on, logic [6:0] lsb,
                                            logic [2:0] plane);
    logic [127:0] addr;
    addr = ip;
    if (on) begin
      addr = (ip & ~(128'd7 << lsb)) | ({125'd0, plane} << lsb);
    end
    return addr;
  endfunction

endpackage
