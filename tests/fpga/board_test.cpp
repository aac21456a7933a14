// SPDX-License-Identifier: Apache-2.0
// Two boards, cable to cable, whose memories fail, and whose cores are reset while memory owes answers.
#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/fpga/board_pair.hpp"

namespace mrc::test::board_test {

using log::Status;

namespace {

/// Receive completions of a side.
template <class B>
std::vector<log::Cqe> received(const Side<B>& side) {
  std::vector<log::Cqe> all;
  std::ranges::copy_if(side.cqes, std::back_inserter(all), [](const log::Cqe& cqe) { return cqe.receive; });
  return all;
}

/// Six messages have completed at each side.
template <class B>
bool done(const PairOf<B>& pair) {
  return std::ranges::all_of(pair.sides, [](const Side<B>& s) { return s.cqes.size() == 12; });
}

}  // namespace

TEMPLATE_TEST_CASE("a QP of which memory has failed a write ends, and completes nothing as Ok until software clears it",
                   "[fpga][top]", Board, StreamBoard, RamBoard) {
  uint64_t early = 0;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    PairOf<TestType> pair(seed);
    pair.open(2);
    Side<TestType>&a = pair.sides[0], &b = pair.sides[1];
    REQUIRE(pair.read(1, 0x5000) == 0x4d524348);
    // A write in the middle of the second message. A DMA says so at once, or later.
    b.board.memory.acknowledges = seed == 1 ? 1 : 0.3;
    b.board.memory.write_fails = [](uint64_t at) { return at >= kTarget + 0x3000 && at < kTarget + 0x3400; };
    REQUIRE(pair.post(0, 0, 0x1003, 3000));
    pair.run(40);
    REQUIRE(pair.post(0, 0, 0x2801, 4000));
    REQUIRE(pair.post(0, 1, 0x4000, 3000));
    pair.run(60);
    CHECK(std::ranges::all_of(received(b), [](const log::Cqe& cqe) {
      return cqe.imm == 0x2801 ? cqe.status == Status::RemoteOperation : cqe.status == Status::Ok;
    }));
    CHECK(std::ranges::count(received(b), 0x1003u, &log::Cqe::imm) == 1);
    CHECK(std::ranges::count(received(b), 0x4000u, &log::Cqe::imm) == 1);
    CHECK(pair.written(1, 0x1003, 3000));
    CHECK_FALSE(pair.written(1, 0x2801, 4000));
    CHECK(pair.written(1, 0x4000, 3000));
    CHECK(pair.wrong(1) == 0);
    CHECK(pair.qp_info(1, 0) == std::pair{log::QpState::Error, CqStatus::HostWrite});
    CHECK(pair.qp_info(1, 1).first == log::QpState::Rts);
    CHECK(pair.read(1, kQpFailed) == 1);
    CHECK(pair.read(1, kWrFailed) == b.board.memory.failed_writes());
    CHECK(b.board.memory.failed_writes() > 0);
    CHECK(pair.read(1, kWrTaken) == pair.read(1, kWrDone));
    // The peer hears of it with what it sends next, if not before.
    pair.post(0, 0, 0x6000, 500);
    REQUIRE(pair.post(0, 1, 0x7000, 500));
    pair.run(60);
    CHECK(pair.qp_info(0, 0).first == log::QpState::Error);
    CHECK(std::ranges::count(received(b), 0x6000u, &log::Cqe::imm) == 0);
    CHECK(std::ranges::count(received(b), 0x7000u, &log::Cqe::imm) == 1);
    // Set up anew by software that forgets to clear it: never Ok; then by one that does.
    for (const bool clears : {false, true}) {
      CAPTURE(clears);
      if (clears) {
        CHECK(pair.read(1, kQpFailed) == 1);
        pair.write(1, kQpFailed, 1);
        CHECK(pair.read(1, kQpFailed) == 0);
      }
      pair.reconnect(0);
      const uint32_t at = clears ? 0x9000 : 0x8000;
      REQUIRE(pair.post(0, 0, at, 500));
      pair.run(40);
      const auto cqes = received(b);
      REQUIRE(cqes.back().imm == at);
      CHECK(cqes.back().status == (clears ? Status::Ok : Status::RemoteOperation));
      CHECK(pair.written(1, at, 500));
    }
    CHECK(pair.read(1, kStrays) == 0);
    CHECK(a.board.failed_assertion() == nullptr);
    CHECK(b.board.failed_assertion() == nullptr);
    if constexpr (!std::is_same_v<TestType, Board>) early += b.board.memory.fell_early();
  }
  // And then before the bytes have come.
  CHECK((early > 0) != std::is_same_v<TestType, Board>);
}

