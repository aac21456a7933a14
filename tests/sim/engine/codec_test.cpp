// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/codec.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "util/rng.hpp"
#include "wire/decode.hpp"

namespace mrc::test::codec_test {

using namespace mrc::sim;

namespace {
PacketPtr sample(PacketPool& pool, Stack stack, uint8_t opcode, bool ts, Rng& rng) {
  PacketPtr p = pool.make();
  const auto bits = [&](unsigned n) { return rng.below(uint64_t{1} << n); };
  p->stack = stack;
  p->opcode = opcode;
  p->bth = (bits(2) | (ts ? unsigned{kBthTs} : 0u)) & 31;
  p->dscp = wire::kDscpTrimmable;
  p->ecn = 2;
  p->entropy = static_cast<uint32_t>(bits(32));
  if (stack == Stack::Ipv4) p->entropy &= 0xffff0000;
  p->src = static_cast<uint32_t>(bits(32));
  p->dst_host = static_cast<uint32_t>(bits(32));
  p->dqp = static_cast<uint32_t>(bits(24));
  p->psn = static_cast<uint32_t>(bits(24));
  p->tx_timestamp = 0;
  p->dst = host_address(p->dst_host);
  if (stack == Stack::Srv6 || stack == Stack::Srv6Srh) p->dst = {0x2001100001000200u, bits(63)};
  if (stack == Stack::Srv6Srh) {
    p->segments_left = 1;
    pool.attach(*p).segment = {0x2001100003000400u, bits(63)};
  }
  p->payload = 0;
  if (!wire::opcode_info(opcode)->payload && opcode != 0xd1) p->tx_timestamp = static_cast<uint16_t>(bits(16));
  switch (opcode) {
    case 0xdc:
      p->sack = {bits(63),
                 static_cast<uint32_t>(bits(32)),
                 static_cast<uint32_t>(bits(24)),
                 static_cast<uint32_t>(bits(24)),
                 static_cast<int16_t>(bits(15)),
                 static_cast<int16_t>(-5),
                 static_cast<uint16_t>(bits(15)),
                 1,
                 1,
                 8,
                 3,
                 77,
                 1};
      break;
    case 0xd1:
      p->sack = {};
      p->sack.m = 0x1f;
      p->sack.cack_psn = static_cast<uint32_t>(bits(24));
      break;
    case 0xdd:
      p->nack = {static_cast<uint32_t>(bits(32)), static_cast<uint32_t>(bits(24)), 1, 2};
      break;
    case 0xde:
      p->probe = {0, static_cast<uint16_t>(bits(16)), 0};
      break;
    case 0xd8:
      p->probe = {static_cast<uint32_t>(bits(32)), 0, 1};
      break;
    case 0xd9:
      p->probe = {0, 0, 1};
      break;
    default:
      p->payload = static_cast<uint16_t>(1 + rng.below(4096));
      p->data = {bits(63), static_cast<uint32_t>(bits(32)), static_cast<uint32_t>(bits(31)),
                 0,        static_cast<uint16_t>(bits(16)), static_cast<uint16_t>(bits(16)),
                 0};
      if (opcode == 0xc9 || opcode == 0xcb) p->data.imm = static_cast<uint32_t>(bits(32));
      if (ts) p->tx_timestamp = static_cast<uint16_t>(bits(16));
  }
  p->size = static_cast<uint16_t>(frame_size(stack, opcode, ts, p->payload));
  return p;
}
constexpr uint8_t kOpcodes[] = {0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0xd1, 0xd8, 0xd9, 0xdc, 0xdd, 0xde};
bool same(const Packet& a, const Packet& b) {
  if (a.opcode != b.opcode || a.bth != b.bth || a.entropy != b.entropy || a.src != b.src || a.dst_host != b.dst_host ||
      a.dqp != b.dqp || a.psn != b.psn || !(a.dst == b.dst) || a.dscp != b.dscp || a.ecn != b.ecn || a.size != b.size ||
      a.hop_limit != b.hop_limit || a.stack != b.stack || a.segments_left != b.segments_left ||
      a.tx_timestamp != b.tx_timestamp || a.payload != b.payload) {
    return false;
  }
  if (a.stack == Stack::Srv6Srh && !(a.attachment()->segment == b.attachment()->segment)) return false;
  switch (a.opcode) {
    case 0xdc:
      return a.sack.bitmap == b.sack.bitmap && a.sack.entropy == b.sack.entropy && a.sack.cack_psn == b.sack.cack_psn &&
             a.sack.rcvd_bytes == b.sack.rcvd_bytes && a.sack.ack_psn_offset == b.sack.ack_psn_offset &&
             a.sack.sack_offset == b.sack.sack_offset && a.sack.ooo_count == b.sack.ooo_count && a.sack.m == b.sack.m &&
             a.sack.pr == b.sack.pr && a.sack.mpr == b.sack.mpr && a.sack.cc_flags == b.sack.cc_flags &&
             a.sack.rcv_cwnd_pen == b.sack.rcv_cwnd_pen && a.sack.restore_cwnd == b.sack.restore_cwnd;
    case 0xd1:
      return a.sack.m == b.sack.m && a.sack.cack_psn == b.sack.cack_psn;
    case 0xdd:
      return a.nack.entropy == b.nack.entropy && a.nack.nack_psn == b.nack.nack_psn && a.nack.reason == b.nack.reason &&
             a.nack.cc_flags == b.nack.cc_flags;
    case 0xde:
    case 0xd8:
    case 0xd9:
      return a.probe.port_status_mask == b.probe.port_status_mask && a.probe.probe_id == b.probe.probe_id &&
             a.probe.op == b.probe.op;
    default:
      return a.data.va == b.data.va && a.data.rkey == b.data.rkey && a.data.dma_length == b.data.dma_length &&
             a.data.msn == b.data.msn && a.data.rqmsn == b.data.rqmsn &&
             (a.data.imm == b.data.imm || (a.opcode != 0xc9 && a.opcode != 0xcb));
  }
}
}  // namespace

TEST_CASE("sizes are those of the arithmetic", "[sim][codec]") {
  // base.md "800G": wire bytes less 24 (preamble 8, gap 12, FCS 4)
  CHECK(frame_size(Stack::Srv6, 0xc7, false, 4096) == 4258 - 24);
  CHECK(frame_size(Stack::Srv6, 0xc7, true, 4096) == 4262 - 24);
  CHECK(frame_size(Stack::Srv6, 0xc7, false, 64) == 226 - 24);
  CHECK(frame_size(Stack::Srv6, 0xdc, false, 0) == 178 - 24);
  CHECK(frame_size(Stack::Srv6, 0xca, false, 1) == frame_size(Stack::Srv6, 0xca, false, 4));
}

TEST_CASE("fields survive the way through a valid frame", "[sim][codec]") {
  PacketPool pool;
  Rng rng(1, "codec");
  const Stack stack = GENERATE(Stack::Ipv4, Stack::Ipv6, Stack::Srv6, Stack::Srv6Srh);
  for (const uint8_t opcode : kOpcodes) {
    for (const bool ts : {false, true}) {
      if (ts && opcode > 0xcb) continue;
      for (unsigned i = 0; i < 20; ++i) {
        CAPTURE(stack, opcode, ts, i);
        const PacketPtr p = sample(pool, stack, opcode, ts, rng);
        REQUIRE(give_frame(pool, *p));
        REQUIRE(frame_of(*p).size() == p->size);
        const wire::Packet w = wire::decode(frame_of(*p));
        REQUIRE_FALSE(w.error);
        REQUIRE(w.icrc->ok);
        const PacketPtr q = pool.from_frame(frame_of(*p));
        REQUIRE(same(*p, *q));
      }
    }
  }
}

TEST_CASE("a packet trimmed as fields gives the bytes of a frame that was trimmed", "[sim][codec][trim]") {
  PacketPool pool;
  Rng rng(1, "codec");
  const Stack stack = GENERATE(Stack::Ipv4, Stack::Ipv6, Stack::Srv6, Stack::Srv6Srh);
  const unsigned size = GENERATE(128u, 206u, 256u, 4084u);
  const bool lengths = GENERATE(false, true);
  const PacketPtr fields = sample(pool, stack, 0xc7, true, rng);
  fields->payload = 4096;
  fields->size = static_cast<uint16_t>(frame_size(stack, 0xc7, true, 4096));
  const PacketPtr bytes = copy(pool, *fields);
  REQUIRE(give_frame(pool, *bytes));
  for (const PacketPtr* p : {&fields, &bytes}) {
    --(*p)->hop_limit;
    sync_forwarding(**p);
    mark_ce(**p);
    trim(**p, size, wire::kDscpTrimmed, lengths);
  }
  REQUIRE(give_frame(pool, *fields));
  const auto a = frame_of(*fields), b = frame_of(*bytes);
  CHECK(a.size() == size);
  CHECK(std::vector<uint8_t>(a.begin(), a.end()) == std::vector<uint8_t>(b.begin(), b.end()));
  CHECK(wire::decode(a).trimmed());
  for (const PacketPtr* p : {&fields, &bytes}) {
    CHECK((*p)->trimmed);
    CHECK((*p)->attachment()->full_size == frame_size(stack, 0xc7, true, 4096));
  }
}

TEST_CASE("a fabric may trim to the code point of what is not trimmed", "[sim][codec][trim]") {
  PacketPool pool;
  Rng rng(1, "codec");
  const Stack stack = GENERATE(Stack::Ipv4, Stack::Ipv6, Stack::Srv6, Stack::Srv6Srh);
  FrameContext context;
  context.wire.dscp.trimmed_lasthop = context.wire.dscp.no_trim;
  const PacketPtr p = sample(pool, stack, 0xc7, true, rng);
  REQUIRE(p->dscp != context.wire.dscp.no_trim);
  REQUIRE(give_frame(pool, *p, context));
  CHECK(frame_of(*p).size() == p->size);
  const wire::Packet w = wire::decode(frame_of(*p), context.wire);
  CHECK_FALSE(w.error);
  CHECK(w.icrc->ok);
}

TEST_CASE("what is no packet of MRC gets no frame", "[sim][codec]") {
  PacketPool pool;
  const PacketPtr p = pool.make();
  p->opcode = 0x0a;
  p->stack = Stack::Ipv6;
  CHECK_FALSE(give_frame(pool, *p));
  p->opcode = 0xc7;
  p->stack = Stack::Other;
  CHECK_FALSE(give_frame(pool, *p));
  CHECK_FALSE(has_bytes(*p));
}

}  // namespace mrc::test::codec_test
