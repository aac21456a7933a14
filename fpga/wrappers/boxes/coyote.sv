// SPDX-License-Identifier: Apache-2.0
// What mrc_fpga_coyote meets of Coyote v2, as far as names, widths and directions go: part of a
// package, interfaces, and a top in which a shell without anything inside is connected, for lint
// alone. Written from hw/hdl/pkg and hw/templates/common of
// https://github.com/fpgasystems/Coyote, of which nothing is here. See
// docs/design/boards/wrappers.md.
// verilator lint_off DECLFILENAME
// verilator lint_off UNUSED
// verilator lint_off UNDRIVEN

package lynxTypes;
  localparam integer AXIL_DATA_BITS = 64;
  localparam integer AXI_DATA_BITS = 512;
  localparam integer AXI_ADDR_BITS = 64;
  localparam integer VADDR_BITS = 48;
  localparam integer LEN_BITS = 28;
  localparam integer DEST_BITS = 4;
  localparam integer PID_BITS = 6;
  localparam integer OFFS_BITS = 6;
  localparam integer OPCODE_BITS = 5;
  localparam integer STRM_BITS = 2;
  localparam integer LOCAL_READ = 1;
  localparam integer LOCAL_WRITE = 2;
  localparam integer STRM_HOST = 1;

  typedef struct packed {
    logic [OPCODE_BITS-1:0] opcode;
    logic [STRM_BITS-1:0] strm;
    logic [DEST_BITS-1:0] vfid;
    logic [PID_BITS-1:0] pid;
    logic [DEST_BITS-1:0] dest;
    logic last;
    logic [VADDR_BITS-1:0] vaddr;
    logic [LEN_BITS-1:0] len;
    logic actv;
    logic host;
    logic [OFFS_BITS-1:0] offs;
    logic [21:0] rsrvd;
  } req_t;

  typedef struct packed {
    logic [OPCODE_BITS-1:0] opcode;
    logic [STRM_BITS-1:0] strm;
    logic [DEST_BITS-1:0] dest;
    logic [PID_BITS-1:0] pid;
    logic [DEST_BITS-1:0] vfid;
    logic [10:0] rsrvd;
  } ack_t;

  typedef struct packed {
    logic [PID_BITS-1:0] pid;
    logic [31:0] value;
  } irq_not_t;
endpackage

interface metaIntf #(
    parameter type STYPE = logic [63:0]
) (
    input logic aclk,
    input logic aresetn
);
  logic valid, ready;
  STYPE data;
  modport s(input valid, data, output ready);
  modport m(output valid, data, input ready);
endinterface

interface AXI4L #(
    parameter AXI4L_ADDR_BITS = lynxTypes::AXI_ADDR_BITS,
    parameter AXI4L_DATA_BITS = lynxTypes::AXIL_DATA_BITS
) (
    input logic aclk
);
  logic [AXI4L_ADDR_BITS-1:0] araddr, awaddr;
  logic [AXI4L_DATA_BITS-1:0] rdata, wdata;
  logic [AXI4L_DATA_BITS/8-1:0] wstrb;
  logic [2:0] arprot, awprot;
  logic [3:0] arqos, arregion, awqos, awregion;
  logic [1:0] rresp, bresp;
  logic arready, arvalid, awready, awvalid, rready, rvalid, wready, wvalid, bready, bvalid;
  modport m(
      input awready, arready, rresp, rdata, rvalid, wready, bresp, bvalid,
      output awaddr, awprot, awqos, awregion, awvalid, araddr, arprot, arqos, arregion, arvalid,
      output rready, wdata, wstrb, wvalid, bready
  );
  modport s(
      input awaddr, awprot, awqos, awregion, awvalid, araddr, arprot, arqos, arregion, arvalid,
      input rready, wdata, wstrb, wvalid, bready,
      output awready, arready, rresp, rdata, rvalid, wready, bresp, bvalid
  );
endinterface

interface AXI4S #(
    parameter AXI4S_DATA_BITS = lynxTypes::AXI_DATA_BITS
) (
    input logic aclk
);
  logic [AXI4S_DATA_BITS-1:0] tdata;
  logic [AXI4S_DATA_BITS/8-1:0] tkeep;
  logic tlast, tready, tvalid;
  modport m(input tready, output tdata, tkeep, tlast, tvalid);
  modport s(input tdata, tkeep, tlast, tvalid, output tready);
endinterface

interface AXI4SR #(
    parameter AXI4S_DATA_BITS = lynxTypes::AXI_DATA_BITS,
    parameter AXI4S_ID_BITS = lynxTypes::PID_BITS
) (
    input logic aclk
);
  logic [AXI4S_DATA_BITS-1:0] tdata;
  logic [AXI4S_DATA_BITS/8-1:0] tkeep;
  logic [AXI4S_ID_BITS-1:0] tid;
  logic tlast, tready, tvalid;
  modport m(input tready, output tdata, tkeep, tlast, tvalid, tid);
  modport s(input tdata, tkeep, tlast, tvalid, tid, output tready);
endinterface

module mrc_fpga_coyote_shell (
    output logic aclk,
    output logic aresetn,
    output logic rclk,
    output logic rresetn,
    output logic net_link_up,
    AXI4L.m axi_ctrl,
    metaIntf.s notify,
    metaIntf.s sq_rd,
    metaIntf.s sq_wr,
    metaIntf.m cq_rd,
    metaIntf.m cq_wr,
    AXI4SR.m axis_host_recv,
    AXI4SR.s axis_host_send,
    AXI4S.m axis_net_rx,
    AXI4S.s axis_net_tx,
    AXI4S.s axis_side_rx,
    AXI4S.m axis_side_tx
);
endmodule

module mrc_fpga_coyote_box
  import mrc_pkg::*;
(
    input logic wqe_valid,
    output logic wqe_ready,
    input logic [$bits(wqe_t)-1:0] wqe_data,
    output logic cqe_valid,
    input logic cqe_ready,
    output logic [$bits(cqe_t)-1:0] cqe_data
);

  logic aclk, aresetn, rclk, rresetn, net_link_up;

  AXI4L axi_ctrl (.*);
  metaIntf #(.STYPE(lynxTypes::irq_not_t)) notify (.*);
  metaIntf #(.STYPE(lynxTypes::req_t)) sq_rd (.*);
  metaIntf #(.STYPE(lynxTypes::req_t)) sq_wr (.*);
  metaIntf #(.STYPE(lynxTypes::ack_t)) cq_rd (.*);
  metaIntf #(.STYPE(lynxTypes::ack_t)) cq_wr (.*);
  AXI4SR axis_host_recv (.*);
  AXI4SR axis_host_send (.*);
  AXI4S axis_net_rx (.aclk(rclk));
  AXI4S axis_net_tx (.aclk(rclk));
  AXI4S axis_side_rx (.*);
  AXI4S axis_side_tx (.*);

  mrc_fpga_coyote_shell u_shell (.*);
  mrc_fpga_coyote u_nic (.*);

endmodule
// verilator lint_on UNDRIVEN
// verilator lint_on UNUSED
// verilator lint_on DECLFILENAME