TEMPLATE_TEST_CASE("a QP of which memory has failed a read ends, and nothing wrong reaches the peer", "[fpga][top]",
                   Board, StreamBoard, RamBoard) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    PairOf<TestType> pair(seed);
    pair.open(2);
    Side<TestType>&a = pair.sides[0], &b = pair.sides[1];
    const uint64_t bad = kSource + 0x3000 + 0x40 * seed;
    a.board.memory.read_fails = [bad](uint64_t at) { return at == bad; };
    REQUIRE(pair.post(0, 0, 0x1000, 3000));
    pair.run(40);
    REQUIRE(pair.post(0, 0, 0x3000, 4000));
    REQUIRE(pair.post(0, 1, 0x5000, 8000));
    pair.run(60);
    CHECK(pair.qp_info(0, 0) == std::pair{log::QpState::Error, CqStatus::HostRead});
    CHECK(pair.qp_info(0, 1).first == log::QpState::Rts);
    CHECK(pair.read(0, kCoreState) == 1);
    CHECK(pair.read(0, kRdFailed) >= 1);
    CHECK(pair.read(0, kRdFailed) == a.board.memory.failed_reads());
    CHECK(pair.read(0, kRdTaken) == pair.read(0, kRdDone));
    CHECK(pair.read(0, kQpFailed) == 0);
    // The message ends with an error at the sender, the others are whole.
    REQUIRE(a.cqes.size() == 3);
    for (const log::Cqe& cqe : a.cqes) CHECK((cqe.status == Status::Ok) == (cqe.wr_id != 0x3000));
    CHECK(pair.written(1, 0x1000, 3000));
    CHECK_FALSE(pair.written(1, 0x3000, 4000));
    CHECK(pair.written(1, 0x5000, 8000));
    CHECK(pair.wrong(1) == 0);
    CHECK(received(b).size() == 2);
    // Set up anew it works, when memory does.
    a.board.memory.read_fails = nullptr;
    pair.reconnect(0);
    REQUIRE(pair.post(0, 0, 0x3000, 4000));
    pair.run(60);
    CHECK(pair.written(1, 0x3000, 4000));
    CHECK(pair.wrong(1) == 0);
    CHECK(received(b).size() == 3);
    CHECK(pair.read(0, kStrays) == 0);
    CHECK(a.board.failed_assertion() == nullptr);
    CHECK(b.board.failed_assertion() == nullptr);
  }
}

TEMPLATE_TEST_CASE("what memory answers to a core that is gone reaches no other", "[fpga][top]", Board, StreamBoard,
                   RamBoard) {
  std::size_t reads = 0, writes = 0, messages = 0;
  uint64_t overtakes = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    PairOf<TestType> pair(seed);
    for (Side<TestType>& s : pair.sides) {
      // Reads are the last to be answered, or writes.
      s.board.memory.read_delay = seed % 2 == 0 ? 300 : 3000;
      s.board.memory.write_delay = seed % 2 == 0 ? 3000 : 100;
    }
    for (unsigned life = 0; life < 4; ++life) {
      CAPTURE(life);
      pair.open(2);
      for (Side<TestType>& s : pair.sides) s.board.resets_core_alone = true;
      uint64_t at = 0x1000;
      std::vector<std::pair<uint64_t, uint32_t>> sent;
      for (unsigned i = 0; i < 6; ++i) {
        const auto size = static_cast<uint32_t>(pair.rng.between(1, 4000));
        REQUIRE(pair.post(0, i % 2, at, size));
        REQUIRE(pair.post(1, i % 2, at, size));
        sent.emplace_back(at, size);
        at += 0x1000 + 37;
      }
      if (life % 2 == 0) {
        // In the middle: memory still owes.
        pair.run(static_cast<unsigned>(pair.rng.between(4, 30)));
        pair.settle();
        for (const Side<TestType>& s : pair.sides) {
          reads += s.board.memory.reads();
          writes += s.board.memory.writes();
        }
      } else {
        for (unsigned turns = 0; turns < 1000 && !done(pair); ++turns) pair.turn();
        for (unsigned i = 0; i < 2; ++i) {
          for (const auto& [from, size] : sent) CHECK(pair.written(i, from, size));
          CHECK(received(pair.sides[i]).size() == 6);
        }
        messages += 2 * sent.size();
        pair.settle();
      }
      for (unsigned i = 0; i < 2; ++i) CHECK(pair.wrong(i) == 0);
    }
    for (unsigned i = 0; i < 2; ++i) {
      CHECK(pair.read(i, kStrays) == 0);
      // The core may send again, and read, what the other one has: each look takes time, and one of them sees it quiet.
      uint32_t taken = 0, done = 1;
      for (unsigned looks = 0; looks < 1000 && taken != done; ++looks) {
        done = pair.read(i, kRdDone);
        taken = pair.read(i, kRdTaken);
      }
      CHECK(taken == done);
      CHECK(pair.sides[i].board.failed_assertion() == nullptr);
      overtakes += pair.sides[i].board.memory.overtakes();
    }
  }
  CHECK(overtakes > 100);
  CHECK(reads > 50);
  CHECK(writes > 20);
  CHECK(messages == 96);
}

}  // namespace mrc::test::board_test
