// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/tx_lane.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <vector>

#include "pipeline/lib/convert.hpp"
#include "pipeline/tx/tx_fetch.hpp"
#include "tests/pipeline/block_bench.hpp"
#include "wire/bytes.hpp"
#include "wire/icrc.hpp"

namespace mrc::test::tx_lane_test {
namespace {

struct Beat {
  unsigned cycle;
  std::vector<uint8_t> bytes;  // those of tkeep
  bool last;
};

/// One lane of preset tiny: beats of 16 bytes, host lines of 32, LaneFifo 4.
struct Bench {
  Preset preset = *find_preset("tiny");
  Stream<Rdreq> rdreq;
  TxLane lane{preset, 1, rdreq};
  bool tready = true;
  unsigned cycles = 0, tx_inc = 0, dropped = 0;
  unsigned tick_cycles = 4;  // of a tick
  uint16_t port_stall = 0;
  std::vector<Beat> beats;
  std::vector<Rdreq> requests;
  std::vector<std::vector<uint8_t>> answers;
  std::vector<bool> errors;  // of the answers; true: it could not be read. Empty: none

  void cycle() {
    TxLane::In in;
    in.tready = tready;
    in.tick = static_cast<uint16_t>(cycles / tick_cycles);
    in.port_stall = port_stall;
    std::vector<uint8_t> line(32, 0xEE);
    if (!answers.empty()) {
      std::copy(answers.front().begin(), answers.front().end(), line.begin());
      answers.erase(answers.begin());
      in.rsp_valid = true;
      in.rsp = line.data();
      if (!errors.empty()) {
        in.rsp_err = errors.front();
        errors.erase(errors.begin());
      }
    }
    if (lane.tvalid() && tready) {
      Beat b{cycles, {}, lane.tlast()};
      for (unsigned i = 0; i < 16; ++i) {
        if (lane.tkeep() >> i & 1) {
          b.bytes.push_back(lane.tdata()[i]);
        } else {
          CHECK(lane.tdata()[i] == 0);
        }
      }
      beats.push_back(b);
    }
    take(rdreq, requests);
    lane.step(in);
    clock_all(lane, rdreq);
    tx_inc += lane.tx_inc();
    dropped += lane.drop_inc();
    ++cycles;
  }
  void run(unsigned n) {
    for (unsigned i = 0; i < n; ++i) cycle();
  }
  static Hdr header(bool ctl, unsigned len, unsigned plen, uint8_t first = 1) {
    Hdr h;
    h.plane = 1;
    h.ctl = ctl;
    h.hdr_len = static_cast<uint8_t>(len);
    h.crc = 0x11223344;
    h.laddr = 0x1008;
    h.plen = static_cast<uint16_t>(plen);
    h.qp = plen == 0 ? 0 : 3;
    for (unsigned i = 0; i < len; ++i) header_bytes(h)[i] = static_cast<uint8_t>(first + i);
    return h;
  }
  std::vector<uint8_t> frame() const {
    std::vector<uint8_t> v;
    for (const Beat& b : beats) v.insert(v.end(), b.bytes.begin(), b.bytes.end());
    return v;
  }
};

}  // namespace

TEST_CASE("tx_lane: a header whose ICRC does not fit into the beat ends in one more", "[pipeline][tx_lane]") {
  Bench b;
  b.lane.push_hdr(Bench::header(true, 30, 0));
  b.run(10);
  REQUIRE(b.beats.size() == 3);
  CHECK(b.beats[0].bytes.size() == 16);
  CHECK(b.beats[1].bytes.size() == 16);
  CHECK(b.beats[2].bytes.size() == 2);
  CHECK((!b.beats[0].last && !b.beats[1].last && b.beats[2].last));
  // Pushed in 0, Idle takes it in 1, Hdr in 2 and 3, Icrc in 4, Flush in 5; the port shows it a cycle later.
  CHECK(b.beats[0].cycle == 3);
  CHECK(b.beats[1].cycle == 5);
  CHECK(b.beats[2].cycle == 6);
  // ~0x11223344 = 0xeeddccbb, least significant byte first.
  CHECK(b.beats[1].bytes[14] == 0xbb);
  CHECK(b.beats[1].bytes[15] == 0xcc);
  CHECK(b.beats[2].bytes[0] == 0xdd);
  CHECK(b.beats[2].bytes[1] == 0xee);
  CHECK(b.tx_inc == 1);
}

TEST_CASE("tx_lane: a frame that ends with the beat needs no more", "[pipeline][tx_lane]") {
  Bench b;
  b.lane.push_hdr(Bench::header(true, 28, 0));
  b.run(10);
  REQUIRE(b.beats.size() == 2);
  CHECK(b.beats[1].bytes.size() == 16);
  CHECK(b.beats[1].last);
}

TEST_CASE("tx_lane: payload comes from host lines, with pad and ICRC over both", "[pipeline][tx_lane]") {
  Bench b;
  b.lane.push_hdr(Bench::header(false, 20, 45));
  b.run(20);
  REQUIRE(b.requests.size() == 2);
  CHECK(b.requests[0] == Rdreq{0x1008, 32, 1, 3});
  CHECK(b.requests[1] == Rdreq{0x1028, 13, 1, 3});
  CHECK(b.beats.size() == 1);  // waits for the host
  std::vector<uint8_t> payload(48, 0);
  for (unsigned i = 0; i < 45; ++i) payload[i] = static_cast<uint8_t>(0x80 + i);
  b.answers.push_back({payload.begin(), payload.begin() + 32});
  b.run(5);
  b.answers.push_back({payload.begin() + 32, payload.begin() + 45});
  b.run(10);
  const std::vector<uint8_t> got = b.frame();
  REQUIRE(got.size() == 20 + 48 + 4);
  CHECK(std::memcmp(got.data() + 20, payload.data(), 48) == 0);
  CHECK(wire::load_le32(got.data() + 68) == ~wire::crc_update(0x11223344, payload.data(), 48));
  CHECK(b.beats.back().last);
}

TEST_CASE("a line that could not be read spoils its packet, and no other", "[pipeline][tx_lane]") {
  // 70 bytes are lines of 32, 32 and 6: any of them, and all; before and behind it a packet that is whole.
  constexpr unsigned kFrame = 20 + 72 + 4;
  for (unsigned bad = 0; bad < 8; ++bad) {
    for (const unsigned stalls : {0u, 1u}) {
      INFO("lines " << bad << ", stalls " << stalls);
      Bench b;
      std::vector<uint8_t> payload(72, 0);
      for (unsigned i = 0; i < 70; ++i) payload[i] = static_cast<uint8_t>(0x10 + 3 * i);
      for (unsigned packet = 0; packet < 3; ++packet) {
        b.lane.push_hdr(Bench::header(false, 20, 70));
        b.cycle();
      }
      b.lane.push_hdr(Bench::header(true, 20, 0));
      unsigned given = 0;
      for (unsigned i = 0; i < 100; ++i) {
        b.tready = stalls == 0 || i % 3 == 0;
        for (; given < b.requests.size(); ++given) {
          const unsigned line = given % 3;
          const auto from = payload.begin() + 32 * line;
          b.answers.emplace_back(from, from + (line == 2 ? 6 : 32));
          b.errors.push_back(given / 3 == 1 && (bad >> line & 1) != 0);
        }
        b.cycle();
      }
      const std::vector<uint8_t> got = b.frame();
      REQUIRE(got.size() == 3 * kFrame + 24);
      const uint32_t crc = wire::crc_update(0x11223344, payload.data(), 72);
      unsigned at = 0;
      for (unsigned i = 0, data = 0; i < 4; ++i) {
        const bool ctl = i == 1;                                               // it goes behind the packet in work
        if (!ctl) CHECK(std::memcmp(&got[at + 20], payload.data(), 72) == 0);  // as the host gave it
        at += ctl ? 24 : kFrame;
        const bool spoiled = !ctl && data == 1 && bad != 0;
        CHECK(wire::load_le32(&got[at - 4]) == (ctl ? ~0x11223344u : spoiled ? crc : ~crc));
        data += !ctl;
      }
      CHECK(b.tx_inc == 4);
    }
  }
}

TEST_CASE("tx_lane: control goes first", "[pipeline][tx_lane]") {
  Bench b;
  b.tready = false;
  b.lane.push_hdr(Bench::header(false, 16, 4, 0x20));
  b.cycle();
  b.lane.push_hdr(Bench::header(false, 16, 4, 0x20));
  b.cycle();
  b.lane.push_hdr(Bench::header(true, 16, 0, 0x40));
  b.answers = {{1, 2, 3, 4}, {5, 6, 7, 8}};
  b.tready = true;
  b.run(30);
  REQUIRE(b.beats.size() == 6);
  CHECK(b.beats[0].bytes[0] == 0x20);
  CHECK(b.beats[2].bytes[0] == 0x40);
  CHECK(b.beats[4].bytes[0] == 0x20);
}

TEST_CASE("tx_lane has room for all but eight of its packets, the one in work counted", "[pipeline][tx_lane]") {
  Bench b;
  b.tready = false;
  for (unsigned i = 0; i < 8; ++i) {  // TxLaneFifo 16
    CHECK(b.lane.lane_room());
    b.lane.push_hdr(Bench::header(false, 16, 4));
    b.cycle();
  }
  CHECK_FALSE(b.lane.lane_room());
  for (unsigned i = 0; i < 8; ++i) b.answers.push_back({1, 2, 3, 4});
  b.tready = true;
  b.run(60);
  CHECK(b.lane.lane_room());
}

TEST_CASE("tx_lane has room until more than 16384 bytes wait", "[pipeline][tx_lane]") {
  Bench b;
  b.tready = false;
  for (unsigned i = 0; i < 5; ++i) {  // the first goes to work: 16384 wait
    b.lane.push_hdr(Bench::header(false, 16, 4096));
    b.run(3);
    CHECK(b.lane.lane_room());
  }
  b.lane.push_hdr(Bench::header(false, 16, 1));
  b.cycle();
  CHECK_FALSE(b.lane.lane_room());
}

TEST_CASE("tx_lane asks for as many lines as it can hold", "[pipeline][tx_lane]") {
  Bench b;
  b.lane.push_hdr(Bench::header(false, 16, 1024));
  b.run(60);
  CHECK(b.requests.size() == 16);  // LineFifo
  b.answers.push_back(std::vector<uint8_t>(32, 1));
  b.run(20);
  CHECK(b.requests.size() == 17);
}

TEST_CASE("tx_lane holds a beat until it is taken", "[pipeline][tx_lane]") {
  Bench b;
  b.tready = false;
  b.lane.push_hdr(Bench::header(true, 40, 0));
  b.run(20);
  CHECK(b.lane.tvalid());
  CHECK(b.lane.tdata()[0] == 1);
  CHECK(b.tx_inc == 0);
  b.tready = true;
  b.run(10);
  CHECK(b.frame().size() == 44);
  CHECK(b.tx_inc == 1);
}

namespace {

/// A lane whose port takes nothing: one control packet in work, eight behind it fill the queue.
struct Standing : Bench {
  explicit Standing(uint16_t stall) {
    port_stall = stall;
    tready = false;
    for (uint8_t i = 0; i < 9; ++i) {
      REQUIRE(lane.hdr_ready_ctl());
      lane.push_hdr(header(true, 28, 0, static_cast<uint8_t>(16 * i)));
      cycle();
      if (i == 0) cycle();
    }
  }
  /// First bytes of the frames that have left, by 16.
  std::vector<unsigned> left() const {
    std::vector<unsigned> found;
    for (std::size_t i = 0; i < beats.size(); ++i) {
      if (i == 0 || beats[i - 1].last) found.push_back(beats[i].bytes[0] / 16u);
    }
    return found;
  }
};

}  // namespace

TEST_CASE("tx_lane: control packets wait for a port that is slow", "[pipeline][tx_lane]") {
  Standing b(12);
  // A beat in 35 cycles, the first after 44: never 12 ticks of 4 cycles without one.
  for (unsigned i = 0; i < 5; ++i) {
    CHECK(!b.lane.hdr_ready_ctl());
    b.run(34);
    CHECK(!b.lane.stands());
    b.tready = true;
    b.cycle();
    b.tready = false;
    while (b.lane.hdr_ready_ctl()) {
      b.lane.push_hdr(Bench::header(true, 28, 0));
      b.cycle();
    }
  }
  CHECK(b.dropped == 0);
}

TEST_CASE("tx_lane: a port that stands still drops control packets that find no place, and counts them",
          "[pipeline][tx_lane]") {
  Standing b(3);
  // Pushed in cycle 0, on the port from cycle 3 on (see above): since is the tick of cycle 2, which is 0. Tick 3 begins
  // with cycle 12, and the register shows it a cycle later.
  REQUIRE(b.cycles == 10);
  CHECK(!b.lane.hdr_ready_ctl());
  b.run(2);
  CHECK(!b.lane.stands());
  b.cycle();
  CHECK(b.lane.stands());
  REQUIRE(b.lane.hdr_ready_ctl());
  for (unsigned i = 1; i <= 3; ++i) {
    b.lane.push_hdr(Bench::header(true, 28, 0));
    b.cycle();
    CHECK(b.dropped == i);
  }
  b.run(5);
  CHECK(b.dropped == 3);
  // Data are never dropped: their queue says when it is full.
  for (unsigned i = 0; i < 16; ++i) {
    REQUIRE(b.lane.hdr_ready_data());
    b.lane.push_hdr(Bench::header(false, 28, 64));
    b.cycle();
  }
  CHECK(!b.lane.hdr_ready_data());
  CHECK(b.dropped == 3);
}

TEST_CASE("tx_lane: a port that stands still holds control packets if software says so", "[pipeline][tx_lane]") {
  Standing b(0);
  b.run(4 * 70'000);  // more ticks than PORT_STALL can name
  CHECK(!b.lane.stands());
  CHECK(!b.lane.hdr_ready_ctl());
  CHECK(b.dropped == 0);
}

TEST_CASE("tx_lane: what is queued leaves when the port goes on", "[pipeline][tx_lane]") {
  Standing b(3);
  b.run(20);
  REQUIRE(b.lane.stands());
  b.lane.push_hdr(Bench::header(true, 28, 0, 0xf0));
  b.cycle();
  b.tready = true;
  b.cycle();
  CHECK(!b.lane.stands());
  b.run(100);
  CHECK(b.left() == std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(b.dropped == 1);
  CHECK(b.lane.hdr_ready_ctl());
}

TEST_CASE("tx_lane: a port may stand still for longer than ticks count", "[pipeline][tx_lane]") {
  Standing b(3);
  b.tick_cycles = 1;
  b.run(10);
  unsigned stood = 0;
  for (unsigned i = 0; i < 140'000; ++i) {
    b.cycle();
    stood += b.lane.stands();
  }
  CHECK(stood == 140'000);
}

TEST_CASE("tx_fetch takes the planes in turn", "[pipeline][tx_lane]") {
  const Preset preset = *find_preset("tiny");
  Stream<Rdreq> p0, p1;
  TxFetch fetch(preset, {&p0, &p1});
  std::vector<uint64_t> got;
  uint64_t a0 = 0, a1 = 100;
  for (int i = 0; i < 20; ++i) {
    const bool ready = i % 3 != 0;
    if (fetch.rdreq().valid() && ready) got.push_back(fetch.rdreq().data().addr);
    if (p0.free() && a0 < 3) p0.load({a0++, 1, 0});
    if (p1.free() && a1 < 103) p1.load({a1++, 1, 1});
    fetch.step(ready);
    clock_all(fetch, p0, p1);
  }
  CHECK(got == std::vector<uint64_t>{0, 100, 1, 101, 2, 102});
}

TEST_CASE("tx_lane: a data packet of no bytes asks for no line, and those around it get theirs",
          "[pipeline][tx_lane]") {
  Bench b;
  const unsigned lengths[] = {40, 0, 0, 20, 0};
  for (const unsigned length : lengths) {
    Hdr h = Bench::header(false, 30, length, static_cast<uint8_t>(0x40 + length));
    h.laddr = 0x1000 * (length + 1);
    b.lane.push_hdr(h);
    b.cycle();
  }
  std::size_t answered = 0;
  for (unsigned i = 0; i < 100; ++i) {
    if (answered < b.requests.size()) b.answers.emplace_back(32, static_cast<uint8_t>(0xA0 + answered++));
    b.cycle();
  }
  REQUIRE(b.requests.size() == 3);
  CHECK((b.requests[0].addr == 0x29000 && b.requests[0].len == 32));
  CHECK((b.requests[1].addr == 0x29020 && b.requests[1].len == 8));
  CHECK((b.requests[2].addr == 0x15000 && b.requests[2].len == 20));
  CHECK(b.tx_inc == 5);
  std::vector<std::vector<uint8_t>> frames(1);
  for (const Beat& beat : b.beats) {
    frames.back().insert(frames.back().end(), beat.bytes.begin(), beat.bytes.end());
    if (beat.last) frames.emplace_back();
  }
  REQUIRE(frames.size() == 6);
  for (unsigned i = 0; i < 5; ++i) {
    CAPTURE(i);
    const unsigned length = lengths[i];
    REQUIRE(frames[i].size() == 30 + length + 4);
    CHECK(frames[i][0] == 0x40 + length);
    for (unsigned k = 0; k < length; ++k) CHECK(frames[i][30 + k] == (length == 20 ? 0xA2 : k < 32 ? 0xA0 : 0xA1));
    // Of no bytes: the ICRC register as the header brings it, complemented.
    if (length == 0) CHECK((frames[i][30] == 0xbb && frames[i][33] == 0xee));
  }
}

TEST_CASE("tx_lane: data packets of no bytes fill their queue as others do", "[pipeline][tx_lane]") {
  Bench b;
  b.tready = false;
  unsigned pushed = 0;
  for (unsigned i = 0; i < 100; ++i) {
    if (b.lane.hdr_ready_data()) {
      b.lane.push_hdr(Bench::header(false, 30, 0));
      ++pushed;
    }
    b.cycle();
  }
  CHECK(pushed == b.preset.tx_lane_fifo + 1);  // and one in work
  CHECK_FALSE(b.lane.lane_room());
  b.tready = true;
  b.run(200);
  CHECK(b.tx_inc == pushed);
  CHECK(b.requests.empty());
  CHECK(b.lane.lane_room());
}

}  // namespace mrc::test::tx_lane_test
