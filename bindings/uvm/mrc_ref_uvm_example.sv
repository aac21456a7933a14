// SPDX-License-Identifier: Apache-2.0
// How a testbench gets the judge: untried, docs/guide/judge_library.md. Your DUT stands where it
// says so.
module mrc_ref_uvm_example;
  import uvm_pkg::*;
  import mrc_ref_uvm_pkg::*;
`include "uvm_macros.svh"

  logic clk = 0, rst_n = 0;
  always #0.5ns clk = ~clk;
  initial #10ns rst_n = 1;

  mrc_ref_axis_if rx0 (clk, rst_n);
  mrc_ref_axis_if tx0 (clk, rst_n);
  // my_nic dut (.clk, .rst_n, .rx_tdata(rx0.tdata), ...);

  class judged_env extends uvm_env;
    mrc_ref_agent agent;
    mrc_ref_scoreboard judge;
    `uvm_component_utils(judged_env)
    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction
    virtual function void build_phase(uvm_phase phase);
      super.build_phase(phase);
      uvm_config_db#(int)::set(this, "agent", "planes", 1);
      uvm_config_db#(string)::set(this, "judge", "profile", "{\"name\": \"mynic\", \"planes\": 1}");
      agent = mrc_ref_agent::type_id::create("agent", this);
      judge = mrc_ref_scoreboard::type_id::create("judge", this);
    endfunction
    virtual function void connect_phase(uvm_phase phase);
      super.connect_phase(phase);
      agent.beats.connect(judge.beats);
    endfunction
  endclass

  class judged_test extends uvm_test;
    judged_env env;
    `uvm_component_utils(judged_test)
    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction
    virtual function void build_phase(uvm_phase phase);
      super.build_phase(phase);
      env = judged_env::type_id::create("env", this);
    endfunction
    virtual task run_phase(uvm_phase phase);
      phase.raise_objection(this);
      wait (rst_n);
      env.judge.qp({"{\"qp\": 16, \"peer_qp\": 20, \"own_ip\": \"fd00::1\", ",
                    "\"peer_ip\": \"fd00::2\"}"});
      #10us;
      phase.drop_objection(this);
    endtask
  endclass

  initial begin
    uvm_config_db#(virtual mrc_ref_axis_if)::set(null, "uvm_test_top.env.agent", "rx0", rx0);
    uvm_config_db#(virtual mrc_ref_axis_if)::set(null, "uvm_test_top.env.agent", "tx0", tx0);
    run_test("judged_test");
  end
endmodule
