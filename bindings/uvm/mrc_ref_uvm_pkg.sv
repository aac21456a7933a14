// SPDX-License-Identifier: Apache-2.0
// The judge for UVM: a passive agent that watches the ports of a NIC, and a scoreboard around
// mrc_ref_pkg.
// Untried: no simulator with UVM was at hand; it compiles against Accellera's library with slang.
//
//   mrc_ref_agent agent = mrc_ref_agent::type_id::create("agent", this);
//   mrc_ref_scoreboard judge = mrc_ref_scoreboard::type_id::create("judge", this);
//   uvm_config_db#(int)::set(this, "agent", "planes", 2);
//   uvm_config_db#(virtual mrc_ref_axis_if)::set(this, "agent", "rx0", rx0_if);   // tx0, rx1, ...
//   uvm_config_db#(string)::set(this, "judge", "profile", "{\"name\": \"mynic\", \"planes\": 2}");
//   agent.beats.connect(judge.beats);                      // in connect_phase
//   judge.qp("{\"qp\": 16, \"peer_qp\": 20, ...}");        // when software sets it up
package mrc_ref_uvm_pkg;
  import uvm_pkg::*;
  import mrc_ref_pkg::*;
`include "uvm_macros.svh"

  // The judge's times are ps.
  function automatic longint unsigned mrc_now();
    return longint'($realtime / 1ps);
  endfunction

  // A beat of a port.
  class mrc_ref_beat_item extends uvm_sequence_item;
    int dir, plane;
    bit [511:0] data;
    bit [63:0] keep;
    bit last, bad, unknown;
    longint unsigned t;
    `uvm_object_utils(mrc_ref_beat_item)
    function new(string name = "mrc_ref_beat_item");
      super.new(name);
    endfunction
  endclass

  // An access of the NIC to host memory, in pieces of at most 64 bytes: MRC_HOST_READ, ...
  class mrc_ref_host_item extends uvm_sequence_item;
    int unsigned op, bytes, status;
    longint unsigned addr, tag, t;
    bit [511:0] data;
    `uvm_object_utils(mrc_ref_host_item)
    function new(string name = "mrc_ref_host_item");
      super.new(name);
    endfunction
  endclass

  // A work request (posted), or a completion; fields as in mrc_ref_pkg.
  class mrc_ref_work_item extends uvm_sequence_item;
    bit completion, receive, has_imm;
    int unsigned qp, rkey, imm, msn, rqmsn, status;
    longint unsigned wr_id, addr, remote, bytes, t;
    `uvm_object_utils(mrc_ref_work_item)
    function new(string name = "mrc_ref_work_item");
      super.new(name);
    endfunction
  endclass

  class mrc_ref_monitor extends uvm_monitor;
    virtual mrc_ref_axis_if vif;
    int dir, plane;
    uvm_analysis_port #(mrc_ref_beat_item) beats;
    `uvm_component_utils(mrc_ref_monitor)

    function new(string name, uvm_component parent);
      super.new(name, parent);
      beats = new("beats", this);
    endfunction

    virtual task run_phase(uvm_phase phase);
      forever begin
        @(posedge vif.clk);
        if (vif.rst_n === 1'b1 && vif.tvalid === 1'b1 && vif.tready === 1'b1) begin
          mrc_ref_beat_item item = mrc_ref_beat_item::type_id::create("beat");
          item.dir = dir;
          item.plane = plane;
          item.data = vif.tdata;
          item.keep = vif.tkeep;
          item.last = vif.tlast;
          item.bad = vif.tuser;
          item.unknown = unknown_of(vif.tdata, vif.tkeep) || $isunknown({vif.tkeep, vif.tlast});
          item.t = mrc_now();
          beats.write(item);
        end
      end
    endtask

    // Lanes that are not kept may be unknown.
    static function bit unknown_of(logic [511:0] data, logic [63:0] keep);
      for (int i = 0; i < 64; i++) if (keep[i] !== 1'b0 && $isunknown(data[8*i+:8])) return 1;
      return 0;
    endfunction
  endclass

  // Watches, drives nothing. "planes": int; "rx0", "tx0", "rx1", ...: virtual mrc_ref_axis_if, rx
  // is what comes to the device.
  class mrc_ref_agent extends uvm_agent;
    int planes = 1;
    mrc_ref_monitor monitors[$];
    uvm_analysis_port #(mrc_ref_beat_item) beats;
    `uvm_component_utils(mrc_ref_agent)

    function new(string name, uvm_component parent);
      super.new(name, parent);
      beats = new("beats", this);
    endfunction

    virtual function uvm_active_passive_enum get_is_active();
      return UVM_PASSIVE;
    endfunction

    virtual function void build_phase(uvm_phase phase);
      super.build_phase(phase);
      void'(uvm_config_db#(int)::get(this, "", "planes", planes));
      for (int plane = 0; plane < planes; plane++) begin
        add(plane, MRC_TO_DEVICE, $sformatf("rx%0d", plane));
        add(plane, MRC_FROM_DEVICE, $sformatf("tx%0d", plane));
      end
    endfunction

    virtual function void connect_phase(uvm_phase phase);
      super.connect_phase(phase);
      foreach (monitors[i]) monitors[i].beats.connect(beats);
    endfunction

    protected function void add(int plane, int dir, string name);
      mrc_ref_monitor monitor = mrc_ref_monitor::type_id::create(name, this);
      monitor.plane = plane;
      monitor.dir = dir;
      if (!uvm_config_db#(virtual mrc_ref_axis_if)::get(this, "", name, monitor.vif))
        `uvm_fatal("MRC", {"no virtual interface ", name, ": set it in uvm_config_db"})
      monitors.push_back(monitor);
    endfunction
  endclass

  `uvm_analysis_imp_decl(_beat)
  `uvm_analysis_imp_decl(_host)
  `uvm_analysis_imp_decl(_work)

  // "profile": string, JSON (docs/reference/log.md); "record": string, a log beside; "every": time
  // between two looks; "strict": bit, what deviates is an error too.
  class mrc_ref_scoreboard extends uvm_scoreboard;
    uvm_analysis_imp_beat #(mrc_ref_beat_item, mrc_ref_scoreboard) beats;
    uvm_analysis_imp_host #(mrc_ref_host_item, mrc_ref_scoreboard) host;
    uvm_analysis_imp_work #(mrc_ref_work_item, mrc_ref_scoreboard) work;
    string profile = "{}";
    string record = "";
    time every = 1us;
    bit strict = 0;
    protected chandle judge;
    `uvm_component_utils(mrc_ref_scoreboard)

    function new(string name, uvm_component parent);
      super.new(name, parent);
      beats = new("beats", this);
      host = new("host", this);
      work = new("work", this);
    endfunction

    virtual function void build_phase(uvm_phase phase);
      string error;
      super.build_phase(phase);
      void'(uvm_config_db#(string)::get(this, "", "profile", profile));
      void'(uvm_config_db#(string)::get(this, "", "record", record));
      void'(uvm_config_db#(time)::get(this, "", "every", every));
      void'(uvm_config_db#(bit)::get(this, "", "strict", strict));
      judge = mrc_dpi_open(profile, error);
      if (judge == null) `uvm_fatal("MRC", error)
      if (record != "") held(mrc_ref_record(judge, record));
    endfunction

    // Software: a QP or a region as it is set up, JSON as "qps" and "regions" of a profile; a
    // waived rule.
    virtual function void qp(string json);
      held(mrc_ref_qp_json(judge, json, mrc_now()));
    endfunction
    virtual function void mr(string json);
      held(mrc_ref_mr_json(judge, json, mrc_now()));
    endfunction
    virtual function void waive(string rule_id, string reason);
      held(mrc_ref_waive(judge, rule_id, reason));
    endfunction
    virtual function void port(int plane, bit up);
      held(mrc_ref_port(judge, plane, int'(up), mrc_now()));
    endfunction

    virtual function void write_beat(mrc_ref_beat_item item);
      held(mrc_ref_beat(judge, item.dir, item.plane, item.data, item.keep, int'(item.last),
                        int'(item.bad), int'(item.unknown), item.t));
    endfunction
    virtual function void write_host(mrc_ref_host_item item);
      held(mrc_dpi_host(judge, item.op, item.addr, item.data, item.bytes, item.tag,
                        item.status, item.t));
    endfunction
    virtual function void write_work(mrc_ref_work_item item);
      if (item.completion)
        held(mrc_dpi_cqe(judge, item.qp, int'(item.receive), item.status, item.wr_id, item.imm,
                         item.msn, item.rqmsn, item.bytes, item.t));
      else
        held(mrc_dpi_post(judge, item.qp, item.wr_id, item.addr, item.remote, item.bytes, item.rkey,
                          int'(item.has_imm), item.imm, item.t));
    endfunction

    virtual task run_phase(uvm_phase phase);
      forever begin
        #(every);
        // Whoever tells of this very moment may do so yet.
        held(mrc_ref_until(judge, MRC_SRC_ALL, mrc_now()));
        tell();
      end
    endtask

    virtual function void check_phase(uvm_phase phase);
      super.check_phase(phase);
      held(mrc_ref_finish(judge, 0));
      tell();
      case (mrc_ref_verdict(judge))
        MRC_PASS: `uvm_info("MRC", $sformatf("pass, %0d packets", mrc_ref_packets(judge)), UVM_LOW)
        MRC_DEVIATES: `uvm_warning("MRC", "deviates: another reading of the document may be right")
        MRC_INCONCLUSIVE: `uvm_warning("MRC", "inconclusive: not enough was told")
        MRC_FAIL: `uvm_error("MRC", "fail")
        default: `uvm_error("MRC", "the evidence is broken")
      endcase
    endfunction

    virtual function void final_phase(uvm_phase phase);
      super.final_phase(phase);
      mrc_ref_close(judge);
      judge = null;
    endfunction

    // Findings that are new.
    protected virtual function void tell();
      int verdict;
      string rule_id, words, text;
      longint unsigned frame, when;
      while (mrc_dpi_next(judge, verdict, rule_id, words, frame, when) == 1) begin
        text = $sformatf("%s at %0d ps, frame %0d: %s", rule_id, when, frame, words);
        if (verdict == MRC_FAIL || verdict == MRC_BROKEN || (strict && verdict == MRC_DEVIATES))
          `uvm_error("MRC", text)
        else `uvm_warning("MRC", text)
      end
    endfunction

    // A call that the judge refuses is an error of this testbench.
    protected function void held(int result);
      if (result < 0) `uvm_fatal("MRC", mrc_ref_error(judge))
    endfunction
  endclass
endpackage
