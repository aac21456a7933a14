// SPDX-License-Identifier: Apache-2.0
/// Received frames, byte by byte, for the tests of the receive side.
#pragma once

#include <algorithm>
#include <boost/crc.hpp>
#include <cstdint>
#include <vector>

#include "wire/bytes.hpp"
#include "wire/icrc.hpp"

namespace mrc::test {

using Bytes = std::vector<uint8_t>;

/// What stands in front of the inner IPv6 header.
enum class Outer : uint8_t { None, Ipv6, Srh };
inline constexpr Outer kOuters[] = {Outer::None, Outer::Ipv6, Outer::Srh};

/// A packet from the inner IPv6 header to the ICRC.
struct Packet {
  uint8_t opcode = 0xCA;
  uint8_t tc = 0x12;  ///< DSCP 4, ECT(0)
  uint32_t flow = 0x5678;
  uint16_t source_port = 0x1234, udp_port = 4791;
  uint8_t tver = 0;
  uint16_t pkey = 0xffff;
  uint32_t dqp = 16;
  uint32_t psn = 7;
  bool ackreq = false, rtx = false, ts = false;
  Bytes ext;      ///< after the BTH, without TSETH taken into account
  Bytes payload;  ///< pad is added

  Bytes inner() const {
    const unsigned pad = (4 - payload.size() % 4) % 4;
    Bytes b(60 + ext.size() + payload.size() + pad + 4);
    const auto udp_length = static_cast<uint32_t>(8 + 12 + ext.size() + payload.size() + pad + 4);
    b[0] = static_cast<uint8_t>(0x60 | tc >> 4);
    b[1] = static_cast<uint8_t>(tc << 4 | (flow >> 16 & 0xf));
    wire::store_be<2>(&b[2], flow);
    wire::store_be<2>(&b[4], udp_length);
    b[6] = 17;
    b[7] = 64;
    b[8] = b[24] = 0xfd;
    b[23] = 1;
    b[39] = 2;
    wire::store_be<2>(&b[40], source_port);
    wire::store_be<2>(&b[42], udp_port);
    wire::store_be<2>(&b[44], udp_length);
    b[48] = opcode;
    b[49] = static_cast<uint8_t>(0x40 | pad << 4 | tver);
    wire::store_be<2>(&b[50], pkey);
    wire::store_be<3>(&b[53], dqp);
    b[56] = static_cast<uint8_t>((ackreq ? 0x80 : 0) | (rtx ? 0x20 : 0) | (ts ? 0x10 : 0));
    wire::store_be<3>(&b[57], psn);
    std::copy(ext.begin(), ext.end(), b.begin() + 60);
    std::copy(payload.begin(), payload.end(), b.begin() + 60 + static_cast<long>(ext.size()));
    wire::store_le32(&b[b.size() - 4], wire::icrc({b.data(), b.size() - 4}));
    return b;
  }

  /// With Ethernet in front, and the outer IPv6 header of SRv6 if wanted, with or without routing header (frame bytes
  /// 54 to 77).
  Bytes frame(Outer outer_headers = Outer::None) const {
    const Bytes in = inner();
    Bytes f;
    f.reserve(14 + 64 + in.size());
    f.resize(14);
    f[5] = 2;
    f[11] = 1;
    f[12] = 0x86;
    f[13] = 0xDD;
    if (outer_headers != Outer::None) {
      const bool srh = outer_headers == Outer::Srh;
      Bytes outer(in.begin(), in.begin() + 40);
      wire::store_be<2>(&outer[4], in.size() + (srh ? 24 : 0));
      outer[6] = srh ? 43 : 41;
      f.insert(f.end(), outer.begin(), outer.end());
      if (srh) {
        Bytes header(24, 0xA5);
        header[0] = 41;  // next header
        header[1] = 2;   // 24 bytes
        header[2] = 4;   // routing type
        header[3] = 1;   // segments left
        f.insert(f.end(), header.begin(), header.end());
      }
    }
    f.insert(f.end(), in.begin(), in.end());
    return f;
  }
};

/// Replaces the ICRC of a frame with outer headers by the one that starts there: by Boost, over the bytes with ones for
/// what routers and uSID change, by frame offset.
inline Bytes with_outer_icrc(Bytes f) {
  const bool srh = f[20] == 43;
  const std::size_t inner = srh ? 78 : 54, end = f.size() - 4;
  Bytes v = f;
  v.resize(end);
  v[14] |= 0x0f;
  for (const unsigned at : {15u, 16u, 17u, 21u}) v[at] = 0xff;
  std::fill(v.begin() + 38, v.begin() + 54, uint8_t{0xff});
  if (srh) v[57] = 0xff;
  v[inner] |= 0x0f;
  for (const unsigned at : {1u, 2u, 3u, 7u, 46u, 47u, 52u}) v[inner + at] = 0xff;
  std::fill(v.begin() + 6, v.begin() + 14, uint8_t{0xff});  // for the LRH
  boost::crc_optimal<32, 0x04C11DB7, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(v.data() + 6, v.size() - 6);
  wire::store_le32(&f[end], crc.checksum());
  return f;
}

/// METH, RETH of a WRITE: RQMSN, MSN, VA, R_Key, DMA length.
inline Bytes write_ext(uint16_t rqmsn, uint16_t msn, uint64_t va, uint32_t rkey, uint32_t dmalen) {
  Bytes e(20);
  wire::store_be<2>(&e[0], rqmsn);
  wire::store_be<2>(&e[2], msn);
  wire::store_be<8>(&e[4], va);
  wire::store_be<4>(&e[12], rkey);
  wire::store_be<4>(&e[16], dmalen);
  return e;
}

/// n bytes 1, 2, 3, ...
inline Bytes counting(std::size_t n) {
  Bytes b(n);
  for (std::size_t i = 0; i < n; ++i) b[i] = static_cast<uint8_t>(i + 1);
  return b;
}

}  // namespace mrc::test
