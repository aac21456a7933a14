// SPDX-License-Identifier: Apache-2.0
// fpga/rtl/mrc_fpga_ports.sv between MACs, lanes and a shell's NIC. Which frames the core would take the model of its
// lane says (cmodel/pipeline/rx/rx_lane.hpp), not this file; MRC frames come from the codec, all others are written
// byte by byte.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <string>
#include <vector>

#include "pipeline/rx/rx_lane.hpp"
#include "tests/fpga/ports_bench.hpp"
#include "wire/packet.hpp"

namespace mrc::test::ports_test {

using wire::Encapsulation;
using wire::Opcode;

namespace {

constexpr Opcode kOpcodes[] = {
    Opcode::WriteFirst,       Opcode::WriteMiddle,  Opcode::WriteLast, Opcode::WriteLastImm,
    Opcode::WriteOnly,        Opcode::WriteOnlyImm, Opcode::Ack,       Opcode::EndpointRequest,
    Opcode::EndpointResponse, Opcode::Sack,         Opcode::Nack,      Opcode::ProbeRequest};
constexpr Encapsulation kEncapsulations[] = {Encapsulation::Ipv6, Encapsulation::Srv6, Encapsulation::Srv6Srh};

/// A board as it is used: an address and a uSID per plane.
PortsConfig usual() {
  PortsConfig c;
  for (unsigned k = 0; k < kPorts; ++k) c.mac[k] = {0x02, 0xaa, 0xbb, 0xcc, 0xdd, static_cast<uint8_t>(k + 1)};
  for (unsigned p = 0; p < kPlanes; ++p) {
    const auto n = static_cast<uint8_t>(p);
    c.ip[p] = {0xfd, 0, 0, 1, 0, 0, 0, n, 0, 0, 0, 0, 0, 0, 0, 0x42};
    c.usid[p] = {0x20, 0x01, 0x0d, 0xb8, static_cast<uint8_t>(0x80 | n << 4), 0x17};
  }
  return c;
}

/// What the model of the core's lane says of a frame in which the MAC saw no error.
RxErr core_says(const PortsConfig& config, const Bytes& frame) {
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

/// By its headers a packet of MRC, for whomever.
bool is_mrc(const PortsConfig& config, const Bytes& frame) {
  // Zeros behind the frame put aside the core's first reason, that it is short.
  Bytes longer = frame;
  longer.resize(std::max<std::size_t>(frame.size(), 256));
  const RxErr err = core_says(config, longer);
  return frame.size() > kWord && err != RxErr::Encap && err != RxErr::Udp && err != RxErr::Short;
}

constexpr int kAside = -1;

/// The plane whose lane is to have the frame, or kAside.
int way_of(const PortsConfig& c, unsigned port, const Bytes& frame) {
  if (!is_mrc(c, frame)) return kAside;
  const auto stands = [&](const Bytes& bytes, unsigned at) {
    return std::any_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b != 0; }) &&
           std::equal(bytes.begin(), bytes.end(), frame.begin() + at);
  };
  const bool mine = c.promisc || std::equal(c.mac[port].begin(), c.mac[port].end(), frame.begin());
  for (unsigned p = 0; p < kPlanes; ++p) {
    if (mine && kPortOf[p] == port && (stands(c.ip[p], 38) || stands(c.usid[p], 38))) return static_cast<int>(p);
  }
  return c.promisc ? static_cast<int>(port) : kAside;
}

struct Mrc {
  Encapsulation encapsulation = Encapsulation::Ipv6;
  Opcode opcode = Opcode::WriteOnly;
  Bytes mac = Bytes(6);
  Bytes to = Bytes(16);  ///< destination of the outermost IPv6 header
  std::size_t payload = 100;
  bool time_stamp = false;
  uint8_t dscp = wire::kDscpTrimmable;
  uint16_t port = 4971;
};

Bytes encoded(const Mrc& m) {
  const wire::WireConfig choices{.udp_port = m.port};
  wire::Packet p = wire::make_packet(m.opcode, m.encapsulation, m.time_stamp, choices);
  std::copy(m.mac.begin(), m.mac.end(), p.eth->dst.begin());
  if (auto& outermost = p.outer_ipv6 ? p.outer_ipv6 : p.ipv6) {
    std::copy(m.to.begin(), m.to.end(), outermost->dst.begin());
    outermost->dscp = m.dscp;
  }
  if (p.reth) p.payload.assign(m.payload, 0xab);
  wire::complete(p);
  return wire::encode(p, choices);
}

/// Behind a uSID zeros, or whatever stands there.
Bytes usid_address(const Bytes& usid, uint8_t behind = 0) {
  Bytes address = usid;
  address.resize(16, behind);
  return address;
}

Bytes numbered(Bytes frame, uint64_t number) {
  set_number(frame, number);
  return frame;
}

void flip(Bytes& frame, std::size_t bit) { frame[bit / 8] = static_cast<uint8_t>(frame[bit / 8] ^ 1 << bit % 8); }

/// Frames of all kinds, most of them for this board.
class Traffic {
 public:
  Traffic(Rng& rng, const PortsConfig& config) : rng_(rng), config_(config) {}

