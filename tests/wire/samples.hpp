// SPDX-License-Identifier: Apache-2.0
/// Packets that several tests use.
#pragma once

#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "wire/packet.hpp"
#include "wire/text.hpp"

namespace mrc::test {

inline std::vector<uint8_t> hex(const std::string& text) {
  size_t bad = 0;
  auto out = wire::from_hex(text, bad);
  if (!out) throw std::runtime_error("bad hex in a test at " + std::to_string(bad));
  return *out;
}

struct KnownAnswer {
  std::vector<uint8_t> frame;
  uint32_t icrc;
};

/// RoCEv2 packets with an ICRC computed elsewhere (Linux, scapy).
inline std::vector<KnownAnswer> known_answers() {
  return {
      {hex("248a07a8fa22248a07a8fa22080045010040047840004011b4d5c0a80007c0a80007c00012b7002caca22460ffff000000d300cf171"
           "0"
           "4630818be28935d90e9a95505401be885e500000 78f353f3"),
       0xf353f378},
      {hex("248a07a8fa22248a07a8fa2286dd6e21face002c11ff202200000000000000000000000010232023000000000000000000000000102"
           "4"
           "c00012b7002ce7c52460ffff000000d300cf17104630818be28935d90e9a95505401be885e500000 3e5b743b"),
       0x3b745b3e},
      {hex("02000000000202000000000186dd6021234500381140fd000000000000000000000000000001fd0000000000000000000000000000"
           "02c12312b7003800000a40ffff0000012380fffffe0000123456789000cafe000100000010000102030405060708090a0b0c0d0e"
           "0f e383f529"),
       0x29f583e3},
  };
}

/// A packet with random values in every field that is not fixed by the format.
inline wire::Packet random_packet(wire::Opcode opcode, wire::Encapsulation encapsulation, bool timestamp,
                                  std::mt19937& rng) {
  using namespace wire;
  Packet p = make_packet(opcode, encapsulation, timestamp);
  const auto fill = [&](auto& header) {
    std::decay_t<decltype(header)>::visit(header, [&](const HeaderField& field, auto& value) {
      using Value = std::decay_t<decltype(value)>;
      if constexpr (std::is_integral_v<Value>) {
        const uint64_t mask = field.width == 64 ? ~uint64_t{0} : (uint64_t{1} << field.width) - 1;
        value = static_cast<Value>((uint64_t{rng()} << 32 | rng()) & mask);
      } else {
        for (auto& byte : value) byte = static_cast<uint8_t>(rng());
      }
    });
  };
  fill(*p.eth);
  if (p.ipv6) {
    fill(*p.ipv6);
    p.ipv6->dscp = default_dscp(static_cast<uint8_t>(opcode), false, {});
  }
  if (p.outer_ipv6) {
    fill(*p.outer_ipv6);
    p.outer_ipv6->dscp = p.ipv6->dscp;
  }
  if (p.srh) {
    fill(*p.srh);
    p.srh->segments_left = rng() & 1;
  }
  if (p.ipv4) {
    const Ipv4 before = *p.ipv4;
    fill(*p.ipv4);
    p.ipv4->dscp = before.dscp;
    p.ipv4->flags = 2;
    p.ipv4->fragment_offset = 0;
  }
  p.udp->src_port = static_cast<uint16_t>(rng());
  const Bth before = *p.bth;
  fill(*p.bth);
  p.bth->opcode = before.opcode;
  p.bth->ts = before.ts;
  p.bth->tver = 0;
  p.bth->pad_count = 0;
  Extensions::visit(p, [&](auto& header) {
    if (header) fill(*header);
  });
  if (opcode_info(p.bth->opcode)->payload) {
    p.payload.resize(rng() % 1100 + 1);
    for (auto& byte : p.payload) byte = static_cast<uint8_t>(rng());
  }
  complete(p);
  return p;
}

inline constexpr wire::Encapsulation kEncapsulations[] = {wire::Encapsulation::Ipv4, wire::Encapsulation::Ipv6,
                                                          wire::Encapsulation::Srv6, wire::Encapsulation::Srv6Srh};

/// Every opcode in every encapsulation, with and without time stamp.
inline std::vector<std::vector<uint8_t>> all_kinds(std::mt19937& rng) {
  std::vector<std::vector<uint8_t>> out;
  for (const wire::OpcodeInfo& info : wire::kOpcodes) {
    for (const wire::Encapsulation encapsulation : kEncapsulations) {
      for (const bool timestamp : {false, true}) {
        out.push_back(wire::encode(random_packet(info.opcode, encapsulation, timestamp, rng)));
      }
    }
  }
  return out;
}

}  // namespace mrc::test
