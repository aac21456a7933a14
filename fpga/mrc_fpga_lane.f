// SPDX-License-Identifier: Apache-2.0
// A lane of the top for boards, in compile order.
+incdir+rtl/lib
fpga/rtl/mrc_fpga_sync.sv
fpga/rtl/mrc_fpga_reset.sv
fpga/rtl/mrc_fpga_gray.sv
fpga/rtl/mrc_fpga_events.sv
fpga/rtl/mrc_fpga_ram.sv
fpga/rtl/mrc_fpga_afifo.sv
fpga/rtl/mrc_fpga_rx_in.sv
fpga/rtl/mrc_fpga_rx_out.sv
fpga/rtl/mrc_fpga_rx.sv
fpga/rtl/mrc_fpga_tx_in.sv
fpga/rtl/mrc_fpga_tx_out.sv
fpga/rtl/mrc_fpga_tx.sv
fpga/rtl/mrc_fpga_lane.sv
