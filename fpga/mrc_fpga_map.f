// SPDX-License-Identifier: Apache-2.0
// The registers of a board, in compile order.
+incdir+rtl/lib
fpga/rtl/mrc_fpga_axil.sv
fpga/rtl/mrc_fpga_limit.sv
fpga/rtl/mrc_fpga_guard.sv
fpga/rtl/mrc_fpga_map.sv
