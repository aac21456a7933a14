// SPDX-License-Identifier: Apache-2.0

/// How many bytes of a QP leave the flight of its controller (docs/blocks/tx/inflight/tx_inflight.md, "take"): with
/// one packet, or as a SACK says. The flight is what was sent (fsent) without what is gone (fgone),
/// modulo 2^28; never more leaves than is in it. What a packet falls short of is kept as credit (one
/// byte wide, saturating) for the SACK that says so much less; what leaves before a SACK tells of it
/// is owed (20 bits, saturating): the SACKs that come tell of it once more. Combinational but for what
/// a SACK says without the packets that were gone, which is taken with sum_i, a cycle or more before
/// the answer is looked at.
module mrc_tx_inflight_flight
  import mrc_pkg::*;
  import mrc_tx_inflight_pkg::*;
(
    input logic clk_i,
    input logic [27:0] fsent_i,
    input logic [27:0] fgone_i,
    input logic [7:0] credit_i,
    input logic [19:0] owed_i,
    output logic [27:0] fly_o,

    // One packet.
    input logic [13:0] size_i,
    output logic [27:0] packet_bytes_o,
    output logic [27:0] packet_fgone_o,
    output logic [7:0] packet_credit_o,  // if it was NACKed or lost

    // All that flies of another QP leaves without a SACK.
    input logic early_i,
    input logic [27:0] early_fsent_i,
    input logic [27:0] early_fgone_i,
    input logic [19:0] early_owed_i,
    output logic [19:0] early_owed_o,

    // A SACK: everything; or 256 times rcvd_i (negative: nothing) without what is owed, and the
    // credit, without canc_i full packets that were gone already. whole_i: it acknowledges everything
    // sent, nothing is owed behind it.
    input logic sum_i,
    input logic all_i,
    input logic whole_i,
    input logic [23:0] rcvd_i,
    input logic [6:0] canc_i,
    input logic [2:0] mtu_i,
    input logic ts_i,
    input logic [1:0] nominal_i,  // nominal_e
    output logic [27:0] sack_bytes_o,
    output logic [27:0] sack_fgone_o,
    output logic [7:0] sack_credit_o,
    output logic [19:0] sack_owed_o
);

  // n bytes are less than the flight if fgone + n is less than fsent, or fsent + 2^28 if that has
  // begun anew. So the flight itself need not be known first.
  logic wrapped;
  assign wrapped = fsent_i < fgone_i;
  assign fly_o = fsent_i - fgone_i;

  logic [29:0] packet;
  logic packet_less;
  assign packet = {2'd0, fgone_i} + {16'd0, size_i} - {2'd0, fsent_i};
  assign packet_less = packet[29] || (wrapped && !packet[28]);
  assign packet_bytes_o = packet_less ? {14'd0, size_i} : fly_o;
  assign packet_fgone_o = packet_less ? fgone_i + {14'd0, size_i} : fsent_i;

  // What lacks of size_i, at most that, is the sum above but for 2^28; with the credit on top:
  logic [14:0] lack;
  assign lack = fgone_i[14:0] + {1'b0, size_i} - fsent_i[14:0] + {7'd0, credit_i};
  always_comb begin
    packet_credit_o = credit_i;
    if (!packet_less) begin
      packet_credit_o = (lack[14:8] != 7'd0) ? 8'hFF : lack[7:0];
    end
  end

  // The flight and what is owed before; one sum, right if the flight has less than 2^20 bytes.
  logic [27:0] early_fly;
  logic [20:0] early_sum;
  logic [1:0][32:0] early;
  always_comb begin
    early_fly = 28'd0;
    early_sum = 21'd0;
    early = '0;
    if (early_i) begin
      early_fly = early_fsent_i - early_fgone_i;
      early = carry_save({5'd0, early_fsent_i}, ~{5'd0, early_fgone_i}, {13'd0, early_owed_i});
      early[1][0] = 1'b1;
      early_sum = early[0][20:0] + early[1][20:0];
    end
  end
  assign early_owed_o = (early_fly[27:20] != 8'd0 || early_sum[20]) ? 20'hFFFFF : early_sum[19:0];

  // What a SACK tells pays what is owed first; what it has left over, and the credit.
  logic [22:0] told;
  logic pays;  // all that is owed
  logic [30:0] rest_q, rest_d, plus;
  logic [19:0] minus, left_q, left_d;
  logic [1:0][32:0] sum;
  logic [32:0] sum_q, sum_d;
  always_comb begin
    told = 23'd0;
    pays = 1'b0;
    plus = 31'd0;
    minus = 20'd0;
    rest_d = 31'd0;
    left_d = 20'd0;
    sum = '0;
    sum_d = 33'd0;
    if (sum_i) begin
      told = rcvd_i[23] ? 23'd0 : rcvd_i[22:0];
      pays = {told, 8'd0} >= {11'd0, owed_i};
      plus = {pays ? told : 23'd0, credit_i};
      minus = pays ? owed_i : 20'd0;
      rest_d = plus - {11'd0, minus};
      left_d = pays ? 20'd0 : owed_i - {told[11:0], 8'd0};
      sum = carry_save({5'd0, fgone_i}, {2'd0, plus}, ~{13'd0, minus});
      sum[1][0] = 1'b1;
      sum_d = sum[0] + sum[1];
    end
  end
  assign sack_owed_o = (whole_i && !rcvd_i[23]) ? 20'd0 : left_q;

  // A full packet counts for 256 << mtu bytes and 84 (with time stamp 88), 40 or none around them:
  // four numbers, kept as two until they are subtracted. A number is subtracted by adding its complement and one.
  logic [32:0] payload, head64, head16, head4;
  logic [1:0][32:0] head, gone, bytes, less;
  logic [33:0] gone_sum, bytes_sum, less_sum;  // bit 0 only brings in a one
  logic sack_less;

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
    // fgone + rest - these; the ones of the complements: in empty low bits, the last one added.
    gone = carry_save(sum_q, ~payload, ~head[0]);
    gone[1][0] = 1'b1;
    gone = carry_save(gone[0], gone[1], ~head[1]);
    gone[1][0] = 1'b1;
    gone_sum = {gone[0], 1'b1} + {gone[1], 1'b1};
    // That without fsent: negative as long as bytes stay.
    less = carry_save(sum_q, ~payload, ~{5'd0, fsent_i});
    less[1][0] = 1'b1;
    less = carry_save(less[0], less[1], ~head[0]);
    less[1][0] = 1'b1;
    less = carry_save(less[0], less[1], ~head[1]);
    less[1][0] = 1'b1;
    less_sum = {less[0], 1'b1} + {less[1], 1'b1};
    // rest - these.
    bytes = carry_save({2'd0, rest_q}, ~payload, ~head[0]);
    bytes[1][0] = 1'b1;
    bytes = carry_save(bytes[0], bytes[1], ~head[1]);
    bytes[1][0] = 1'b1;
    bytes_sum = {bytes[0], 1'b1} + {bytes[1], 1'b1};
  end

  assign sack_less = less_sum[33] || (wrapped && less_sum[32:29] == 4'd0);

  always_comb begin
    sack_bytes_o = 28'd0;
    sack_fgone_o = fgone_i;
    if (all_i) begin
      sack_bytes_o = fly_o;
      sack_fgone_o = fsent_i;
    end else if (!rcvd_i[23] && !bytes_sum[33]) begin
      sack_bytes_o = sack_less ? bytes_sum[28:1] : fly_o;
      sack_fgone_o = sack_less ? gone_sum[28:1] : fsent_i;
    end
  end

  // The sum without fsent is also what the SACK says beyond the flight, but for 2^28.
  logic [3:0] sack_high;
  assign sack_high = less_sum[32:29] - {3'd0, wrapped};
  always_comb begin
    sack_credit_o = credit_i;
    if (all_i || !rcvd_i[23]) begin
      sack_credit_o = less_sum[8:1];
      if (sack_less) begin
        sack_credit_o = 8'd0;
      end else if (sack_high != 4'd0 || less_sum[28:9] != 20'd0) begin
        sack_credit_o = 8'hFF;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (sum_i) begin
      sum_q <= sum_d;
      rest_q <= rest_d;
      left_q <= left_d;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, gone_sum, bytes_sum, less_sum, rcvd_i, packet, early, early_fly};

endmodule
