// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/link.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "tb/environment/mac.hpp"
#include "wire/decode.hpp"
#include "wire/packet.hpp"

namespace mrc::test::link_test {

using namespace mrc::tb;

namespace {

const Preset& kTiny = *find_preset("tiny");

constexpr wire::WireConfig kOuter{.icrc_outer = true};

std::vector<uint8_t> write_frame(bool srv6, bool ts, unsigned payload, uint32_t psn = 77,
                                 wire::Opcode opcode = wire::Opcode::WriteFirst, const wire::WireConfig& config = {}) {
  using namespace wire;
  wire::Packet p = make_packet(opcode, srv6 ? wire::Encapsulation::Srv6 : wire::Encapsulation::Ipv6, ts);
  p.bth->psn = psn;
  p.bth->dqp = 17;
  p.bth->p_key = 0x1234;
  (srv6 ? p.outer_ipv6 : p.ipv6)->dscp = kDscpTrimmable;
  p.ipv6->dscp = kDscpTrimmable;
  p.ipv6->ecn = 2;
  if (srv6) p.outer_ipv6->ecn = 2;
  p.set_entropy(0x12345678);
  p.payload.assign(payload, 0xab);
  p.reth->dma_length = payload;
  complete(p);
  return encode(p, config);
}

unsigned be16(const std::vector<uint8_t>& b, unsigned at) { return b[at] * 256u + b[at + 1]; }

}  // namespace

TEST_CASE("a trimmed frame keeps its first bytes, its ECN bits and its UDP length", "[tb][link][trim]") {
  for (const unsigned size : {128u, 206u, 256u}) {
    const auto whole = write_frame(true, true, 1024);
    auto cut = whole;
    trim_frame(cut, size, wire::kDscpTrimmed);
    REQUIRE(cut.size() == size);
    CHECK(be16(cut, 18) == size - 54);  // payload length of the outermost header: from the Ethernet header on
    CHECK((((cut[14] & 15) << 4 | cut[15] >> 4) & 0xff) == (12 << 2 | 2));
    CHECK(be16(cut, 54 + 4) == be16(whole, 54 + 4));    // inner IPv6
    CHECK(be16(cut, 54 + 44) == be16(whole, 54 + 44));  // UDP
    for (unsigned i = 20; i < size; ++i) REQUIRE(cut[i] == whole[i]);
    const wire::Packet p = wire::decode(cut);
    CHECK(p.trimmed());
    CHECK_FALSE(p.error);
    REQUIRE(p.bth);
    CHECK(p.bth->psn == 77);
    REQUIRE(p.tseth);                           // through byte 122
    CHECK(p.reth.has_value() == (size > 128));  // 138 with SRv6 and TSETH: cut at 128
  }
}

TEST_CASE("a trimming switch rewrites no length fields, the outermost IP's, or all", "[tb][link][trim][A-15]") {
  const auto whole = write_frame(true, true, 1024);
  for (const unsigned lengths : {0u, 1u, 2u}) {
    auto cut = whole;
    trim_frame(cut, 206, wire::kDscpTrimmed, lengths);
    REQUIRE(cut.size() == 206);
    CHECK(be16(cut, 18) == (lengths == 0 ? be16(whole, 18) : 206 - 54));
    CHECK(be16(cut, 54 + 4) == (lengths == 2 ? 206 - 94 : be16(whole, 54 + 4)));
    CHECK(be16(cut, 54 + 44) == (lengths == 2 ? 206 - 94 : be16(whole, 54 + 44)));
  }
}

TEST_CASE("a frame below the trim size is marked and not cut", "[tb][link][trim]") {
  const auto whole = write_frame(false, false, 20);
  auto marked = whole;
  trim_frame(marked, 128, wire::kDscpTrimmedLasthop);
  CHECK(marked.size() == whole.size());
  CHECK(be16(marked, 18) == be16(whole, 18));
  CHECK(wire::decode(marked).dscp_class == wire::DscpClass::TrimmedLasthop);
}

TEST_CASE("a penalized SACK says so and is otherwise as it was", "[tb][link][penalty]") {
  for (const bool srv6 : {false, true}) {
    wire::Packet sack =
        wire::make_packet(wire::Opcode::Sack, srv6 ? wire::Encapsulation::Srv6 : wire::Encapsulation::Ipv6, false);
    sack.bth->psn = 99;
    wire::complete(sack);
    const auto whole = wire::encode(sack);
    for (const unsigned penalty : {0u, 1u, 127u}) {
      auto changed = whole;
      penalize(changed, penalty, false);
      REQUIRE(changed.size() == whole.size());
      unsigned differ = 0;
      for (std::size_t i = 0; i + 4 < whole.size(); ++i) differ += changed[i] != whole[i];
      CHECK(differ == 1);
      const wire::Packet p = wire::decode(changed);
      CHECK_FALSE(p.error);
      REQUIRE(p.cc_state);
      CHECK(p.cc_state->restore_cwnd == (penalty == 0));
      CHECK(p.cc_state->rcv_cwnd_pen == penalty);
    }
  }
}

TEST_CASE("a WRITE that lost its payload has none, says so, and has a right ICRC", "[tb][link][no_bytes]") {
  for (const bool srv6 : {false, true}) {
    for (const bool ts : {false, true}) {
      for (const auto opcode : {wire::Opcode::WriteOnly, wire::Opcode::WriteOnlyImm}) {
        auto frame = write_frame(srv6, ts, 301, 77, opcode);
        REQUIRE(empty_write(frame, false));
        const wire::Packet p = wire::decode(frame);
        REQUIRE_FALSE(p.error);
        CHECK(p.payload.empty());
        CHECK(p.icrc->ok);
        CHECK(p.bth->psn == 77);
        CHECK(p.bth->pad_count == 0);
        CHECK(p.reth->dma_length == 0);
        CHECK(p.immdt.has_value() == (opcode == wire::Opcode::WriteOnlyImm));
        CHECK_FALSE(empty_write(frame, false));  // nothing left to take out
      }
    }
  }
  auto first = write_frame(false, false, 256, 77, wire::Opcode::WriteFirst);
  CHECK_FALSE(empty_write(first, false));
}

TEST_CASE("a WRITE that lost its payload or its length alone has a right ICRC", "[tb][link][no_bytes]") {
  for (const bool srv6 : {false, true}) {
    auto payload = write_frame(srv6, true, 301, 77, wire::Opcode::WriteOnly), length = payload;
    REQUIRE(empty_write(payload, false, Emptied::Payload));
    const wire::Packet p = wire::decode(payload);
    REQUIRE(p.icrc->ok);
    CHECK(p.payload.empty());
    CHECK(p.reth->dma_length != 0);
    REQUIRE(empty_write(length, false, Emptied::Length));
    const wire::Packet q = wire::decode(length);
    REQUIRE(q.icrc->ok);
    CHECK(q.payload.size() == 301);
    CHECK(q.reth->dma_length == 0);
  }
}

TEST_CASE("frames that a switch sends back go to the sender, trimmed, as it says", "[tb][link][A-80]") {
  Scenario s;
  s.link = {.loss = 0.2, .trim = 0.5, .return_share = 0.5, .return_swap = 0.3, .return_marked = 0.4};
  s.trim_size = 206;
  Link link(kTiny, s, 7, true);
  link.return_code(33);
  constexpr unsigned kFrames = 4000;
  const auto whole = write_frame(true, true, 1024);
  for (unsigned i = 0; i < kFrames; ++i) {
    auto frame = std::make_unique<Frame>();
    frame->bytes = write_frame(true, true, 1024, i);
    frame->sent_ps = i * 1'000'000;
    link.transmit(std::move(frame));
    const unsigned fate = link.last_fate();
    CHECK((fate & (kFateReturned | kFateLost)) != (kFateReturned | kFateLost));
  }
  const LinkCounters& c = link.counters();
  CHECK(link.back().size() == c.returned);
  CHECK(c.returned > kFrames / 4);  // 0.5 of 0.2 + 0.8 x 0.5
  CHECK(c.returned < kFrames / 2);
  CHECK(link.out().size() + link.back().size() + c.lost == kFrames);
  unsigned swapped = 0, marked = 0;
  for (const FramePtr& f : link.back()) {
    CHECK(f->bytes.size() == 206);
    CHECK((f->fate & (kFateReturned | kFateTrimmed)) == (kFateReturned | kFateTrimmed));
    const FrameInfo info = look_at(f->bytes);
    CHECK((info.dscp == 33 || info.dscp == wire::kDscpTrimmed));
    marked += info.dscp == 33;
    const bool is = (f->fate & kFateSwapped) != 0;
    swapped += is;
    const unsigned at = info.inner + 8;
    CHECK(std::equal(&f->bytes[at], &f->bytes[at] + 16, &whole[at + (is ? 16 : 0)]));
    CHECK(f->arrive_ps >= f->sent_ps + static_cast<uint64_t>(s.delay_ns * 1000));  // not inside a time window
  }
  CHECK(swapped > c.returned / 5);
  CHECK(swapped < c.returned / 2);
  CHECK(marked > c.returned / 4);
  CHECK(marked < 3 * c.returned / 5);
}

TEST_CASE("a packet that never arrives is lost whenever it is sent", "[tb][link][never_arrive]") {
  Scenario s;
  s.never_arrive = 0.05;
  Link link(kTiny, s, 7, true);
  constexpr unsigned kPsns = 2000;
  unsigned lost = 0;
  for (uint32_t psn = 0; psn < kPsns; ++psn) {
    unsigned copies = 0;
    for (unsigned copy = 0; copy < 3; ++copy) {
      auto frame = std::make_unique<Frame>();
      frame->bytes = write_frame(copy == 1, true, 64, psn);
      frame->plane = static_cast<uint8_t>(copy % 2);
      link.transmit(std::move(frame));
      copies += (link.last_fate() & kFateLost) != 0;
    }
    CHECK((copies == 0 || copies == 3));
    lost += copies == 3;
  }
  CHECK(lost > 60);
  CHECK(lost < 140);
  CHECK(link.counters().data_lost == 3 * lost);
}

TEST_CASE("flipped bits are seen by the ICRC or change nothing that it covers", "[tb][link][corrupt]") {
  Rng rng(1, "test");
  const auto whole = write_frame(true, false, 300);
  unsigned by_icrc = 0;
  for (unsigned i = 0; i < 2000; ++i) {
    auto bad = whole;
    corrupt_frame(bad, rng);
    REQUIRE(bad.size() == whole.size());
    REQUIRE(bad != whole);
    const wire::Packet p = wire::decode(bad);
    by_icrc += p.error && p.error->code == wire::ErrorCode::BadIcrc;
    if (p.error || p.trimmed()) continue;
    // Nothing found: only variant fields, outer header or Ethernet were hit.
    for (unsigned at = 54 + 48 + 12; at < whole.size(); ++at) REQUIRE(bad[at] == whole[at]);
  }
  CHECK(by_icrc > 1000);
}

TEST_CASE("a quarter of the corrupt frames fail in the top byte of the residue only", "[tb][link][corrupt]") {
  Rng rng(2, "test");
  const auto whole = write_frame(false, false, 64);
  unsigned top_only = 0;
  for (unsigned i = 0; i < 1000; ++i) {
    auto bad = whole;
    corrupt_frame(bad, rng);
    uint32_t crc = 0xDEBB20E3;
    auto masked = std::vector<uint8_t>(bad.begin() + 14, bad.end());
    masked[0] |= 0x0f;
    for (const unsigned at : {1, 2, 3, 7, 46, 47, 52}) masked[at] = 0xff;
    for (const uint8_t byte : masked) {
      crc ^= byte;
      for (unsigned b = 0; b < 8; ++b) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    top_only += (crc ^ 0xDEBB20E3) != 0 && ((crc ^ 0xDEBB20E3) & 0xffffff) == 0;
  }
  CHECK(top_only > 150);
  CHECK(top_only < 350);
}

TEST_CASE("rogue copies differ from the original in what a receiver must check", "[tb][link][rogue]") {
  Rng rng(3, "test");
  const auto whole = write_frame(true, true, 300, 77, wire::Opcode::WriteOnly);
  unsigned right_icrc = 0, made = 0, other_port = 0;
  for (unsigned i = 0; i < 1000; ++i) {
    auto copy = whole;
    if (!make_rogue(copy, kTiny.num_qps, wire::kDscpTrimmed, rng, false)) continue;
    ++made;
    REQUIRE(copy != whole);
    REQUIRE(copy.size() >= kMinFrameBytes - kFcsBytes);
    const wire::Packet p = wire::decode(copy);
    if (p.error) continue;
    ++right_icrc;
    const bool outside = p.bth->psn != 77 && ((p.bth->psn - 77) & 0xffffff) >= 0x2000;
    const bool foreign = p.bth->p_key != 0x1234 || p.bth->dqp < 16 || p.bth->dqp >= 20;
    const bool unfit = p.payload.size() > 4096 || p.bth->opcode < 0xC6 || p.bth->opcode > 0xCB ||
                       (p.bth->opcode <= 0xC7 && (p.payload.size() & (p.payload.size() - 1)));
    const bool duplicate = p.udp->dst_port == wire::kUdpPort;  // taken as well, unless a setting says no
    REQUIRE((outside || foreign || unfit || duplicate));
    if (!duplicate) continue;
    ++other_port;
    REQUIRE(wire::decode(copy, {.udp_port_only = true}).error);
  }
  CHECK(other_port > 30);
  CHECK(made > 900);
  CHECK(right_icrc > 300);
}

TEST_CASE("what a link changes has a right ICRC from the outer header on, if that is where it starts",
          "[tb][link][A-14]") {
  wire::Packet sack = wire::make_packet(wire::Opcode::Sack, wire::Encapsulation::Srv6Srh, false);
  auto penalized = wire::encode(sack, kOuter);
  penalize(penalized, 5, true);
  CHECK_FALSE(wire::decode(penalized, kOuter).error);
  CHECK(wire::decode(penalized).error->code == wire::ErrorCode::BadIcrc);
  const auto whole = write_frame(true, true, 301, 77, wire::Opcode::WriteOnly, kOuter);
  auto empty = whole;
  REQUIRE(empty_write(empty, true));
  CHECK_FALSE(wire::decode(empty, kOuter).error);
  CHECK(wire::decode(empty).error->code == wire::ErrorCode::BadIcrc);
  Rng rng(4, "test");
  unsigned right_icrc = 0, only_icrc = 0;
  for (unsigned i = 0; i < 1000; ++i) {
    auto copy = whole;
    if (!make_rogue(copy, kTiny.num_qps, wire::kDscpTrimmed, rng, true)) continue;
    const wire::Packet p = wire::decode(copy, kOuter);
    if (p.trimmed()) continue;
    right_icrc += !p.error;
    only_icrc += p.error && p.error->code == wire::ErrorCode::BadIcrc;
  }
  CHECK(right_icrc > 300);
  CHECK(only_icrc == 0);
}

TEST_CASE("routers change what no ICRC covers, and only behind an outer header", "[tb][link][A-14]") {
  const auto plain = write_frame(false, true, 300);
  auto same = plain;
  route_frame(same);
  CHECK(same == plain);
  for (const auto encapsulation : {wire::Encapsulation::Srv6, wire::Encapsulation::Srv6Srh}) {
    for (const bool outer : {false, true}) {
      const wire::WireConfig config{.icrc_outer = outer};
      wire::Packet p = wire::make_packet(wire::Opcode::Sack, encapsulation, false);
      p.outer_ipv6->dst = {0x20, 1, 0x10, 0, 0x51, 2, 0x53, 4, 0x55, 6, 0x57, 8, 0x59, 10, 0x5b, 12};
      p.outer_ipv6->flow_label = 0x12345;
      if (p.srh) {
        p.srh->segments_left = 1;
        p.srh->segment = {0xfd, 1, 2, 3};
      }
      wire::complete(p);
      auto frame = wire::encode(p, config);
      route_frame(frame);
      const wire::Packet q = wire::decode(frame, config);
      CHECK_FALSE(q.error);
      CHECK(q.outer_ipv6->hop_limit == 63);
      CHECK(q.outer_ipv6->flow_label == 0xedcba);
      CHECK(q.ipv6 == p.ipv6);
      if (p.srh) {
        CHECK(q.srh->segments_left == 0);
        CHECK(q.outer_ipv6->dst == p.srh->segment);
      } else {
        CHECK(q.outer_ipv6->dst ==
              std::array<uint8_t, 16>{0x20, 1, 0x10, 0, 0x53, 4, 0x55, 6, 0x57, 8, 0x59, 10, 0x5b, 12});
      }
    }
  }
}

TEST_CASE("a link does what its probabilities say, the same for the same seed", "[tb][link]") {
  Scenario s;
  s.link = {.loss = 0.1,
            .trim = 0.2,
            .lasthop = 0.5,
            .ecn = 0.3,
            .corrupt = 0.05,
            .duplicate = 0.05,
            .rogue = 0,
            .reorder = 0.1};
  s.delay_ns = 700;
  const auto run = [&](uint64_t seed) {
    Link link(kTiny, s, seed, true);
    for (unsigned i = 0; i < 5000; ++i) {
      auto frame = std::make_unique<Frame>();
      frame->bytes = write_frame(false, true, 100, i);
      frame->sent_ps = i * 100000;
      link.transmit(std::move(frame));
    }
    const LinkCounters& c = link.counters();
    CHECK(c.frames == 5000);
    CHECK((c.lost > 400 && c.lost < 600));
    CHECK((c.trimmed > 750 && c.trimmed < 1050));
    CHECK((c.marked > 1150 && c.marked < 1550));
    CHECK((c.corrupt > 150 && c.corrupt < 320));
    CHECK((c.duplicates > 150 && c.duplicates < 320));
    CHECK(link.out().size() == 5000 - c.lost + c.duplicates);
    uint64_t hash = 0;
    for (const FramePtr& f : link.out()) {
      // Never before it has been sent whole and has crossed the link: the time windows of a run rest on this.
      CHECK(f->arrive_ps >= f->sent_ps + 700000 + (8 + f->bytes.size()) * 80);
      for (const uint8_t b : f->bytes) hash = hash * 31 + b;
      hash = hash * 31 + f->arrive_ps;
    }
    return hash;
  };
  CHECK(run(1) == run(1));
  CHECK(run(1) != run(2));
}

TEST_CASE("a rule changes the link for its planes and entropy values only", "[tb][link]") {
  Scenario s;
  s.rules.push_back({.planes = 2, .what = {.loss = 1}});
  s.rules.push_back({.ev_share = 0.25, .what = {.loss = 1}});
  Link link(kTiny, s, 1, false);
  unsigned lost[2] = {0, 0};
  for (unsigned i = 0; i < 2000; ++i) {
    auto frame = std::make_unique<Frame>();
    frame->bytes = write_frame(false, false, 10);
    frame->bytes[14 + 40] = static_cast<uint8_t>(i);  // UDP source port: part of the entropy value
    frame->bytes[14 + 41] = static_cast<uint8_t>(i >> 8);
    frame->plane = i & 1;
    link.transmit(std::move(frame));
    lost[i & 1] += link.last_fate() == kFateLost;
  }
  CHECK(lost[1] == 1000);
  CHECK(lost[0] > 180);
  CHECK(lost[0] < 320);
}

}  // namespace mrc::test::link_test
