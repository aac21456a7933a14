// SPDX-License-Identifier: Apache-2.0
// Two boards whose planes share a port, cable to cable: MRC in both directions, while frames of others come and go by
// the side port.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tests/fpga/foreign_frames.hpp"
#include "tests/fpga/full_boards.hpp"

namespace mrc::test::ports_board_test {
namespace {

constexpr uint16_t kPorts = 0x8000, kControl = kPorts + 0x14, kPlanesOn = kPorts + 0x48, kCounts = kPorts + 0x200;
constexpr uint16_t kLane = 0x3000, kRxFrames = 0x40;
enum Count : uint8_t { RxMrc, RxOff, RxStray, SideRx, SideFull, SideTx = 8, SideDrop = 9 };

uint32_t count(FullPair& pair, unsigned side, Count n) {
  return pair.read(side, static_cast<uint16_t>(kCounts + 4 * n));
}

/// What has come to the side port, oldest first.
std::vector<test::Bytes> taken(FrameStore& store) {
  std::vector<test::Bytes> all;
  while (!store.empty()) {
    CHECK_FALSE(store.front().bad);
    all.push_back(store.front().bytes);
    store.advance(static_cast<unsigned>(store.front().bytes.size()));
  }
  return all;
}

/// Messages of both sides on both QPs, one after the other, until all have completed.
uint64_t exchange(FullPair& pair, std::array<Station, 2>& stations, uint64_t at, unsigned messages,
                  const std::function<void()>& meanwhile) {
  for (unsigned n = 0; n < messages; ++n) {
    const std::size_t before = stations[0].received[n % kStationQps].size();
    const auto bytes = static_cast<uint32_t>(pair.rng.between(1, 6000));
    for (auto& s : stations) {
      REQUIRE(s.post(n % kStationQps, at, bytes));
      s.rings.ring_doorbell(n % kStationQps);
    }
    for (unsigned turns = 0; stations[0].received[n % kStationQps].size() == before ||
                             stations[1].received[n % kStationQps].size() == before;
         ++turns) {
      REQUIRE(turns < 500);
      meanwhile();
      pair.turn();
      for (auto& s : stations) s.poll();
    }
    for (unsigned i = 0; i < 2; ++i) CHECK(pair.written(i, at, bytes));
    at += bytes + 13;
  }
  return at;
}

}  // namespace

TEST_CASE("planes share a port, and frames of others pass by the side port, while MRC goes on", "[fpga][top][ports]") {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    CAPTURE(seed);
    FullBoards pair(seed);
    pair.open(kStationQps);
    std::array<Station, 2> stations{Station{pair, 0}, Station{pair, 1}};
    CHECK(pair.read(0, kPlanesOn) == 3);
    // To a board from the network, and from a board's side port to the other's.
    std::array<std::vector<test::Bytes>, 2> injected, sent;
    uint64_t at = exchange(pair, stations, 0x1000, 8, [&] {
      for (unsigned i = 0; i < 2; ++i) {
        if (pair.rng.chance(0.3)) {
          injected[i].push_back(pair.rng.chance(0.5) ? test::arp_request() : test::lldp());
          injected[i].back().back() = static_cast<uint8_t>(injected[i].size());
          pair.inject(i, injected[i].back());
        }
        if (pair.rng.chance(0.3)) {
          test::Bytes frame = test::arp_request();
          frame.resize(pair.rng.between(61, 1500), 0x5a);
          frame[59] = static_cast<uint8_t>(sent[i].size());
          sent[i].push_back(frame);
          pair.sides[i].board.side_send(frame);
        }
      }
    });
    pair.run(20);
    for (unsigned i = 0; i < 2; ++i) {
      CAPTURE(i);
      auto came = taken(pair.sides[i].board.from_side);
      CHECK(came.size() == injected[i].size() + sent[1 - i].size());
      // Of each sender in its order.
      std::size_t a = 0, b = 0;
      for (const test::Bytes& frame : came) {
        if (a < injected[i].size() && frame == injected[i][a]) {
          ++a;
        } else if (b < sent[1 - i].size() && frame == sent[1 - i][b]) {
          ++b;
        } else {
          FAIL_CHECK("a frame came that nobody has sent, or not in its turn");
        }
      }
      CHECK(injected[i].size() > 10);
      CHECK(sent[i].size() > 10);
      CHECK(count(pair, i, SideRx) == came.size());
      CHECK(count(pair, i, SideTx) == sent[i].size());
      CHECK(count(pair, i, SideDrop) == 0);
      CHECK(count(pair, i, RxOff) == 0);
      CHECK(count(pair, i, RxStray) == 0);
      // Each plane has its frames, and no others.
      uint32_t frames = 0;
      for (unsigned p = 0; p < FullBoard::kPlanes; ++p) {
        const uint32_t of_lane = pair.read(i, static_cast<uint16_t>(kLane + 0x1000 * p + kRxFrames));
        CHECK(of_lane > 0);
        frames += of_lane;
      }
      CHECK(count(pair, i, RxMrc) == frames);
    }
    // A side port that stands: its frames are dropped, MRC goes on.
    pair.sides[1].board.side_takes = false;
    at = exchange(pair, stations, at, 2, [] {});
    for (unsigned n = 0; n < 400; ++n) {
      pair.inject(1, test::lldp());
      if (n % 20 == 0) pair.turn();
    }
    at = exchange(pair, stations, at, 4, [] {});
    CHECK(count(pair, 1, SideFull) > 0);
    // Switched off, they are dropped too, and a wrong address shows.
    pair.write(1, kControl, 4971u << 16);
    const uint32_t off = count(pair, 1, RxOff);
    for (unsigned n = 0; n < 5; ++n) pair.inject(1, test::arp_request());
    at = exchange(pair, stations, at, 2, [] {});
    CHECK(count(pair, 1, RxOff) == off + 5);
    for (unsigned i = 0; i < 2; ++i) {
      CHECK(pair.wrong(i) == 0);
      CHECK(pair.sides[i].board.failed_assertion() == nullptr);
    }
  }
}

