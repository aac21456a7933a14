// SPDX-License-Identifier: Apache-2.0
// The whole of the RTL, read from the repository's root: packages, primitives, transmit, receive, top.
rtl/gen/mrc_pkg.sv
rtl/lib/mrc_fifo.sv
rtl/lib/mrc_out_reg.sv
rtl/lib/mrc_ram_1r1w.sv
rtl/lib/mrc_rf_1r1w.sv
rtl/lib/mrc_rr_arb.sv
rtl/lib/mrc_crc32.sv
