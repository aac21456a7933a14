// SPDX-License-Identifier: Apache-2.0
// Rings of work requests and completions in host memory, in compile order.
+incdir+rtl/lib
rtl/gen/mrc_pkg.sv
rtl/lib/mrc_fifo.sv
rtl/lib/mrc_out_reg.sv
rtl/lib/mrc_rr_arb.sv
rtl/lib/mrc_rf_1r1w.sv
rtl/lib/mrc_rf_nr1w.sv
fpga/rtl/mrc_fpga_rd_in.sv
fpga/rtl/mrc_fpga_axi_rd.sv
fpga/rtl/mrc_fpga_wr_out.sv
fpga/rtl/mrc_fpga_ring_credit.sv
fpga/rtl/mrc_fpga_ring_send.sv
fpga/rtl/mrc_fpga_ring_done.sv
fpga/rtl/mrc_fpga_rings.sv
