// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// The MAC's side of a lane's reception: words of a MAC that cannot wait become frames of at most
/// MaxWords words that end, each with a last word. A frame is looked at once, at its first word: if
/// there is no room for a largest one, all of it is dropped (full_o). What is too long is cut and
/// marked bad (long_o); what a reset of the MAC cuts is closed with a bad word (cut_o), for which
/// there is room. A keep with holes, or not full before the last word, marks the frame bad (bad_o,
/// as does user_i). Latency: two cycles. Nothing holds the MAC.
module mrc_fpga_rx_in #(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned MaxWords = 70,
    parameter int unsigned CntW = 10,
    localparam int unsigned LenW = $clog2(WordBytes)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic mac_reset_i,
    input logic valid_i,
    input logic [WordBytes*8-1:0] data_i,
    input logic [WordBytes-1:0] keep_i,
    input logic last_i,
    input logic user_i,
    input logic [CntW-1:0] free_i,
    output logic push_o,
    output logic [WordBytes*8-1:0] data_o,
    output logic [LenW-1:0] end_o,
    output logic err_o,
    output logic last_o,
    output logic frame_o,
    output logic full_o,
    output logic long_o,
    output logic cut_o,
    output logic bad_o
);

  localparam int unsigned WordsW = $clog2(MaxWords + 1);
  typedef enum logic [1:0] {
    StIdle,
    StTake,
    StDrop
  } state_e;

  if (MaxWords < 2) begin : gen_bad_words
    $error("%m: MaxWords must be at least 2");
  end

  // The word as it came, and as it is understood.
  logic in_valid_q, in_last_q, in_user_q, in_reset_q;
  logic [WordBytes*8-1:0] in_data_q, data_q;
  logic [WordBytes-1:0] in_keep_q;
  logic valid_q, last_q, user_q, odd_q, reset_q, odd_d;
  logic [LenW-1:0] end_q, end_d;
  // The frame.
  state_e state_q, state_d;
  logic [WordsW-1:0] words_q, words_d;
  logic odd_frame_q, odd_frame_d, take, cut, too_long, odd;

  always_comb begin
    end_d = '0;
    for (int unsigned i = 0; i < WordBytes; i++) begin
      if (in_keep_q[i]) begin
        end_d = LenW'(i);
      end
    end
    odd_d = !in_keep_q[0] || (in_keep_q & (in_keep_q + WordBytes'(1))) != '0
            || (!in_last_q && !in_keep_q[WordBytes-1]);
    if (!in_last_q) begin
      end_d = LenW'(WordBytes - 1);
    end
  end

  always_comb begin
    state_d = state_q;
    words_d = words_q;
    odd_frame_d = odd_frame_q;
    take = 1'b0;
    cut = 1'b0;
    full_o = 1'b0;
    unique case (state_q)
      StIdle: begin
        if (valid_q && !reset_q) begin
          take = free_i >= CntW'(MaxWords);
          full_o = !take;
        end
      end
      StTake: begin
        take = valid_q && !reset_q;
        cut = reset_q;
      end
      default: begin
      end
    endcase
    odd = odd_frame_q || odd_q;
    too_long = take && !last_q && words_q == WordsW'(MaxWords - 1);
    if (take) begin
      words_d = (last_q || too_long) ? '0 : words_q + WordsW'(1);
      odd_frame_d = odd && !last_q && !too_long;
      state_d = last_q ? StIdle : too_long ? StDrop : StTake;
    end else if (full_o) begin
      state_d = last_q ? StIdle : StDrop;
    end else if (cut) begin
      words_d = '0;
      odd_frame_d = 1'b0;
      state_d = StIdle;
    end else if (reset_q || (state_q == StDrop && valid_q && last_q)) begin
      state_d = StIdle;
    end
  end

  assign push_o = take || cut;
  assign last_o = (take && last_q) || too_long || cut;
  assign err_o = cut || too_long || (take && last_q && (user_q || odd));
  assign end_o = end_q;
  assign data_o = data_q;
  assign frame_o = take && last_q;
  assign bad_o = frame_o && (user_q || odd);
  assign long_o = too_long;
  assign cut_o = cut;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_valid_q <= 1'b0;
      in_reset_q <= 1'b0;
      valid_q <= 1'b0;
      reset_q <= 1'b0;
      state_q <= StIdle;
      words_q <= '0;
      odd_frame_q <= 1'b0;
    end else begin
      in_valid_q <= valid_i;
      in_reset_q <= mac_reset_i;
      valid_q <= in_valid_q;
      reset_q <= in_reset_q;
      state_q <= state_d;
      words_q <= words_d;
      odd_frame_q <= odd_frame_d;
    end
  end

  always_ff @(posedge clk_i) begin
    in_data_q <= data_i;
    in_keep_q <= keep_i;
    in_last_q <= last_i;
    in_user_q <= user_i;
    data_q <= in_data_q;
    end_q <= end_d;
    odd_q <= odd_d;
    last_q <= in_last_q;
    user_q <= in_user_q;
  end

  `MRC_NEVER_FULL(Lane, push_o, free_i != '0)
  `MRC_ASSERT(CountsFromZero, state_q == StTake || (words_q == '0 && !odd_frame_q),
      "a frame begins with what was counted of another")
  `MRC_ASSERT(NoLonger, !push_o || last_o || words_q < WordsW'(MaxWords - 1),
      "a frame goes on behind its largest length")

endmodule
