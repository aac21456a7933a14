// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// The core's side of a lane's transmission: beats of PortBytes become words of WordBytes, whole
/// frames at a time. A frame is taken when there is room for a largest one, MaxWords words. It
/// waits for room at most WaitCycles cycles, and not at all while up_i is 0; then it is taken and
/// dropped (drop_o), and so are those behind it until there is room and the link is up: nobody
/// waits twice for the same room. What is longer than MaxWords words is cut and marked bad
/// (long_o). ready_o is a function of registers. Throughput: a beat per cycle, with a cycle without
/// ready between frames only when room was short. Latency of a word: one cycle.
module mrc_fpga_tx_in #(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned PortBytes = 32,
    parameter int unsigned MaxWords = 70,
    parameter int unsigned CntW = 9,
    parameter int unsigned WaitCycles = 2500,
    localparam int unsigned LenW = $clog2(WordBytes),
    localparam int unsigned PortW = $clog2(PortBytes),
    localparam int unsigned Beats = WordBytes / PortBytes,
    localparam int unsigned BeatW = (Beats > 1) ? $clog2(Beats) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic up_i,
    input logic tvalid_i,
    output logic tready_o,
    input logic [PortBytes*8-1:0] tdata_i,
    input logic [PortBytes-1:0] tkeep_i,
    input logic tlast_i,
    input logic [CntW-1:0] free_i,
    output logic push_o,
    output logic [WordBytes*8-1:0] data_o,
    output logic [LenW-1:0] end_o,
    output logic err_o,
    output logic last_o,
    output logic frame_o,
    output logic drop_o,
    output logic long_o
);

  localparam int unsigned WordsW = $clog2(MaxWords + 1);
  localparam int unsigned WaitW = $clog2(WaitCycles + 2);
  typedef enum logic [1:0] {
    StWait,
    StTake,
    StDrop,
    StSkip
  } state_e;

  if (Beats * PortBytes != WordBytes || PortBytes < 2) begin : gen_bad_bytes
    $error("%m: WordBytes must be a multiple of PortBytes");
  end
  if (MaxWords < 2 || MaxWords + 2 > 2 ** (CntW - 1)) begin : gen_bad_words
    $error("%m: the FIFO must take MaxWords + 2 words, and MaxWords must be at least 2");
  end

  state_e state_q, state_d;
  logic inside_q, inside_d;
  logic [WaitW-1:0] wait_q, wait_d;
  logic [WordsW-1:0] words_q, words_d;
  logic [BeatW-1:0] beat_q, beat_d;
  logic [Beats-1:0][PortBytes*8-1:0] data_q, data_d;
  logic [LenW-1:0] end_q, end_d;
  logic push_q, push_d, last_q, last_d, err_q, err_d, taken, go, too_long, word_done;
  logic [PortW-1:0] keep_end;

  assign tready_o = state_q != StWait;
  assign taken = tvalid_i && tready_o;
  // Two words may be on their way when this is asked: the one in the register, and the one that
  // this cycle completes.
  assign go = up_i && free_i >= CntW'(MaxWords + 2);

  always_comb begin
    keep_end = '0;
    for (int unsigned i = 0; i < PortBytes; i++) begin
      if (tkeep_i[i]) begin
        keep_end = PortW'(i);
      end
    end
  end

  always_comb begin
    data_d = data_q;
    beat_d = beat_q;
    words_d = words_q;
    word_done = taken && state_q == StTake && (tlast_i || beat_q == BeatW'(Beats - 1));
    too_long = word_done && !tlast_i && words_q == WordsW'(MaxWords - 1);
    if (taken && state_q == StTake) begin
      data_d[beat_q] = tdata_i;
      beat_d = word_done ? '0 : beat_q + BeatW'(1);
    end
    if (word_done) begin
      words_d = (tlast_i || too_long) ? '0 : words_q + WordsW'(1);
    end
    push_d = word_done;
    last_d = word_done && (tlast_i || too_long);
    err_d = too_long;
    end_d = LenW'(32'(beat_q) * PortBytes + 32'(keep_end));
  end

  always_comb begin
    state_d = state_q;
    wait_d = '0;
    inside_d = taken ? !tlast_i : inside_q;
    unique case (state_q)
      StWait: begin
        wait_d = wait_q;
        if (go) begin
          state_d = StTake;
        end else if (!up_i || wait_q == WaitW'(WaitCycles)) begin
          state_d = StDrop;
        end else if (tvalid_i) begin
          wait_d = wait_q + WaitW'(1);
        end
      end
      StTake: begin
        if (too_long) begin
          state_d = StSkip;
        end else if (!inside_d && !go) begin
          state_d = StWait;
        end
      end
      StDrop: begin
        if (!inside_d && go) begin
          state_d = StTake;
        end
      end
      default: begin
        if (!inside_d) begin
          state_d = StWait;
        end
      end
    endcase
  end

  assign push_o = push_q;
  assign data_o = data_q;
  assign end_o = end_q;
  assign err_o = err_q;
  assign last_o = last_q;
  assign frame_o = taken && tlast_i && state_q == StTake;
  assign drop_o = taken && tlast_i && state_q == StDrop;
  assign long_o = too_long;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StWait;
      inside_q <= 1'b0;
      wait_q <= '0;
      words_q <= '0;
      beat_q <= '0;
      push_q <= 1'b0;
    end else begin
      state_q <= state_d;
      inside_q <= inside_d;
      wait_q <= wait_d;
      words_q <= words_d;
      beat_q <= beat_d;
      push_q <= push_d;
    end
  end

  always_ff @(posedge clk_i) begin
    data_q <= data_d;
    end_q <= end_d;
    last_q <= last_d;
    err_q <= err_d;
  end

  `MRC_NEVER_FULL(Lane, push_o, free_i != '0)
  `MRC_ASSERT(WaitsBetweenFrames, state_q != StWait || !inside_q,
      "a frame is held that has begun to be taken")

endmodule
