// SPDX-License-Identifier: Apache-2.0

/// Registers of mrc_fpga_ports, block MRCP behind its header: addresses by which the ports know
/// what is theirs, and their counters. A write acts in the cycle of w_go_i, a read is
/// combinational. After a reset all addresses are 0, and nothing goes aside. Contract:
/// docs/design/boards/classify.md.
module mrc_fpga_port_regs #(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumPorts = 2,
    localparam int unsigned NumCounts = 13
) (
    input logic clk_i,
    input logic rst_ni,
    input logic w_go_i,
    input logic [9:0] w_word_i,
    input logic [31:0] w_data_i,
    input logic [3:0] w_strb_i,
    output logic w_good_o,
    input logic [9:0] r_word_i,
    output logic r_good_o,
    output logic [31:0] r_data_o,

    input logic [NumPorts*NumCounts*32-1:0] counts_i,
    output logic [NumPorts*48-1:0] mac_o,
    output logic [NumPlanes*128-1:0] ip_o,
    output logic [NumPlanes*48-1:0] usid_o,
    output logic [15:0] udp_port_o,
    output logic udp_only_o,
    output logic promisc_o,
    output logic side_o
);

  localparam logic [9:0] WordShape = 10'h004;
  localparam logic [9:0] WordControl = 10'h005;
  localparam logic [15:0] MrcUdpPort = 16'd4971;

  typedef struct packed {
    logic [15:0] udp_port;
    logic [12:0] zeros;
    logic udp_only;
    logic promisc;
    logic side;
  } control_t;

  control_t control_q;
  logic [NumPorts-1:0][47:0] mac_q;
  logic [NumPlanes-1:0][127:0] ip_q;
  logic [NumPlanes-1:0][47:0] usid_q;

  // ---- which register: port k at words 0x10 + 4 k, plane p at 0x40 + 8 p, counters of port k at
  // 0x80 + 16 k

  function automatic logic is_port(logic [9:0] word);
    return word >= 10'h010 && 32'(word) < 16 + 4 * NumPorts;
  endfunction
  function automatic logic is_plane(logic [6:0] row);
    return row[6:3] == 4'd1 && 32'(row[2:0]) < NumPlanes;
  endfunction
  function automatic logic is_count(logic [9:0] word);
    return word[9:7] == 3'd1 && 32'(word[6:4]) < NumPorts && 32'(word[3:0]) < NumCounts;
  endfunction

  assign w_good_o = w_word_i == WordControl || (is_port(w_word_i) && !w_word_i[1])
      || (is_plane(w_word_i[9:3]) && w_word_i[2:0] < 3'd6);
  assign r_good_o = r_word_i == WordShape || r_word_i == WordControl || is_count(r_word_i)
      || (is_port(r_word_i) && r_word_i[1:0] != 2'd3)
      || (is_plane(r_word_i[9:3]) && r_word_i[2:0] != 3'd7);

  function automatic logic [31:0] written(logic [31:0] old, logic [31:0] data, logic [3:0] strb);
    for (int unsigned i = 0; i < 4; i++) begin
      written[8*i+:8] = strb[i] ? data[8*i+:8] : old[8*i+:8];
    end
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      control_q <= {MrcUdpPort, 16'd0};
      mac_q <= '0;
      ip_q <= '0;
      usid_q <= '0;
    end else if (w_go_i) begin
      if (w_word_i == WordControl) begin
        control_q <= written(control_q, w_data_i, w_strb_i) & 32'hffff_0007;
      end
      for (int unsigned k = 0; k < NumPorts; k++) begin
        if (32'(w_word_i) == 16 + 4 * k) begin
          mac_q[k][31:0] <= written(mac_q[k][31:0], w_data_i, w_strb_i);
        end
        if (32'(w_word_i) == 17 + 4 * k) begin
          mac_q[k][47:32] <= 16'(written({16'd0, mac_q[k][47:32]}, w_data_i, w_strb_i));
        end
      end
      for (int unsigned p = 0; p < NumPlanes; p++) begin
        for (int unsigned i = 0; i < 4; i++) begin
          if (32'(w_word_i) == 64 + 8 * p + i) begin
            ip_q[p][32*i+:32] <= written(ip_q[p][32*i+:32], w_data_i, w_strb_i);
          end
        end
        if (32'(w_word_i) == 68 + 8 * p) begin
          usid_q[p][31:0] <= written(usid_q[p][31:0], w_data_i, w_strb_i);
        end
        if (32'(w_word_i) == 69 + 8 * p) begin
          usid_q[p][47:32] <= 16'(written({16'd0, usid_q[p][47:32]}, w_data_i, w_strb_i));
        end
      end
    end
  end

  always_comb begin
    r_data_o = 32'd0;
    if (r_word_i == WordShape) begin
      r_data_o = {16'd0, 8'(NumPlanes), 8'(NumPorts)};
    end
    if (r_word_i == WordControl) begin
      r_data_o = control_q;
    end
    for (int unsigned k = 0; k < NumPorts; k++) begin
      if (32'(r_word_i) == 16 + 4 * k) begin
        r_data_o = mac_q[k][31:0];
      end
      if (32'(r_word_i) == 17 + 4 * k) begin
        r_data_o = {16'd0, mac_q[k][47:32]};
      end
      // The planes that are on the port.
      if (32'(r_word_i) == 18 + 4 * k) begin
        for (int unsigned p = 0; p < NumPlanes; p++) begin
          r_data_o[p] = p % NumPorts == k;
        end
      end
      for (int unsigned n = 0; n < NumCounts; n++) begin
        if (32'(r_word_i) == 128 + 16 * k + n) begin
          r_data_o = counts_i[32*(NumCounts*k+n)+:32];
        end
      end
    end
    for (int unsigned p = 0; p < NumPlanes; p++) begin
      for (int unsigned i = 0; i < 4; i++) begin
        if (32'(r_word_i) == 64 + 8 * p + i) begin
          r_data_o = ip_q[p][32*i+:32];
        end
      end
      if (32'(r_word_i) == 68 + 8 * p) begin
        r_data_o = usid_q[p][31:0];
      end
      if (32'(r_word_i) == 69 + 8 * p) begin
        r_data_o = {16'd0, usid_q[p][47:32]};
      end
      if (32'(r_word_i) == 70 + 8 * p) begin
        r_data_o = p % NumPorts;
      end
    end
  end

  assign mac_o = mac_q;
  assign ip_o = ip_q;
  assign usid_o = usid_q;
  assign udp_port_o = control_q.udp_port;
  assign udp_only_o = control_q.udp_only;
  assign promisc_o = control_q.promisc;
  assign side_o = control_q.side;

endmodule
