// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Which destinations of mrc_endpoint have a lender, and what each is owed: valid, due, waiting and
/// tries of docs/design/blocks/ctl/endpoint.md. An operation writes one destination in a cycle. A
/// port that changes writes all of them, and wins: until one is written again it is due if it has a
/// lender, waits for nothing, and nothing was sent again. Reads are combinational; writes take
/// effect at the end of the cycle. It does not know the operations.
module mrc_endpoint_owed
  import mrc_probe_pkg::*;
#(
    parameter int unsigned NumDests = 4,
    parameter int unsigned Reads = 1,
    localparam int unsigned DestW = $clog2(NumDests)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic changed_i,  // a port
    input logic [Reads-1:0][DestW-1:0] dests_i,
    output logic [Reads-1:0] valid_o,
    input logic [DestW-1:0] visit_i,
    output logic visit_valid_o,
    output owed_t visit_o,
    input logic [DestW-1:0] rx_i,
    output logic rx_waiting_o,
    input logic [DestW-1:0] own_i,  // of a table, or of what is found or sent
    output logic own_valid_o,
    output owed_t own_o,

    // The operation.
    input logic we_i,
    input logic [DestW-1:0] dest_i,
    input owed_t owed_i,
    input logic gains_i,  // that one, own_i, has a lender now, or
    input logic loses_i  // has none any more
);

  logic ever_q;  // a port has changed
  logic [2:0] written;  // since a port has changed
  owed_t [2:0] rows;
  logic we;

  mrc_rf_reset #(
      .Width(1),
      .Depth(NumDests),
      .Reads(Reads + 2)
  ) u_valid (
      .clk_i,
      .rst_ni,
      .raddr_i({own_i, visit_i, dests_i}),
      .rdata_o({own_valid_o, visit_valid_o, valid_o}),
      .we_i(gains_i || loses_i),
      .waddr_i(dest_i),
      .wdata_i(gains_i)
  );

  assign we = we_i && !changed_i;

  mrc_bits #(
      .N(NumDests),
      .Reads(3)
  ) u_written (
      .clk_i,
      .rst_ni,
      .clear_i(changed_i),
      .set_i(we),
      .set_idx_i(dest_i),
      .idx_i({rx_i, own_i, visit_i}),
      .in_o(written)
  );

  mrc_rf_nr1w #(
      .Width($bits(owed_t)),
      .Depth(NumDests),
      .Reads(3)
  ) u_rows (
      .clk_i,
      .raddr_i({rx_i, own_i, visit_i}),
      .rdata_o(rows),
      .we_i(we),
      .waddr_i(dest_i),
      .wdata_i(owed_i)
  );

  always_comb begin
    visit_o = '0;
    visit_o.due = ever_q && visit_valid_o;
    if (written[0]) begin
      visit_o = rows[0];
    end
  end

  always_comb begin
    own_o = '0;
    own_o.due = ever_q && own_valid_o;
    if (written[1]) begin
      own_o = rows[1];
    end
  end

  assign rx_waiting_o = written[2] && rows[2].waiting;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ever_q <= 1'b0;
    end else begin
      ever_q <= ever_q || changed_i;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, rows[2]};

  // ---- what always holds

  `MRC_ASSERT(OwedToSomebody,
      (visit_valid_o || !(visit_o.due || visit_o.waiting))
          && (own_valid_o || !(own_o.due || own_o.waiting)),
      "a destination without a lender is owed something")
  `MRC_ASSERT_IF(SaysWhatIsOwed, gains_i || loses_i, we_i,
      "a destination gets or loses its lender, and what it is owed does not count")
  `MRC_ASSERT_IF(GainsItsOwn, gains_i, dest_i == own_i,
      "another destination gets a lender than the one that was looked at")

endmodule