  Bytes next(unsigned port) {
    Bytes frame = rng_.chance(0.6) ? mrc(port) : foreign(port);
    if (rng_.chance(0.2)) flip(frame, rng_.below(8 * std::min<std::size_t>(frame.size(), 126)));
    if (rng_.chance(0.05)) frame.resize(rng_.between(14, std::max<std::size_t>(15, frame.size())));
    return numbered(std::move(frame), ++number_);
  }

 private:
  template <class T, std::size_t n>
  const T& any(const T (&of)[n]) {
    return of[rng_.below(n)];
  }
  unsigned plane_of(unsigned port) { return port == 1 ? 1 : static_cast<unsigned>(2 * rng_.below(2)); }

  Bytes mrc(unsigned port) {
    Mrc m;
    m.encapsulation = rng_.chance(0.05) ? Encapsulation::Ipv4 : any(kEncapsulations);
    m.opcode = any(kOpcodes);
    m.mac = rng_.chance(0.9) ? config_.mac[port] : rng_.chance(0.5) ? kSomebody : config_.mac[1 - port];
    const auto plane = static_cast<unsigned>(rng_.chance(0.9) ? plane_of(port) : rng_.below(kPlanes));
    m.to = rng_.chance(0.5) ? config_.ip[plane] : usid_address(config_.usid[plane], rng_.chance(0.3) ? 0x77 : 0);
    if (rng_.chance(0.05)) m.to = Bytes(16, static_cast<uint8_t>(rng_.next()));
    m.payload = rng_.between(1, 200);
    m.time_stamp = rng_.chance(0.3);
    m.port = rng_.chance(0.3) ? 4791 : rng_.chance(0.5) ? 4971 : rng_.chance(0.8) ? config_.udp_port : 53;
    const bool trimmed = rng_.chance(0.2);
    if (trimmed) m.dscp = rng_.chance(0.5) ? wire::kDscpTrimmed : wire::kDscpTrimmedLasthop;
    Bytes frame = encoded(m);
    if (trimmed && frame.size() > 128) frame.resize(rng_.chance(0.5) ? 128 : rng_.between(128, frame.size()));
    return frame;
  }

  Bytes foreign(unsigned port) {
    const Bytes& mac = config_.mac[port];
    const Bytes& ip = config_.ip[plane_of(port)];
    switch (rng_.below(13)) {
      case 0:
        return arp_request();
      case 1:
        return lldp();
      case 2:
        return mac_pause();
      case 3:
        return neighbour_solicitation(ip);
      case 4:
        return ping6(mac, ip, rng_.below(200));
      case 5:
        return ipv4(mac, 1, Bytes{8, 0, 1, 2, 3, 4, 5, 6});  // ping
      case 6:
        return ipv4(mac, 17, udp(4791, rng_.below(200)));  // RoCEv2 over IPv4
      case 7:
        return ipv6(mac, ip, 17, udp(53, rng_.below(200)));  // DNS
      case 8:
        return ipv6(mac, ip, 6, Bytes(20 + rng_.below(100), 0x11));  // TCP
      case 9:
        return ipv6(mac, ip, 41, Bytes(40 + rng_.below(100), 0x45));  // no IPv6 inside
      case 10:
        return ipv6(mac, ip, 43, Bytes(24 + rng_.below(100), 0x06));  // no SRH of ours
      case 11:
        return tagged(mrc(port), static_cast<unsigned>(rng_.below(4096)));
      default: {
        Bytes junk(rng_.between(14, kMost));
        for (uint8_t& byte : junk) byte = static_cast<uint8_t>(rng_.next());
        return junk;
      }
    }
  }

