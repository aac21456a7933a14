// SPDX-License-Identifier: Apache-2.0
// Skin A, the host's side on AXI4, in compile order.
+incdir+rtl/lib
rtl/gen/mrc_pkg.sv
rtl/lib/mrc_fifo.sv
rtl/lib/mrc_ram_1r1w.sv
rtl/lib/mrc_fifo_ram.sv
rtl/lib/mrc_out_reg.sv
rtl/lib/mrc_rf_1r1w.sv
fpga/rtl/mrc_fpga_gate.sv
fpga/rtl/mrc_fpga_wr_cut.sv
fpga/rtl/mrc_fpga_wr_out.sv
fpga/rtl/mrc_fpga_axi_wr.sv
fpga/rtl/mrc_fpga_axi_rd.sv
