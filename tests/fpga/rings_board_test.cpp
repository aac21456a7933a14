// SPDX-License-Identifier: Apache-2.0
// Two boards with rings, cable to cable: hosts that are CPUs post by descriptors and doorbells, and poll completions in
// memory (ring_host.hpp), while the same memory has the data.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <vector>

#include "tests/fpga/full_boards.hpp"

namespace mrc::test::rings_board_test {
namespace {

constexpr unsigned kQps = kStationQps, kStatusOk = 0;
constexpr uint16_t kCoreHold = 0x1010, kRings = 0x6000;

struct Message {
  uint64_t at = 0;
  uint32_t bytes = 0;
};

void require_no_complaint(FullPair& pair) {
  for (unsigned i = 0; i < 2; ++i) {
    CAPTURE(i);
    CHECK(pair.wrong(i) == 0);
    CHECK(pair.read(i, kStrays) == 0);
    CHECK(pair.read(i, kRings + 0x18) == 0);
    CHECK(pair.sides[i].board.failed_assertion() == nullptr);
  }
}

}  // namespace

TEST_CASE("hosts post by doorbells and poll completions, in both directions, whatever the memory does",
          "[fpga][top][rings]") {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    CAPTURE(seed);
    FullBoards pair(seed);
    if (seed == 2) {
      for (auto& s : pair.sides) {
        s.board.memory.read_delay = 300;
        s.board.memory.write_delay = 2000;
      }
    }
    pair.open(kQps);
    std::array<Station, 2> stations{Station{pair, 0}, Station{pair, 1}};
    std::array<std::array<std::vector<Message>, kQps>, 2> posted;
    uint64_t at = 0x1000;
    constexpr std::size_t kMessages = 12;
    const auto all = [&] {
      return std::ranges::all_of(stations, [](const Station& s) {
        return std::ranges::all_of(s.sent, [](const auto& list) { return list.size() == kMessages; }) &&
               std::ranges::all_of(s.received, [](const auto& list) { return list.size() == kMessages; });
      });
    };
    unsigned full = 0;
    for (unsigned rounds = 0; !all(); ++rounds) {
      REQUIRE(rounds < 3000);
      for (unsigned i = 0; i < 2; ++i) {
        const auto q = static_cast<unsigned>(pair.rng.below(kQps));
        // One descriptor or several for a doorbell.
        bool rings = false;
        for (auto n = pair.rng.between(1, 4); n > 0 && posted[i][q].size() < kMessages; --n) {
          const auto bytes = static_cast<uint32_t>(pair.rng.between(1, 3000));
          if (!stations[i].post(q, at, bytes)) {
            ++full;
            break;
          }
          posted[i][q].push_back({at, bytes});
          at += bytes + pair.rng.below(90);
          rings = true;
        }
        if (rings) stations[i].rings.ring_doorbell(q);
        stations[i].poll();
      }
      pair.run(5);
    }
    for (unsigned i = 0; i < 2; ++i) {
      for (unsigned q = 0; q < kQps; ++q) {
        for (std::size_t n = 0; n < kMessages; ++n) {
          CAPTURE(i, q, n);
          const Message& message = posted[i][q][n];
          const Completion& sent = stations[i].sent[q][n];
          CHECK(sent.wr_id == message.at);
          CHECK(sent.status == kStatusOk);
          const Completion& received = stations[1 - i].received[q][n];
          CHECK(received.imm == message.at);
          CHECK(received.length == message.bytes);
          CHECK(received.status == kStatusOk);
          CHECK(pair.written(1 - i, message.at, message.bytes));
        }
      }
    }
    CHECK(full > 0);
    require_no_complaint(pair);
  }
}