  Rng& rng_;
  const PortsConfig& config_;
  uint64_t number_ = 0;
};

struct Arrivals {
  uint64_t arrived = 0, bad = 0, cut = 0, too_long = 0, lost = 0;
};

/// Holds what came one way against what was sent that way: in order, whole, or closed as bad.
Arrivals compare(const std::vector<Frame>& sent, const std::vector<Frame>& came) {
  Arrivals result;
  std::size_t at = 0;
  for (const Frame& got : came) {
    while (at < sent.size() && number_of(sent[at].bytes) != number_of(got.bytes)) {
      ++at;
      ++result.lost;
    }
    REQUIRE(at < sent.size());
    const Frame& frame = sent[at++];
    // Six words without an end are too long, also where a reset has cut what follows.
    const bool over = frame.bytes.size() > kMost || (frame.cut && frame.bytes.size() == kMost);
    if (over) {
      REQUIRE(got.bytes.size() == kMost);
      REQUIRE(got.bad);
      REQUIRE(std::equal(got.bytes.begin(), got.bytes.end(), frame.bytes.begin()));
      ++result.too_long;
    } else if (frame.cut) {
      REQUIRE(got.bad);
      REQUIRE(got.bytes.size() >= frame.bytes.size());
      REQUIRE(got.bytes.size() <= frame.bytes.size() + kWord);
      REQUIRE(std::equal(frame.bytes.begin(), frame.bytes.end(), got.bytes.begin()));
      ++result.cut;
    } else {
      REQUIRE(got.bytes == frame.bytes);
      REQUIRE(got.bad == frame.bad);
      ++result.arrived;
      result.bad += frame.bad;
    }
  }
  result.lost += sent.size() - at;
  return result;
}

/// What the wire of each port has seen, by the way that it is to go.
struct Expected {
  std::array<std::vector<Frame>, kPlanes> lane;
  std::array<std::vector<Frame>, kPorts> side;
  std::array<uint32_t, kPorts> stray{}, mrc{};

  Expected(const PortsConfig& config, const PortsBench& bench) {
    for (unsigned k = 0; k < kPorts; ++k) {
      for (const Frame& frame : bench.seen[k]) {
        const int way = way_of(config, k, frame.bytes);
        (way == kAside ? side[k] : lane[static_cast<unsigned>(way)]).push_back(frame);
        mrc[k] += way != kAside;
        stray[k] += way == kAside && is_mrc(config, frame.bytes);
      }
    }
  }
};

}  // namespace

TEST_CASE("an MRC packet goes to its plane, a question for an address aside", "[fpga][ports]") {
  PortsBench bench(1);
  const PortsConfig config = usual();
  bench.set(config);
  bench.run(60);
  const Bytes write = numbered(
      encoded({.encapsulation = Encapsulation::Srv6, .mac = config.mac[0], .to = usid_address(config.usid[2])}), 1);
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
}

