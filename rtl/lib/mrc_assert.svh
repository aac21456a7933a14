// SPDX-License-Identifier: Apache-2.0
/// Assertions of the RTL. Each has a name, a condition that holds in every cycle without reset, and
/// a sentence for the report. A module that uses them has clk_i and rst_ni. Synthesis sees none.
///
///   `MRC_ASSERT(Known, kind_i <= KindLast, "no such kind")
///   `MRC_ASSERT_IF(KnownPlane, take, plane_i < NumPlanes, "no such plane")    when take is 1
///
/// Registers that only assertions need stand within `ifdef MRC_ASSERT_ON. MRC_ASSERT_OFF turns all
/// of it off. With MRC_FORMAL (mrc prove) they hold of every state, not at an edge of the clock.
/// With MRC_COVER (mrc coverage) those with a condition say NAME_reached when it is met.
`ifndef MRC_ASSERT_SVH
`define MRC_ASSERT_SVH

`ifndef SYNTHESIS
`ifndef MRC_ASSERT_OFF
`define MRC_ASSERT_ON
`endif
`endif

`ifdef MRC_ASSERT_ON

// Outside of any if: Verilator wants it so.
`ifdef MRC_COVER
`define MRC_REACHED(Name, When) \
  Name``_reached : cover (When);
`else
`define MRC_REACHED(Name, When)
`endif

`ifdef VERILATOR
// An assert statement in the code that it makes, but for a look at a switch before each of them.
// That it never fails is no line that nothing reaches.
`define MRC_ASSERT_NOW(Name, Cond, Text) \
  if (!(Cond)) begin : Name \
    /*verilator coverage_block_off*/ \
    $error(Text); \
  end
`else
`define MRC_ASSERT_NOW(Name, Cond, Text) \
  Name : assert (Cond) \
  else $error(Text);
`endif

`ifdef MRC_FORMAL
`define MRC_ASSERT_IF(Name, When, Cond, Text) \
  always_comb begin \
    if (rst_ni) begin \
      Name : assert (!(When) || (Cond)); \
    end \
  end
`define MRC_ASSERT_CLK_IF(Name, When, Cond, Text) \
  always_comb begin \
    Name : assert (!(When) || (Cond)); \
  end
`define MRC_ASSERT(Name, Cond, Text) \
  always_comb begin \
    if (rst_ni) begin \
      Name : assert (Cond); \
    end \
  end
`define MRC_ASSERT_CLK(Name, Cond, Text) \
  always_comb begin \
    Name : assert (Cond); \
  end
`else
`define MRC_ASSERT_IF(Name, When, Cond, Text) \
  always_ff @(posedge clk_i or negedge rst_ni) begin \
    /*verilator coverage_block_off*/ \
    `MRC_REACHED(Name, rst_ni && (When)) \
    if (rst_ni) begin \
      /*verilator coverage_block_off*/ \
      `MRC_ASSERT_NOW(Name, !(When) || (Cond), Text) \
    end \
  end
`define MRC_ASSERT(Name, Cond, Text) \
  always_ff @(posedge clk_i or negedge rst_ni) begin \
    /*verilator coverage_block_off*/ \
    if (rst_ni) begin \
      /*verilator coverage_block_off*/ \
      `MRC_ASSERT_NOW(Name, Cond, Text) \
    end \
  end

// For modules without reset, whose inputs are at rest during one.
`define MRC_ASSERT_CLK_IF(Name, When, Cond, Text) \
  always_ff @(posedge clk_i) begin \
    /*verilator coverage_block_off*/ \
    `MRC_REACHED(Name, When) \
    `MRC_ASSERT_NOW(Name, !(When) || (Cond), Text) \
  end
`define MRC_ASSERT_CLK(Name, Cond, Text) \
  always_ff @(posedge clk_i) begin \
    /*verilator coverage_block_off*/ \
    `MRC_ASSERT_NOW(Name, Cond, Text) \
  end
`endif

// An offer that is not taken stays, with its data, until it is taken.
`define MRC_STABLE(Name, Valid, Ready, Data, Bits) \
  logic [(Bits)-1:0] Name``_data; \
  logic Name``_held; \
  always_ff @(posedge clk_i or negedge rst_ni) begin \
    if (!rst_ni) begin \
      Name``_held <= 1'b0; \
    end else begin \
      Name``_held <= (Valid) && !(Ready); \
    end \
  end \
  always_ff @(posedge clk_i) begin \
    if ((Valid) && !(Ready) && !Name``_held) begin \
      Name``_data <= (Data); \
    end \
  end \
  `MRC_ASSERT_IF(Name, Name``_held, (Valid) && (Data) == Name``_data, \
      "a word that was offered and not taken has gone or changed")

`else
`define MRC_ASSERT(Name, Cond, Text)
`define MRC_ASSERT_CLK(Name, Cond, Text)
`define MRC_ASSERT_IF(Name, When, Cond, Text)
`define MRC_ASSERT_CLK_IF(Name, When, Cond, Text)
`define MRC_STABLE(Name, Valid, Ready, Data, Bits)
`endif

// A FIFO whose owner knows that there is room, or a word.
`define MRC_NEVER_FULL(Name, Push, Ready) \
  `MRC_ASSERT_IF(Name``NeverFull, Push, Ready, "a word is pushed into a full FIFO")
`define MRC_POPS_A_WORD(Name, Pop, Valid) \
  `MRC_ASSERT_IF(Name``PopsAWord, Pop, Valid, "an empty FIFO is popped")
// At most one bit of Bits is 1.
`define MRC_ONE_HOT0(Name, Bits, Text) \
  `MRC_ASSERT(Name, ((Bits) & ((Bits) - 1'b1)) == '0, Text)
`define MRC_ONE_HOT0_CLK(Name, Bits, Text) \
  `MRC_ASSERT_CLK(Name, ((Bits) & ((Bits) - 1'b1)) == '0, Text)

`endif