TEST_CASE("a QP that holds work requests is set up anew, and its ring goes on", "[fpga][top][rings]") {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    CAPTURE(seed);
    FullBoards pair(seed);
    pair.open(kQps);
    std::array<Station, 2> stations{Station{pair, 0}, Station{pair, 1}};
    uint64_t at = 0x1000;
    for (unsigned life = 0; life < 3; ++life) {
      CAPTURE(life);
      for (unsigned n = 0; n < 4; ++n, at += 0x8000) REQUIRE(stations[0].post(0, at, 30000));
      stations[0].rings.ring_doorbell(0);
      const uint64_t other = at;
      at += 0x2000;
      REQUIRE(stations[0].post(1, other, 3000));
      stations[0].rings.ring_doorbell(1);
      pair.run(static_cast<unsigned>(pair.rng.below(6)));
      std::array<tb::QpConfig, 2> wanted;
      for (unsigned i = 0; i < 2; ++i) wanted[i] = pair.sides[i].nic->qp_now(pair.sides[i].info.qp_first);
      // Both ends, as rings.md says: close, reset, INIT, open, on to RTS.
      for (auto& s : stations) s.rings.close_sq(0);
      CHECK(pair.read(0, kRings + 0x101c) > 0);  // HELD
      const auto both = [&](log::QpState state) {
        for (unsigned i = 0; i < 2; ++i) {
          wanted[i].state = state;
          pair.sides[i].nic->qp(wanted[i]);
        }
        pair.run(60);
        for (auto& s : stations) s.poll();
      };
      both(log::QpState::Error);  // QP_STATE; a row of QP_CTX comes when what was on its way has left
      both(log::QpState::Reset);
      for (unsigned i = 0; i < 2; ++i) pair.fence(i);
      both(log::QpState::Init);
      for (auto& s : stations) s.open_sq(0);
      CHECK(pair.read(0, kRings + 0x101c) == 0);
      both(log::QpState::Rts);
      const uint64_t last = at;
      at += 0x2000;
      REQUIRE(stations[0].post(0, last, 2000));
      REQUIRE(stations[1].post(0, last, 2000));
      for (auto& s : stations) s.rings.ring_doorbell(0);
      for (unsigned turns = 0; turns < 10; ++turns) {
        pair.run(10);
        for (auto& s : stations) s.poll();
      }
      for (unsigned i = 0; i < 2; ++i) {
        CAPTURE(i);
        CHECK(stations[i].sent[0].back().wr_id == last);
        CHECK(stations[i].sent[0].back().status == kStatusOk);
        CHECK(stations[i].received[0].back().imm == last);
        CHECK(pair.written(i, last, 2000));
      }
      // The other QP has gone on.
      CHECK(stations[0].sent[1].size() == life + 1);
      CHECK(stations[1].received[1].back().imm == other);
      CHECK(pair.written(1, other, 3000));
    }
    require_no_complaint(pair);
  }
}

TEST_CASE("rings interrupt by pin, and are reset with the core", "[fpga][top][rings]") {
  FullBoards pair(5);
  for (unsigned life = 0; life < 2; ++life) {
    CAPTURE(life);
    pair.open(kQps);
    for (auto& s : pair.sides) s.board.resets_core_alone = true;
    std::array<Station, 2> stations{Station{pair, 0}, Station{pair, 1}};
    stations[1].rings.arm(0);
    CHECK(pair.sides[1].board.ring_irq() == 0);
    REQUIRE(stations[0].post(0, 0x1000, 500));
    stations[0].rings.ring_doorbell(0);
    pair.run(60);
    CHECK(pair.sides[0].board.ring_irq() == 0);
    CHECK(pair.sides[1].board.ring_irq() == 1);
    for (auto& s : stations) s.poll();
    CHECK(stations[1].received[0].size() == 1);
    stations[1].rings.arm(0);
    CHECK(pair.sides[1].board.ring_irq() == 0);
    require_no_complaint(pair);
    // Held while its memory owes reads, of descriptors and of data, and a completion is to be written.
    pair.sides[0].board.memory.read_delay = 2000;
    REQUIRE(stations[0].post(0, 0x2000, 4000));
    REQUIRE(stations[0].post(0, 0x4000, 4000));
    stations[0].rings.ring_doorbell(0);
    pair.write(0, kCoreHold, 1);
    for (unsigned turns = 0; pair.read(0, kCoreState) != 0; ++turns) REQUIRE(turns < 1000);
    CHECK(pair.sides[0].board.memory.reads() == 0);
    std::optional<unsigned> answer;
    pair.sides[0].board.read(kRings, [&](uint32_t data, unsigned resp) {
      CHECK(data == 0);
      answer = resp;
    });
    pair.settle();
    CHECK(answer == 2u);
    answer.reset();
    pair.sides[0].board.write(kRings + 0x20c, 1, [&](uint32_t, unsigned resp) { answer = resp; });
    pair.settle();
    CHECK(answer == 2u);
    pair.write(0, kCoreHold, 0);
    for (unsigned turns = 0; pair.read(0, kCoreState) != 1; ++turns) REQUIRE(turns < 1000);
    CHECK(pair.read(0, kRings) == 0x4d524352);
    CHECK(pair.read(0, kRings + 0x20c) == 0);   // CQ 0
    CHECK(pair.read(0, kRings + 0x100c) == 0);  // SQ 0
    CHECK(pair.read(0, kStrays) == 0);
    pair.sides[0].board.memory.read_delay = 40;
  }
}

}  // namespace mrc::test::rings_board_test
