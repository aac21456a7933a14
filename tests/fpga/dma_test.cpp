// SPDX-License-Identifier: Apache-2.0
// Skin B and a shell with streams: packets of two planes become descriptors and their bytes. The shell is slow, stalls,
// fails, and answers in order or in any. A byte is in memory when its descriptor has its status, not before.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "Vmrc_fpga_dma_bench.h"
#include "tests/fpga/host_core.hpp"

using namespace mrc;

namespace {

constexpr unsigned kPage = 4096, kMaxBeats = 16, kMaxDescs = 4;

struct Piece {
  uint64_t address = 0;
  std::size_t length = 0;
  unsigned id = 0, qp = 0;
  bool last = false;
  std::vector<uint8_t> bytes;
  bool answered = false, failed = false;
};

class Bench : public HostCore<Vmrc_fpga_dma_bench> {
 public:
  explicit Bench(uint64_t seed) : HostCore(seed, "dma") {}

  double takes = 1.0, answers = 1.0, fails = 0.0;
  uint64_t pieces = 0, longest = 0;
  /// Taken, and not behind all their statuses; nothing else is owed.
  bool idle() const { return waiting() == 0 && open_.empty() && beats_.empty(); }

 private:
  void drive_shell() override {
    auto& t = *top;
    t.desc_ready_i = rng.chance(takes);
    t.data_ready_i = rng.chance(takes);
    if (!status_) pick_status();
    t.status_valid_i = status_.has_value();
    if (!status_) return;
    t.status_id_i = static_cast<uint8_t>(open_[*status_].id);
    t.status_err_i = open_[*status_].failed;
  }
  /// The oldest piece whose bytes have come and that has no status.
  void pick_status() {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if (open_[i].answered) continue;
      if (open_[i].bytes.size() < open_[i].length || !rng.chance(answers)) return;
      open_[i].failed = rng.chance(fails);
      status_ = i;
      return;
    }
  }

  void sample_shell() override {
    // The gate hears of pieces in their order, in the cycle behind their status.
    if (!open_.empty() && open_.front().answered) {
      if (open_.front().failed) failed[open_.front().qp] = true;
      open_.pop_front();
      if (status_) --*status_;
    }
    if (status_) {
      Piece& piece = open_[*status_];
      piece.answered = true;
      for (std::size_t i = 0; i < piece.length; ++i) write(piece.address + i, piece.bytes[i]);
      status_.reset();
    }
    take_desc();
    take_data();
  }
  void take_desc() {
    auto& t = *top;
    const std::array<uint64_t, 4> desc{t.desc_addr_o, t.desc_len_o, t.desc_id_o, t.desc_last_o};
    if (held_desc_) REQUIRE((t.desc_valid_o && desc == *held_desc_));
    held_desc_.reset();
    if (!t.desc_valid_o) return;
    if (!t.desc_ready_i) {
      held_desc_ = desc;
      return;
    }
    Piece piece;
    piece.address = desc[0];
    piece.length = desc[1];
    piece.id = static_cast<unsigned>(desc[2]);
    piece.last = desc[3] != 0;
    REQUIRE(piece.length > 0);
    REQUIRE(piece.length <= kMaxBeats * kHostLine);
    REQUIRE(piece.address / kPage == (piece.address + piece.length - 1) / kPage);
    REQUIRE(piece.id == pieces % kMaxDescs);
    const HostPacket& packet = packet_at(piece.address);
    piece.qp = packet.qp;
    REQUIRE(piece.last == (piece.address + piece.length == packet.address + packet.bytes.size()));
    open_.push_back(piece);
    REQUIRE(open_.size() <= kMaxDescs);
    ++pieces;
    longest = std::max<uint64_t>(longest, piece.length);
  }
  void take_data() {
    auto& t = *top;
    std::array<uint8_t, 73> beat{};
    std::memcpy(beat.data(), &t.data_o[0], 64);
    std::memcpy(beat.data() + 64, &t.data_keep_o, 8);
    beat[72] = t.data_last_o;
    if (held_beat_) REQUIRE((t.data_valid_o && beat == *held_beat_));
    held_beat_.reset();
    if (t.data_valid_o && t.data_ready_i) beats_.push_back(beat);
    if (t.data_valid_o && !t.data_ready_i) held_beat_ = beat;
    // Beats may come before their descriptor.
    for (Piece& piece : open_) {
      while (!beats_.empty() && piece.bytes.size() < piece.length) {
        const std::size_t size = std::min<std::size_t>(kHostLine, piece.length - piece.bytes.size());
        uint64_t keep = 0;
        std::memcpy(&keep, beats_.front().data() + 64, 8);
        REQUIRE(keep == ~uint64_t{0} >> (kHostLine - size));
        piece.bytes.insert(piece.bytes.end(), beats_.front().begin(), beats_.front().begin() + size);
        REQUIRE(beats_.front()[72] == (piece.bytes.size() == piece.length));
        beats_.pop_front();
      }
    }
  }

  std::deque<Piece> open_;
  std::deque<std::array<uint8_t, 73>> beats_;
  std::optional<std::size_t> status_;  ///< the number in open_ of the piece whose status is on offer
  std::optional<std::array<uint64_t, 4>> held_desc_;
  std::optional<std::array<uint8_t, 73>> held_beat_;
};

}  // namespace

TEST_CASE("a packet is written by descriptor and stream, and its completion waits for its status", "[fpga][dma]") {
  Bench bench(1);
  bench.answers = 0.0;
  bench.send(0, 2, 700, 0x0005000000001fc3);
  bench.run(40);
  CHECK(bench.taken == 1);
  CHECK(bench.pieces == 2);  // it crosses a page
  bench.complete(true, 2, 7);
  bench.run(40);
  CHECK(bench.left.empty());
  bench.answers = 1.0;
  bench.run(10);
  bench.require_written();
  REQUIRE(bench.left.size() == 1);
  CHECK(bench.left[0].wr_id == 7);
  CHECK(bench.idle());
  CHECK(bench.strays == 0);
  CHECK(failed_assertions() == std::vector<std::string>{});
}
