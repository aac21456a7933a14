// SPDX-License-Identifier: Apache-2.0
// fpga/rtl/mrc_fpga_ports.sv between MACs, lanes and a shell's NIC. Which frames the core would take the model of its
// lane says (cmodel/pipeline/rx/rx_lane.hpp), not this file; MRC frames come from the codec, all others are written
// byte by byte.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/rx/rx_lane.hpp"
#include "tests/fpga/ports_bench.hpp"
#include "wire/packet.hpp"

using namespace mrc;
using namespace mrc::test;

namespace {

const Bytes kMac{0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0x01};

/// A board as it is used: an address and a uSID per plane.
Config usual() {
  Config c;
  c.mac = kMac;
  for (unsigned p = 0; p < kPlanes; ++p) {
    const auto n = static_cast<uint8_t>(p);
    c.ip[p] = {0xfd, 0, 0, 1, 0, 0, 0, n, 0, 0, 0, 0, 0, 0, 0, 0x42};
    c.usid[p] = {0x20, 0x01, 0x0d, 0xb8, static_cast<uint8_t>(0x80 | n << 4), 0x17};
  }
  return c;
}

/// What the model of the core's lane says of a frame that the MAC saw no error in.
RxErr core_says(const Config& config, const Bytes& frame) {
  const Preset& preset = *find_preset("fpga100");
  CsrOut csr;
  csr.udp_port = config.udp_port;
  csr.udp_only = config.udp_only;
  Fifo<Rxdesc> desc{2};
  Fifo<Verdict> verdict(preset.lane_fifo);
  Stream<Line> line;
  RxLane model(preset, desc, verdict, line);
  for (std::size_t at = 0; at < frame.size() + 10 * kBeat; at += kBeat) {
    RxLane::In in;
    if (at < frame.size()) {
      const std::size_t n = std::min<std::size_t>(kBeat, frame.size() - at);
      in = {true, at + n == frame.size(), false, static_cast<uint32_t>(keep_of(n)), frame.data() + at};
    }
    model.step(csr, in);
    desc.clock();
    verdict.clock();
    line.clock();
    model.clock();
  }
  REQUIRE(desc.valid());
  return desc.head().err;
}

/// -1: aside; else the plane whose lane is to have it.
int way_of(const Config& c, unsigned port, const Bytes& frame, bool* mrc_out = nullptr) {
  // The core's first reasons, of length, are put aside by zeros behind the frame.
  Bytes longer = frame;
  longer.resize(std::max<std::size_t>(frame.size(), 256));
  const RxErr err = core_says(c, longer);
  const bool mrc = frame.size() > kWord && err != RxErr::Encap && err != RxErr::Udp && err != RxErr::Short;
  if (mrc_out) *mrc_out = mrc;
  if (!mrc) return -1;
  const auto stands = [&](const Bytes& bytes, unsigned at) {
    return std::any_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b != 0; }) &&
           std::equal(bytes.begin(), bytes.end(), frame.begin() + at);
  };
  const bool mine = std::equal(c.mac.begin(), c.mac.end(), frame.begin());
  for (unsigned p = 0; p < kPlanes; ++p) {
    if (kPortOf[p] == port && (stands(c.ip[p], 38) || stands(c.usid[p], 38)) && (mine || c.promisc)) {
      return static_cast<int>(p);
    }
  }
  return c.promisc ? static_cast<int>(port) : -1;
}

/// Whose address stands in front of an MRC packet.
Bytes mrc_frame(wire::Encapsulation encapsulation, wire::Opcode opcode, const Bytes& mac, const Bytes& outermost,
                std::size_t payload, bool time_stamp = false, const wire::WireConfig& wire_config = {}) {
  wire::Packet p = wire::make_packet(opcode, encapsulation, time_stamp, wire_config);
  std::copy(mac.begin(), mac.end(), p.eth->dst.begin());
  auto& header = p.outer_ipv6 ? p.outer_ipv6 : p.ipv6;
  if (header) std::copy(outermost.begin(), outermost.end(), header->dst.begin());
  if (p.reth) p.payload.assign(payload, 0xab);
  wire::complete(p);
  return wire::encode(p, wire_config);
}

Bytes usid_address(const Bytes& usid) {
  Bytes address = usid;
  address.resize(16);
  return address;
}

Bytes numbered(Bytes frame, uint64_t number) {
  set_number(frame, number);
  return frame;
}

}  // namespace

TEST_CASE("an MRC packet goes to its plane, a question for an address aside", "[fpga][ports]") {
  PortsBench bench(1);
  const Config config = usual();
  bench.set(config);
  bench.run(60);
  const Bytes write =
      numbered(mrc_frame(wire::Encapsulation::Srv6, wire::Opcode::WriteOnly, kMac, usid_address(config.usid[2]), 100), 1);
  const Bytes arp = numbered(arp_request(), 2);
  bench.wire[0] = {{write}, {arp}};
  bench.run(100);
  REQUIRE(bench.lane[2].size() == 1);
  CHECK(bench.lane[2][0].bytes == write);
  CHECK(!bench.lane[2][0].bad);
  REQUIRE(bench.side[0].size() == 1);
  CHECK(bench.side[0][0].bytes == arp);
  CHECK(bench.count(0, kMrc) == 1);
  CHECK(bench.count(0, kSideFrames) == 1);
  // And back, past each other.
  bench.core[2] = {write};
  bench.shell[0] = {arp};
  bench.run(100);
  REQUIRE(bench.mac[0].size() == 2);
  const bool first = bench.mac[0][0].bytes == write;
  CHECK(bench.mac[0][first ? 0 : 1].bytes == write);
  CHECK(bench.mac[0][first ? 1 : 0].bytes == arp);
  CHECK(bench.count(0, kTxFrames) == 1);
  CHECK(bench.lane[0].size() + bench.lane[1].size() + bench.side[1].size() + bench.mac[1].size() == 0);
  CHECK(failed_assertions() == std::vector<std::string>{});
}
