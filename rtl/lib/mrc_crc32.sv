// SPDX-License-Identifier: Apache-2.0

/// One step of the ICRC's CRC-32 in register form over Bytes message bytes, byte 0 in bits [7:0].
/// The caller has XORed the old register into the first four message bytes. Leading zero bytes are
/// neutral, so a shorter message is aligned to the end. Combinational; with en_i = 0 the result is
/// 0 and nothing is computed.
module mrc_crc32
  import mrc_pkg::*;
#(
    parameter int unsigned Bytes = 16,
    localparam int unsigned Bits = 8 * Bytes
) (
    input logic en_i,
    input logic [Bits-1:0] data_i,
    output logic [31:0] crc_o
);

  if (Bytes != 16 && Bytes != 32 && Bytes != 96) begin : gen_bad_bytes
    $error("%m: Bytes must be 16, 32 or 96");
  end

  // The arms that are not taken have another width; the casts make them legal.
  localparam logic [31:0][Bits-1:0] Mask = (Bytes == 16) ? (32 * Bits)'(CrcMask128) :
                                           (Bytes == 32) ? (32 * Bits)'(CrcMask256) :
                                                           (32 * Bits)'(CrcMask768);

  // A parity of masked words, folded to 64 bit first, in pairs: few and cheap operations in
  // simulation, one XOR tree per bit in hardware.
  function automatic logic parity(logic [Bits-1:0] data, logic [Bits-1:0] m);
    logic [Bits/64-1:0][63:0] fold;
    fold = data & m;
    for (int unsigned apart = 1; apart < Bits / 64; apart = 2 * apart) begin
      for (int unsigned k = 0; k + apart < Bits / 64; k = k + 2 * apart) begin
        fold[k] = fold[k] ^ fold[k+apart];
      end
    end
    return ^fold[0];
  endfunction

  always_comb begin
    crc_o = '0;
    if (en_i) begin
      for (int unsigned i = 0; i < 32; i++) begin
        crc_o[i] = parity(data_i, Mask[i]);
      end
    end
  end

endmodule
