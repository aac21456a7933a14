// SPDX-License-Identifier: Apache-2.0
#include "pipeline/rx/rx_lane.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <functional>

#include "pipeline/lib/convert.hpp"
#include "tests/pipeline/block_bench.hpp"
#include "tests/protocol/rx_frames.hpp"

namespace mrc::test::rx_lane_test {
namespace {

constexpr U128 kPeer = U128{0xfd00'0000'0000'0000} << 64 | 1, kUs = kPeer + 1;  // as Packet has them

/// A lane alone, with its input FIFOs and a consumer that can stop.
struct Lane {
  explicit Lane(const char* preset_name)
      : preset(*find_preset(preset_name)), verdict(preset.lane_fifo), lane(preset, desc, verdict, line) {
    csr.ip = kUs;
  }

  void cycle(const RxLane::In& in) {
    csr.tick = tick0 + now;
    lane.step(csr, in);
    if (take_desc && desc.valid()) {
      descs.push_back(desc.head());
      desc_cycle.push_back(now);
      desc.pop();
    }
    take(line, lines, take_lines);
    clock_all(desc, verdict, line, lane);
    ++now;
    rx += lane.rx_inc();
    ovf += lane.ovf_inc();
  }
  void idle(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) cycle({});
  }
  /// Sends a frame; gap cycles between its beats. Returns the cycle of the last beat.
  unsigned send(const Bytes& frame, unsigned gap = 0, bool tuser = false) {
    const unsigned pb = preset.port_bytes;
    for (std::size_t at = 0; at < frame.size(); at += pb) {
      if (at != 0) idle(gap);
      const std::size_t n = std::min<std::size_t>(pb, frame.size() - at);
      uint8_t beat[32];
      std::fill_n(beat, 32, uint8_t{0xEE});  // bytes beyond tkeep must not matter
      std::copy_n(frame.begin() + static_cast<long>(at), n, beat);
      const bool last = at + n == frame.size();
      cycle({.tvalid = true,
             .tlast = last,
             .tuser = last && tuser,
             .tkeep = static_cast<uint32_t>((uint64_t{1} << n) - 1),
             .tdata = beat});
    }
    return now - 1;
  }
  void decide(bool place, uint64_t addr = 0, unsigned plen = 0, QpIndex qp = 0) {
    verdict.push({.plane = 0, .place = place, .qp = qp, .addr = addr, .plen = static_cast<uint16_t>(plen)});
    verdict.clock();
  }
  /// Bytes of the lines, and a check that they stand one behind the other from addr on.
  Bytes placed(uint64_t addr) const {
    Bytes all;
    for (const Line& l : lines) {
      CHECK(l.addr == addr + all.size());
      const auto* data = reinterpret_cast<const uint8_t*>(l.data.data());
      all.insert(all.end(), data, data + l.len);
      CHECK(std::all_of(data + l.len, data + kMaxLineBytes, [](uint8_t b) { return b == 0; }));
      CHECK(l.last == (&l == &lines.back()));
      CHECK(l.plane == 0);  // rx_place knows it
    }
    return all;
  }

  const Preset& preset;
  CsrOut csr;
  Fifo<Rxdesc> desc{2};
  Fifo<Verdict> verdict;
  Stream<Line> line;
  RxLane lane;
  bool take_desc = true, take_lines = true;
  unsigned now = 0, rx = 0, ovf = 0;
  unsigned tick0 = 0;  ///< the tick counts cycles here
  std::vector<Rxdesc> descs;
  std::vector<unsigned> desc_cycle;
  std::vector<Line> lines;
};

Packet write_packet(std::size_t bytes) {
  Packet p;
  p.ext = write_ext(1, 2, 3, 4, 5);
  p.payload = counting(bytes);
  return p;
}

}  // namespace

TEST_CASE("a lane places what it received, byte for byte", "[rx_lane]") {
  const char* name = GENERATE("tiny", "fpga100", "asic800");
  const unsigned size = GENERATE(1u, 4u, 15u, 16u, 17u, 31u, 32u, 33u, 127u, 128u, 129u, 1000u, 4093u, 4096u);
  const unsigned shape = GENERATE(range(0u, 12u));  // outer headers, immediate, time stamp
  const unsigned gap = GENERATE(0u, 1u);
  CAPTURE(name, size, shape, gap);
  Packet p = write_packet(size);
  if (shape & 1) {
    p.ts = true;
    p.ext.resize(p.ext.size() + 4);
  }
  if (shape & 2) {
    p.opcode = 0xCB;
    p.ext.resize(p.ext.size() + 4);
  }
  Lane l(name);
  l.send(p.frame(kOuters[shape / 4]), gap);
  l.idle(8);
  REQUIRE(l.descs.size() == 1);
  CHECK(l.rx == 1);
  const Rxdesc& d = l.descs[0];
  CHECK(d.err == RxErr::None);
  CHECK(d.icrc_ok);
  CHECK(d.plen == size);
  CHECK(d.psn == 7);
  CHECK(d.entropy == 0x12345678);
  CHECK(d.trim == Trim::None);
  l.decide(true, 0x123456789, size);
  l.idle(2 * 4096 / l.preset.port_bytes);
  CHECK(l.placed(0x123456789) == p.payload);
}

TEST_CASE("lines name the QP of their packet, whoever waits behind it", "[rx_lane]") {
  const char* name = GENERATE("tiny", "fpga100", "asic800");
  const unsigned pace = GENERATE(1u, 7u);  // a line is taken every so many cycles
  CAPTURE(name, pace);
  Lane l(name);
  const unsigned host = l.preset.host_bytes;
  const unsigned sizes[] = {1, host, host + 1, 3 * host, host - 1};
  for (const unsigned size : sizes) l.send(write_packet(size).frame());
  l.idle(8);
  // The second one is discarded. As many verdicts wait as there is room for.
  const auto last = static_cast<uint16_t>(l.preset.num_qps - 1);
  const uint16_t qps[] = {last, 3, 0, 2, last};
  for (unsigned i = 0; i < 5; ++i) {
    if (!l.verdict.ready()) l.idle(40);
    if (i == 1) {
      l.decide(false);
    } else {
      l.decide(true, 0x1000 * i, sizes[i], qps[i]);
    }
  }
  for (unsigned i = 0; i < 400; ++i) {
    l.take_lines = i % pace == 0;
    l.idle(1);
  }
  std::vector<Line> want;
  for (unsigned i = 0; i < 5; ++i) {
    if (i == 1) want.push_back({.addr = 0, .len = 0, .last = true, .plane = 0, .qp = 0});
    for (unsigned at = 0; i != 1 && at < sizes[i]; at += host) {
      const unsigned n = std::min(host, sizes[i] - at);
      want.push_back(
          {.addr = 0x1000 * i + at, .len = static_cast<uint8_t>(n), .last = at + n == sizes[i], .qp = qps[i]});
    }
  }
  REQUIRE(l.lines.size() == want.size());
  for (unsigned i = 0; i < want.size(); ++i) {
    CAPTURE(i);
    want[i].data = l.lines[i].data;
    CHECK(l.lines[i] == want[i]);
  }
}

TEST_CASE("frames back to back do not mix", "[rx_lane]") {
  const char* name = GENERATE("tiny", "fpga100");
  Lane l(name);
  std::vector<Packet> sent;
  for (unsigned i = 0; i < 12; ++i) {
    Packet p = write_packet(60 + 5 * i);
    p.psn = i;
    for (uint8_t& b : p.payload) b = static_cast<uint8_t>(b ^ (i << 4));
    sent.push_back(p);
    l.send(p.frame(kOuters[i % 3]));
    if (i >= 2) l.decide(true, 0, static_cast<unsigned>(sent[i - 2].payload.size()));
  }
  l.idle(100);
  REQUIRE(l.descs.size() == 12);
  for (unsigned i = 0; i < 12; ++i) {
    CHECK(l.descs[i].err == RxErr::None);
    CHECK(l.descs[i].icrc_ok);
    CHECK(l.descs[i].psn == i);
    CHECK(l.descs[i].plen == sent[i].payload.size());
  }
  Bytes expected, seen;
  for (unsigned i = 0; i < 10; ++i) expected.insert(expected.end(), sent[i].payload.begin(), sent[i].payload.end());
  for (const Line& line : l.lines) {
    const auto* data = reinterpret_cast<const uint8_t*>(line.data.data());
    seen.insert(seen.end(), data, data + line.len);
  }
  CHECK(seen == expected);
}

TEST_CASE("the description comes four cycles after the last beat, one later if that beat holds two chunks",
          "[rx_lane]") {
  // 14 + 84 + 16 = 114 bytes: the last beat has 2 bytes, which end the chunk begun in the beat before (14 bytes of it).
  const auto arrival = [&](std::size_t payload) {
    Lane lane("tiny");
    const unsigned last = lane.send(write_packet(payload).frame());
    while (!lane.lane.desc_valid()) lane.idle(1);
    return lane.now - last;
  };
  CHECK(arrival(16) == 4);
  CHECK(arrival(28) == 4);  // 126 bytes: 14 in the last beat
  CHECK(arrival(32) == 4);  // 130 bytes: 2
  CHECK(arrival(8) == 4);   // 106: 10
  // SRv6: 54 + 84 + 16 = 154 bytes: 10 in the last beat, but only 6 belong to the chunk begun before.
  Lane l("tiny");
  const unsigned last = l.send(write_packet(16).frame(Outer::Ipv6));
  while (!l.lane.desc_valid()) l.idle(1);
  CHECK(l.now - last == 5);
}

TEST_CASE("what is no packet of ours is named, and leaves no payload", "[rx_lane]") {
  Lane l("tiny");
  const Bytes good = write_packet(40).frame();
  RxErr err = RxErr::None;
  bool icrc_ok = true;
  SECTION("MAC error") {
    l.send(good, 0, true);
    err = RxErr::Mac;
  }
  SECTION("one beat") {
    Bytes runt(good.begin(), good.begin() + 16);
    l.send(runt);
    err = RxErr::Short;
  }
  SECTION("cut before the outer header of SRv6 ends") {
    Bytes runt = write_packet(40).frame(Outer::Ipv6);
    runt.resize(50);
    l.send(runt);
    err = RxErr::Short;
  }
  SECTION("63 inner bytes") {
    Bytes runt = good;
    runt.resize(14 + 63);
    l.send(runt);
    err = RxErr::Short;
    icrc_ok = false;
  }
  SECTION("not IPv6") {
    Bytes other = good;
    other[13] = 0;
    l.send(other);
    err = RxErr::Encap;
  }
  SECTION("one byte more than the headers say") {
    Bytes longer = good;
    longer.push_back(0);
    l.send(longer);
    err = RxErr::Length;
    icrc_ok = false;
  }
  SECTION("a giant") {
    l.send(write_packet(9000).frame());
    err = RxErr::Length;
  }
  l.idle(10);
  REQUIRE(l.descs.size() == 1);
  CHECK(l.descs[0].err == err);
  CHECK(l.descs[0].icrc_ok == icrc_ok);
  CHECK_FALSE(l.descs[0].buf_valid);
  l.send(good);
  l.idle(6);
  l.decide(true, 0, 40);
  l.idle(20);
  REQUIRE(l.descs.size() == 2);
  CHECK(l.descs[1].err == RxErr::None);
  CHECK(l.placed(0) == counting(40));
}

TEST_CASE("the traffic class of a runt is its own", "[rx_lane]") {
  Lane l("tiny");
  l.csr.returned = Returned::Peer;  // it has no addresses
  Packet p = write_packet(40);
  p.tc = 12 << 2 | 3;
  Bytes runt = p.frame();
  runt.resize(16);
  l.send(write_packet(40).frame());
  l.send(runt);
  l.idle(10);
  REQUIRE(l.descs.size() == 2);
  CHECK(l.descs[0].trim == Trim::None);
  CHECK_FALSE(l.descs[0].ce);
  CHECK(l.descs[1].trim == Trim::Trimmed);
  CHECK(l.descs[1].ce);
}

TEST_CASE("a beat's worth of bytes behind a frame that needs its flush cycle leaves no trace", "[rx_lane]") {
  Lane l("tiny");
  l.send(write_packet(16).frame(Outer::Ipv6));  // flushes, see above
  l.send(Bytes(10));
  l.send(write_packet(20).frame());
  l.idle(10);
  REQUIRE(l.descs.size() == 2);
  CHECK(l.descs[0].plen == 16);
  CHECK(l.descs[0].icrc_ok);
  CHECK(l.descs[1].plen == 20);
  CHECK(l.descs[1].icrc_ok);
}

TEST_CASE("one wrong bit anywhere under the ICRC is seen, a changed traffic class is not", "[rx_lane]") {
  const Bytes good = write_packet(33).frame();
  for (std::size_t at = 14; at < good.size(); ++at) {
    Bytes bad = good;
    bad[at] ^= 4;
    Lane l("tiny");
    l.send(bad);
    l.idle(10);
    REQUIRE(l.descs.size() == 1);
    const std::size_t inner = at - 14;
    const bool variant =
        inner == 1 || inner == 2 || inner == 3 || inner == 7 || inner == 46 || inner == 47 || inner == 52 || inner == 0;
    // Byte 0 bit 2 belongs to the traffic class.
    CAPTURE(inner);
    CHECK(l.descs[0].icrc_ok == variant);
  }
}

TEST_CASE("the ICRC may start at the outer header: each setting takes its own frames alone", "[rx_lane][A-14]") {
  const char* name = GENERATE("tiny", "fpga100", "asic800");
  const bool on = GENERATE(false, true);
  const unsigned gap = GENERATE(0u, 1u);
  CAPTURE(name, on, gap);
  Lane l(name);
  l.csr.icrc_outer = on;
  std::vector<bool> right;
  for (unsigned i = 0; i < 3 * 3 * 2 * 5; ++i) {  // every kind behind every other one, of many lengths
    const Outer outer = i / 5 % 2 ? kOuters[i % 3] : kOuters[i / 3 % 3];
    Packet p = write_packet(4 + i);
    p.psn = i;
    const Bytes frame = p.frame(outer);
    const bool from_outer = outer != Outer::None && i % 4 != 0;
    l.send(from_outer ? with_outer_icrc(frame) : frame, gap);
    right.push_back(outer == Outer::None || from_outer == on);
    l.idle(i % 3);
    if (i >= 2) l.decide(false);
  }
  l.idle(100);
  REQUIRE(l.descs.size() == right.size());
  for (unsigned i = 0; i < right.size(); ++i) {
    CAPTURE(i);
    CHECK(l.descs[i].err == RxErr::None);
    CHECK(l.descs[i].psn == i);
    CHECK(l.descs[i].icrc_ok == right[i]);
  }
  CHECK(std::count(right.begin(), right.end(), true) > 10);
  CHECK(std::count(right.begin(), right.end(), false) > 10);
}

TEST_CASE("under the ICRC from the outer header on, only what routers and uSID change may change", "[rx_lane][A-14]") {
  const char* name = GENERATE("tiny", "fpga100");
  const Outer outer = GENERATE(Outer::Ipv6, Outer::Srh);
  const std::size_t inner = outer == Outer::Srh ? 78 : 54;
  const Bytes good = with_outer_icrc(write_packet(33).frame(outer));
  for (std::size_t at = 14; at < inner; ++at) {
    for (const unsigned bit : {0u, 6u}) {
      if (at == 20) continue;  // next header: then the inner packet is elsewhere
      Bytes bad = good;
      bad[at] = static_cast<uint8_t>(bad[at] ^ 1u << bit);
      Lane l(name);
      l.csr.icrc_outer = true;
      l.send(bad);
      l.idle(10);
      REQUIRE(l.descs.size() == 1);
      const bool variant =
          (at == 14 && bit == 0) || (at >= 15 && at <= 17) || at == 21 || (at >= 38 && at <= 53) || at == 57;
      CAPTURE(name, inner, at, bit);
      // With another version, or another SRH than can be used, it is no packet of ours either.
      CHECK(l.descs[0].icrc_ok == (inner == 54 && at == 57 ? false : variant));
    }
  }
}

TEST_CASE("frames cut inside their outer headers leave nothing in the next one's ICRC", "[rx_lane][A-14]") {
  const char* name = GENERATE("tiny", "fpga100");
  const Outer outer = GENERATE(Outer::Ipv6, Outer::Srh);
  const Bytes whole = with_outer_icrc(write_packet(100).frame(outer));
  for (std::size_t size = 1; size < 78 + 64; ++size) {
    CAPTURE(name, size);
    Lane l(name);
    l.csr.icrc_outer = true;
    l.send(Bytes(whole.begin(), whole.begin() + static_cast<long>(size)));
    l.idle(size % 2 * 8);
    l.send(whole);
    l.idle(8);
    REQUIRE_FALSE(l.descs.empty());
    // A single beat without byte 20 counts as a frame without outer headers, and nothing at all has a right ICRC.
    if (l.descs.size() == 2) CHECK(l.descs[0].icrc_ok == (size <= (l.preset.port_bytes == 16 ? 16 : 20)));
    CHECK(l.descs.back().err == RxErr::None);
    CHECK(l.descs.back().icrc_ok);
  }
}

TEST_CASE("a trimmed packet with a time stamp is short without all of it: 68 inner bytes", "[rx_lane]") {
  const char* name = GENERATE("tiny", "fpga100");
  const Outer outer = GENERATE(Outer::None, Outer::Ipv6, Outer::Srh);
  const bool ts = GENERATE(false, true);
  CAPTURE(name, outer, ts);
  Packet p = write_packet(100);
  p.tc = 12 << 2;
  p.ts = ts;
  const Bytes whole = p.frame(outer);
  const std::size_t front = whole.size() - p.inner().size();
  Lane l(name);
  for (unsigned n = 62; n <= 70; ++n) {
    l.send(Bytes(whole.begin(), whole.begin() + static_cast<long>(front + n)));
    l.idle(8);
    REQUIRE(l.descs.size() == n - 61);
    const Rxdesc& d = l.descs.back();
    CAPTURE(n);
    CHECK(d.err == (n < (ts ? 68 : 64) ? RxErr::Short : RxErr::None));
    CHECK(d.ts == ts);
    CHECK(d.plen == 0);
  }
  CHECK(l.rx == 9);
}

TEST_CASE("a trimmed packet is described, however long its headers say it is", "[rx_lane]") {
  Lane l("tiny");
  Packet p = write_packet(4096);
  p.tc = 16 << 2;
  Bytes frame = p.frame(Outer::Ipv6);
  frame.resize(128);
  l.send(frame);
  l.idle(10);
  REQUIRE(l.descs.size() == 1);
  CHECK(l.descs[0].err == RxErr::None);
  CHECK(l.descs[0].trim == Trim::LastHop);
  CHECK(l.descs[0].plen == 0);
  CHECK(l.descs[0].psn == 7);
  CHECK(l.descs[0].ext[0] == 0x02000100);  // METH: inner bytes 60..63
  CHECK(l.descs[0].ext[4] == 0);           // inner bytes 74 on are gone: 128 - 54
  CHECK_FALSE(l.descs[0].icrc_ok);
}

TEST_CASE("a trimmed packet of our own that comes back is told apart by its addresses or its code point",
          "[rx_lane][A-80]") {
  const char* name = GENERATE("tiny", "fpga100");
  const Outer outer = GENERATE(Outer::None, Outer::Ipv6, Outer::Srh);
  CAPTURE(name, outer);
  Lane l(name);
  Packet p = write_packet(1000);
  const Bytes inner = p.inner();
  /// From `from` to `to` (last bytes of the addresses) with this code point, cut behind METH and RETH.
  const auto came = [&](uint8_t from, uint8_t to, uint8_t dscp) {
    p.tc = static_cast<uint8_t>(dscp << 2);
    Bytes frame = p.frame(outer);
    const std::size_t front = frame.size() - inner.size();
    frame[front + 23] = from;
    frame[front + 39] = to;
    frame.resize(front + 80);
    l.send(frame);
    l.idle(10);
    REQUIRE_FALSE(l.descs.empty());
    CHECK(l.descs.back().err == (dscp == 12 || l.descs.back().trim != Trim::None ? RxErr::None : RxErr::Length));
    CHECK_FALSE(l.descs.back().buf_valid);
    return l.descs.back();
  };
  const auto reported = [](const Rxdesc& d, uint8_t receiver) {
    CHECK(d.trim == Trim::Returned);
    CHECK(d.psn == 7);
    CHECK(d.ext[0] == 0x02000100);  // METH
    CHECK((d.ext[4] & 0xffff) == 0x00fd);
    CHECK(d.ext[7] == uint32_t{receiver} << 24);
    CHECK((packet_of(d).address == (kPeer ^ 1) + receiver));
  };
  // The peer is 1, we are 2.
  const Rxdesc peers = came(1, 2, 12);
  CHECK(peers.trim == Trim::Trimmed);
  CHECK(peers.ext[4] == 0x0500'0000);  // its own: the DMA length
  reported(came(2, 1, 12), 1);
  reported(came(1, 3, 12), 1);
  CHECK(came(1, 2, 21).trim == Trim::None);
  l.csr.dscp_returned = 21;
  CHECK(came(1, 2, 21).trim == Trim::None);
  l.csr.dscp_returned_valid = true;
  reported(came(1, 2, 21), 1);
  reported(came(2, 1, 21), 1);
  l.csr.returned = Returned::Learn;
  reported(came(2, 1, 12), 1);
  l.csr.returned = Returned::Peer;
  CHECK(came(2, 1, 12).trim == Trim::Trimmed);
  CHECK(came(1, 2, 21).trim == Trim::None);
  // With one address per plane: bit 120 to 122 of ours.
  l.csr.returned = Returned::Drop;
  l.csr.ip_plane_enable = true;
  l.csr.ip_plane_lsb = 0;  // the last byte's low bits: 1, 2 and 3 are all ours
  reported(came(1, 2, 12), 2);
  reported(came(8, 9, 12), 8);
  CHECK(came(8, 1, 12).trim == Trim::Trimmed);
  CHECK(l.rx == l.descs.size());
}

TEST_CASE("a routing header of another kind is named, on every port width, and leaves nothing behind", "[rx_lane]") {
  const char* name = GENERATE("tiny", "fpga100");
  struct Case {
    unsigned at;
    uint8_t value;
    RxErr err;
  };
  const auto [at, value, err] =
      GENERATE(Case{54, 41, RxErr::None}, Case{54, 43, RxErr::Encap}, Case{54, 17, RxErr::Encap},
               Case{55, 1, RxErr::Encap}, Case{55, 4, RxErr::Encap}, Case{56, 0, RxErr::Encap},
               Case{56, 3, RxErr::Encap}, Case{57, 0, RxErr::None}, Case{57, 1, RxErr::None}, Case{57, 2, RxErr::Encap},
               Case{57, 0x81, RxErr::Encap}, Case{58, 0xff, RxErr::None}, Case{77, 0, RxErr::None});
  const bool trimmed = GENERATE(false, true);
  CAPTURE(name, at, value, trimmed);
  Lane l(name);
  Packet p = write_packet(40);
  if (trimmed) p.tc = 12 << 2;
  Bytes frame = p.frame(Outer::Srh);
  frame[at] = value;
  l.send(frame);
  l.send(write_packet(50).frame());
  l.send(write_packet(60).frame(Outer::Srh));
  l.send(write_packet(70).frame(Outer::Ipv6));
  l.idle(10);
  REQUIRE(l.descs.size() == 4);
  CHECK(l.descs[0].err == err);
  CHECK(l.descs[0].icrc_ok);
  CHECK(l.descs[0].plen == (err == RxErr::None && !trimmed ? 40 : 0));
  for (unsigned i = 1; i < 4; ++i) {
    CHECK(l.descs[i].err == RxErr::None);
    CHECK(l.descs[i].icrc_ok);
    CHECK(l.descs[i].plen == 40 + 10 * i);
  }
}

TEST_CASE("what other frames carry where an SRH would be does not matter", "[rx_lane]") {
  const char* name = GENERATE("tiny", "fpga100");
  Lane l(name);
  Bytes frame = write_packet(40).frame(Outer::Ipv6);  // bytes 54 on are the inner header
  CHECK(frame[54] != 41);
  l.send(frame);
  l.send(write_packet(40).frame());
  l.idle(10);
  REQUIRE(l.descs.size() == 2);
  CHECK(l.descs[0].err == RxErr::None);
  CHECK(l.descs[1].err == RxErr::None);
}

TEST_CASE("a frame cut anywhere in or behind its routing header is short, the next one whole", "[rx_lane]") {
  const char* name = GENERATE("tiny", "fpga100");
  const Bytes whole = write_packet(100).frame(Outer::Srh);
  for (std::size_t size = 1; size < 78 + 64; ++size) {
    CAPTURE(name, size);
    Lane l(name);
    l.send(Bytes(whole.begin(), whole.begin() + static_cast<long>(size)));
    l.idle(8);
    l.send(whole);
    l.idle(8);
    REQUIRE(l.descs.size() == 2);
    CHECK(l.descs[0].err == RxErr::Short);
    CHECK(l.descs[1].err == RxErr::None);
    CHECK(l.descs[1].icrc_ok);
    CHECK(l.descs[1].plen == 100);
  }
}

TEST_CASE("the description carries the tick of the cycle before it stands in its queue", "[rx_lane]") {
  // The description of a frame whose last beat is in cycle t is made in cycle t + 3, or t + 4 with a flush (see above).
  Lane l("tiny");
  l.tick0 = 0xfff0;
  const unsigned plain = l.send(write_packet(16).frame());  // 8 beats, the last in cycle 7
  l.idle(20);
  const unsigned flushed = l.send(write_packet(16).frame(Outer::Ipv6));  // 10 beats, the last in cycle 37
  l.idle(20);
  CHECK(plain == 7);
  CHECK(flushed == 37);
  REQUIRE(l.descs.size() == 2);
  CHECK(l.descs[0].at == 0xfffa);
  CHECK(l.descs[1].at == 0x0019);  // 0xfff0 + 41, modulo 2^16
}

TEST_CASE("a payload that finds no room in the buffer leaves a description that says so", "[rx_lane]") {
  Lane l("tiny");  // 1024 words of 16: three packets of 256, and no 258 left for a fourth
  for (uint32_t psn = 0; psn < 5; ++psn) {
    Packet p = write_packet(psn < 4 ? 4096 : 1);
    p.psn = psn;
    l.send(p.frame());
  }
  Packet control;
  control.opcode = 0xD1;
  control.ext = counting(4);
  l.send(control.frame());
  l.idle(10);
  REQUIRE(l.descs.size() == 6);
  CHECK(l.rx == 6);
  CHECK(l.ovf == 2);
  for (unsigned i = 0; i < 3; ++i) {
    CHECK(l.descs[i].trim == Trim::None);
    CHECK(l.descs[i].plen == 4096);
    CHECK(l.descs[i].buf_valid);
  }
  for (unsigned i = 3; i < 5; ++i) {
    CHECK(l.descs[i].err == RxErr::None);
    CHECK(l.descs[i].trim == Trim::NoBuffer);
    CHECK(l.descs[i].plen == 0);
    CHECK_FALSE(l.descs[i].buf_valid);
    CHECK(l.descs[i].icrc_ok);
    CHECK(l.descs[i].psn == i);
    CHECK(l.descs[i].ext[0] == 0x02000100);
  }
  CHECK(l.descs[5].trim == Trim::None);  // carries no payload
  CHECK(l.descs[5].opcode == 0xD1);
  l.decide(false);
  l.idle(5);
  REQUIRE(l.lines.size() == 1);
  CHECK(l.lines[0] == Line{.addr = 0, .len = 0, .last = true, .data = {}});
  l.send(write_packet(4096).frame());
  l.idle(10);
  REQUIRE(l.descs.size() == 7);
  CHECK(l.descs[6].trim == Trim::None);
  CHECK(l.ovf == 2);
  l.lines.clear();
  for (int i = 0; i < 3; ++i) {
    l.decide(true, 0x1000, 4096);
    l.idle(300);
    CHECK(l.placed(0x1000) == counting(4096));
    l.lines.clear();
  }
}

TEST_CASE("room for a packet is a packet and two words", "[rx_lane]") {
  const unsigned third = GENERATE(4064u, 4065u);  // 254 or 255 words: 258 or 257 of 1024 are left
  Lane l("tiny");
  l.send(write_packet(4096).frame());
  l.send(write_packet(4096).frame());
  l.send(write_packet(third).frame());
  l.send(write_packet(1).frame());
  l.idle(10);
  REQUIRE(l.descs.size() == 4);
  CHECK(l.descs[3].trim == (third == 4064 ? Trim::None : Trim::NoBuffer));
  CHECK(l.ovf == (third == 4064 ? 0 : 1));
}

TEST_CASE("room is what the frame before has left, also if its last chunk came one cycle ago", "[rx_lane]") {
  // Frames without a gap. The third ends with a chunk of its own behind its last beat: with an outer header where a
  // beat has 16 bytes, where it has 32 without one.
  const bool tiny = GENERATE(true, false);
  CAPTURE(tiny);
  Lane l(tiny ? "tiny" : "fpga100");
  l.send(write_packet(4096).frame());
  l.send(write_packet(4096).frame());
  l.send(tiny ? write_packet(4096).frame(Outer::Ipv6) : write_packet(4092).frame());
  l.send(write_packet(4096).frame());
  l.idle(10);
  REQUIRE(l.descs.size() == 4);
  CHECK(l.descs[2].plen == (tiny ? 4096 : 4092));
  CHECK(l.descs[3].trim == Trim::NoBuffer);
  CHECK(l.ovf == 1);
}

TEST_CASE("a payload that finds room but no queue entry is told apart", "[rx_lane]") {
  Lane l("tiny");  // 16 payloads may wait for their verdict
  for (int i = 0; i < 17; ++i) l.send(write_packet(16).frame());
  l.idle(10);
  REQUIRE(l.descs.size() == 17);
  CHECK(l.rx == 17);
  CHECK(l.ovf == 1);
  CHECK(l.descs[15].trim == Trim::None);
  CHECK(l.descs[16].trim == Trim::NoResource);
  CHECK(l.descs[16].plen == 0);
  CHECK_FALSE(l.descs[16].buf_valid);
  l.decide(false);
  l.idle(5);
  l.send(write_packet(20).frame());
  l.idle(10);
  CHECK(l.descs[17].trim == Trim::None);
  CHECK(l.descs[17].plen == 20);
  CHECK(l.ovf == 1);
}

TEST_CASE("want of buffer comes before want of a queue entry", "[rx_lane]") {
  Lane l("tiny");
  for (int i = 0; i < 13; ++i) l.send(write_packet(16).frame());
  for (int i = 0; i < 3; ++i) l.send(write_packet(4096).frame());  // 13 + 768 words, 16 entries
  l.send(write_packet(16).frame());
  l.idle(10);
  REQUIRE(l.descs.size() == 17);
  CHECK(l.descs[15].trim == Trim::None);
  CHECK(l.descs[16].trim == Trim::NoBuffer);
}

TEST_CASE("a payload without room keeps a wrong ICRC wrong", "[rx_lane]") {
  Lane l("tiny");
  for (int i = 0; i < 3; ++i) l.send(write_packet(4096).frame());
  Bytes bad = write_packet(40).frame();
  bad.back() ^= 1;
  l.send(bad);
  l.idle(10);
  REQUIRE(l.descs.size() == 4);
  CHECK(l.descs[3].trim == Trim::NoBuffer);
  CHECK_FALSE(l.descs[3].icrc_ok);
}

TEST_CASE("without room for a description a frame is dropped whole: four in the lane, two in the input of rx_check",
          "[rx_lane]") {
  Lane l("tiny");
  l.take_desc = false;
  for (int i = 0; i < 8; ++i) l.send(write_packet(1).frame());
  l.idle(10);
  CHECK(l.rx == 6);
  CHECK(l.ovf == 2);
  l.take_desc = true;
  l.idle(20);
  CHECK(l.descs.size() == 6);
  SECTION("and if there is no room for the payload either") {
    l.take_desc = false;
    for (int i = 0; i < 8; ++i) l.send(write_packet(4096).frame());  // 3 with payload, 3 without, 2 lost
    l.idle(10);
    CHECK(l.rx == 12);
    CHECK(l.ovf == 2 + 3 + 2);
    l.take_desc = true;
    l.idle(20);
    REQUIRE(l.descs.size() == 12);
    CHECK(l.descs[8].trim == Trim::None);
    CHECK(l.descs[11].trim == Trim::NoBuffer);
  }
}

TEST_CASE("a host that stops stops the drain, not the port", "[rx_lane]") {
  Lane l("tiny");
  l.take_lines = false;
  l.send(write_packet(512).frame());
  l.idle(6);
  l.decide(true, 64, 512);
  l.idle(100);
  l.send(write_packet(100).frame());
  l.idle(6);
  CHECK(l.descs.size() == 2);
  l.take_lines = true;
  l.idle(100);
  CHECK(l.placed(64) == counting(512));
}

}  // namespace mrc::test::rx_lane_test
