// SPDX-License-Identifier: Apache-2.0

/// mrc_ram_1r1w that keeps a code with each word if Ecc is 1, eight bits for 64 and less (mrc_ecc).
/// What is read is corrected behind the read register, in the cycle in which it is used; fixed_o
/// and bad_o speak of the word read last. It writes nothing back: a row is as it is until its owner
/// writes it. A new value of ECC_INJECT that names Memory has bits of the next word flipped, or of
/// each one from then on. With Ecc 0 it is an mrc_ram_1r1w. Contract:
/// docs/design/blocks/conventions.md.
module mrc_ram_ecc #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 16,
    parameter int unsigned Ecc = 0,
    parameter logic [7:0] Memory = 8'd0,  // ecc_memory_e
    localparam int unsigned AddrW = (Depth > 1) ? $clog2(Depth) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [14:0] inject_i,  // ECC_INJECT: seq, each, bits, memory
    input logic re_i,
    input logic [AddrW-1:0] raddr_i,
    output logic [Width-1:0] rdata_o,
    output logic fixed_o,  // a bit of it was wrong
    output logic bad_o,    // two were: it is any word
    input logic we_i,
    input logic [AddrW-1:0] waddr_i,
    input logic [Width-1:0] wdata_i
);

  if (Ecc > 1) begin : gen_bad_ecc
    $error("%m: Ecc = %0d, must be 0 or 1", Ecc);
  end

  localparam int unsigned Words = (Width + 63) / 64;
  localparam int unsigned Stored = Width + ((Ecc != 0) ? 8 * Words : 0);

  logic [Stored-1:0] stored, written;

  mrc_ram_1r1w #(
      .Width(Stored),
      .Depth(Depth)
  ) u_ram (
      .clk_i,
      .re_i,
      .raddr_i,
      .rdata_o(stored),
      .we_i,
      .waddr_i,
      .wdata_i(written)
  );

  if (Ecc != 0) begin : gen_code
    // ---- what is armed, and whose turn it is to be flipped

    localparam int unsigned AtW = $clog2(Stored);
    logic [14:0] inject_q;
    logic [1:0] arm_q, arm_d;
    logic each_q, each_d;
    logic [AtW-1:0] at_q, at_d;
    logic [Stored-1:0] flip;

    always_comb begin
      arm_d = arm_q;
      each_d = each_q;
      at_d = at_q;
      if (we_i && arm_q != 2'd0) begin
        at_d = (at_q == AtW'(Stored - 1)) ? '0 : at_q + AtW'(1);
        if (!each_q) begin
          arm_d = 2'd0;
        end
      end
      if (inject_i != inject_q) begin
        arm_d = (inject_i[7:0] == Memory) ? inject_i[9:8] : 2'd0;
        each_d = inject_i[10];
      end
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        inject_q <= '0;
        arm_q <= '0;
        each_q <= 1'b0;
        at_q <= '0;
      end else begin
        inject_q <= inject_i;
        arm_q <= arm_d;
        each_q <= each_d;
        at_q <= at_d;
      end
    end

    // ---- the words of the code, each its data and behind it its eight bits

    logic [Words-1:0] fixed, bad;
    for (genvar w = 0; w < int'(Words); w++) begin : gen_word
      localparam int unsigned From = 64 * w;
      localparam int unsigned Bits = (Width - From < 64) ? Width - From : 64;
      localparam int unsigned At = 72 * w;
      logic [7:0] code;

      mrc_ecc #(
          .Width(Bits)
      ) u_ecc (
          .word_i(wdata_i[From+:Bits]),
          .code_o(code),
          .read_i(stored[At+:Bits]),
          .read_code_i(stored[At+Bits+:8]),
          .word_o(rdata_o[From+:Bits]),
          .fixed_o(fixed[w]),
          .bad_o(bad[w])
      );

      for (genvar i = 0; i < int'(Bits + 8); i++) begin : gen_bit
        // The bit before it; of the first one the last.
        localparam int unsigned Before = At + ((i == 0) ? Bits + 7 : i - 1);
        assign flip[At+i] = (arm_q != 2'd0 && at_q == AtW'(At + i))
            || (arm_q[1] && at_q == AtW'(Before));
      end
      assign written[At+:Bits+8] = {code, wdata_i[From+:Bits]} ^ flip[At+:Bits+8];
    end

    assign fixed_o = fixed != '0 && bad == '0;
    assign bad_o = bad != '0;
  end else begin : gen_plain
    assign written = wdata_i;
    assign rdata_o = stored;
    assign fixed_o = 1'b0;
    assign bad_o = 1'b0;

    logic unused_bits;
    assign unused_bits = ^{rst_ni, inject_i, Memory};
  end

endmodule