TEST_CASE("every frame goes whole to the lane of its plane or aside, and all that the core would take to a lane",
          "[fpga][ports]") {
  std::array<uint64_t, kPlanes> lanes{};
  uint64_t aside = 0, strays = 0, taken = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    PortsBench bench(seed);
    PortsConfig config = usual();
    config.promisc = seed % 5 == 0;
    config.udp_only = seed % 3 == 0;
    if (seed % 2 == 0) config.udp_port = static_cast<uint16_t>(bench.rng.next());
    if (seed % 4 == 3) config.ip[2] = config.ip[0];  // one address for planes of a port
    if (seed % 4 == 1) config.usid = {Bytes(6), Bytes(6), Bytes(6)};
    // Slower than a lane, so that none is lost.
    bench.period = {400, 900 + bench.rng.below(900), 900 + bench.rng.below(900), 310, 310};
    bench.busy = seed % 2 == 0 ? 1.0 : 0.6;
    bench.set(config);
    bench.run(100);
    Traffic traffic(bench.rng, config);
    for (unsigned i = 0; i < 600; ++i) {
      for (unsigned k = 0; k < kPorts; ++k) bench.wire[k].push_back({traffic.next(k), bench.rng.chance(0.1)});
    }
    while (!bench.wire[0].empty() || !bench.wire[1].empty()) bench.run(100);
    bench.run(200);
    const Expected expected(config, bench);
    for (unsigned p = 0; p < kPlanes; ++p) {
      CAPTURE(p);
      const Arrivals came = compare(expected.lane[p], bench.lane[p]);
      CHECK(came.arrived == expected.lane[p].size());
      lanes[p] += came.arrived;
      for (const Frame& frame : bench.lane[p]) taken += core_says(config, frame.bytes) == RxErr::None;
    }
    for (unsigned k = 0; k < kPorts; ++k) {
      CAPTURE(k);
      const Arrivals came = compare(expected.side[k], bench.side[k]);
      CHECK(came.arrived == expected.side[k].size());
      aside += came.arrived;
      strays += expected.stray[k];
      CHECK(bench.count(k, kMrc) == expected.mrc[k]);
      CHECK(bench.count(k, kStray) == expected.stray[k]);
      CHECK(bench.count(k, kSideFrames) == came.arrived);
      CHECK(bench.count(k, kSideBad) == came.bad);
      CHECK(bench.count(k, kOff) + bench.count(k, kSideFull) + bench.count(k, kSideLong) + bench.count(k, kSideCut) ==
            0);
      // Nothing that stands aside would the core have taken, but what is not for us.
      uint32_t takeable = 0;
      for (const Frame& frame : bench.side[k]) takeable += core_says(config, frame.bytes) == RxErr::None;
      CHECK(takeable <= expected.stray[k]);
    }
  }
  for (const uint64_t n : lanes) CHECK(n > 200);
  CHECK(aside > 1000);
  CHECK(strays > 100);
  CHECK(taken > 1000);
}

TEST_CASE("each bit of the headers that are looked at decides as it does in the core", "[fpga][ports]") {
  PortsBench bench(3);
  const PortsConfig config = usual();
  bench.period = {400, 900, 900, 310, 310};
  bench.set(config);
  bench.run(100);
  uint64_t number = 0;
  for (const Encapsulation encapsulation : kEncapsulations) {
    for (const bool usid : {false, true}) {
      const Bytes frame = encoded({.encapsulation = encapsulation,
                                   .opcode = Opcode::Sack,
                                   .mac = config.mac[0],
                                   .to = usid ? usid_address(config.usid[0]) : config.ip[0]});
      for (unsigned bit = 0; bit < 8 * std::min<std::size_t>(128, frame.size()); ++bit) {
        if (bit / 8 >= 6 && bit / 8 < 12) continue;  // the number
        Bytes other = numbered(frame, ++number);
        flip(other, bit);
        bench.wire[0].push_back({other});
      }
      // Lengths, down to less than Ethernet allows.
      for (std::size_t size = 14; size < frame.size(); ++size) {
        bench.wire[0].push_back({Bytes(frame.begin(), frame.begin() + static_cast<long>(size))});
        set_number(bench.wire[0].back().bytes, ++number);
      }
    }
  }
  while (!bench.wire[0].empty()) bench.run(100);
  bench.run(200);
  const Expected expected(config, bench);
  CHECK(compare(expected.lane[0], bench.lane[0]).arrived == expected.lane[0].size());
  CHECK(compare(expected.lane[2], bench.lane[2]).arrived == expected.lane[2].size());
  CHECK(compare(expected.side[0], bench.side[0]).arrived == expected.side[0].size());
  CHECK(bench.count(0, kStray) == expected.stray[0]);
  CHECK(expected.lane[0].size() > 3000);
  CHECK(expected.lane[2].size() > 1);  // a bit of the plane's number
  CHECK(expected.stray[0] > 500);
  CHECK(expected.side[0].size() - expected.stray[0] > 300);
}

