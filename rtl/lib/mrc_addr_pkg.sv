// SPDX-License-Identifier: Apache-2.0

/// Addresses of a NIC that has one per plane (docs/design/blocks/tx/tx_header.md, A-76).
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

  /// Whether an address is the own one: on any plane with `on`, which looks at no plane's number.
  function automatic logic is_own(logic [127:0] ip, logic [127:0] own, logic on, logic [6:0] lsb);
    return ((ip ^ own) & ~(on ? 128'd7 << lsb : 128'd0)) == 128'd0;
  endfunction

  /// What tables keep of a peer's address: the exclusive or of its eight words, on all planes the
  /// same (docs/design/blocks/rx/rx_check.md).
  function automatic logic [15:0] address_fold(logic [127:0] ip, logic on, logic [6:0] lsb);
    logic [127:0] addr;
    addr = at_plane(ip, on, lsb, 3'd0);
    return addr[127:112] ^ addr[111:96] ^ addr[95:80] ^ addr[79:64]
        ^ addr[63:48] ^ addr[47:32] ^ addr[31:16] ^ addr[15:0];
  endfunction

endpackage
