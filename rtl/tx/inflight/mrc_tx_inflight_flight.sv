// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// How many bytes of a QP leave the flight of its controller
/// (docs/design/blocks/tx/inflight/tx_inflight.md, "take"): with one packet, or as a SACK says. The
/// flight is what was sent (fsent) without what is gone (fgone), modulo 2^28; never more leaves
/// than is in it. What a packet falls short of is kept as credit (one byte wide, saturating) for
/// the SACK that says so much less; what leaves before a SACK tells of it is owed (20 bits,
/// saturating): the SACKs that come tell of it once more. Combinational but for what a SACK says
/// without the packets that were gone, which is taken with sum_i, a cycle or more before the answer
/// is looked at.
module mrc_tx_inflight_flight
  import mrc_pkg::*;
  import mrc_math_pkg::*;
  import mrc_tx_inflight_pkg::*;
(
    input logic clk_i,
    input logic [1:0] nominal_i,  // nominal_e

    // The QP of the operation.
    input logic [27:0] fsent_i,
    input logic [27:0] fgone_i,
    input logic [7:0] credit_i,
    input logic [19:0] owed_i,
    input logic [2:0] mtu_i,
    input logic ts_i,

    // One packet.
    input logic [13:0] size_i,

    // All that flies of the QP that is visited leaves without a SACK.
    input logic early_i,
    input logic [27:0] vis_fsent_i,
    input logic [27:0] vis_fgone_i,
    input logic [19:0] vis_owed_i,

    // A SACK: 256 times rcvd_i bytes (negative: none), without what is owed and without canc_i full
    // packets that had left the flight before. sum_i: rcvd_i is known, canc_i not yet.
    input logic sum_i,
    input logic all_i,  // all packets have arrived
    input logic whole_i,  // it acknowledges everything sent: nothing is owed behind it
    input logic [23:0] rcvd_i,
    input logic [6:0] canc_i,

    output logic [27:0] fly_o,
    output taken_t packet_o,  // its credit: if the packet was NACKed or lost
    output taken_t sack_o,
    output logic [19:0] sack_owed_o,
    output logic [19:0] early_owed_o
);

  logic [27:0] fly;
  logic wrapped;  // fsent has begun anew
  assign wrapped = fsent_i < fgone_i;
  assign fly = fsent_i - fgone_i;

  // ---- one packet

  // n bytes are less than the flight if fgone + n is less than fsent, or than fsent + 2^28 if that
  // is wrapped. So nothing waits for the flight itself.
  logic [29:0] packet;
  logic packet_less;
  logic [27:0] packet_bytes, packet_fgone;
  assign packet = {2'd0, fgone_i} + {16'd0, size_i} - {2'd0, fsent_i};
  assign packet_less = packet[29] || (wrapped && !packet[28]);
  assign packet_bytes = packet_less ? {14'd0, size_i} : fly;
  assign packet_fgone = packet_less ? fgone_i + {14'd0, size_i} : fsent_i;

  // If the flight is not more than size_i, the packet falls short by the difference: the sum above,
  // but for 2^28. That and the credit before:
  logic [14:0] lack;
  logic [7:0] packet_credit;
  assign lack = fgone_i[14:0] + {1'b0, size_i} - fsent_i[14:0] + {7'd0, credit_i};
  always_comb begin
    packet_credit = credit_i;
    if (!packet_less) begin
      packet_credit = (lack[14:8] != 7'd0) ? 8'hFF : lack[7:0];
    end
  end

  // ---- all that flies, early

  // Flight and debt in one sum; it is right if the flight has less than 2^20 bytes.
  logic [27:0] early_fly;
  logic [32:0] early_sum;
  logic [19:0] early_owed;
  always_comb begin
    early_fly = 28'd0;
    early_sum = 33'd0;
    if (early_i) begin
      early_fly = vis_fsent_i - vis_fgone_i;
      early_sum = pair_sum(carry_save({5'd0, vis_fsent_i}, ~{5'd0, vis_fgone_i},
                                      {13'd0, vis_owed_i}), 1'b1);
    end
  end
  assign early_owed = (early_fly[27:20] != 8'd0 || early_sum[20]) ? 20'hFFFFF : early_sum[19:0];

  // ---- a SACK, the first half: its bytes pay what is owed first; the rest counts, and the credit

  logic late, pays;  // it tells of no bytes; its bytes are all that is owed, or more
  logic [22:0] reported;
  logic [30:0] rest_q, rest_d, plus;
  logic [19:0] minus, left_q, left_d;
  logic [32:0] sum_q, sum_d;  // fgone + rest
  assign late = rcvd_i[23];
  always_comb begin
    reported = 23'd0;
    pays = 1'b0;
    plus = 31'd0;
    minus = 20'd0;
    rest_d = 31'd0;
    left_d = 20'd0;
    sum_d = 33'd0;
    if (sum_i) begin
      reported = late ? 23'd0 : rcvd_i[22:0];
      pays = {reported, 8'd0} >= {11'd0, owed_i};
      plus = {pays ? reported : 23'd0, credit_i};
      minus = pays ? owed_i : 20'd0;
      rest_d = plus - {11'd0, minus};
      left_d = pays ? 20'd0 : owed_i - {reported[11:0], 8'd0};
      sum_d = pair_sum(carry_save({5'd0, fgone_i}, {2'd0, plus}, ~{13'd0, minus}), 1'b1);
    end
  end

  // ---- the second half: without the full packets that have left the flight before (canc)

  // A full packet counts for 256 << mtu bytes and 84 (with time stamp 88), 40 or none around them.
  // canc packets are the sum of four numbers: payload, and three that are kept as a pair (head).
  logic [32:0] payload, head64, head16, head4;
  pair_t head;
  logic [32:0] gone;  // fgone, if the rest leaves the flight
  logic [32:0] bytes;  // the rest
  logic [32:0] beyond;  // the rest without the flight: negative as long as bytes stay in it

  always_comb begin
    head64 = 33'd0;
    head16 = 33'd0;
    head4 = 33'd0;
    payload = {18'd0, canc_i, 8'd0} << mtu_i;
    unique case (nominal_i)
      NominalPayload: begin
      end
      NominalPayload40: begin
        head64 = {21'd0, canc_i, 5'd0};
        head4 = {23'd0, canc_i, 3'd0};
      end
      default: begin
        head64 = {20'd0, canc_i, 6'd0};
        head16 = {22'd0, canc_i, 4'd0};
        head4 = ts_i ? {23'd0, canc_i, 3'd0} : {24'd0, canc_i, 2'd0};
      end
    endcase
    head = carry_save(head64, head16, head4);
    gone = pair_sum(pair_less(less_two(sum_q, payload, head[0]), head[1]), 1'b1);
    bytes = pair_sum(pair_less(less_two({2'd0, rest_q}, payload, head[0]), head[1]), 1'b1);
    beyond = pair_sum(pair_less(pair_less(less_two(sum_q, payload, {5'd0, fsent_i}), head[0]),
                                head[1]), 1'b1);
  end

  logic less;  // the rest is less than the flight
  assign less = beyond[32] || (wrapped && beyond[31:28] == 4'd0);

  logic [27:0] sack_bytes, sack_fgone;
  always_comb begin
    sack_bytes = 28'd0;
    sack_fgone = fgone_i;
    if (all_i) begin
      sack_bytes = fly;
      sack_fgone = fsent_i;
    end else if (!late && !bytes[32]) begin
      sack_bytes = less ? bytes[27:0] : fly;
      sack_fgone = less ? gone[27:0] : fsent_i;
    end
  end

  // What is beyond the flight, but for 2^28, is credit.
  logic [3:0] high;
  logic [7:0] sack_credit;
  assign high = beyond[31:28] - {3'd0, wrapped};
  always_comb begin
    sack_credit = credit_i;
    if (all_i || !late) begin
      sack_credit = beyond[7:0];
      if (less) begin
        sack_credit = 8'd0;
      end else if (high != 4'd0 || beyond[27:8] != 20'd0) begin
        sack_credit = 8'hFF;
      end
    end
  end

  assign fly_o = fly;
  assign packet_o = '{bytes: packet_bytes, fgone: packet_fgone, credit: packet_credit};
  assign sack_o = '{bytes: sack_bytes, fgone: sack_fgone, credit: sack_credit};
  assign sack_owed_o = (whole_i && !late) ? 20'd0 : left_q;
  assign early_owed_o = early_owed;

  always_ff @(posedge clk_i) begin
    if (sum_i) begin
      sum_q <= sum_d;
      rest_q <= rest_d;
      left_q <= left_d;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, gone[32:28], bytes[31:28], early_sum[32:21], early_fly[19:0],
                       packet[27:0]};

  `MRC_ASSERT_CLK(NeverMoreThanFlies, packet_o.bytes <= fly,
      "more leaves the flight than is in it")

  `MRC_ASSERT_CLK(PacketIsGone, packet_o.fgone == fgone_i + packet_o.bytes,
      "a packet leaves the flight with other bytes than it is said to")
  `MRC_ASSERT_CLK_IF(PaysAtMostTheDebt, sum_i, left_d <= owed_i,
      "a SACK makes the debt larger")
  `MRC_ASSERT_CLK_IF(EarlyIsOwed, early_i, early_owed >= vis_owed_i,
      "bytes that leave early make the debt smaller")

endmodule
