// SPDX-License-Identifier: Apache-2.0
// As much of the interface of UVM (IEEE 1800.2) as bindings/uvm uses, without what it does: for
// the lint.
package uvm_pkg;
  typedef enum bit { UVM_PASSIVE = 0, UVM_ACTIVE = 1 } uvm_active_passive_enum;
  typedef enum int { UVM_NONE = 0, UVM_LOW = 100, UVM_MEDIUM = 200 } uvm_verbosity;
  typedef class uvm_component;
  virtual class uvm_object;
    function new(string name = "");
    endfunction
  endclass
  class uvm_phase extends uvm_object;
    virtual function void raise_objection(uvm_object obj);
    endfunction
    virtual function void drop_objection(uvm_object obj);
    endfunction
  endclass
  class uvm_object_registry #(type T = uvm_object);
    static function T create(string name = "", uvm_component parent = null);
      T made = new(name);
      return made;
    endfunction
  endclass
  class uvm_component_registry #(type T = uvm_object);
    static function T create(string name, uvm_component parent);
      T made = new(name, parent);
      return made;
    endfunction
  endclass
  virtual class uvm_component extends uvm_object;
    function new(string name, uvm_component parent);
      super.new(name);
    endfunction
    virtual function void build_phase(uvm_phase phase);
    endfunction
    virtual function void connect_phase(uvm_phase phase);
    endfunction
    virtual task run_phase(uvm_phase phase);
    endtask
    virtual function void check_phase(uvm_phase phase);
    endfunction
    virtual function void final_phase(uvm_phase phase);
    endfunction
  endclass
  virtual class uvm_sequence_item extends uvm_object;
    function new(string name = "");
      super.new(name);
    endfunction
  endclass
  virtual class uvm_monitor extends uvm_component;
    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction
  endclass
  virtual class uvm_agent extends uvm_component;
    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction
    virtual function uvm_active_passive_enum get_is_active();
      return UVM_ACTIVE;
    endfunction
  endclass
  virtual class uvm_scoreboard extends uvm_component;
    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction
  endclass
  virtual class uvm_env extends uvm_component;
    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction
  endclass
  virtual class uvm_test extends uvm_component;
    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction
  endclass
  virtual class uvm_port_base #(type T = int) extends uvm_object;
    function new(string name = "");
      super.new(name);
    endfunction
    virtual function void write(T item);
    endfunction
    virtual function void connect(uvm_port_base #(T) provider);
    endfunction
  endclass
  class uvm_analysis_port #(type T = int) extends uvm_port_base #(T);
    function new(string name, uvm_component parent);
      super.new(name);
    endfunction
  endclass
  class uvm_config_db #(type T = int);
    static function void set(uvm_component cntxt, string inst_name, string field_name, T value);
    endfunction
    static function bit get(uvm_component cntxt, string inst_name, string field_name,
                            inout T value);
      return 0;
    endfunction
  endclass
  task run_test(string test_name = "");
  endtask
  function void uvm_report(string id, string message, int verbosity);
  endfunction
endpackage
