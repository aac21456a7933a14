// SPDX-License-Identifier: Apache-2.0
/// Two full boards and the software of their hosts: rings in memory (ring_host.hpp), and both planes on one port.
#pragma once

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "gen/csr.hpp"
#include "tests/fpga/board_pair.hpp"
#include "tests/fpga/ring_host.hpp"

namespace mrc {

using FullPair = PairOf<FullBoard>;

inline constexpr unsigned kStationQps = 2, kSqLog = 2, kCqLog = 3;
inline constexpr uint64_t kRingsAt = 0x8000'0000 - 0x40;

/// The host of a side: its registers are the board's, its memory is what the board sees.
class Host final : public HostBus {
 public:
  Host(FullPair& pair, unsigned side) : pair_(pair), side_(side) {}
  uint32_t read(uint16_t at) override { return pair_.read(side_, at); }
  void write(uint16_t at, uint32_t value) override { pair_.write(side_, at, value); }
  void store(uint64_t address, std::span<const uint8_t> bytes) override {
    for (std::size_t i = 0; i < bytes.size(); ++i) pair_.sides[side_].memory[address + i] = bytes[i];
  }
  void load(uint64_t address, std::span<uint8_t> bytes) override {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = pair_.memory_at(side_, address + i);
  }

 private:
  FullPair& pair_;
  unsigned side_;
};

/// A host with two QPs, each with a send ring and a completion ring of its own.
struct Station {
  Station(FullPair& pair, unsigned side) : host(pair, side), rings(host) {
    for (unsigned q = 0; q < kStationQps; ++q) rings.open_cq(q, kRingsAt + 0x10000 * (q + 1), kCqLog);
    for (unsigned q = 0; q < kStationQps; ++q) open_sq(q);
  }
  void open_sq(unsigned q) { rings.open_sq(q, kRingsAt + 0x1000 * (q + 1), kSqLog, q); }
  /// False: the ring is full.
  bool post(unsigned q, uint64_t at, uint32_t bytes) {
    const WorkRequest work{.wr_id = static_cast<uint32_t>(at),
                           .laddr = kSource + at,
                           .raddr = kTarget + at,
                           .rkey = kRkey,
                           .length = bytes,
                           .imm = static_cast<uint32_t>(at)};
    return rings.post_send(q, work);
  }
  void poll() {
    for (unsigned q = 0; q < kStationQps; ++q) {
      bool any = false;
      while (const auto done = rings.poll_cq(q)) {
        CHECK(done->qp == q);
        (done->recv ? received : sent)[q].push_back(*done);
        any = true;
      }
      if (any) rings.give_back(q);
    }
  }

  Host host;
  RingHost rings;
  std::array<std::vector<Completion>, kStationQps> sent, received;
};

/// Tells the port of a side which addresses are its planes': the NIC's own, with the plane in the three bits of
/// IP_PLANE.
inline void set_up_port(FullPair& pair, unsigned side) {
  Host host(pair, side);
  const auto at = find_block(host, "MRCP");
  REQUIRE(at);
  const auto& s = pair.sides[side];
  host.write(*at + 0x40u, static_cast<uint32_t>(s.mac));
  host.write(*at + 0x44u, static_cast<uint32_t>(s.mac >> 32));
  for (unsigned p = 0; p < FullBoard::kPlanes; ++p) {
    log::Ip ip = s.address;
    ip[7] = static_cast<uint8_t>((ip[7] & ~7u) | p);
    for (unsigned word = 0; word < 4; ++word) {
      uint32_t value = 0;
      for (unsigned b = 0; b < 4; ++b) value = value << 8 | ip[12 - 4 * word + b];
      host.write(static_cast<uint16_t>(*at + 0x100 + 0x20 * p + 4 * word), value);
    }
  }
  host.write(*at + 0x14u, 4971u << 16 | 1);  // and others' frames go aside
  host.write(kCore + csr::kIpPlane, csr::kIpPlaneEnable.set(csr::kIpPlaneReset, 1));
}

/// Boards as their hosts want them.
struct FullBoards : FullPair {
  explicit FullBoards(uint64_t seed) : PairOf(seed) {
    prepare = [this] {
      for (unsigned i = 0; i < 2; ++i) set_up_port(*this, i);
    };
  }
};

}  // namespace mrc
