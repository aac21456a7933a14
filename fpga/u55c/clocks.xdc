# SPDX-License-Identifier: Apache-2.0
# Never run through Vivado. Clocks of mrc_fpga_top out of context: the core at 250 MHz, CMACs at 322.265625 MHz, each with
# a clock of its own. What crosses between them is in fpga/mrc_fpga_lane.xdc, so they are not declared asynchronous: that
# would hide a crossing that nobody has declared.
create_clock -name core -period 4.000 [get_ports clk_i]
create_clock -name mac_rx_0 -period 3.103 [get_ports {lane_rx_clk_i[0]}]
create_clock -name mac_rx_1 -period 3.103 [get_ports {lane_rx_clk_i[1]}]
create_clock -name mac_tx_0 -period 3.103 [get_ports {lane_tx_clk_i[0]}]
create_clock -name mac_tx_1 -period 3.103 [get_ports {lane_tx_clk_i[1]}]
# From anywhere: a reset that is synchronized, and levels.
set_false_path -from [get_ports rst_ni]
set_false_path -from [get_ports lane_link_up_i*]