TEST_CASE("every received frame is found again, or in a counter, whatever MACs and side ports do", "[fpga][ports]") {
  uint64_t full = 0, side_full = 0, cut = 0, side_cut = 0, too_long = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    PortsBench bench(seed);
    const PortsConfig config = usual();
    // A slow core has lanes that overflow.
    bench.period = {seed % 4 == 1 ? 1600u : 400u, bench.rng.between(150, 900), bench.rng.between(150, 900), 310, 310};
    bench.busy = seed % 3 == 0 ? 1.0 : 0.7;
    bench.side_takes = seed % 2 == 0 ? 0.1 : 0.5;
    bench.set(config);
    bench.run(100);
    bench.rx_resets = seed % 2 == 0 ? 0.05 : 0.0;
    Traffic traffic(bench.rng, config);
    for (unsigned i = 0; i < 800; ++i) {
      for (unsigned k = 0; k < kPorts; ++k) {
        Bytes frame = traffic.next(k);
        if (bench.rng.chance(0.1)) frame.resize(bench.rng.between(kMost - kWord, kMost + 3 * kWord), 0x5c);
        bench.wire[k].push_back({std::move(frame), bench.rng.chance(0.1)});
      }
    }
    while (!bench.wire[0].empty() || !bench.wire[1].empty()) bench.run(100);
    bench.rx_resets = 0.0;
    bench.side_takes = 1.0;
    bench.run(300);
    const Expected expected(config, bench);
    for (unsigned p = 0; p < kPlanes; ++p) {
      CAPTURE(p);
      const Arrivals came = compare(expected.lane[p], bench.lane[p]);
      CHECK(bench.lane_count(p, kLaneFrames) == came.arrived);
      CHECK(bench.lane_count(p, kLaneFull) == came.lost);
      CHECK(bench.lane_count(p, kLaneLong) == came.too_long);
      CHECK(bench.lane_count(p, kLaneCut) == came.cut);
      CHECK(bench.lane_count(p, kLaneBad) == came.bad);
      full += came.lost;
      cut += came.cut;
    }
    for (unsigned k = 0; k < kPorts; ++k) {
      CAPTURE(k);
      const Arrivals came = compare(expected.side[k], bench.side[k]);
      CHECK(bench.count(k, kMrc) == expected.mrc[k]);
      CHECK(bench.count(k, kStray) == expected.stray[k]);
      CHECK(bench.count(k, kSideFrames) == came.arrived);
      CHECK(bench.count(k, kSideFull) == came.lost);
      CHECK(bench.count(k, kSideLong) == came.too_long);
      CHECK(bench.count(k, kSideCut) == came.cut);
      CHECK(bench.count(k, kSideBad) == came.bad);
      CHECK(bench.count(k, kOff) == 0);
      CHECK(bench.count(k, kMrc) + came.arrived + came.lost + came.too_long + came.cut == bench.seen[k].size());
      side_full += came.lost;
      side_cut += came.cut;
      too_long += came.too_long;
    }
  }
  CHECK(full > 100);
  CHECK(side_full > 100);
  CHECK(cut > 100);
  CHECK(side_cut > 100);
  CHECK(too_long > 100);
}

