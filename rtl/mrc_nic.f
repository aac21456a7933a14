// SPDX-License-Identifier: Apache-2.0
// The whole of the RTL, read from the repository's root: packages, primitives, transmit, receive, top.
rtl/gen/mrc_pkg.sv
rtl/lib/mrc_fifo.sv
rtl/lib/mrc_out_reg.sv
rtl/lib/mrc_ram_1r1w.sv
rtl/lib/mrc_rf_1r1w.sv
rtl/lib/mrc_rf_2r1w.sv
rtl/lib/mrc_rr_arb.sv
rtl/lib/mrc_merge.sv
rtl/mrc_tx_sched.sv
rtl/mrc_tx_segment.sv
rtl/mrc_tx_path.sv
rtl/mrc_tx_inflight.sv
rtl/mrc_tx_probe.sv
rtl/mrc_tx_header.sv
rtl/lib/mrc_crc32.sv
rtl/mrc_tx_lane.sv
rtl/mrc_tx_fetch.sv
rtl/mrc_rx_place.sv
rtl/mrc_cq_mux.sv
rtl/mrc_rx_lane.sv
rtl/mrc_rx_check.sv
rtl/mrc_rx_track.sv
rtl/mrc_rx_reorder.sv
rtl/mrc_ack_gen.sv
rtl/mrc_csr.sv
rtl/mrc_nic.sv
