// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <set>

#include "gen/streams.hpp"
#include "tests/wire/samples.hpp"
#include "wire/decode.hpp"

namespace mrc::test::codec_test {

using namespace mrc::wire;
using mrc::test::hex;

namespace {

template <class Header>
std::vector<uint8_t> written(const Header& header) {
  std::vector<uint8_t> out(Header::kBytes, 0xEE);
  header.write(out.data());
  return out;
}

/// Field values bit by bit from HeaderField, independent of read().
uint64_t bits_of(const std::vector<uint8_t>& bytes, const HeaderField& field) {
  uint64_t value = 0;
  for (unsigned i = 0; i < field.width; ++i) {
    const unsigned at = field.bit_offset + i;
    value = value << 1 | (bytes[at / 8] >> (7 - at % 8) & 1u);
  }
  return value;
}

}  // namespace

TEST_CASE("BTH has its fields where the specification puts them", "[wire.codec.bth]") {
  Bth h;
  h.opcode = 0xCA;
  h.se = 1;
  h.pad_count = 2;
  h.tver = 3;
  h.p_key = 0xFFFE;
  h.reserved4 = 0x5A;
  h.dqp = 0x123456;
  h.a = 1;
  h.rtx = 1;
  h.psn = 0xABCDEF;
  CHECK(written(h) == hex("ca 63 fffe 5a 123456 a0 abcdef"));
  h.a = 0;
  h.rtx = 0;
  h.ts = 1;
  h.se = 0;
  h.m = 1;
  CHECK(written(h) == hex("ca a3 fffe 5a 123456 10 abcdef"));
}

TEST_CASE("extension headers have their fields where the specification puts them", "[wire.codec.ext]") {
  CHECK(written(Meth{.rqmsn = 0x1234, .msn = 0x5678}) == hex("1234 5678"));
  CHECK(written(Tseth{.tx_timestamp16 = 0xBEEF, .tsr = 1, .ftype = 1}) == hex("beef 8001"));
  CHECK(written(Reth{.va = 0x0102030405060708, .r_key = 0xCAFE0001, .dma_length = 0x00001000}) ==
        hex("0102030405060708 cafe0001 00001000"));
  CHECK(written(Immdt{.value = 0xDEADBEEF}) == hex("deadbeef"));
  CHECK(written(Aeth{.syndrome = 0x1F, .msn = 0x000007}) == hex("1f 000007"));
  Seth s;
  s.m = 1;
  s.pr = 1;
  s.ack_psn_offset = -2;
  s.entropy = 0xC0001234;
  s.spdcid = 0x0011;
  s.dpdcid = 0x0022;
  s.cack_psn = 0x00FFFE;
  s.cc_type = 0;
  s.cc_flags = 5;
  s.mpr = 8;
  s.sack_offset = 1;
  s.sack_bitmap = 0x8000000000000001;
  CHECK(written(s) == hex("0022 fffe c0001234 0011 0022 00 00fffe 05 08 0001 8000000000000001"));
  CHECK(written(CcState{.tx_timestamp16 = 0x0102,
                        .ooo_count = 0x7FFF,
                        .restore_cwnd = 1,
                        .rcv_cwnd_pen = 3,
                        .rcvd_bytes = 0x00ABCD}) == hex("0102 7fff 83 00abcd"));
  Neth n;
  n.reason = 1;
  n.vendor_info = 0x77;
  n.entropy = 0x01020304;
  n.spdcid = 0x0506;
  n.dpdcid = 0x0708;
  n.nack_psn = 0x0A0B0C;
  n.cc_type = 2;
  n.cc_flags = 1;
  n.tx_timestamp16 = 0x1314;
  CHECK(written(n) == hex("0000 01 77 01020304 0506 0708 00 0a0b0c 21 00 1314"));
  Peth p;
  p.vendor_info = 1;
  p.probe_id = 0x0203;
  p.spdcid = 0x0405;
  p.dpdcid = 0x0607;
  p.tx_timestamp16 = 0x0809;
  p.tsr = 1;
  p.ftype = 1;
  CHECK(written(p) == hex("000000 01 0203 0000 0405 0607 0809 8001"));
  Erth r;
  r.op = 1;
  r.vendor_info = 2;
  r.port_status_mask = 0x000001FE;
  r.tx_timestamp16 = 0x1122;
  r.ftype = 1;
  CHECK(written(r) == hex("00 01 00 02 000001fe 00000000 1122 0001"));
  Eeth e;
  e.op = 1;
  e.tx_timestamp16 = 0x3344;
  CHECK(written(e) == hex("00 04 " + std::string(52, '0') + " 3344 000000000000"));
}

TEST_CASE("network headers have their fields where the specification puts them", "[wire.codec.ip]") {
  Ipv6 h;
  h.version = 6;
  h.dscp = 46;
  h.ecn = 3;
  h.flow_label = 0x12345;
  h.payload_length = 56;
  h.next_header = 17;
  h.hop_limit = 64;
  h.src[15] = 1;
  h.dst[0] = 0xFD;
  CHECK(written(h) == hex("6bb12345 0038 11 40 00000000000000000000000000000001 fd000000000000000000000000000000"));
  Srh s;
  s.next_header = 41;
  s.hdr_ext_len = 2;
  s.routing_type = 4;
  s.segments_left = 1;
  s.segment[0] = 0x20;
  CHECK(written(s) == hex("29 02 04 01 00 00 0000 20000000000000000000000000000000"));
}

TEST_CASE("reading finds what writing put, field by field", "[wire.codec.roundtrip]") {
  std::mt19937 rng(11);
  std::set<std::string> seen;
  for (const OpcodeInfo& info : kOpcodes) {
    for (const Encapsulation encapsulation : mrc::test::kEncapsulations) {
      const Packet p = mrc::test::random_packet(info.opcode, encapsulation, true, rng);
      const auto check = [&](const auto& header) {
        if (!header) return;
        using Header = std::decay_t<decltype(*header)>;
        seen.insert(Header::kName);
        const auto bytes = written(*header);
        CHECK(Header::read(bytes.data()) == *header);
        Header::visit(*header, [&](const HeaderField& field, const auto& value) {
          if constexpr (std::is_integral_v<std::decay_t<decltype(value)>>) {
            const uint64_t mask = field.width == 64 ? ~uint64_t{0} : (uint64_t{1} << field.width) - 1;
            CHECK(bits_of(bytes, field) == (static_cast<uint64_t>(value) & mask));
          }
        });
      };
      check(p.eth);
      check(p.outer_ipv6);
      check(p.srh);
      check(p.ipv6);
      check(p.ipv4);
      check(p.udp);
      check(p.bth);
      Extensions::visit(p, check);
    }
  }
  CHECK(seen.size() == 17);
}

TEST_CASE("every opcode in every encapsulation survives encode, decode, encode", "[wire.codec.roundtrip]") {
  std::mt19937 rng(12);
  for (const OpcodeInfo& info : kOpcodes) {
    for (const Encapsulation encapsulation : mrc::test::kEncapsulations) {
      for (const bool timestamp : {false, true}) {
        const Packet p = mrc::test::random_packet(info.opcode, encapsulation, timestamp, rng);
        const auto frame = encode(p);
        const Packet q = decode(frame);
        CHECK_FALSE(q.error);
        CHECK(encode(q) == frame);
        CHECK(q.payload == p.payload);
        CHECK(static_cast<const Extensions&>(q) == static_cast<const Extensions&>(p));
        CHECK(q.bth == p.bth);
        CHECK(q.tseth.has_value() == (timestamp && info.timestamp));
      }
    }
  }
}

TEST_CASE("header sizes add up to the line rate check", "[wire.codec.size]") {
  Packet p = make_packet(Opcode::WriteOnly, Encapsulation::Srv6);
  p.payload.resize(4096);
  complete(p);
  CHECK(encode(p).size() + 4 + 8 + 12 == 4258);  // FCS, preamble, gap
  Packet sack = make_packet(Opcode::Sack, Encapsulation::Srv6);
  CHECK(encode(sack).size() + 24 == 178);
}

TEST_CASE("payload is padded to four bytes", "[wire.codec.pad]") {
  for (size_t size = 1; size <= 8; ++size) {
    Packet p = make_packet(Opcode::WriteOnly, Encapsulation::Ipv6);
    p.payload.assign(size, 0x55);
    complete(p);
    CHECK(p.bth->pad_count == (4 - size % 4) % 4);
    const Packet q = decode(encode(p));
    CHECK_FALSE(q.error);
    CHECK(q.payload == p.payload);
    CHECK(q.padding.size() == p.bth->pad_count);
  }
}

TEST_CASE("the entropy value is in source port and flow label, both orders", "[wire.codec.entropy][A-03]") {
  Packet p = make_packet(Opcode::WriteOnly, Encapsulation::Srv6);
  p.ipv6->flow_label = 0xA0000;  // the top four bits are not part of it
  p.set_entropy(0x12345678);
  CHECK(p.udp->src_port == 0x1234);
  CHECK(p.ipv6->flow_label == 0xA5678);
  CHECK(p.entropy() == 0x12345678);
  const WireConfig swapped{.ev_swap = true};
  p.set_entropy(0x12345678, swapped);
  CHECK(p.udp->src_port == 0x5678);
  CHECK(p.ipv6->flow_label == 0xA1234);
  CHECK(p.entropy(swapped) == 0x12345678);
  Packet v4 = make_packet(Opcode::WriteOnly, Encapsulation::Ipv4);
  v4.set_entropy(0x12345678);
  CHECK(v4.entropy() == 0x12340000);
}

TEST_CASE("both settings of every open choice of the format work", "[wire.codec.choice]") {
  Packet p = make_packet(Opcode::WriteOnly, Encapsulation::Ipv6);
  p.bth->se = 1;
  p.bth->m = 0;
  complete(p);
  CHECK(encode(p)[62 + 1] == 0x40);  // M in bit 7, SE in bit 6
  const WireConfig se_first{.bth_se_first = true};
  CHECK(encode(p, se_first)[62 + 1] == 0x80);
  CHECK(decode(encode(p, se_first), se_first).bth->se == 1);

  Packet e = make_packet(Opcode::EndpointResponse, Encapsulation::Ipv6);
  e.eeth->op = 1;
  CHECK(encode(e)[62 + 12 + 1] == 0x04);
  const WireConfig high{.eeth_op_high = true};
  CHECK(encode(e, high)[62 + 12 + 1] == 0x10);
  CHECK(decode(encode(e, high), high).eeth->op == 1);
  CHECK(encode(decode(encode(e), high), high) == encode(e));

  // Where the ICRC of an SRv6 packet starts; nothing else of the frame depends on it.
  const Packet s = make_packet(Opcode::Ack, Encapsulation::Srv6);
  const WireConfig outer{.icrc_outer = true};
  CHECK(encode(s, outer) != encode(s));
  CHECK_FALSE(decode(encode(s, outer), outer).error);
  CHECK(decode(encode(s, outer)).error->code == ErrorCode::BadIcrc);

  // UDP ports: the one that is set, 4791 and 4971, or the one that is set alone.
  for (const unsigned sent : {4791u, 4971u, 9000u, 4790u}) {
    const Packet other =
        make_packet(Opcode::Ack, Encapsulation::Ipv4, false, {.udp_port = static_cast<uint16_t>(sent)});
    CHECK(other.udp->dst_port == sent);
    for (const unsigned own : {4791u, 4971u, 9000u}) {
      for (const bool only : {false, true}) {
        CAPTURE(sent, own, only);
        const Packet back = decode(encode(other), {.udp_port = static_cast<uint16_t>(own), .udp_port_only = only});
        const bool ours = sent == own || (!only && (sent == 4791 || sent == 4971));
        CHECK(back.error.has_value() == !ours);
        if (back.error) CHECK(*back.error == DecodeError{ErrorCode::NotMrc, 36, "udp", sent, own});
      }
    }
  }
}

TEST_CASE("code points follow the kind of packet", "[wire.codec.dscp][A-04]") {
  const DscpMap map;
  CHECK(default_dscp(0xCA, false, map) == 4);
  CHECK(default_dscp(0xCA, true, map) == 8);
  CHECK(default_dscp(0xDC, false, map) == 46);
  CHECK(default_dscp(0xD1, false, map) == 46);
  CHECK(default_dscp(0xD9, false, map) == 46);
  CHECK(default_dscp(0xDE, false, map) == 4);
  for (unsigned dscp = 0; dscp < 64; ++dscp) {
    const DscpClass c = classify(static_cast<uint8_t>(dscp), map);
    CHECK((c == DscpClass::Trimmed) == (dscp == 12));
    CHECK((c == DscpClass::TrimmedLasthop) == (dscp == 16));
    CHECK((c == DscpClass::Control) == (dscp == 46));
  }
  CHECK(classify(33, DscpMap{.trimmed = 33}) == DscpClass::Trimmed);
}

TEST_CASE("a packet that a switch has sent back is told by the code point that the operator gave it",
          "[wire.codec.dscp][A-80]") {
  for (unsigned dscp = 0; dscp < 64; ++dscp) {
    CHECK(classify(static_cast<uint8_t>(dscp), {}) != DscpClass::Returned);
    CHECK((classify(static_cast<uint8_t>(dscp), DscpMap{.returned = 11}) == DscpClass::Returned) == (dscp == 11));
  }
  // It may be that of other trimmed packets: then all of them count as sent back.
  CHECK(classify(12, DscpMap{.returned = 12}) == DscpClass::Returned);
  const WireConfig config{.dscp = {.returned = 11}};
  Packet p = make_packet(Opcode::WriteOnly, Encapsulation::Srv6, false, config);
  p.outer_ipv6->dscp = 11;
  const Packet back = decode(encode(p, config), config);
  CHECK_FALSE(back.error);
  CHECK(back.trimmed());
  CHECK_FALSE(back.icrc);
  CHECK(back.reth);
  CHECK(decode(encode(p, config)).error);  // for others it is data without an ICRC
}

TEST_CASE("structs between blocks survive pack, unpack, pack", "[wire.gen.pack]") {
  std::mt19937 rng(13);
  unsigned count = 0;
  mrc::visit_structs([&]<class Struct>() {
    ++count;
    for (int round = 0; round < 20; ++round) {
      uint32_t words[Struct::kWords], again[Struct::kWords];
      for (auto& word : words) word = static_cast<uint32_t>(rng());
      if (Struct::kBits % 32) words[Struct::kWords - 1] &= (1u << Struct::kBits % 32) - 1;
      const Struct value = Struct::unpack(words);
      value.pack(again);
      CHECK(std::equal(words, words + Struct::kWords, again));
      CHECK(Struct::unpack(again) == value);
    }
    unsigned bits = 0;
    for (const mrc::FieldInfo& field : Struct::kFields) bits += field.width;
    CHECK(bits == Struct::kBits);
  });
  CHECK(count > 0);
}

}  // namespace mrc::test::codec_test
