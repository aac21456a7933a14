// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <random>

#include "tests/wire/samples.hpp"
#include "wire/decode.hpp"
#include "wire/icrc.hpp"

namespace mrc::test::malformed_test {

using namespace mrc::wire;

namespace {

/// A WRITE Only of 8 bytes: eth 0, ipv6 14, udp 54, bth 62, meth 74, reth 78, payload 94, icrc 102.
Packet write_packet(Encapsulation encapsulation = Encapsulation::Ipv6) {
  Packet p = make_packet(Opcode::WriteOnly, encapsulation);
  p.payload.assign(8, 0xA5);
  complete(p);
  return p;
}

DecodeError error_of(const std::vector<uint8_t>& frame) {
  const Packet p = decode(frame);
  REQUIRE(p.error);
  return *p.error;
}

void expect(const std::vector<uint8_t>& frame, ErrorCode code, size_t offset, const std::string& message) {
  const DecodeError e = error_of(frame);
  CHECK(name_of(e.code) == std::string(name_of(code)));
  CHECK(e.offset == offset);
  CHECK(e.message() == message);
}

}  // namespace

TEST_CASE("every header that is cut is named with the byte where the packet ends", "[wire.error.short]") {
  const auto frame = encode(write_packet());
  expect({frame.begin(), frame.begin() + 13}, ErrorCode::Short, 13,
         "the packet ends inside eth: 13 bytes there, 14 needed");
  expect({frame.begin(), frame.begin() + 20}, ErrorCode::Short, 20,
         "the packet ends inside ipv6: 6 bytes there, 40 needed");
  Packet p = write_packet();
  p.ipv6->payload_length = 5;
  expect(encode(p), ErrorCode::Short, 59, "the packet ends inside udp: 5 bytes there, 8 needed");
  p.ipv6->payload_length = p.udp->length = 8 + 15;
  expect(encode(p), ErrorCode::Short, 54 + 23, "the packet ends inside icrc: 15 bytes there, 16 needed");
  p.ipv6->payload_length = p.udp->length = 8 + 11;
  expect(encode(p), ErrorCode::Short, 54 + 19, "the packet ends inside bth: 11 bytes there, 16 needed");
  p.ipv6->payload_length = p.udp->length = 8 + 12 + 4 + 15 + 4;
  expect(encode(p), ErrorCode::Short, 54 + 39, "the packet ends inside reth: 15 bytes there, 16 needed");
}

TEST_CASE("lengths that lie are named with the field's byte", "[wire.error.length]") {
  Packet p = write_packet();
  p.ipv6->payload_length = 57;
  expect(encode(p), ErrorCode::BadLength, 18, "length in ipv6 says 57 bytes, the packet has 52");
  p = write_packet();
  p.udp->length = 48;
  expect(encode(p), ErrorCode::BadLength, 58, "length in udp says 48 bytes, the packet has 52");
  p.udp->length = 53;
  expect(encode(p), ErrorCode::BadLength, 58, "length in udp says 53 bytes, the packet has 52");
  p = write_packet(Encapsulation::Srv6);
  p.ipv6->payload_length = 51;
  expect(encode(p), ErrorCode::BadLength, 58, "length in ipv6 says 51 bytes, the packet has 52");
  p = write_packet(Encapsulation::Srv6);
  p.outer_ipv6->payload_length = 93;
  expect(encode(p), ErrorCode::BadLength, 18, "length in outer_ipv6 says 93 bytes, the packet has 92");
  p = make_packet(Opcode::Ack, Encapsulation::Ipv6);
  p.payload.assign(4, 0);
  p.bth->opcode = 0xCA;
  complete(p);
  p.bth->opcode = 0xD1;
  expect(encode(p), ErrorCode::BadLength, 78, "length in udp says 32 bytes, the packet has 28");
}

TEST_CASE("wrong code points are named", "[wire.error.value]") {
  Packet p = write_packet();
  p.eth->ethertype = 0x0806;
  expect(encode(p), ErrorCode::BadEthertype, 12, "ethertype 0x0806 is neither IPv4 nor IPv6");
  p = write_packet();
  p.ipv6->version = 4;
  expect(encode(p), ErrorCode::BadVersion, 14, "IP version 4 in ipv6, expected 6");
  p = write_packet(Encapsulation::Srv6);
  p.ipv6->version = 4;
  expect(encode(p), ErrorCode::BadVersion, 54, "IP version 4 in ipv6, expected 6");
  p = write_packet();
  p.ipv6->next_header = 6;
  expect(encode(p), ErrorCode::BadNextHeader, 20, "next header 6 after outer_ipv6, expected 17");
  p = write_packet(Encapsulation::Srv6);
  p.ipv6->next_header = 6;
  expect(encode(p), ErrorCode::BadNextHeader, 60, "next header 6 after ipv6, expected 17");
  p = write_packet(Encapsulation::Srv6Srh);
  p.srh->next_header = 17;
  expect(encode(p), ErrorCode::BadNextHeader, 54, "next header 17 after srh, expected 41");
  p = write_packet(Encapsulation::Srv6Srh);
  p.srh->routing_type = 3;
  expect(encode(p), ErrorCode::BadSrh, 56, "not a segment routing header with one segment: value 3, expected 4");
  p = write_packet(Encapsulation::Srv6Srh);
  p.srh->hdr_ext_len = 4;
  expect(encode(p), ErrorCode::BadSrh, 55, "not a segment routing header with one segment: value 4, expected 2");
  p = write_packet();
  p.udp->dst_port = 4790;
  expect(encode(p), ErrorCode::NotMrc, 56, "UDP destination port 4790, MRC is on 4971");
  p = write_packet();
  p.bth->tver = 1;
  expect(encode(p), ErrorCode::BadTver, 63, "transport version 1, expected 0");
  p = write_packet();
  p.bth->opcode = 0xCC;
  expect(encode(p), ErrorCode::UnknownOpcode, 62, "opcode 0xcc is not one of MRC's");
  p = write_packet();
  p.payload.resize(7);
  p.bth->pad_count = 0;
  p.ipv6->payload_length = p.udp->length = 51;
  expect(encode(p), ErrorCode::BadPad, 63, "pad count 0 does not fit the 7 bytes of payload and padding");
}

TEST_CASE("IPv4 is checked as far as MRC uses it", "[wire.error.ipv4]") {
  Packet p = write_packet(Encapsulation::Ipv4);
  p.ipv4->ihl = 6;
  expect(encode(p), ErrorCode::BadIhl, 14, "IPv4 header length 6 words, expected 5");
  p = write_packet(Encapsulation::Ipv4);
  p.ipv4->fragment_offset = 3;
  expect(encode(p), ErrorCode::Fragment, 20, "IPv4 fragment at offset 3");
  p = write_packet(Encapsulation::Ipv4);
  const uint16_t right = p.ipv4->checksum;
  p.ipv4->checksum ^= 1;
  const DecodeError e = error_of(encode(p));
  CHECK(e.code == ErrorCode::BadChecksum);
  CHECK(e.offset == 24);
  CHECK(e.want == right);
  p = write_packet(Encapsulation::Ipv4);
  p.ipv4->protocol = 6;
  CHECK(error_of(encode(p)).code == ErrorCode::BadChecksum);
}

TEST_CASE("a flipped bit under the ICRC is found and everything else still decoded", "[wire.error.icrc]") {
  const auto frame = encode(write_packet());
  for (size_t at = 94; at < frame.size(); ++at) {
    auto bad = frame;
    bad[at] ^= 0x10;
    const Packet p = decode(bad);
    REQUIRE(p.error);
    CHECK(p.error->code == ErrorCode::BadIcrc);
    CHECK(p.error->offset == 102);
    CHECK_FALSE(p.icrc->ok);
    CHECK(p.reth);
    CHECK(encode(p) == bad);
  }
}

TEST_CASE("bytes behind the IP packet are kept apart", "[wire.error.trailer]") {
  auto frame = encode(write_packet());
  frame.insert(frame.end(), {1, 2, 3});
  const Packet p = decode(frame);
  CHECK_FALSE(p.error);
  CHECK(p.trailer == std::vector<uint8_t>{1, 2, 3});
  CHECK(encode(p) == frame);
}

TEST_CASE("packets trimmed to any length decode what is left", "[wire.trim]") {
  std::mt19937 rng(21);
  for (const OpcodeInfo& info : kOpcodes) {
    if (!info.payload) continue;
    for (const Encapsulation encapsulation : mrc::test::kEncapsulations) {
      for (const bool timestamp : {false, true}) {
        for (const bool rewritten : {false, true}) {
          for (const bool last_hop : {false, true}) {
            const Packet whole = mrc::test::random_packet(info.opcode, encapsulation, timestamp, rng);
            Packet marked = whole;
            const uint8_t dscp = last_hop ? kDscpTrimmedLasthop : kDscpTrimmed;
            if (marked.outer_ipv6) {
              marked.outer_ipv6->dscp = dscp;  // the switch sees the outer header only
            } else if (marked.ipv6) {
              marked.ipv6->dscp = dscp;
            } else {
              marked.ipv4->dscp = dscp;
            }
            const size_t ip_end = 14u + (marked.outer_ipv6 ? 40u : marked.ipv6 ? 40u : 20u);
            const auto full = encode(whole);
            for (size_t size = ip_end; size <= full.size(); size += size < 170 ? 1 : 61) {
              Packet head = marked;
              if (rewritten) {
                const auto length = static_cast<uint16_t>(size - ip_end);
                if (head.outer_ipv6) {
                  head.outer_ipv6->payload_length = length;
                } else if (head.ipv6) {
                  head.ipv6->payload_length = length;
                } else {
                  head.ipv4->total_length = static_cast<uint16_t>(size - 14);
                }
              }
              if (head.ipv4) {
                const uint16_t length = head.ipv4->total_length;
                Packet only = head;  // complete() knows the checksum, but also sets the length
                head.ipv4->checksum = 0;
                uint8_t bytes[Ipv4::kBytes];
                head.ipv4->write(bytes);
                uint32_t sum = 0;
                for (unsigned i = 0; i < Ipv4::kBytes; i += 2)
                  sum += static_cast<uint32_t>(bytes[i] << 8 | bytes[i + 1]);
                while (sum >> 16) sum = (sum & 0xFFFF) + (sum >> 16);
                head.ipv4->checksum = static_cast<uint16_t>(~sum);
                head.ipv4->total_length = length;
              }
              head.payload.clear();
              head.padding.clear();
              auto frame = full;
              const auto start = encode(head);
              std::copy_n(start.begin(), ip_end, frame.begin());
              frame.resize(size);

              const Packet p = decode(frame);
              REQUIRE_FALSE(p.error);
              CHECK(p.trimmed());
              CHECK((p.dscp_class == DscpClass::TrimmedLasthop) == last_hop);
              CHECK_FALSE(p.icrc);
              CHECK(p.padding.empty());
              CHECK(encode(p) == frame);
              // every header that is complete is there, with the original's values
              size_t at = ip_end + (whole.srh ? 24u : 0u) + (whole.outer_ipv6 ? 40u : 0u) + 8;
              CHECK(p.udp.has_value() == (size >= at));
              at += Bth::kBytes;
              REQUIRE(p.bth.has_value() == (size >= at));
              if (p.bth) CHECK(p.bth == whole.bth);
              Extensions::visit(whole, [&](const auto& header) {
                using Header = std::decay_t<decltype(*header)>;
                if (!header) return;
                at += Header::kBytes;
                Extensions::visit(p, [&](const auto& got) {
                  if constexpr (std::is_same_v<decltype(got), decltype(header)>) {
                    CHECK(got.has_value() == (size >= at));
                    if (got) CHECK(got == header);
                  }
                });
              });
              if (size > at) CHECK(p.payload.size() == size - at);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("a short payload alone does not make a packet trimmed", "[wire.trim]") {
  Packet p = write_packet();
  auto frame = encode(p);
  frame.resize(100);
  CHECK(error_of(frame).code == ErrorCode::BadLength);
}

TEST_CASE("inner length fields of a trimmed packet are not looked at", "[wire.trim]") {
  for (const bool trimmed : {true, false}) {
    for (const bool udp : {true, false}) {
      for (const int off : {-1, 1}) {
        Packet p = write_packet(Encapsulation::Srv6);
        uint16_t& length = udp ? p.udp->length : p.ipv6->payload_length;
        length = static_cast<uint16_t>(length + off);
        if (trimmed) p.outer_ipv6->dscp = kDscpTrimmed;
        const auto frame = encode(p);
        if (trimmed) {
          const Packet q = decode(frame);
          REQUIRE_FALSE(q.error);
          CHECK(q.bth == p.bth);
          CHECK(q.reth == p.reth);
          CHECK(encode(q) == frame);
        } else {
          CHECK(error_of(frame).code == ErrorCode::BadLength);
        }
      }
    }
  }
}

TEST_CASE("trimming is told by the outer header in SRv6", "[wire.trim]") {
  Packet p = write_packet(Encapsulation::Srv6);
  p.ipv6->dscp = kDscpTrimmed;
  CHECK_FALSE(decode(encode(p)).trimmed());
  p.outer_ipv6->dscp = kDscpTrimmedLasthop;
  const Packet q = decode(encode(p));
  CHECK(q.trimmed());
  CHECK(q.dscp_class == DscpClass::TrimmedLasthop);
}

TEST_CASE("a packet that was cut decodes as if zeros stood for the rest, wherever it was cut", "[wire.error.cut]") {
  Packet used;  // its memory is used again
  for (const Opcode opcode : {Opcode::WriteOnlyImm, Opcode::Sack, Opcode::Nack, Opcode::Ack}) {
    for (const auto encapsulation : {Encapsulation::Ipv4, Encapsulation::Ipv6, Encapsulation::Srv6Srh}) {
      Packet p = make_packet(opcode, encapsulation, true);
      if (p.reth) p.payload.assign(101, 0x5A);
      complete(p);
      const std::vector<uint8_t> frame = encode(p);
      for (size_t there = 0; there <= frame.size(); ++there) {
        std::vector<uint8_t> whole(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(there));
        whole.resize(frame.size());
        decode_cut(used, std::span(frame).first(there), frame.size());
        REQUIRE(used == decode(whole, {}, false));
        decode_into(used, frame);
        REQUIRE(used == decode(frame));
      }
    }
  }
}

TEST_CASE("random bytes never do harm and errors lie inside the frame", "[wire.error.random]") {
  std::mt19937 rng(22);
  const auto kinds = mrc::test::all_kinds(rng);
  for (int round = 0; round < 20000; ++round) {
    auto frame = kinds[rng() % kinds.size()];
    for (auto i = rng() % 4; i > 0; --i)
      frame[rng() % std::min<size_t>(frame.size(), 160)] = static_cast<uint8_t>(rng());
    if (rng() % 3 == 0) frame.resize(rng() % (frame.size() + 1));
    const Packet p = decode(frame);
    if (p.error) CHECK(p.error->offset <= frame.size());
    if (!p.error || p.error->code == ErrorCode::BadIcrc) CHECK(encode(p) == frame);
  }
}

}  // namespace mrc::test::malformed_test
