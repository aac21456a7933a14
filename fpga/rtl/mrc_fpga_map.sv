// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// The registers of a board on AXI4-Lite: a list of blocks that say what they are (the board, the
/// core, a lane per plane, the host side, rings, ports, generator, recorder), and the way to the
/// registers of core and rings with a time limit. Every access is answered. Latency: three cycles,
/// and what core or rings take. All of it is in the core's clock; it has no interrupts. Contract:
/// docs/design/boards/axil.md.
module mrc_fpga_map #(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned PortBytes = 32,
    parameter int unsigned HostBytes = 64,
    parameter int unsigned WaitCycles = 10000,
    parameter int unsigned CountW = 32,
    parameter logic [31:0] BuildId = 32'd0,
    parameter bit Rings = 0,
    parameter bit Ports = 0,
    parameter bit Gen = 0,
    parameter bit Record = 0,
    localparam int unsigned AddrW = 16,
    localparam int unsigned NumCounts = 10,
    localparam int unsigned NumHost = 8
) (
    input logic clk_i,
    input logic rst_ni,

    input logic s_axil_awvalid_i,
    output logic s_axil_awready_o,
    input logic [AddrW-1:0] s_axil_awaddr_i,
    input logic s_axil_wvalid_i,
    output logic s_axil_wready_o,
    input logic [31:0] s_axil_wdata_i,
    input logic [3:0] s_axil_wstrb_i,
    output logic s_axil_bvalid_o,
    input logic s_axil_bready_i,
    output logic [1:0] s_axil_bresp_o,
    input logic s_axil_arvalid_i,
    output logic s_axil_arready_o,
    input logic [AddrW-1:0] s_axil_araddr_i,
    output logic s_axil_rvalid_o,
    input logic s_axil_rready_i,
    output logic [31:0] s_axil_rdata_o,
    output logic [1:0] s_axil_rresp_o,

    output logic m_axil_awvalid_o,
    input logic m_axil_awready_i,
    output logic [AddrW-1:0] m_axil_awaddr_o,
    output logic m_axil_wvalid_o,
    input logic m_axil_wready_i,
    output logic [31:0] m_axil_wdata_o,
    output logic [3:0] m_axil_wstrb_o,
    input logic m_axil_bvalid_i,
    output logic m_axil_bready_o,
    input logic [1:0] m_axil_bresp_i,
    output logic m_axil_arvalid_o,
    input logic m_axil_arready_i,
    output logic [AddrW-1:0] m_axil_araddr_o,
    input logic m_axil_rvalid_i,
    output logic m_axil_rready_o,
    input logic [31:0] m_axil_rdata_i,
    input logic [1:0] m_axil_rresp_i,

    // Counter n of plane p has bits 32 * (NumCounts * p + n) and on.
    input logic [NumPlanes*NumCounts*32-1:0] lane_counts_i,
    input logic [NumPlanes-1:0] link_up_i,

    // Of mrc_fpga_host: what holds the core, {late, drain, run}, and the words of MRCH.
    output logic hold_we_o,
    output logic hold_o,
    input logic hold_i,
    input logic [2:0] state_i,
    output logic [31:0] clear_o,
    input logic [NumHost*32-1:0] host_i,

    // What an access to a block outside asks for.
    output logic [10:0] block_w_word_o,
    output logic [31:0] block_w_data_o,
    output logic [3:0] block_w_strb_o,
    output logic [10:0] block_r_word_o,
    // Of mrc_fpga_rings, if there are: go and done. cut: they are in reset.
    output logic ring_w_go_o,
    input logic ring_w_done_i,
    input logic ring_w_err_i,
    output logic ring_r_go_o,
    input logic ring_r_done_i,
    input logic ring_r_err_i,
    input logic [31:0] ring_r_data_i,
    input logic ring_cut_i,
    // Of mrc_fpga_port_regs, if there are: answered in the same cycle.
    output logic port_w_go_o,
    input logic port_w_good_i,
    input logic port_r_good_i,
    input logic [31:0] port_r_data_i,
    // Of mrc_fpga_gen and mrc_fpga_fill, if there are: likewise.
    output logic gen_w_go_o,
    input logic gen_w_good_i,
    input logic gen_r_good_i,
    input logic [31:0] gen_r_data_i,
    // So of mrc_fpga_record_regs.
    output logic rec_w_go_o,
    input logic rec_w_good_i,
    input logic rec_r_good_i,
    input logic [31:0] rec_r_data_i
);

  // Pages of 4 KiB: 0 the board, 1 the core's header, 2 its registers, 3 + p the lane of plane p,
  // behind them the host side, two of the rings, the ports, the generator, the recorder.
  localparam logic [3:0] PageBoard = 4'd0;
  localparam logic [3:0] PageCore = 4'd1;
  localparam logic [3:0] PageRegs = 4'd2;
  localparam int unsigned PageLane = 3;
  localparam logic [3:0] PageHost = 4'(PageLane + NumPlanes);
  localparam logic [3:0] PageRings = PageHost + 4'd1;
  localparam logic [3:0] PagePorts = Rings ? PageRings + 4'd2 : PageRings;
  localparam logic [3:0] PageGen = PagePorts + 4'(Ports);
  localparam logic [3:0] PageRecord = PageGen + 4'(Gen);
  localparam logic [31:0] PageBytes = 32'h1000;
  localparam logic [31:0] BlockVersion = 32'h0000_0100;
  localparam logic [31:0] IdBoard = 32'h4d52_4342;  // MRCB
  localparam logic [31:0] IdCore = 32'h4d52_434e;  // MRCN
  localparam logic [31:0] IdLane = 32'h4d52_434c;  // MRCL
  localparam logic [31:0] IdHost = 32'h4d52_4348;  // MRCH
  localparam logic [31:0] IdPorts = 32'h4d52_4350;  // MRCP
  localparam logic [31:0] IdGen = 32'h4d52_4347;  // MRCG
  localparam logic [31:0] IdRecord = 32'h4d52_4358;  // MRCX
  localparam int unsigned LanesW = (NumPlanes > 1) ? $clog2(NumPlanes) : 1;

  typedef enum logic [9:0] {
    WordId = 10'h000,
    WordVersion = 10'h001,
    WordSize = 10'h002,
    WordNext = 10'h003
  } header_e;

  typedef enum logic [9:0] {
    BoardBuild = 10'h004,
    BoardShape = 10'h005,
    BoardScratch = 10'h006,
    BoardState = 10'h007,
    BoardLate = 10'h008,
    BoardRefused = 10'h009
  } board_e;

  localparam logic [9:0] CoreHold = 10'h004;
  localparam logic [9:0] CoreState = 10'h005;
  localparam logic [9:0] HostWord = 10'h004;
  localparam logic [9:0] LanePlane = 10'h004;
  localparam logic [9:0] LaneLink = 10'h005;
  localparam logic [9:0] LaneCount = 10'h010;

  if (NumPlanes < 1 || NumPlanes > 8) begin : gen_bad_planes
    $error("%m: NumPlanes must be 1 to 8");
  end
  if (CountW < 2 || CountW > 32) begin : gen_bad_count
    $error("%m: CountW must be 2 to 32");
  end
  if (PortBytes > 255 || HostBytes > 255) begin : gen_bad_shape
    $error("%m: PortBytes and HostBytes must be below 256");
  end

  logic w_go, w_done, w_err, w_core, wc_done, wc_err, own_done_q, own_err_q, own_good;
  logic r_go, r_done, r_err, r_core, rc_done, rc_err, read_done_q, read_err_q, read_good;
  logic [AddrW-3:0] w_word, r_word;
  logic [31:0] w_data, r_data, rc_data, read_data_q, read_data;
  logic [3:0] w_strb;
  logic [1:0] owed, late, refused;

  mrc_fpga_axil #(
      .AddrW(AddrW)
  ) u_axil (
      .w_go_o(w_go),
      .w_word_o(w_word),
      .w_data_o(w_data),
      .w_strb_o(w_strb),
      .w_done_i(w_done),
      .w_err_i(w_err),
      .r_go_o(r_go),
      .r_word_o(r_word),
      .r_done_i(r_done),
      .r_err_i(r_err),
      .r_data_i(r_data),
      .*
  );

  // ---- the core's registers

  assign w_core = w_word[13:10] == PageRegs;
  assign r_core = r_word[13:10] == PageRegs;

  mrc_fpga_guard #(
      .AddrW(AddrW),
      .WaitCycles(WaitCycles)
  ) u_guard (
      .w_go_i(w_go && w_core),
      .w_word_i({4'd0, w_word[9:0]}),
      .w_data_i(w_data),
      .w_strb_i(w_strb),
      .w_done_o(wc_done),
      .w_err_o(wc_err),
      .r_go_i(r_go && r_core),
      .r_word_i({4'd0, r_word[9:0]}),
      .r_done_o(rc_done),
      .r_err_o(rc_err),
      .r_data_o(rc_data),
      .owed_o(owed),
      .late_o(late),
      .refused_o(refused),
      .cut_i(!state_i[0]),
      .*
  );

  // ---- the rings' registers

  logic w_ring, r_ring, wr_done, wr_err, rr_done, rr_err;
  logic [31:0] rr_data_q;
  logic [1:0] unused_owed, unused_late, unused_refused;

  assign w_ring = Rings && (w_word[13:10] == PageRings || w_word[13:10] == PageRings + 4'd1);
  assign r_ring = Rings && (r_word[13:10] == PageRings || r_word[13:10] == PageRings + 4'd1);
  assign block_w_word_o = {w_word[10] != PageRings[0], w_word[9:0]};
  assign block_w_data_o = w_data;
  assign block_w_strb_o = w_strb;
  assign block_r_word_o = {r_word[10] != PageRings[0], r_word[9:0]};

  mrc_fpga_limit #(
      .WaitCycles(WaitCycles)
  ) u_ring_write (
      .clk_i,
      .rst_ni,
      .go_i(w_go && w_ring),
      .start_o(ring_w_go_o),
      .cut_i(ring_cut_i),
      .answer_i(ring_w_done_i),
      .err_i(ring_w_err_i),
      .done_o(wr_done),
      .err_o(wr_err),
      .owed_o(unused_owed[0]),
      .late_o(unused_late[0]),
      .refused_o(unused_refused[0])
  );

  mrc_fpga_limit #(
      .WaitCycles(WaitCycles)
  ) u_ring_read (
      .clk_i,
      .rst_ni,
      .go_i(r_go && r_ring),
      .start_o(ring_r_go_o),
      .cut_i(ring_cut_i),
      .answer_i(ring_r_done_i),
      .err_i(ring_r_err_i),
      .done_o(rr_done),
      .err_o(rr_err),
      .owed_o(unused_owed[1]),
      .late_o(unused_late[1]),
      .refused_o(unused_refused[1])
  );

  // Of both directions one is under way at a time.
  assign w_done = own_done_q || wc_done || wr_done;
  assign w_err = own_done_q ? own_err_q : wr_done ? wr_err : wc_err;
  assign r_done = read_done_q || rc_done || rr_done;
  assign r_err = read_done_q ? read_err_q : rr_done ? rr_err : rc_err;
  assign r_data = read_done_q ? read_data_q : rr_done ? rr_data_q : rc_data;

  // ---- registers that are written

  logic [31:0] scratch_q, scratch_d;
  logic [CountW-1:0] late_q, late_d, refused_q, refused_d;

  logic w_scratch, w_hold, w_failed, w_port, w_gen, w_rec;

  assign w_scratch = w_word == {PageBoard, BoardScratch};
  assign w_hold = w_word == {PageCore, CoreHold};
  assign w_failed = w_word == {PageHost, HostWord};
  assign w_port = Ports && w_word[13:10] == PagePorts;
  assign w_gen = Gen && w_word[13:10] == PageGen;
  assign w_rec = Record && w_word[13:10] == PageRecord;
  assign own_good = w_scratch || w_hold || w_failed || (w_port && port_w_good_i)
      || (w_gen && gen_w_good_i) || (w_rec && rec_w_good_i);
  assign port_w_go_o = w_go && w_port;
  assign gen_w_go_o = w_go && w_gen;
  assign rec_w_go_o = w_go && w_rec;
  assign hold_we_o = w_go && w_hold && w_strb[0];
  assign hold_o = w_data[0];

  always_comb begin
    scratch_d = scratch_q;
    clear_o = 32'd0;
    for (int unsigned i = 0; i < 4; i++) begin
      if (w_go && w_scratch && w_strb[i]) begin
        scratch_d[8*i+:8] = w_data[8*i+:8];
      end
      if (w_go && w_failed && w_strb[i]) begin
        clear_o[8*i+:8] = w_data[8*i+:8];
      end
    end
    late_d = late_q + CountW'(late[0]) + CountW'(late[1]);
    refused_d = refused_q + CountW'(refused[0]) + CountW'(refused[1]);
  end

  // ---- what is read

  logic is_lane, is_host, is_ports, is_gen, is_rec;
  logic [3:0] plane;
  logic [9:0] word;
  logic [31:0] id, size, next, count, host;
  logic link;

  assign word = r_word[9:0];
  assign is_lane = 32'(r_word[13:10]) >= PageLane
      && 32'(r_word[13:10]) < PageLane + NumPlanes;
  assign plane = r_word[13:10] - 4'(PageLane);
  assign is_host = r_word[13:10] == PageHost;
  assign is_ports = Ports && r_word[13:10] == PagePorts;
  assign is_gen = Gen && r_word[13:10] == PageGen;
  assign is_rec = Record && r_word[13:10] == PageRecord;

  always_comb begin
    count = 32'd0;
    link = 1'b0;
    for (int unsigned p = 0; p < NumPlanes; p++) begin
      if (LanesW'(p) == plane[LanesW-1:0]) begin
        link = link_up_i[p];
        for (int unsigned n = 0; n < NumCounts; n++) begin
          if (word[3:0] == 4'(n)) begin
            count = lane_counts_i[32*(NumCounts*p+n)+:32];
          end
        end
      end
    end
  end

  always_comb begin
    host = 32'd0;
    for (int unsigned n = 0; n < NumHost; n++) begin
      if (word == HostWord + 10'(n)) begin
        host = host_i[32*n+:32];
      end
    end
  end

  always_comb begin
    id = IdLane;
    size = PageBytes;
    next = {16'd0, r_word[13:10] + 4'd1, 12'd0};
    if (r_word[13:10] == PageBoard) begin
      id = IdBoard;
      next = PageBytes;
    end else if (r_word[13:10] == PageCore) begin
      id = IdCore;
      size = 32'd2 * PageBytes;
      next = 32'(PageLane) * PageBytes;
    end else if (is_host) begin
      id = IdHost;
      next = (Rings || Ports || Gen || Record) ? {16'd0, PageRings, 12'd0} : 32'd0;
    end else if (is_ports) begin
      id = IdPorts;
      next = (Gen || Record) ? {16'd0, PageGen, 12'd0} : 32'd0;
    end else if (is_gen) begin
      id = IdGen;
      next = Record ? {16'd0, PageRecord, 12'd0} : 32'd0;
    end else if (is_rec) begin
      id = IdRecord;
      next = 32'd0;
    end
  end

  always_comb begin
    read_data = 32'd0;
    read_good = is_lane || is_host || is_ports || is_gen || is_rec || r_word[13:10] == PageBoard
        || r_word[13:10] == PageCore;
    unique case (word)
      WordId: read_data = id;
      WordVersion: read_data = BlockVersion;
      WordSize: read_data = size;
      WordNext: read_data = next;
      default: begin
        read_good = 1'b0;
        if (r_word[13:10] == PageBoard) begin
          read_good = 1'b1;
          unique case (word)
            BoardBuild: read_data = BuildId;
            BoardShape: read_data = {8'd0, 8'(HostBytes), 8'(PortBytes), 8'(NumPlanes)};
            BoardScratch: read_data = scratch_q;
            BoardState: read_data = {30'd0, owed};
            BoardLate: read_data = 32'(late_q);
            BoardRefused: read_data = 32'(refused_q);
            default: read_good = 1'b0;
          endcase
        end else if (r_word[13:10] == PageCore) begin
          read_good = word == CoreHold || word == CoreState;
          read_data = (word == CoreHold) ? {31'd0, hold_i} : {29'd0, state_i};
        end else if (is_host) begin
          read_good = word >= HostWord && word < HostWord + 10'(NumHost);
          read_data = host;
        end else if (is_ports) begin
          read_good = port_r_good_i;
          read_data = port_r_data_i;
        end else if (is_gen) begin
          read_good = gen_r_good_i;
          read_data = gen_r_data_i;
        end else if (is_rec) begin
          read_good = rec_r_good_i;
          read_data = rec_r_data_i;
        end else if (is_lane) begin
          if (word == LanePlane) begin
            read_good = 1'b1;
            read_data = {28'd0, plane};
          end else if (word == LaneLink) begin
            read_good = 1'b1;
            read_data = {31'd0, link};
          end else if (word >= LaneCount && word < LaneCount + 10'(NumCounts)) begin
            read_good = 1'b1;
            read_data = count;
          end
        end
      end
    endcase
    if (!read_good) begin
      read_data = 32'd0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      own_done_q <= 1'b0;
      read_done_q <= 1'b0;
      scratch_q <= 32'd0;
      late_q <= '0;
      refused_q <= '0;
    end else begin
      own_done_q <= w_go && !w_core && !w_ring;
      read_done_q <= r_go && !r_core && !r_ring;
      scratch_q <= scratch_d;
      late_q <= late_d;
      refused_q <= refused_d;
    end
  end

  always_ff @(posedge clk_i) begin
    own_err_q <= !own_good;
    read_err_q <= !read_good;
    read_data_q <= read_data;
    rr_data_q <= (ring_r_done_i && !ring_r_err_i && !ring_cut_i) ? ring_r_data_i : 32'd0;
  end

  `MRC_ONE_HOT0(OneAnswersAWrite, ({own_done_q, wc_done, wr_done}), "two answer a write")
  `MRC_ONE_HOT0(OneAnswersARead, ({read_done_q, rc_done, rr_done}), "two answer a read")

endmodule
