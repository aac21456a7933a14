// SPDX-License-Identifier: Apache-2.0

/// Stands for mrc_crc32 where a harness does not ask for checksums: any.
module mrc_crc32 #(
    parameter int unsigned Bytes = 4
) (
    input logic en_i,
    input logic [8*Bytes-1:0] data_i,
    output logic [31:0] crc_o
);
  assign crc_o = 'x;
endmodule
