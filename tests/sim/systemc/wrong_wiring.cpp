// SPDX-License-Identifier: Apache-2.0
/// usage: wrong_wiring CASE
/// Wires modules in a way that cannot work, and prints the message type and the sentence of the report that says so;
/// exit code 3. Exit code 0: nothing was reported.
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "sim/nic/fast/endpoint_fast.hpp"
#include "sim/systemc/host.hpp"
#include "sim/systemc/link.hpp"
#include "sim/systemc/nic.hpp"
#include "sim/systemc/parameters.hpp"
#include "sim/systemc/trimming_switch.hpp"

namespace {

using namespace mrc;
using namespace mrc::systemc;

TrimmingSwitchConfig config(unsigned ports) {
  return {.settings = sim::SwitchConfig::recommended("sw", 100'000), .ports = ports};
}
void start() { sc_core::sc_start(1, sc_core::SC_US); }

/// Two switches and a link, as they should be.
struct Pair {
  TrimmingSwitch a{"a", config(1)}, b{"b", config(1)};
  Link link{"link", {.gbps = 800}};
  Pair() {
    link.connect(0, a, 0);
    link.connect(1, b, 0);
  }
};

/// Writes what is no frame into a port.
struct Stranger : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Stranger> socket{"socket"};
  tlm_utils::simple_target_socket<Stranger> sink{"sink"};
  bool blocking;
  Stranger(const sc_core::sc_module_name& name, bool b) : sc_module(name), blocking(b) {
    SC_HAS_PROCESS(Stranger);
    SC_THREAD(write);
    sink.register_b_transport(this, &Stranger::take);
  }
  void take(tlm::tlm_generic_payload&, sc_core::sc_time&) {}
  void write() {
    tlm::tlm_generic_payload payload;
    uint8_t bytes[4] = {};
    payload.set_write();
    payload.set_data_ptr(bytes);
    payload.set_data_length(4);
    sc_core::sc_time t;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    if (blocking)
      socket->b_transport(payload, t);
    else
      socket->nb_transport_fw(payload, phase, t);
  }
};

void strange(bool blocking) {
  TrimmingSwitch sw("sw", config(1));
  Stranger stranger("stranger", blocking);
  stranger.socket.bind(sw.in[0]);
  sw.out[0].bind(stranger.sink);
  start();
}

const std::map<std::string, std::function<void()>> kCases = {
    {"right",
     [] {
       Pair pair;
       start();
     }},
    {"unbound-port",
     [] {
       TrimmingSwitch a("a", config(2)), b("b", config(1));
       Link link("link", {});
       link.connect(0, a, 0);
       link.connect(1, b, 0);
       start();
     }},
    {"unbound-link",
     [] {
       TrimmingSwitch a("a", config(1));
       Link link("link", {});
       link.connect(0, a, 0);
       start();
     }},
    {"unbound-host",
     [] {
       Host host("host");
       start();
     }},
    {"two-owners",
     [] {
       Pair pair;
       TrimmingSwitch c("c", config(1));
       Link other("other", {});
       other.connect(0, pair.a, 0);
       other.connect(1, c, 0);
       start();
     }},
    {"no-such-port",
     [] {
       TrimmingSwitch a("a", config(2));
       Link link("link", {});
       link.connect(0, a, 2);
     }},
    {"rate-zero", [] { Link link("link", {.gbps = 0}); }},
    {"rate-zero-later",
     [] {
       Pair pair;
       pair.link.set_rate(0);
     }},
    {"marking",
     [] {
       Pair pair;
       pair.link.set_marking(0, 1.5);
     }},
    {"port-rate-zero",
     [] {
       auto c = config(1);
       c.gbps = 0;
       TrimmingSwitch a("a", c);
     }},
    {"length", [] { Link link("link", {.metres = -1}); }},
    {"setting",
     [] {
       auto c = config(1);
       c.settings.trim_size = 10;
       TrimmingSwitch a("a", c);
     }},
    {"planes", [] { Nic nic("nic", std::make_unique<sim::FastEndpoint>(), {.planes = 65}); }},
    {"protocol", [] { strange(false); }},
    {"protocol-blocking", [] { strange(true); }},
    {"parameter",
     [] {
       sim::LinkConfig link;
       set(link, "meters", 3);
     }},
    {"parameter-value",
     [] {
       auto c = config(1);
       set(c, "trim_size", 59);
     }},
    {"too-late",
     [] {
       Pair pair;
       start();
       TrimmingSwitch c("c", config(1));
     }},
    {"second-elaboration",
     [] {
       {
         Pair pair;
         start();
         sc_core::sc_stop();
       }
       Link link("again", {});
     }},
};

}  // namespace

int sc_main(int argc, char** argv) {
  const auto found = argc == 2 ? kCases.find(argv[1]) : kCases.end();
  if (found == kCases.end()) {
    for (const auto& entry : kCases) std::cout << entry.first << "\n";
    return argc == 2 && std::string(argv[1]) == "--list" ? 0 : 2;
  }
  try {
    found->second();
  } catch (const sc_core::sc_report& report) {
    std::cout << report.get_msg_type() << ": " << report.get_msg() << "\n";
    return 3;
  }
  std::cout << "nothing was reported\n";
  return 0;
}
