// SPDX-License-Identifier: Apache-2.0
// Ports of a board, between MACs and lanes, in compile order. What a lane has too stands in mrc_fpga_lane.f.
+incdir+rtl/lib
rtl/gen/mrc_pkg.sv
rtl/lib/mrc_rr_arb.sv
fpga/rtl/mrc_fpga_classify.sv
fpga/rtl/mrc_fpga_merge.sv
fpga/rtl/mrc_fpga_port.sv
fpga/rtl/mrc_fpga_ports.sv
