// SPDX-License-Identifier: Apache-2.0

/// Skin B, joined: the core's host pins on one side, descriptors with streams or, with Ram, with
/// RAMs on the other, and between what both skins have (mrc_fpga_skin): the gate of completions,
/// the core's reset, the registers of block MRCH. It does not gather reads. Contract:
/// docs/design/boards/host_b.md, docs/design/boards/top.md.
module mrc_fpga_host_dma
  import mrc_pkg::*;
#(
    parameter bit Ram = 0,
    parameter int unsigned WordBytes = 64,
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 16,
    parameter int unsigned CqeDepth = 16,
    parameter int unsigned MaxOpen = 256,
    parameter int unsigned BeatDepth = 128,
    parameter int unsigned MaxBeats = 64,
    parameter int unsigned PieceDepth = 16,
    parameter int unsigned MaxDescs = 16,
    parameter int unsigned Pending = 128,
    parameter int unsigned Segs = 2,
    parameter int unsigned LenW = Ram ? 16 : 28,
    parameter int unsigned PageBits = 12,
    parameter int unsigned WaitCycles = 10000,
    parameter int unsigned CountW = 32,
    localparam int unsigned DataW = WordBytes * 8,
    localparam int unsigned NumRegs = 8,
    localparam int unsigned WrIdW = $clog2(MaxDescs),
    localparam int unsigned WrRamW = $clog2(MaxDescs * MaxBeats * WordBytes),
    localparam int unsigned WrRowW = $clog2(MaxDescs * MaxBeats / Segs),
    localparam int unsigned RdTagW = $clog2(Pending),
    localparam int unsigned RdRamW = $clog2(Pending * WordBytes),
    localparam int unsigned RdRowW = $clog2(Pending / Segs)
) (
    input logic clk_i,
    input logic rst_ni,

    // Reset of the core; that of the skin is its own affair.
    output logic core_rst_no,
    input logic hold_we_i,
    input logic hold_i,
    output logic hold_o,
    // {late, drain, run} of mrc_fpga_hold.
    output logic [2:0] state_o,
    input logic [NumQps-1:0] clear_i,
    output logic [NumRegs*32-1:0] regs_o,

    input logic host_wr_valid_i,
    output logic host_wr_ready_o,
    input logic [63:0] host_wr_addr_i,
    input logic [7:0] host_wr_len_i,
    input logic host_wr_last_i,
    input logic [3:0] host_wr_plane_i,
    input qp_index_t host_wr_qp_i,
    input logic [DataW-1:0] host_wr_data_i,
    input logic host_rd_valid_i,
    output logic host_rd_ready_o,
    input rdreq_t host_rd_i,
    output logic host_rsp_valid_o,
    output logic [3:0] host_rsp_plane_o,
    output logic [DataW-1:0] host_rsp_data_o,
    output logic host_rsp_err_o,
    output logic host_fail_valid_o,
    input logic host_fail_ready_i,
    output qperr_t host_fail_o,
    input logic cqe_valid_i,
    output logic cqe_ready_o,
    input cqe_t cqe_i,

    output logic cqe_valid_o,
    input logic cqe_ready_i,
    output cqe_t cqe_o,

    // Writes: descriptors, and their bytes as a stream; with Ram the stream is dead, and rows of a
    // RAM are read, by segment. Statuses come in any order.
    output logic wr_desc_valid_o,
    input logic wr_desc_ready_i,
    output logic [63:0] wr_desc_addr_o,
    output logic [LenW-1:0] wr_desc_len_o,
    output logic [WrIdW-1:0] wr_desc_id_o,
    output logic wr_desc_last_o,
    output logic [WrRamW-1:0] wr_desc_ram_addr_o,
    output logic wr_data_valid_o,
    input logic wr_data_ready_i,
    output logic [DataW-1:0] wr_data_o,
    output logic [WordBytes-1:0] wr_data_keep_o,
    output logic wr_data_last_o,
    input logic [Segs-1:0] wr_read_valid_i,
    output logic [Segs-1:0] wr_read_ready_o,
    input logic [Segs*WrRowW-1:0] wr_read_row_i,
    output logic [Segs-1:0] wr_row_valid_o,
    input logic [Segs-1:0] wr_row_ready_i,
    output logic [Segs*DataW-1:0] wr_row_data_o,
    input logic wr_status_valid_i,
    input logic [WrIdW-1:0] wr_status_id_i,
    input logic wr_status_err_i,
    // Reads: descriptors, and an answer of one beat to each, in their order; with Ram answers are
    // dead, rows of a RAM are written, by segment, and statuses come in any order.
    output logic rd_desc_valid_o,
    input logic rd_desc_ready_i,
    output logic [63:0] rd_desc_addr_o,
    output logic [LenW-1:0] rd_desc_len_o,
    output logic [RdTagW-1:0] rd_desc_tag_o,
    output logic [RdRamW-1:0] rd_desc_ram_addr_o,
    input logic rd_data_valid_i,
    input logic [DataW-1:0] rd_data_i,
    input logic rd_data_err_i,
    input logic [Segs-1:0] rd_write_valid_i,
    input logic [Segs*RdRowW-1:0] rd_write_row_i,
    input logic [Segs*WordBytes-1:0] rd_write_be_i,
    input logic [Segs*DataW-1:0] rd_write_data_i,
    input logic rd_status_valid_i,
    input logic [RdTagW-1:0] rd_status_tag_i,
    input logic rd_status_err_i
);

  localparam int unsigned QpW = (NumQps > 1) ? $clog2(NumQps) : 1;

  logic skin_rst_n, wr_idle, ram_idle, rd_idle, room, take, done, wr_fail, wr_stray;
  logic rd_stray, ram_stray;
  qp_index_t wr_fail_qp;
  logic [QpW-1:0] rd_qp;

  mrc_fpga_skin #(
      .NumQps(NumQps),
      .CqeDepth(CqeDepth),
      .MaxOpen(MaxOpen),
      .WaitCycles(WaitCycles),
      .CountW(CountW)
  ) u_skin (
      .skin_rst_no(skin_rst_n),
      .idle_i(wr_idle && ram_idle && rd_idle),
      .take_i(take),
      .room_o(room),
      .done_i(done),
      .wr_fail_i(wr_fail),
      .wr_fail_qp_i(wr_fail_qp[QpW-1:0]),
      .wr_stray_i(wr_stray),
      .rd_take_i(host_rd_valid_i && host_rd_ready_o),
      .rd_done_i(host_rsp_valid_o),
      .rd_err_i(host_rsp_err_o),
      .rd_qp_i(rd_qp),
      .rd_stray_i(rd_stray || ram_stray),
      .*
  );

  // ---- between writer or reader and the pins: nothing, or a RAM

  logic w_desc_valid, w_desc_ready, w_data_valid, w_data_ready, w_data_last;
  logic [63:0] w_desc_addr, r_desc_addr;
  logic [LenW-1:0] w_desc_len, r_desc_len;
  logic [WrIdW-1:0] w_desc_id;
  logic w_desc_last, r_desc_valid, r_desc_ready, r_rsp_valid, r_rsp_err;
  logic [DataW-1:0] w_data, r_rsp_data;
  logic [WordBytes-1:0] w_data_keep;

  mrc_fpga_dma_wr #(
      .WordBytes(WordBytes),
      .NumPlanes(NumPlanes),
      .BeatDepth(BeatDepth),
      .MaxBeats(MaxBeats),
      .PieceDepth(PieceDepth),
      .MaxDescs(MaxDescs),
      .LenW(LenW),
      .PageBits(PageBits)
  ) u_wr (
      .rst_ni(skin_rst_n),
      .room_i(room),
      .take_o(take),
      .done_o(done),
      .fail_o(wr_fail),
      .fail_qp_o(wr_fail_qp),
      .stray_o(wr_stray),
      .idle_o(wr_idle),
      .desc_valid_o(w_desc_valid),
      .desc_ready_i(w_desc_ready),
      .desc_addr_o(w_desc_addr),
      .desc_len_o(w_desc_len),
      .desc_id_o(w_desc_id),
      .desc_last_o(w_desc_last),
      .data_valid_o(w_data_valid),
      .data_ready_i(w_data_ready),
      .data_o(w_data),
      .data_keep_o(w_data_keep),
      .data_last_o(w_data_last),
      .status_valid_i(wr_status_valid_i),
      .status_id_i(wr_status_id_i),
      .status_err_i(wr_status_err_i),
      .*
  );

  mrc_fpga_dma_rd #(
      .WordBytes(WordBytes),
      .NumPlanes(NumPlanes),
      .Pending(Pending),
      .LenW(LenW),
      .PageBits(PageBits),
      .QpW(QpW)
  ) u_rd (
      .rst_ni(skin_rst_n),
      .host_rd_addr_i(host_rd_i.addr),
      .host_rd_len_i(host_rd_i.len),
      .host_rd_plane_i(host_rd_i.plane),
      .host_rd_qp_i(host_rd_i.qp[QpW-1:0]),
      .host_rsp_qp_o(rd_qp),
      .stray_o(rd_stray),
      .idle_o(rd_idle),
      .desc_valid_o(r_desc_valid),
      .desc_ready_i(r_desc_ready),
      .desc_addr_o(r_desc_addr),
      .desc_len_o(r_desc_len),
      .rsp_valid_i(r_rsp_valid),
      .rsp_data_i(r_rsp_data),
      .rsp_err_i(r_rsp_err),
      .*
  );

  if (Ram) begin : gen_ram
    mrc_fpga_dma_wr_ram #(
        .WordBytes(WordBytes),
        .MaxBeats(MaxBeats),
        .MaxDescs(MaxDescs),
        .Segs(Segs),
        .LenW(LenW)
    ) u_wr_ram (
        .clk_i,
        .rst_ni(skin_rst_n),
        .desc_valid_i(w_desc_valid),
        .desc_ready_o(w_desc_ready),
        .desc_addr_i(w_desc_addr),
        .desc_len_i(w_desc_len),
        .desc_id_i(w_desc_id),
        .data_valid_i(w_data_valid),
        .data_ready_o(w_data_ready),
        .data_i(w_data),
        .data_last_i(w_data_last),
        .desc_valid_o(wr_desc_valid_o),
        .desc_ready_i(wr_desc_ready_i),
        .desc_addr_o(wr_desc_addr_o),
        .desc_len_o(wr_desc_len_o),
        .desc_id_o(wr_desc_id_o),
        .desc_ram_addr_o(wr_desc_ram_addr_o),
        .read_valid_i(wr_read_valid_i),
        .read_ready_o(wr_read_ready_o),
        .read_row_i(wr_read_row_i),
        .row_valid_o(wr_row_valid_o),
        .row_ready_i(wr_row_ready_i),
        .row_data_o(wr_row_data_o),
        .idle_o(ram_idle)
    );

    mrc_fpga_dma_rd_ram #(
        .WordBytes(WordBytes),
        .Slots(Pending),
        .Segs(Segs),
        .LenW(LenW)
    ) u_rd_ram (
        .clk_i,
        .rst_ni(skin_rst_n),
        .desc_valid_i(r_desc_valid),
        .desc_ready_o(r_desc_ready),
        .desc_addr_i(r_desc_addr),
        .desc_len_i(r_desc_len),
        .rsp_valid_o(r_rsp_valid),
        .rsp_data_o(r_rsp_data),
        .rsp_err_o(r_rsp_err),
        .stray_o(ram_stray),
        .desc_valid_o(rd_desc_valid_o),
        .desc_ready_i(rd_desc_ready_i),
        .desc_addr_o(rd_desc_addr_o),
        .desc_len_o(rd_desc_len_o),
        .desc_tag_o(rd_desc_tag_o),
        .desc_ram_addr_o(rd_desc_ram_addr_o),
        .write_valid_i(rd_write_valid_i),
        .write_row_i(rd_write_row_i),
        .write_be_i(rd_write_be_i),
        .write_data_i(rd_write_data_i),
        .status_valid_i(rd_status_valid_i),
        .status_tag_i(rd_status_tag_i),
        .status_err_i(rd_status_err_i)
    );

    // A descriptor waits for its beats in the RAM: whether it ends its packet is forgotten there.
    assign {wr_desc_last_o, wr_data_valid_o, wr_data_o, wr_data_keep_o, wr_data_last_o} = '0;

    logic unused_stream;
    assign unused_stream = ^{w_desc_last, w_data_keep, wr_data_ready_i, rd_data_valid_i, rd_data_i,
                             rd_data_err_i};
  end else begin : gen_streams
    assign wr_desc_valid_o = w_desc_valid;
    assign w_desc_ready = wr_desc_ready_i;
    assign wr_desc_addr_o = w_desc_addr;
    assign wr_desc_len_o = w_desc_len;
    assign wr_desc_id_o = w_desc_id;
    assign wr_desc_last_o = w_desc_last;
    assign wr_data_valid_o = w_data_valid;
    assign w_data_ready = wr_data_ready_i;
    assign wr_data_o = w_data;
    assign wr_data_keep_o = w_data_keep;
    assign wr_data_last_o = w_data_last;
    assign rd_desc_valid_o = r_desc_valid;
    assign r_desc_ready = rd_desc_ready_i;
    assign rd_desc_addr_o = r_desc_addr;
    assign rd_desc_len_o = r_desc_len;
    assign r_rsp_valid = rd_data_valid_i;
    assign r_rsp_data = rd_data_i;
    assign r_rsp_err = rd_data_err_i;

    assign ram_idle = 1'b1;
    assign ram_stray = 1'b0;
    assign {wr_desc_ram_addr_o, wr_read_ready_o, wr_row_valid_o, wr_row_data_o} = '0;
    assign {rd_desc_tag_o, rd_desc_ram_addr_o} = '0;

    logic unused_ram;
    assign unused_ram = ^{wr_read_valid_i, wr_read_row_i, wr_row_ready_i, rd_write_valid_i,
                          rd_write_row_i, rd_write_be_i, rd_write_data_i, rd_status_valid_i,
                          rd_status_tag_i, rd_status_err_i};
  end

  logic unused_bits;
  assign unused_bits = ^{wr_fail_qp, host_rd_i.qp};

endmodule
