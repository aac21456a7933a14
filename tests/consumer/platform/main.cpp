// SPDX-License-Identifier: Apache-2.0
// Verilated RTL of the NIC tiny sends through two trimming switches, whose downlinks are too slow, to a fast NIC.
#include <iostream>
#include <sim/nic/cycle/endpoint_cycle.hpp>
#include <sim/systemc/host.hpp>
#include <sim/systemc/link.hpp>
#include <sim/systemc/trimming_switch.hpp>

using namespace mrc;
using namespace mrc::systemc;

int sc_main(int, char**) {
  const Preset& tiny = *find_preset("tiny");
  sim::FastConfig settings = sim::FastConfig::for_fabric(200, 4 * sim::kUs);
  settings.be_nic(tiny);
  settings.mpr = settings.mpr_dest = 1;
  settings.timeout = 4;

  std::string error;
  auto dut = tb::open_dut(RTL, tiny, 1, error);
  if (!dut) return std::cerr << error << "\n", 1;
  Nic rtl("rtl", std::make_unique<sim::CycleEndpoint>("rtl", tiny, settings, std::move(dut)),
          {.planes = 2, .number = 0, .gbps = 100});
  Nic fast("fast", std::make_unique<sim::FastEndpoint>(settings), {.planes = 2, .number = 1, .gbps = 25});
  auto config = sim::SwitchConfig::recommended("switch", 20'000);
  config.to_host = config.to_switch;  // marks towards NICs, too
  TrimmingSwitch sw0("sw0", {.settings = config, .ports = 2, .host_ports = 2});
  TrimmingSwitch sw1("sw1", {.settings = config, .ports = 2, .host_ports = 2});
  Link up0("up0", {.gbps = 100}), up1("up1", {.gbps = 100}), down0("down0", {.gbps = 25}), down1("down1", {.gbps = 25});
  for (auto [plane, sw, up, down] : {std::tuple{0u, &sw0, &up0, &down0}, {1u, &sw1, &up1, &down1}}) {
    up->connect(0, rtl, plane);
    up->connect(1, *sw, 0);
    down->connect(0, *sw, 1);
    down->connect(1, fast, plane);
    sw->tables().add_host_route(0, {0});
    sw->tables().add_host_route(1, {1});
  }
  Host sender("sender"), receiver("receiver");
  sender.connect(rtl);
  receiver.connect(fast);

  sim::QpSpec qp{.qpn = 16, .peer = 1, .peer_qpn = 16, .mtu = 1024, .encap = Encap::Ipv6, .planes = 2};
  qp.ev_active = qp.ev_backup = {0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80};
  if (!rtl.open(qp, error)) return std::cerr << error << "\n", 1;
  qp.peer = 0;
  if (!fast.open(qp, error)) return std::cerr << error << "\n", 1;
  uint64_t delivered = 0;
  receiver.heard = [&](const HostEvent& e) { delivered += e.kind == EventKind::Delivered ? e.bytes : 0; };
  sc_core::sc_spawn([&] { sender.post({.id = 1, .qpn = 16, .bytes = 200'000}); });
  sc_core::sc_start(300, sc_core::SC_US);
  for (const TrimmingSwitch* sw : {&sw0, &sw1}) {
    const auto& counters = sw->state().queue_counters(1, sim::kQueueData);
    std::cout << sw->name() << ": " << counters.trim << " trimmed, " << counters.ecn_marked << " marked\n";
  }
  std::cout << delivered << " bytes delivered\n";
  return delivered == 200'000 && fast.stats().trimmed > 0 && fast.stats().marked > 0 ? 0 : 1;
}