TEST_CASE("what goes aside and is not taken is dropped, and no plane loses a frame", "[fpga][ports]") {
  const bool on = GENERATE(true, false);
  CAPTURE(on);
  PortsBench bench(5);
  PortsConfig config = usual();
  config.side = on;
  bench.period = {400, 900, 900, 310, 310};
  bench.set(config);
  bench.run(100);
  bench.side_takes = 0.0;
  const Bytes arp = arp_request(), write = encoded({.mac = config.mac[0], .to = config.ip[0]});
  uint64_t number = 0;
  for (unsigned i = 0; i < 200; ++i) {
    bench.wire[0].push_back({numbered(arp, ++number)});
    bench.wire[0].push_back({numbered(write, ++number)});
  }
  while (!bench.wire[0].empty()) bench.run(100);
  bench.run(100);
  CHECK(bench.lane[0].size() == 200);
  CHECK(bench.lane_count(0, kLaneFull) == 0);
  CHECK(bench.side[0].empty());
  // A FIFO of 16 words has room for the largest frame while 10 stand in it; two more are at its output.
  const uint32_t inside = on ? 13 : 0;
  CHECK(bench.count(0, kSideFrames) == inside);
  CHECK(bench.count(0, kSideFull) == (on ? 200 - inside : 0));
  CHECK(bench.count(0, kOff) == (on ? 0 : 200));
  CHECK(bench.count(0, kMrc) == 200);
  bench.side_takes = 1.0;
  bench.run(100);
  CHECK(bench.side[0].size() == inside);
  bench.wire[0].push_back({numbered(arp, ++number)});
  bench.run(100);
  CHECK(bench.side[0].size() == inside + on);
}

TEST_CASE("registers cross whole, and in time, also when the clock of a MAC has stood", "[fpga][ports]") {
  PortsConfig a = usual(), b = usual();
  b.mac[0] = {0x06, 1, 2, 3, 4, 5};
  for (uint8_t& byte : b.ip[0]) byte = static_cast<uint8_t>(~byte);
  uint64_t number = 0;
  const auto packet = [&](const PortsConfig& mac, const PortsConfig& ip) {
    return Frame{numbered(encoded({.opcode = Opcode::Sack, .mac = mac.mac[0], .to = ip.ip[0]}), ++number)};
  };
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    PortsBench bench(seed);
    bench.period = {400, bench.rng.between(200, 2000), 310, 310, 310};
    const auto crossed = [&] { bench.run(20 + 20 * bench.period[PortsBench::kRx0] / bench.period[0]); };
    // Half of each is neither.
    for (unsigned i = 0; i < 300; ++i) {
      bench.set(i % 2 ? a : b);
      if (bench.wire[0].size() < 4) {
        bench.wire[0].push_back(packet(a, b));
        bench.wire[0].push_back(packet(b, a));
      }
      bench.run(bench.rng.below(30));
    }
    while (!bench.wire[0].empty()) bench.run(10);
    crossed();
    CHECK(bench.lane[0].empty());
    CHECK(bench.seen[0].size() > 100);
    CHECK(bench.count(0, kStray) == bench.seen[0].size());
    for (unsigned i = 0; i < 20; ++i) {
      const PortsConfig &now = i % 2 ? a : b, &other = i % 2 ? b : a;
      const bool stands = i % 3 == 0;
      bench.stopped[PortsBench::kRx0] = stands;
      bench.set(now);
      if (stands) bench.run(100);
      bench.stopped[PortsBench::kRx0] = false;
      crossed();
      const std::size_t before = bench.lane[0].size();
      bench.wire[0] = {packet(now, now), packet(other, other)};
      while (!bench.wire[0].empty()) bench.run(1);
      crossed();
      REQUIRE(bench.lane[0].size() == before + 1);
      CHECK(bench.lane[0].back().bytes == bench.seen[0][bench.seen[0].size() - 2].bytes);
    }
  }
}

TEST_CASE("no frame of a MAC that is faster than the core's clock is missing in the counters", "[fpga][ports]") {
  PortsBench bench(6);
  PortsConfig config = usual();
  config.side = false;
  bench.period = {400, 150, 310, 310, 310};  // a frame per word, faster than the core's clock
  bench.set(config);
  bench.run(100);
  const Bytes arp = arp_request();
  for (unsigned i = 0; i < 3000; ++i) bench.wire[0].push_back({numbered(arp, i)});
  while (!bench.wire[0].empty()) bench.run(10);
  bench.run(20);
  CHECK(bench.count(0, kOff) == 3000);
}

