// SPDX-License-Identifier: Apache-2.0
/// What the harnesses of formal/ say. Names are those of formal/properties.yaml, which `mrc prove`
/// reads.
///
///   MRC_PROVE  a property
///   MRC_HELP   what an induction needs besides; it is proved with the rest
///   MRC_GIVEN  an assumption about the inputs
///   MRC_COVER  what must be reached, or the property of this name says nothing
`define MRC_PROVE(Name, Cond) \
  always_comb if (rst_ni) prove_``Name : assert (Cond);
`define MRC_HELP(Name, Cond) \
  always_comb if (rst_ni) help_``Name : assert (Cond);
`define MRC_GIVEN(Name, Cond) \
  always_comb given_``Name : assume (Cond);
// Written as that it is never reached; what breaks this reaches it.
`define MRC_COVER(Name, Cond) \
  always_comb if (rst_ni) cover_``Name : assert (!(Cond));

// In reset in the first cycle, and never again.
`define MRC_RESET \
  logic rst_ni = 1'b0; \
  always_ff @(posedge clk_i) rst_ni <= 1'b1;
