// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/mac.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <numeric>

namespace mrc::test::mac_test {

using namespace mrc::tb;

namespace {

const Preset& kAsic = *find_preset("asic800");
const Preset& kFpga = *find_preset("fpga100");

/// Length without FCS of a WRITE behind SRv6 without TSETH: Ethernet 14, IPv6 40 + 40, UDP 8, BTH 12, METH 4, RETH 16,
/// ICRC 4.
constexpr unsigned srv6_write(unsigned payload) { return 14 + 40 + 40 + 8 + 12 + 4 + 16 + payload + 4; }

std::vector<uint8_t> numbered(unsigned size) {
  std::vector<uint8_t> bytes(size);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  return bytes;
}

/// Puts a frame into the MAC, one beat per cycle from `cycle` on; returns the cycle after its last beat.
uint64_t feed(TxMac& mac, const Preset& preset, const std::vector<uint8_t>& bytes, uint64_t cycle) {
  for (std::size_t at = 0; at < bytes.size(); at += preset.port_bytes) {
    const auto n = static_cast<unsigned>(std::min<std::size_t>(preset.port_bytes, bytes.size() - at));
    uint8_t beat[32]{};
    std::memcpy(beat, &bytes[at], n);
    REQUIRE(mac.ready());
    REQUIRE(mac.beat(beat, n == 32 ? ~0u : (1u << n) - 1, at + n == bytes.size(), cycle * preset.clock_ps) == nullptr);
    ++cycle;
  }
  return cycle;
}

}  // namespace

TEST_CASE("wire time is that of the table of 800G frames", "[tb][mac]") {
  CHECK(wire_bytes(1) == 84);
  CHECK(wire_bytes(60) == 84);
  CHECK(wire_bytes(61) == 85);
  CHECK(wire_bytes(srv6_write(64)) == 226);
  CHECK(wire_bytes(srv6_write(256)) == 418);
  CHECK(wire_bytes(srv6_write(1024)) == 1186);
  CHECK(wire_bytes(srv6_write(4096)) == 4258);
  CHECK(wire_bytes(14 + 40 + 40 + 8 + 12 + 36 + 4) == 178);  // SACK
  CHECK(byte_ps(kAsic) == 80);
  CHECK(byte_ps(kFpga) == 160);
}

TEST_CASE("frames leave back to back, each after it is complete", "[tb][mac]") {
  TxMac mac(kAsic, 3);
  const auto first = numbered(srv6_write(4096)), second = numbered(100);
  CHECK(mac.idle());
  const uint64_t done = feed(mac, kAsic, first, 10);
  CHECK_FALSE(mac.ready());  // a whole large frame waits
  CHECK(done == 10 + 265);   // 4234 bytes in beats of 16
  const uint64_t complete_ps = (done - 1) * kAsic.clock_ps;
  CHECK(mac.start(complete_ps - 1000) != nullptr);  // the wire was idle: it may start as soon as it is complete
  TxMac again(kAsic, 3);
  feed(again, kAsic, first, 10);
  const FramePtr a = again.start(complete_ps);
  REQUIRE(a);
  CHECK(a->sent_ps == complete_ps);
  CHECK(a->plane == 3);
  CHECK(a->bytes == first);
  CHECK(again.ready());
  feed(again, kAsic, second, done);
  const uint64_t gap_ends = complete_ps + uint64_t{4258} * 80;
  CHECK_FALSE(again.start(gap_ends - 1));
  const FramePtr b = again.start(gap_ends + 700);  // asked a little later: the wire time does not slip
  REQUIRE(b);
  CHECK(b->sent_ps == gap_ends);
  CHECK(again.free_ps() == gap_ends + uint64_t{124} * 80);
}

TEST_CASE("small frames queue up, short ones are padded to the minimum", "[tb][mac]") {
  TxMac mac(kAsic, 0);
  uint64_t cycle = 0;
  unsigned frames = 0;
  while (mac.ready()) {
    cycle = feed(mac, kAsic, numbered(20), cycle);
    ++frames;
  }
  CHECK(frames == 35);  // 60 bytes each after padding: the first number above 2048
  CHECK(mac.start(1)->bytes.size() == 60);
}

TEST_CASE("a port that breaks AXI4-Stream rules is told so", "[tb][mac]") {
  const uint8_t data[32]{};
  TxMac mac(kAsic, 0);
  CHECK(std::string(mac.beat(data, 0xfff7, true, 0)) == "tkeep is not a run of low ones");
  CHECK(std::string(mac.beat(data, 0, true, 0)) == "tkeep is not a run of low ones");
  CHECK(std::string(mac.beat(data, 0x00ff, false, 0)) == "tkeep is not full inside a frame");
  const char* wrong = nullptr;
  for (unsigned i = 0; i < 1000 && !wrong; ++i) wrong = mac.beat(data, 0xffff, false, 0);
  CHECK(std::string(wrong) == "a frame without end");
}

TEST_CASE("received bytes come at line rate, the last ones after the FCS", "[tb][mac]") {
  RxMac mac(kAsic, 0);
  for (const uint64_t arrive : {1000, 1500}) {
    auto frame = std::make_unique<Frame>();
    frame->bytes = numbered(90);
    frame->arrive_ps = arrive;
    frame->seq = arrive;
    frame->mac_error = arrive == 1500;
    mac.arrive(std::move(frame));
  }
  // Frame 1 begins at 1000: byte n has come at 1000 + (8 + n) * 80. Frame 2 begins when the line is free.
  std::vector<uint64_t> expected;
  const uint64_t begin2 = 1000 + uint64_t{wire_bytes(90)} * 80;
  for (const uint64_t begin : {uint64_t{1000}, begin2}) {
    for (unsigned n : {16, 32, 48, 64, 80}) expected.push_back((begin + (8 + n) * 80 + 999) / 1000);
    expected.push_back((begin + (8 + 90 + 4) * 80 + 999) / 1000);
  }
  std::vector<uint64_t> got;
  std::vector<uint8_t> bytes;
  for (uint64_t cycle = 0; cycle < 60; ++cycle) {
    RxMac::Beat beat;
    if (!mac.beat(cycle * 1000, beat)) continue;
    got.push_back(cycle);
    CHECK((mac.begun() != nullptr) == (bytes.size() % 90 == 0));
    bytes.insert(bytes.end(), beat.data, beat.data + beat.bytes);
    CHECK(beat.last == (bytes.size() % 90 == 0));
    CHECK(beat.error == (beat.last && bytes.size() == 180));
  }
  CHECK(got == expected);
  CHECK(mac.idle());
  CHECK(std::equal(bytes.begin() + 90, bytes.end(), bytes.begin()));
}

TEST_CASE("a full-rate stream of large frames never needs more than one beat per cycle", "[tb][mac]") {
  RxMac mac(kFpga, 0);
  for (unsigned i = 0; i < 20; ++i) {
    auto frame = std::make_unique<Frame>();
    frame->bytes = numbered(srv6_write(4096));
    frame->seq = i;
    mac.arrive(std::move(frame));
  }
  uint64_t beats = 0, cycle = 0;
  for (; !mac.idle(); ++cycle) {
    RxMac::Beat beat;
    beats += mac.beat(cycle * kFpga.clock_ps, beat);
  }
  CHECK(beats == 20 * 133);
  const double ideal = 20.0 * 4258 * 160 / kFpga.clock_ps;
  CHECK(static_cast<double>(cycle) <= ideal + 2);
  CHECK(static_cast<double>(cycle) >= ideal - 10);
}

}  // namespace mrc::test::mac_test