namespace {

/// Streams of the core and of shells: the stream's number stands on top of a frame's.
constexpr unsigned kStreams = kPlanes + kPorts;
uint64_t stream_of(const Bytes& bytes) { return number_of(bytes) >> 32; }

Bytes any_frame(Rng& rng, uint64_t stream, uint64_t n, std::size_t least, std::size_t most) {
  Bytes frame(rng.between(least, most));
  for (uint8_t& byte : frame) byte = static_cast<uint8_t>(rng.next());
  set_number(frame, stream << 32 | n);
  return frame;
}

/// Sends from all streams, so that each always has some.
struct Senders {
  PortsBench& bench;
  std::size_t least = 14, most = kMost;
  double longer = 0.0;
  std::array<std::vector<Frame>, kStreams> sent{};

  void fill(unsigned streams = (1u << kStreams) - 1) {
    for (unsigned s = 0; s < kStreams; ++s) {
      auto& queue = s < kPlanes ? bench.core[s] : bench.shell[s - kPlanes];
      while ((streams >> s & 1) && queue.size() < 4) {
        const bool is_long = bench.rng.chance(longer);
        queue.push_back(
            any_frame(bench.rng, s, sent[s].size(), is_long ? kMost + 1 : least, is_long ? kMost + 3 * kWord : most));
        sent[s].push_back({queue.back()});
      }
    }
  }
  void run(unsigned cycles, unsigned streams = (1u << kStreams) - 1) {
    for (unsigned i = 0; i < cycles; i += 5) {
      fill(streams);
      bench.run(5);
    }
  }
  void finish() {
    const auto left = [](const auto& queues) {
      return std::any_of(queues.begin(), queues.end(), [](const auto& queue) { return !queue.empty(); });
    };
    while (left(bench.core) || left(bench.shell)) bench.run(10);
    bench.run(400);
  }
  /// What came of a stream's frames.
  Arrivals came(unsigned s) const {
    const unsigned port = s < kPlanes ? kPortOf[s] : s - kPlanes;
    std::vector<Frame> of_stream;
    for (const Frame& frame : bench.mac[port]) {
      if (stream_of(frame.bytes) == s) of_stream.push_back(frame);
    }
    return compare(sent[s], of_stream);
  }
  uint32_t count(unsigned s, LaneCount of_lane, Count of_side) {
    return s < kPlanes ? bench.lane_count(s, of_lane) : bench.count(s - kPlanes, of_side);
  }
};

}  // namespace

TEST_CASE("ports send whole frames of all streams in turn, and what is lost is counted", "[fpga][ports]") {
  uint64_t cuts = 0, drops = 0, too_long = 0, arrived = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    PortsBench bench(seed);
    Senders senders{bench};
    senders.longer = 0.03;
    bench.period[PortsBench::kTx0] = bench.rng.between(150, 900);
    bench.period[PortsBench::kTx1] = bench.rng.between(150, 900);
    bench.core_offers = seed % 3 == 0 ? 1.0 : 0.7;
    bench.mac_takes = seed % 4 == 0 ? 1.0 : 0.7;
    bench.tx_resets = seed % 2 == 0 ? 0.01 : 0.0;
    bench.shell_holes = seed % 3 == 1;
    senders.run(4000);
    bench.tx_resets = 0.0;
    bench.mac_takes = 1.0;
    senders.finish();
    for (unsigned s = 0; s < kStreams; ++s) {
      CAPTURE(s);
      const Arrivals came = senders.came(s);
      const uint32_t cut = senders.count(s, kLaneTxCut, kTxCut), flush = senders.count(s, kLaneTxFlush, kTxFlush);
      const uint32_t drop = senders.count(s, kLaneDrop, kTxDrop);
      CHECK(senders.count(s, kLaneTx, kTxFrames) + senders.count(s, kLaneTxLong, kTxLong) + drop ==
            senders.sent[s].size());
      CHECK(came.arrived + came.too_long + cut + flush + drop == senders.sent[s].size());
      CHECK(came.bad == 0);
      CHECK(came.arrived > 50);
      if (seed % 2 == 1) CHECK(cut + flush == 0);
      cuts += cut;
      drops += drop;
      too_long += came.too_long;
      arrived += came.arrived;
    }
    CHECK(bench.core_wait <= kWaitCycles + 2);
    CHECK(bench.shell_wait <= kWaitCycles + 2);
  }
  CHECK(cuts > 100);
  CHECK(drops > 0);
  CHECK(too_long > 100);
  CHECK(arrived > 5000);
}

