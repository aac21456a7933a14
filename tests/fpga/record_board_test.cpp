// SPDX-License-Identifier: Apache-2.0
// Two boards, cable to cable, of which one is recorded, by registers of its map, as software does it; the model is
// driven by what it left in memory.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tb/board/replay.hpp"
#include "tests/fpga/board_pair.hpp"

namespace mrc::test::record_board_test {

using namespace mrc::tb;

namespace {

using Pair = PairOf<Board>;
constexpr uint16_t kRecord = 0x6000, kControl = kRecord + 0x10, kStatus = kRecord + 0x14, kBase = kRecord + 0x20,
                   kSize = kRecord + 0x28, kBytes = kRecord + 0x30, kCycles = kRecord + 0x38, kFailed = kRecord + 0x40;
constexpr uint64_t kRegion = 0x3'0000'0000;

/// The core of board 1 begins anew, and with it a record.
void open_recorded(Pair& pair, uint32_t blocks) {
  Board& board = pair.sides[1].board;
  board.record_memory.region(kRegion, std::size_t{blocks} * 4096);
  board.writes_held = {{kBase, static_cast<uint32_t>(kRegion)},
                       {static_cast<uint16_t>(kBase + 4), static_cast<uint32_t>(kRegion >> 32)},
                       {kSize, blocks},
                       {kControl, 1}};
  for (auto& side : pair.sides) side.board.resets_core_alone = true;
  pair.open(2);
  board.writes_held.clear();
}

/// Waits until it is written; what software copies.
std::string dump(Pair& pair) {
  for (unsigned turns = 0; (pair.read(1, kStatus) & 7) != 0; ++turns) REQUIRE(turns < 1000);
  const uint32_t bytes = pair.read(1, kBytes);
  const auto& memory = pair.sides[1].board.record_memory.bytes();
  REQUIRE(bytes <= memory.size());
  CHECK(pair.read(1, kFailed) == 0);
  return {memory.begin(), memory.begin() + bytes};
}

ReplayResult replayed(const std::string& bytes, Dut& device) {
  std::istringstream in(bytes);
  RecordReader reader(in, "dump", Board::kPreset);
  return replay(reader, device, Board::kPreset, {});
}

/// A model in which a bit of a beat flips, the one of that number.
class Upset final : public Dut {
 public:
  explicit Upset(uint64_t beat) : left_(beat) {}
  void outputs(mrc_pins_out& o) override { model_->outputs(o); }
  void step(const mrc_pins_in& i) override {
    mrc_pins_in in = i;
    if (in.rx_tvalid != 0 && !flipped && left_-- == 0) {
      flipped = cycle_;
      in.rx_tdata[(in.rx_tvalid & 1) != 0 ? 0 : 1][3] ^= 4;
    }
    ++cycle_;
    model_->step(in);
  }
  bool observe(const uint32_t*&, const uint32_t*&) override { return false; }
  bool wave(const char*, bool) override { return false; }
  bool can_wave() const override { return false; }
  std::string name() const override { return "upset"; }
  std::string version() const override { return {}; }

  std::optional<uint64_t> flipped;

 private:
  std::unique_ptr<Dut> model_ = make_model_dut(Board::kPreset);
  uint64_t left_, cycle_ = 0;
};

}  // namespace

TEST_CASE("a board is recorded while it writes and is written to, and the model does the same", "[fpga][top][record]") {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    Pair pair(seed);
    pair.open(2);
    REQUIRE(pair.read(1, kRecord) == 0x4d524358);
    Board& board = pair.sides[1].board;
    if (seed == 2) board.memory.read_delay = 300;
    if (seed == 3) {
      // Its host memory fails a read and a write.
      board.memory.write_fails = [](uint64_t at) { return at >= kTarget + 0x3000 && at < kTarget + 0x3400; };
      board.memory.read_fails = [](uint64_t at) { return at == kSource + 0x3080; };
    }
    board.record_memory.takes = 0.95;
    open_recorded(pair, 1u << 12);
    REQUIRE((pair.read(1, kStatus) & 7) == 2);
    for (unsigned i = 0; i < 6; ++i) {
      const uint64_t at = 0x1000 * (i + 1) + i;
      for (unsigned from = 0; from < 2; ++from)
        pair.post(from, i % 2, at, static_cast<uint32_t>(pair.rng.between(1, 4000)));
    }
    pair.run(120);
    if (seed != 2) {
      pair.write(1, kControl, 2);
    } else {
      pair.open(2);  // the core is held
    }
    const std::string bytes = dump(pair);
    const auto why = static_cast<RecordEnd>(pair.read(1, kStatus) >> 8);
    CHECK(why == (seed == 2 ? RecordEnd::Held : RecordEnd::Stopped));
    const auto model = make_model_dut(Board::kPreset);
    const ReplayResult result = replayed(bytes, *model);
    CHECK_FALSE(result.first);
    CHECK(result.end == why);
    CHECK(result.cycles == pair.read(1, kCycles));
    CHECK(result.compared == result.cycles);
    CHECK(result.cycles > 10'000);
    WARN(result.cycles << " cycles, " << bytes.size() << " bytes");
    // A bit that flips is in the window in which it first shows, or before it.
    Upset upset(50 + seed);
    const ReplayResult other = replayed(bytes, upset);
    REQUIRE(upset.flipped);
    REQUIRE(other.first);
    CHECK(other.first->to > *upset.flipped);
    CHECK(other.first->from <= *upset.flipped + 2048);
    for (const auto& side : pair.sides) CHECK(side.board.failed_assertion() == nullptr);
  }
}

TEST_CASE("a board that is recorded does what it does unrecorded, also when the record has no room",
          "[fpga][top][record]") {
  std::array<std::vector<log::Cqe>, 3> cqes;
  std::array<std::map<uint64_t, uint8_t>, 3> memories;
  for (unsigned how = 0; how < 3; ++how) {
    CAPTURE(how);
    Pair pair(5);
    pair.open(2);
    Board& board = pair.sides[1].board;
    // Not recorded: armed, and stopped by a region of one block; by a memory that takes nothing; and to the end.
    if (how == 0) board.record_memory.takes = 0;
    open_recorded(pair, how == 1 ? 1 : 1u << 12);
    for (unsigned i = 0; i < 4; ++i) {
      for (unsigned from = 0; from < 2; ++from) REQUIRE(pair.post(from, i % 2, 0x1000 * (i + 1), 2500));
    }
    pair.run(100);
    for (unsigned i = 0; i < 2; ++i) {
      cqes[how].insert(cqes[how].end(), pair.sides[i].cqes.begin(), pair.sides[i].cqes.end());
      CHECK(pair.written(i, 0x1000, 2500));
    }
    memories[how] = pair.sides[1].memory;
    const uint32_t status = pair.read(1, kStatus);
    if (how == 1) CHECK(static_cast<RecordEnd>(status >> 8) == RecordEnd::Full);
    if (how == 0) CHECK(static_cast<RecordEnd>(status >> 8) == RecordEnd::TooFast);
    if (how == 2) CHECK((status & 7) == 2);
  }
  CHECK(memories[0] == memories[1]);
  CHECK(memories[0] == memories[2]);
  CHECK(cqes[0].size() == cqes[1].size());
  CHECK(cqes[0].size() == cqes[2].size());
}

}  // namespace mrc::test::record_board_test