TEST_CASE("every word of the ports' registers is as the contract says", "[fpga][top][ports]") {
  FullBoards pair(3);
  pair.open(0);
  // What a write of all ones leaves, of words that can be written, and whether a word can be read.
  std::map<unsigned, uint32_t> rw{{0x14, 0xffff0007}, {0x40, 0xffffffff}, {0x44, 0xffff}};
  std::map<unsigned, std::optional<uint32_t>> ro{{0x00, 0x4d524350}, {0x04, 0x100}, {0x08, 0x1000},
                                                 {0x0c, 0},          {0x10, 0x201}, {0x48, 3}};
  for (unsigned p = 0; p < FullBoard::kPlanes; ++p) {
    for (unsigned at = 0; at < 0x14; at += 4) rw[0x100 + 0x20 * p + at] = 0xffffffff;
    rw[0x114 + 0x20 * p] = 0xffff;
    ro[0x118 + 0x20 * p] = 0;
  }
  for (unsigned n = 0; n < 13; ++n) ro[0x200 + 4 * n];
  const auto read = [&](unsigned at) {
    std::pair<uint32_t, unsigned> answer;
    pair.sides[0].board.read(static_cast<uint16_t>(kPorts + at), [&](uint32_t data, unsigned resp) {
      answer = {data, resp};
    });
    pair.settle();
    return answer;
  };
  const auto write = [&](unsigned at, uint32_t value) {
    unsigned answer = 0;
    pair.sides[0].board.write(static_cast<uint16_t>(kPorts + at), value,
                              [&](uint32_t, unsigned resp) { answer = resp; });
    pair.settle();
    return answer;
  };
  for (unsigned at = 0; at < 0x300; at += 4) {
    CAPTURE(at);
    CHECK(write(at, 0xffffffff) == (rw.contains(at) ? 0u : 2u));
  }
  for (unsigned at = 0; at < 0x300; at += 4) {
    CAPTURE(at);
    const auto [data, resp] = read(at);
    const auto fixed = ro.find(at);
    CHECK(resp == (rw.contains(at) || fixed != ro.end() ? 0u : 2u));
    if (rw.contains(at)) CHECK(data == rw.at(at));
    if (fixed != ro.end() && fixed->second) CHECK(data == *fixed->second);
    if (resp != 0) CHECK(data == 0);
  }
  // Each register by itself.
  for (const auto& [at, mask] : rw) {
    CAPTURE(at);
    CHECK(write(at, at * 0x01000193) == 0);
  }
  for (const auto& [at, mask] : rw) {
    CAPTURE(at);
    CHECK(read(at).first == (at * 0x01000193 & mask));
  }
  CHECK(pair.sides[0].board.failed_assertion() == nullptr);
}

}  // namespace mrc::test::ports_board_test
