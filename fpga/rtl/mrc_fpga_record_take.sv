// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// What is new at a core's pins, cycle by cycle, as events in a FIFO, with digests of the output
/// pins. Armed by arm_i it begins with the first cycle in which run_i is 1, and ends by itself,
/// with an end event; why says for what reason. Latency: two cycles from a pin to the FIFO. It has
/// nothing to hold the core with: an event that finds the FIFO full ends the record. Contract:
/// docs/design/boards/record.md.
module mrc_fpga_record_take
  import mrc_pkg::*;
#(
    parameter int unsigned HostBytes = 64,
    parameter int unsigned WindowLog2 = 10,
    parameter int unsigned CycleW = 48,
    parameter int unsigned Depth = 512,
    localparam int unsigned NumPlanes = 2,
    localparam int unsigned PortBytes = HostBytes / 2,
    localparam int unsigned PinsW = 16 + 16 * NumPlanes,
    localparam int unsigned BusW = 72 + $bits(qperr_t),
    localparam int unsigned WqeW = $bits(wqe_t)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic arm_i,
    input logic stop_i,
    // The region is full; a burst has failed.
    input logic full_i,
    input logic failed_i,
    output logic idle_o,
    output logic armed_o,
    output logic takes_o,
    output logic [2:0] why_o,
    output logic [CycleW-1:0] cycles_o,

    // The core is not in reset in this cycle; its pins.
    input logic run_i,
    input logic [NumPlanes-1:0] link_up_i,
    input logic awvalid_i,
    input logic awready_i,
    input logic [15:0] awaddr_i,
    input logic wvalid_i,
    input logic wready_i,
    input logic [31:0] wdata_i,
    input logic [3:0] wstrb_i,
    input logic bvalid_i,
    input logic bready_i,
    input logic [1:0] bresp_i,
    input logic arvalid_i,
    input logic arready_i,
    input logic [15:0] araddr_i,
    input logic rvalid_i,
    input logic rready_i,
    input logic [31:0] rdata_i,
    input logic [1:0] rresp_i,
    input logic irq_i,
    input logic wqe_valid_i,
    input logic wqe_ready_i,
    input wqe_t wqe_i,
    input logic cqe_valid_i,
    input logic cqe_ready_i,
    input cqe_t cqe_i,
    input logic host_rd_valid_i,
    input logic host_rd_ready_i,
    input rdreq_t host_rd_i,
    input logic host_rsp_valid_i,
    input logic [3:0] host_rsp_plane_i,
    input logic [HostBytes*8-1:0] host_rsp_data_i,
    input logic host_rsp_err_i,
    input logic host_fail_valid_i,
    input logic host_fail_ready_i,
    input qperr_t host_fail_i,
    input logic host_wr_valid_i,
    input logic host_wr_ready_i,
    input logic [63:0] host_wr_addr_i,
    input logic [7:0] host_wr_len_i,
    input logic host_wr_last_i,
    input logic [3:0] host_wr_plane_i,
    input qp_index_t host_wr_qp_i,
    input logic [HostBytes*8-1:0] host_wr_data_i,
    input logic [NumPlanes-1:0] tx_tvalid_i,
    input logic [NumPlanes-1:0] tx_tready_i,
    input logic [NumPlanes-1:0][PortBytes*8-1:0] tx_tdata_i,
    input logic [NumPlanes-1:0][PortBytes-1:0] tx_tkeep_i,
    input logic [NumPlanes-1:0] tx_tlast_i,
    input logic [NumPlanes-1:0] rx_tvalid_i,
    input logic [NumPlanes-1:0][PortBytes*8-1:0] rx_tdata_i,
    input logic [NumPlanes-1:0][PortBytes-1:0] rx_tkeep_i,
    input logic [NumPlanes-1:0] rx_tlast_i,
    input logic [NumPlanes-1:0] rx_tuser_i,

    // The oldest event. Its parts mean something as its flags say; an end has a digest alone.
    output logic event_valid_o,
    input logic event_ready_i,
    output logic event_end_o,
    output logic [2:0] event_why_o,
    output logic [CycleW-1:0] event_cycle_o,
    output logic [PinsW-1:0] event_pins_o,
    output logic event_has_bus_o,
    output logic [BusW-1:0] event_bus_o,
    output logic event_has_wqe_o,
    output logic [WqeW-1:0] event_wqe_o,
    output logic event_has_digest_o,
    output logic [31:0] event_digest_o,
    output logic [HostBytes*8-1:0] event_rsp_o,
    output logic [NumPlanes-1:0][PortBytes*8-1:0] event_rx_o
);

  localparam logic [2:0] WhyStopped = 3'd1;
  localparam logic [2:0] WhyHeld = 3'd2;
  localparam logic [2:0] WhyFull = 3'd3;
  localparam logic [2:0] WhyFast = 3'd4;
  localparam logic [2:0] WhyFailed = 3'd5;
  localparam logic [2:0] WhyLong = 3'd6;

  if (WindowLog2 < 4 || WindowLog2 > 15) begin : gen_bad_window
    $error("%m: WindowLog2 must be 4 to 15");
  end
  if (CycleW < 17 || CycleW > 48) begin : gen_bad_cycle
    $error("%m: CycleW must be 17 to 48");
  end

  typedef enum logic [1:0] {
    StIdle,
    StArmed,
    StTakes,
    StEnds
  } state_e;

  state_e state_q, state_d;
  logic [CycleW-1:0] cycle_q, cycle_d;

  // ---- the pins of a cycle, in registers: 0 where they mean nothing

  // Bits as in the head of an event, from bit 32 on.
  typedef struct packed {
    logic [1:0] zeros2;
    logic [5:0] ones;
    logic [2:0] zeros3;
    logic tuser;
    logic tlast;
    logic tvalid;
    logic tready;
    logic link_up;
  } plane_t;

  typedef struct packed {
    plane_t [NumPlanes-1:0] planes;
    logic [3:0] rsp_plane;
    logic host_wr_ready;
    logic host_fail_valid;
    logic host_rsp_err;
    logic host_rsp_valid;
    logic host_rd_ready;
    logic cqe_ready;
    logic wqe_valid;
    logic rready;
    logic arvalid;
    logic bready;
    logic wvalid;
    logic awvalid;
  } pins_t;

  typedef struct packed {
    qperr_t fail;
    logic [3:0] zeros;
    logic [3:0] wstrb;
    logic [31:0] wdata;
    logic [15:0] araddr;
    logic [15:0] awaddr;
  } bus_t;

  pins_t pins, pins_q, last_pins_q;
  bus_t bus, bus_q, last_bus_q;
  wqe_t wqe_q, last_wqe_q;
  logic [HostBytes*8-1:0] rsp_q;
  logic [NumPlanes-1:0][PortBytes*8-1:0] rx_q;
  logic run_q;

  // How many ones there are from below.
  function automatic logic [5:0] ones_of(logic [PortBytes-1:0] keep);
    ones_of = 6'd0;
    for (int unsigned i = 0; i < PortBytes; i++) begin
      if (keep[i]) begin
        ones_of = 6'(i + 1);
      end
    end
  endfunction

  always_comb begin
    pins = '0;
    pins.awvalid = awvalid_i;
    pins.wvalid = wvalid_i;
    pins.bready = bready_i;
    pins.arvalid = arvalid_i;
    pins.rready = rready_i;
    pins.wqe_valid = wqe_valid_i;
    pins.cqe_ready = cqe_ready_i;
    pins.host_rd_ready = host_rd_ready_i;
    pins.host_rsp_valid = host_rsp_valid_i;
    pins.host_rsp_err = host_rsp_valid_i && host_rsp_err_i;
    pins.host_fail_valid = host_fail_valid_i;
    pins.host_wr_ready = host_wr_ready_i;
    pins.rsp_plane = host_rsp_valid_i ? host_rsp_plane_i : 4'd0;
    for (int unsigned p = 0; p < NumPlanes; p++) begin
      pins.planes[p].link_up = link_up_i[p];
      pins.planes[p].tready = tx_tready_i[p];
      pins.planes[p].tvalid = rx_tvalid_i[p];
      if (rx_tvalid_i[p]) begin
        pins.planes[p].tlast = rx_tlast_i[p];
        pins.planes[p].tuser = rx_tuser_i[p];
        pins.planes[p].ones = ones_of(rx_tkeep_i[p]);
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      run_q <= 1'b0;
    end else begin
      run_q <= run_i;
    end
  end

  always_ff @(posedge clk_i) begin
    pins_q <= pins;
    bus_q <= {host_fail_i, 4'd0, wstrb_i, wdata_i, araddr_i, awaddr_i};
    wqe_q <= wqe_i;
    rsp_q <= host_rsp_data_i;
    rx_q <= rx_tdata_i;
  end

  // ---- the digest: CRCs of pieces in one cycle, all of them in the next

  localparam int unsigned PieceW = 256;

  // The pins of MRC_PINS_OUT, the last one first.
  typedef struct packed {
    logic [HostBytes*8-1:0] host_wr_data;
    logic [NumPlanes-1:0][PortBytes*8-1:0] tx_tdata;
    logic [NumPlanes-1:0][PortBytes-1:0] tx_tkeep;
    logic [63:0] host_wr_addr;
    rdreq_t host_rd;
    cqe_t cqe;
    logic [31:0] rdata;
    logic host_fail_ready;
    logic irq;
    logic [NumPlanes-1:0] tx_tlast;
    logic [NumPlanes-1:0] tx_tvalid;
    qp_index_t host_wr_qp;
    logic [3:0] host_wr_plane;
    logic host_wr_last;
    logic [7:0] host_wr_len;
    logic host_wr_valid;
    logic host_rd_valid;
    logic cqe_valid;
    logic wqe_ready;
    logic [1:0] rresp;
    logic rvalid;
    logic arready;
    logic [1:0] bresp;
    logic bvalid;
    logic wready;
    logic awready;
  } outs_t;

  localparam int unsigned NumPieces = ($bits(outs_t) + PieceW - 1) / PieceW;

  outs_t outs;
  logic [NumPieces-1:0][PieceW-1:0] outs_q;
  logic [7:0][31:0] crcs_q, crcs_d;
  logic [31:0] digest_q, digest_d, digest_next;

  always_comb begin
    outs = '0;
    outs.awready = awready_i;
    outs.wready = wready_i;
    outs.bvalid = bvalid_i;
    outs.arready = arready_i;
    outs.rvalid = rvalid_i;
    outs.wqe_ready = wqe_ready_i;
    outs.cqe_valid = cqe_valid_i;
    outs.host_rd_valid = host_rd_valid_i;
    outs.host_wr_valid = host_wr_valid_i;
    outs.tx_tvalid = tx_tvalid_i;
    outs.irq = irq_i;
    outs.host_fail_ready = host_fail_ready_i;
    if (bvalid_i) begin
      outs.bresp = bresp_i;
    end
    if (rvalid_i) begin
      outs.rresp = rresp_i;
      outs.rdata = rdata_i;
    end
    if (cqe_valid_i) begin
      outs.cqe = cqe_i;
    end
    if (host_rd_valid_i) begin
      outs.host_rd = host_rd_i;
    end
    if (host_wr_valid_i) begin
      outs.host_wr_len = host_wr_len_i;
      outs.host_wr_last = host_wr_last_i;
      outs.host_wr_plane = host_wr_plane_i;
      outs.host_wr_qp = host_wr_qp_i;
      outs.host_wr_addr = host_wr_addr_i;
      outs.host_wr_data = host_wr_data_i;
    end
    for (int unsigned p = 0; p < NumPlanes; p++) begin
      if (tx_tvalid_i[p]) begin
        outs.tx_tlast[p] = tx_tlast_i[p];
        outs.tx_tkeep[p] = tx_tkeep_i[p];
        outs.tx_tdata[p] = tx_tdata_i[p];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    outs_q <= (NumPieces * PieceW)'(outs);
  end

  for (genvar k = 0; k < 8; k++) begin : gen_pieces
    if (k < NumPieces) begin : gen_piece
      mrc_crc32 #(
          .Bytes(32)
      ) u_crc (
          .en_i(outs_q[k] != '0),
          .data_i(outs_q[k]),
          .crc_o(crcs_d[k])
      );
    end else begin : gen_none
      assign crcs_d[k] = 32'd0;
    end
  end

  if (NumPieces > 8) begin : gen_bad_pieces
    $error("%m: the output pins must have 2048 bits at most");
  end

  always_ff @(posedge clk_i) begin
    crcs_q <= crcs_d;
  end

  mrc_crc32 #(
      .Bytes(32)
  ) u_all (
      .en_i(state_q == StTakes),
      .data_i({crcs_q[7:1], crcs_q[0] ^ digest_q}),
      .crc_o(digest_next)
  );

  // ---- what is new in the cycle that the registers hold

  logic [2:0] why_q, why_d;
  logic first, takes, new_bus, new_wqe, due, is_event, push, room;
  logic push_end, ends;

  logic [NumPlanes-1:0] rx_valid;
  for (genvar p = 0; p < NumPlanes; p++) begin : gen_rx
    assign rx_valid[p] = pins_q.planes[p].tvalid;
  end

  always_comb begin
    bus = last_bus_q;
    if (pins_q.awvalid) begin
      bus.awaddr = bus_q.awaddr;
    end
    if (pins_q.arvalid) begin
      bus.araddr = bus_q.araddr;
    end
    if (pins_q.wvalid) begin
      bus.wdata = bus_q.wdata;
      bus.wstrb = bus_q.wstrb;
    end
    if (pins_q.host_fail_valid) begin
      bus.fail = bus_q.fail;
    end
  end

  // The core's first cycle is that in which the state is still StArmed.
  assign first = state_q == StArmed && run_q;
  assign takes = state_q == StTakes || first;
  assign new_bus = bus != last_bus_q;
  assign new_wqe = pins_q.wqe_valid && wqe_q != last_wqe_q;
  assign due = cycle_q[WindowLog2-1:0] == '0;
  assign is_event = first || due || new_bus || new_wqe || pins_q != last_pins_q
      || pins_q.host_rsp_valid || rx_valid != '0;

  assign push = takes && !ends && is_event;
  assign push_end = state_q == StEnds && room;
  assign digest_d = (state_q != StTakes) ? ((state_q == StEnds) ? digest_q : '1)
      : (due && !ends) ? '1 : digest_next;

  always_comb begin
    state_d = state_q;
    why_d = why_q;
    cycle_d = cycle_q;
    ends = 1'b0;
    unique case (state_q)
      StIdle: begin
        if (arm_i) begin
          state_d = StArmed;
          why_d = 3'd0;
          cycle_d = '0;
        end
      end
      StArmed, StTakes: begin
        ends = 1'b1;
        if (state_q == StTakes && !run_q) begin
          why_d = WhyHeld;
        end else if (full_i) begin
          why_d = WhyFull;
        end else if (failed_i) begin
          why_d = WhyFailed;
        end else if (stop_i) begin
          why_d = WhyStopped;
        end else if (cycle_q == '1) begin
          why_d = WhyLong;
        end else if (takes && is_event && !room) begin
          why_d = WhyFast;
        end else begin
          ends = 1'b0;
        end
        if (ends) begin
          state_d = StEnds;
        end else if (takes) begin
          state_d = StTakes;
          cycle_d = cycle_q + CycleW'(1);
        end
      end
      default: begin
        if (push_end) begin
          state_d = StIdle;
        end
      end
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      why_q <= 3'd0;
      cycle_q <= '0;
    end else begin
      state_q <= state_d;
      why_q <= why_d;
      cycle_q <= cycle_d;
    end
  end

  always_ff @(posedge clk_i) begin
    digest_q <= digest_d;
    if (state_q == StIdle) begin
      last_bus_q <= '0;
      last_wqe_q <= '0;
    end else if (push) begin
      last_pins_q <= pins_q;
      last_bus_q <= bus;
      last_wqe_q <= pins_q.wqe_valid ? wqe_q : last_wqe_q;
    end
  end

  assign idle_o = state_q == StIdle;
  assign armed_o = state_q == StArmed;
  assign takes_o = state_q == StTakes;
  assign why_o = why_q;
  assign cycles_o = cycle_q;

  // ---- events

  typedef struct packed {
    logic ends;
    logic [2:0] why;
    logic [CycleW-1:0] cycle;
    pins_t pins;
    logic has_bus;
    bus_t bus;
    logic has_wqe;
    wqe_t wqe;
    logic has_digest;
    logic [31:0] digest;
    logic [HostBytes*8-1:0] rsp;
    logic [NumPlanes-1:0][PortBytes*8-1:0] rx;
  } event_t;

  event_t event_d, head;
  logic [$clog2(Depth+1)-1:0] unused_count;

  always_comb begin
    event_d.ends = push_end;
    event_d.why = why_q;
    event_d.cycle = cycle_q;
    event_d.pins = push_end ? '0 : pins_q;
    event_d.has_bus = !push_end && new_bus;
    event_d.bus = bus;
    event_d.has_wqe = !push_end && new_wqe;
    event_d.wqe = wqe_q;
    event_d.has_digest = push_end || (due && !first);
    event_d.digest = push_end ? digest_q : digest_next;
    event_d.rsp = rsp_q;
    event_d.rx = rx_q;
  end

  mrc_fifo_ram #(
      .Width($bits(event_t)),
      .Depth(Depth)
  ) u_events (
      .clk_i,
      .rst_ni,
      .valid_i(push || push_end),
      .ready_o(room),
      .data_i(event_d),
      .valid_o(event_valid_o),
      .ready_i(event_ready_i),
      .data_o(head),
      .count_o(unused_count)
  );

  assign event_end_o = head.ends;
  assign event_why_o = head.why;
  assign event_cycle_o = head.cycle;
  assign event_pins_o = head.pins;
  assign event_has_bus_o = head.has_bus;
  assign event_bus_o = head.bus;
  assign event_has_wqe_o = head.has_wqe;
  assign event_wqe_o = head.wqe;
  assign event_has_digest_o = head.has_digest;
  assign event_digest_o = head.digest;
  assign event_rsp_o = head.rsp;
  assign event_rx_o = head.rx;

  logic unused_bits;
  assign unused_bits = ^{bus_q.zeros, unused_count};

  `MRC_NEVER_FULL(Events, push || push_end, room)
  for (genvar p = 0; p < NumPlanes; p++) begin : gen_keep
    `MRC_ASSERT(KeepFromBelow, !rx_tvalid_i[p]
        || (rx_tkeep_i[p] & (rx_tkeep_i[p] + PortBytes'(1))) == '0,
        "tkeep of a beat is not ones from below")
  end

endmodule
