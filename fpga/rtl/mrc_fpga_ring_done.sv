// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Completion rings: says where an entry goes and with which phase, waits while its ring is full,
/// and interrupts when memory has acknowledged what the host waits for. One entry per cycle. A
/// completion that waits stops those behind it, whatever their ring. It carries no data. Contract:
/// docs/boards/rings.md.
module mrc_fpga_ring_done #(
    parameter int unsigned NumCqs = 4,
    parameter int unsigned IdxW = 16,
    // Of an address in units of two entries.
    parameter int unsigned WordW = 58,
    localparam int unsigned CqW = (NumCqs > 1) ? $clog2(NumCqs) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    // Registers: a write acts at once.
    input logic w_act_i,
    input logic [CqW-1:0] w_ring_i,
    input logic [2:0] w_reg_i,
    input logic [31:0] w_data_i,
    output logic w_err_o,
    input logic [CqW-1:0] r_ring_i,
    input logic [2:0] r_reg_i,
    output logic [31:0] r_data_o,

    // A completion, and whether it leaves in this cycle: written, or dropped.
    input logic cqe_valid_i,
    input logic [CqW-1:0] cqe_cq_i,
    output logic cqe_pop_o,
    // An entry to write, in the lower or upper half of a word.
    output logic put_o,
    input logic room_i,
    output logic [WordW-1:0] put_word_o,
    output logic put_half_o,
    output logic put_phase_o,
    // Entries are acknowledged in their order.
    input logic done_i,
    input logic fail_i,
    input logic [CqW-1:0] done_cq_i,

    output logic [NumCqs-1:0] irq_o,
    output logic error_o
);

  localparam int unsigned SizeW = 4;
  localparam int unsigned OffW = 6;

  typedef enum logic [2:0] {
    RegBaseLo = 3'd0,
    RegBaseHi = 3'd1,
    RegConfig = 3'd2,
    RegControl = 3'd3,
    RegConsumer = 3'd4,
    RegProducer = 3'd5,
    RegStatus = 3'd6,
    RegArm = 3'd7
  } reg_e;

  localparam int unsigned ErrJump = 0;
  localparam int unsigned ErrWrite = 1;
  localparam int unsigned ErrOff = 2;
  localparam int unsigned ErrLost = 3;

  typedef struct packed {
    logic [63:OffW] base;
    logic [SizeW-1:0] size_log;
    logic [IdxW-1:0] producer;  // entries given out
    logic [IdxW-1:0] written;  // of them acknowledged
    logic [IdxW-1:0] consumer;
    logic open;
    logic armed;
    logic fired;
    logic [3:0] err;
  } ring_t;

  ring_t [NumCqs-1:0] ring_q, ring_d;
  ring_t at, wr, rd;
  logic [IdxW-1:0] size, slot, lap, takes, given;
  logic full, busy, fits;

  // ---- an entry

  assign at = ring_q[cqe_cq_i];
  assign size = IdxW'(1) << at.size_log;
  assign slot = at.producer & (size - IdxW'(1));
  assign lap = at.producer & size;
  assign full = at.producer - at.consumer == size;
  assign put_o = cqe_valid_i && at.open && !full && room_i;
  assign cqe_pop_o = put_o || (cqe_valid_i && !at.open);
  assign put_word_o = at.base[OffW+:WordW] + WordW'(slot[IdxW-1:1]);
  assign put_half_o = slot[0];
  assign put_phase_o = lap == '0;

  // ---- registers

  assign wr = ring_q[w_ring_i];
  assign busy = wr.producer != wr.written;
  assign takes = w_data_i[IdxW-1:0] - wr.consumer;
  assign given = wr.producer - wr.consumer;
  assign fits = takes <= given && w_data_i[31:IdxW] == '0;

  always_comb begin
    w_err_o = 1'b0;
    unique case (w_reg_i)
      RegBaseLo, RegBaseHi: w_err_o = wr.open;
      RegConfig: w_err_o = wr.open || 32'(w_data_i[SizeW-1:0]) > IdxW - 2;
      RegControl: w_err_o = w_data_i[0] && (wr.open || busy);
      RegConsumer: w_err_o = !wr.open || !fits;
      RegProducer: w_err_o = 1'b1;
      default: ;
    endcase
  end

  // What the host can see of an entry it may take before the answer to its write has come.
  logic [NumCqs-1:0][IdxW-1:0] more;
  logic [NumCqs-1:0] fires;
  for (genvar c = 0; c < NumCqs; c++) begin : gen_fires
    assign more[c] = ring_q[c].written - ring_q[c].consumer;
    assign fires[c] = ring_q[c].armed && !more[c][IdxW-1] && more[c] != '0;
    assign irq_o[c] = ring_q[c].fired;
  end

  always_comb begin
    ring_d = ring_q;
    if (put_o) begin
      ring_d[cqe_cq_i].producer = at.producer + IdxW'(1);
    end
    if (done_i) begin
      ring_d[done_cq_i].written = ring_q[done_cq_i].written + IdxW'(1);
    end
    for (int unsigned c = 0; c < NumCqs; c++) begin
      if (fires[c]) begin
        ring_d[c].armed = 1'b0;
        ring_d[c].fired = 1'b1;
      end
    end
    if (w_act_i) begin
      unique case (w_reg_i)
        RegBaseLo: if (!w_err_o) ring_d[w_ring_i].base[31:OffW] = w_data_i[31:OffW];
        RegBaseHi: if (!w_err_o) ring_d[w_ring_i].base[63:32] = w_data_i;
        RegConfig: if (!w_err_o) ring_d[w_ring_i].size_log = w_data_i[SizeW-1:0];
        RegControl: begin
          if (!w_err_o) begin
            ring_d[w_ring_i].open = w_data_i[0];
          end
          if (!w_err_o && w_data_i[0]) begin
            ring_d[w_ring_i].producer = '0;
            ring_d[w_ring_i].written = '0;
            ring_d[w_ring_i].consumer = '0;
          end
        end
        RegConsumer: begin
          if (!wr.open) begin
            ring_d[w_ring_i].err[ErrOff] = 1'b1;
          end else if (!fits) begin
            ring_d[w_ring_i].err[ErrJump] = 1'b1;
          end else begin
            ring_d[w_ring_i].consumer = w_data_i[IdxW-1:0];
          end
        end
        RegStatus: ring_d[w_ring_i].err = wr.err & ~w_data_i[3:0];
        RegArm: begin
          ring_d[w_ring_i].armed = w_data_i[0];
          ring_d[w_ring_i].fired = 1'b0;
        end
        default: ;
      endcase
    end
    if (fail_i) begin
      ring_d[done_cq_i].err[ErrWrite] = 1'b1;
    end
    if (cqe_valid_i && !at.open) begin
      ring_d[cqe_cq_i].err[ErrLost] = 1'b1;
    end
  end

  assign rd = ring_q[r_ring_i];
  always_comb begin
    r_data_o = 32'd0;
    unique case (r_reg_i)
      RegBaseLo: r_data_o[31:OffW] = rd.base[31:OffW];
      RegBaseHi: r_data_o = rd.base[63:32];
      RegConfig: r_data_o = 32'(rd.size_log);
      RegControl: r_data_o = {29'd0, rd.producer != rd.written, 1'b0, rd.open};
      RegConsumer: r_data_o = 32'(rd.consumer);
      RegProducer: r_data_o = 32'(rd.written);
      RegStatus: r_data_o = {28'd0, rd.err};
      default: r_data_o = {30'd0, rd.fired, rd.armed};
    endcase
  end

  always_comb begin
    error_o = 1'b0;
    for (int unsigned c = 0; c < NumCqs; c++) begin
      error_o = error_o || ring_q[c].err != '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ring_q <= '0;
    end else begin
      ring_q <= ring_d;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{at, wr};

  for (genvar c = 0; c < NumCqs; c++) begin : gen_in_order
    logic [IdxW-1:0] unread, unwritten;
    assign unread = ring_q[c].producer - ring_q[c].consumer;
    assign unwritten = ring_q[c].producer - ring_q[c].written;
    `MRC_ASSERT(WithinTheRing, unread <= IdxW'(1) << ring_q[c].size_log,
        "more entries than the ring has slots")
    `MRC_ASSERT(WrittenWasGiven, unwritten <= IdxW'(1) << (IdxW - 1),
        "more is acknowledged than was written")
  end
  `MRC_ASSERT(FailsWhenDone, !fail_i || done_i, "a write fails that is not answered")

endmodule