TEST_CASE("streams that always have a frame take turns without a gap between them", "[fpga][ports]") {
  const std::size_t size = GENERATE(std::size_t{14}, std::size_t{64}, std::size_t{65}, std::size_t{200}, kMost);
  CAPTURE(size);
  PortsBench bench(9);
  Senders senders{bench, size, size};
  // MACs that are slower than any stream.
  bench.period[PortsBench::kTx0] = bench.period[PortsBench::kTx1] = 900;
  senders.run(1000);
  std::array<std::size_t, kPorts> from{bench.mac[0].size(), bench.mac[1].size()};
  const auto words = bench.mac_words;
  const auto cycles = bench.cycles;
  senders.run(2000);
  for (unsigned k = 0; k < kPorts; ++k) {
    CAPTURE(k);
    CHECK(bench.mac_words[k] - words[k] == bench.cycles[PortsBench::kTx0 + k] - cycles[PortsBench::kTx0 + k]);
    const unsigned streams = k == 0 ? 3 : 2;
    REQUIRE(bench.mac[k].size() > from[k] + 20);
    for (std::size_t i = from[k] + streams; i < bench.mac[k].size(); ++i) {
      for (unsigned back = 1; back < streams; ++back) {
        REQUIRE(stream_of(bench.mac[k][i].bytes) != stream_of(bench.mac[k][i - back].bytes));
      }
    }
  }
  CHECK(bench.core_wait < kWaitCycles);
}

TEST_CASE("a shell that begins a frame and does not end it holds nobody", "[fpga][ports]") {
  PortsBench bench(10);
  Senders senders{bench};
  senders.run(200, 1u << 0 | 1u << 2);
  // The first word of a frame, and nothing behind it.
  bench.top->side_tx_tlast_i = 0;
  bench.top->side_tx_tvalid_i = 1;
  bench.run(1);
  bench.top->side_tx_tvalid_i = 0;
  const std::size_t before = bench.mac[0].size();
  senders.run(2000, 1u << 0 | 1u << 2);
  CHECK(bench.mac[0].size() > before + 300);
  senders.finish();
  CHECK(senders.came(0).arrived == senders.sent[0].size());
  CHECK(senders.came(2).arrived == senders.sent[2].size());
  CHECK(bench.core_wait < 20);
}

TEST_CASE("a port that stands holds its streams for one wait only, without a link for none", "[fpga][ports]") {
  const bool link = GENERATE(true, false);
  CAPTURE(link);
  PortsBench bench(11);
  Senders senders{bench};
  senders.run(500);
  bench.core_wait = bench.shell_wait = 0;
  bench.mac_takes = 0.0;
  bench.top->link_up_i = link ? 3 : 0;
  senders.run(4000);
  CHECK(bench.core_wait <= (link ? kWaitCycles + 2 : 10));
  CHECK(bench.shell_wait <= (link ? kWaitCycles + 2 : 10));
  if (link) CHECK(bench.shell_wait >= kWaitCycles);
  bench.mac_takes = 1.0;
  bench.top->link_up_i = 3;
  senders.run(1000);
  senders.finish();
  for (unsigned s = 0; s < kStreams; ++s) {
    CAPTURE(s);
    const uint32_t drop = senders.count(s, kLaneDrop, kTxDrop);
    CHECK(drop > 200);
    CHECK(senders.came(s).arrived + drop == senders.sent[s].size());
  }
}

}  // namespace mrc::test::ports_test
