// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Completion rings: says where an entry goes and with which phase, waits while its ring is full,
/// and interrupts when memory has acknowledged what the host waits for. One entry per cycle. A
/// completion that waits stops those behind it, whatever their ring. It carries no data. Contract:
/// docs/design/boards/rings.md.
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

  // ---- what becomes of a ring in a cycle

  for (genvar c = 0; c < NumCqs; c++) begin : gen_ring
    ring_t now, next;
    logic acts, good, drops;
    logic [IdxW-1:0] more;

    assign now = ring_q[c];
    assign acts = w_act_i && w_ring_i == CqW'(c);
    assign good = acts && !w_err_o;
    assign drops = cqe_valid_i && !at.open && cqe_cq_i == CqW'(c);
    // What the host can see of an entry it may take before the answer to its write has come: then
    // this is below 0.
    assign more = now.written - now.consumer;
    assign irq_o[c] = now.fired;

    always_comb begin
      next = now;
      if (put_o && cqe_cq_i == CqW'(c)) begin
        next.producer = now.producer + IdxW'(1);
      end
      if (done_i && done_cq_i == CqW'(c)) begin
        next.written = now.written + IdxW'(1);
      end
      if (now.armed && !more[IdxW-1] && more != '0) begin
        next.armed = 1'b0;
        next.fired = 1'b1;
      end
      if (good) begin
        unique case (w_reg_i)
          RegBaseLo: next.base[31:OffW] = w_data_i[31:OffW];
          RegBaseHi: next.base[63:32] = w_data_i;
          RegConfig: next.size_log = w_data_i[SizeW-1:0];
          RegControl: begin
            next.open = w_data_i[0];
            if (w_data_i[0]) begin
              next.producer = '0;
              next.written = '0;
              next.consumer = '0;
            end
          end
          RegConsumer: next.consumer = w_data_i[IdxW-1:0];
          RegStatus: next.err = now.err & ~w_data_i[3:0];
          RegArm: begin
            next.armed = w_data_i[0];
            next.fired = 1'b0;
          end
          default: ;
        endcase
      end
      if (acts && w_reg_i == RegConsumer && now.open && !fits) begin
        next.err[ErrJump] = 1'b1;
      end
      if (fail_i && done_cq_i == CqW'(c)) begin
        next.err[ErrWrite] = 1'b1;
      end
      if (acts && w_reg_i == RegConsumer && !now.open) begin
        next.err[ErrOff] = 1'b1;
      end
      if (drops) begin
        next.err[ErrLost] = 1'b1;
      end
    end

    assign ring_d[c] = next;
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
    `MRC_ASSERT(WithinTheRing, !ring_q[c].open || unread <= IdxW'(1) << ring_q[c].size_log,
        "more entries than the ring has slots")
    `MRC_ASSERT(WrittenWasGiven, unwritten <= IdxW'(1) << (IdxW - 1),
        "more is acknowledged than was written")
  end
  `MRC_ASSERT(FailsWhenDone, !fail_i || done_i, "a write fails that is not answered")

endmodule
