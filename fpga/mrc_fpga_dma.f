// SPDX-License-Identifier: Apache-2.0
// Skin B, the host's side by descriptor and stream, in compile order.
+incdir+rtl/lib
rtl/gen/mrc_pkg.sv
rtl/lib/mrc_fifo.sv
rtl/lib/mrc_ram_1r1w.sv
rtl/lib/mrc_fifo_ram.sv
rtl/lib/mrc_out_reg.sv
rtl/lib/mrc_rf_1r1w.sv
fpga/rtl/mrc_fpga_gate.sv
fpga/rtl/mrc_fpga_wr_cut.sv
fpga/rtl/mrc_fpga_wr_in.sv
fpga/rtl/mrc_fpga_wr_out.sv
fpga/rtl/mrc_fpga_in_turn.sv
fpga/rtl/mrc_fpga_dma_wr.sv
fpga/rtl/mrc_fpga_rd_in.sv
fpga/rtl/mrc_fpga_dma_rd.sv
fpga/rtl/mrc_fpga_dma_wr_ram.sv
fpga/rtl/mrc_fpga_ram_be.sv
fpga/rtl/mrc_fpga_dma_rd_ram.sv
