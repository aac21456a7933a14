// SPDX-License-Identifier: Apache-2.0
// The write side of skin B and two shells: one takes streams, one drains a RAM. Both are slow, stall, fail, and give
// statuses in order or in any. A byte is in memory when its descriptor has its status, not before.
#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "Vmrc_fpga_dma_bench.h"
#include "Vmrc_fpga_dma_ram_bench.h"
#include "tests/fpga/host_core.hpp"

namespace mrc::test::dma_test {
namespace {

constexpr unsigned kPage = 4096, kMaxBeats = 16, kMaxDescs = 4, kDepth = 4, kMaxOpen = 8;

struct Piece {
  uint64_t address = 0;
  std::size_t length = 0;
  unsigned id = 0, qp = 0, ram = 0;
  std::size_t came = 0;  ///< bytes that the shell has so far
  bool answered = false, failed = false;
};

/// Descriptors and statuses, which both shells have; the shell that is derived gets the bytes.
template <class Top>
class Shell : public HostCore<Top> {
 public:
  explicit Shell(uint64_t seed) : HostCore<Top>(seed, "dma") {}
  using HostCore<Top>::rng, HostCore<Top>::top;

  double takes = 1.0, answers = 1.0, fails = 0.0;
  double early = 0.0;           ///< a piece fails at once, its bytes unseen
  bool any_order = false;       ///< of statuses
  bool stands = false;          ///< nothing is taken
  bool oldest_waits = false;    ///< no status for the oldest piece
  std::optional<unsigned> odd;  ///< a status that nobody asked for, with this id
  uint64_t pieces = 0, longest = 0, overtakes = 0, fell_early = 0, crossed = 0, most_open = 0, strays = 0;

  bool idle() const { return this->unwritten == 0 && open_.empty() && !bytes_owed(); }
  std::size_t open() const { return open_.size(); }
  /// Until nothing is open, with a shell that does what it should.
  void finish() {
    takes = answers = this->offers = this->host = 1.0;
    stands = oldest_waits = false;
    for (unsigned i = 0; i < 4000 && !idle(); ++i) this->cycle();
    this->run(20);
    REQUIRE(idle());
  }

 protected:
  virtual void drive_bytes() = 0;
  virtual void sample_bytes() = 0;
  virtual void began(const std::shared_ptr<Piece>& piece) = 0;
  virtual bool bytes_owed() const = 0;
  virtual std::array<uint64_t, 5> desc() const = 0;  ///< address, length, id, last, place in the RAM

 private:
  void drive_shell() override {
    auto& t = *top;
    t.desc_ready_i = !stands && rng.chance(takes);
    drive_bytes();
    if (!status_) pick_status();
    t.status_valid_i = status_ != nullptr || odd.has_value();
    t.status_id_i = static_cast<uint8_t>(odd.value_or(status_ ? status_->id : 0));
    t.status_err_i = odd ? true : status_ && status_->failed;
  }
  void pick_status() {
    std::vector<std::shared_ptr<Piece>> ready;
    for (const auto& piece : open_) {
      if (piece->answered || (oldest_waits && piece == open_.front())) continue;
      const bool whole = piece->came == piece->length;
      if (whole || rng.chance(early)) ready.push_back(piece);
      if (!any_order) break;
    }
    if (ready.empty() || !rng.chance(answers)) return;
    status_ = ready[rng.below(ready.size())];
    status_->failed = status_->came != status_->length || rng.chance(fails);
  }

  void sample_shell() override {
    strays += top->stray_o;
    // The gate hears of pieces in their order, in the cycle behind their status.
    if (!open_.empty() && open_.front()->answered) {
      if (open_.front()->failed) this->failed[open_.front()->qp] = true;
      open_.pop_front();
    }
    if (status_ && !odd) {
      status_->answered = true;
      for (const auto& piece : open_) {
        if (piece == status_) break;
        if (!piece->answered) {
          ++overtakes;
          break;
        }
      }
      const bool whole = status_->came == status_->length;
      fell_early += !whole;
      this->write(status_->address, status_->length);
      status_.reset();
    }
    take_desc();
    sample_bytes();
  }
  void take_desc() {
    auto& t = *top;
    const auto now = desc();
    if (held_) REQUIRE((t.desc_valid_o && now == *held_));
    held_.reset();
    if (!t.desc_valid_o) return;
    if (!t.desc_ready_i) {
      held_ = now;
      return;
    }
    auto piece = std::make_shared<Piece>();
    piece->address = now[0];
    piece->length = now[1];
    piece->id = static_cast<unsigned>(now[2]);
    piece->ram = static_cast<unsigned>(now[4]);
    REQUIRE(piece->length > 0);
    REQUIRE(piece->length <= kMaxBeats * kHostLine);
    const uint64_t end = piece->address + piece->length;
    REQUIRE(piece->address / kPage == (end - 1) / kPage);
    REQUIRE(piece->id == pieces % kMaxDescs);
    const HostPacket& packet = this->packet_at(piece->address);
    const bool last = end == packet.address + packet.bytes.size();
    piece->qp = packet.qp;
    REQUIRE(end <= packet.address + packet.bytes.size());
    REQUIRE((now[3] == 2 || now[3] == last));
    crossed += !last && end % kPage == 0;
    open_.push_back(piece);
    REQUIRE(open_.size() <= kMaxDescs);
    most_open = std::max<uint64_t>(most_open, open_.size());
    ++pieces;
    longest = std::max<uint64_t>(longest, piece->length);
    began(piece);
  }

  std::deque<std::shared_ptr<Piece>> open_;
  std::shared_ptr<Piece> status_;  ///< on offer
  std::optional<std::array<uint64_t, 5>> held_;
};

/// Takes streams: a piece of n bytes is ceil(n / 64) beats.
class Streams : public Shell<Vmrc_fpga_dma_bench> {
 public:
  using Shell::Shell;
  uint64_t beats = 0, ahead = 0;

 private:
  void drive_bytes() override { top->data_ready_i = !stands && rng.chance(takes); }
  std::array<uint64_t, 5> desc() const override {
    return {top->desc_addr_o, top->desc_len_o, top->desc_id_o, top->desc_last_o, 0};
  }
  void began(const std::shared_ptr<Piece>& piece) override { owed_.push_back(piece); }
  bool bytes_owed() const override { return !owed_.empty() || !beats_.empty(); }

  void sample_bytes() override {
    auto& t = *top;
    std::array<uint8_t, 73> beat{};
    std::memcpy(beat.data(), &t.data_o[0], 64);
    std::memcpy(beat.data() + 64, &t.data_keep_o, 8);
    beat[72] = t.data_last_o;
    if (held_beat_) REQUIRE((t.data_valid_o && beat == *held_beat_));
    held_beat_.reset();
    if (t.data_valid_o && t.data_ready_i) {
      beats_.push_back(beat);
      ++beats;
    }
    if (t.data_valid_o && !t.data_ready_i) held_beat_ = beat;
    ahead += owed_.empty() && !beats_.empty();
    while (!owed_.empty() && !beats_.empty()) {
      Piece& piece = *owed_.front();
      const std::size_t size = std::min<std::size_t>(kHostLine, piece.length - piece.came);
      uint64_t keep = 0;
      std::memcpy(&keep, beats_.front().data() + 64, 8);
      REQUIRE(keep == ~uint64_t{0} >> (kHostLine - size));
      check(piece.address + piece.came, beats_.front().data(), size);
      piece.came += size;
      REQUIRE(beats_.front()[72] == (piece.came == piece.length));
      beats_.pop_front();
      if (piece.came == piece.length) owed_.pop_front();
    }
  }

  std::deque<std::shared_ptr<Piece>> owed_;  ///< whose bytes have not all come
  std::deque<std::array<uint8_t, 73>> beats_;
  std::optional<std::array<uint8_t, 73>> held_beat_;
};

/// Drains a RAM of two segments: works on all of its descriptors at once, in any order, row by row.
class Ram : public Shell<Vmrc_fpga_dma_ram_bench> {
 public:
  explicit Ram(uint64_t seed) : Shell(seed) { any_order = true; }
  static constexpr unsigned kSegs = 2;
  std::array<bool, kSegs> segment_stands{};  ///< takes no row
  std::array<uint64_t, kSegs> rows{}, reads{};

 private:
  struct Read {
    std::shared_ptr<Piece> piece;
    unsigned line = 0;
  };

  std::array<uint64_t, 5> desc() const override {
    return {top->desc_addr_o, top->desc_len_o, top->desc_id_o, 2, top->desc_ram_addr_o};
  }
  void began(const std::shared_ptr<Piece>& piece) override {
    REQUIRE(piece->ram == piece->id * kMaxBeats * kHostLine);
    work_.push_back({piece, 0});
  }
  bool bytes_owed() const override {
    return !work_.empty() || !requests_[0].empty() || !requests_[1].empty() || !requested_[0].empty() ||
           !requested_[1].empty();
  }

  void drive_bytes() override {
    auto& t = *top;
    // Rows are asked for of any piece; those of one piece in their order.
    if (!work_.empty() && rng.chance(takes)) {
      const std::size_t i = rng.below(work_.size());
      Read& read = work_[i];
      requests_[(read.piece->ram / kHostLine + read.line) % kSegs].push_back(read);
      if (++read.line * kHostLine >= read.piece->length) work_.erase(work_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    t.read_valid_i = 0;
    t.read_row_i = 0;
    t.row_ready_i = 0;
    for (unsigned s = 0; s < kSegs; ++s) {
      offered_[s] = offered_[s] || (!requests_[s].empty() && rng.chance(takes));
      if (offered_[s]) {
        const Read& read = requests_[s].front();
        const unsigned row = (read.piece->ram / kHostLine + read.line) / kSegs;
        t.read_valid_i |= static_cast<uint8_t>(1u << s);
        t.read_row_i |= static_cast<uint16_t>(row << 5 * s);
      }
      if (!stands && !segment_stands[s] && rng.chance(takes)) t.row_ready_i |= static_cast<uint8_t>(1u << s);
    }
  }
  void sample_bytes() override {
    auto& t = *top;
    for (unsigned s = 0; s < kSegs; ++s) {
      std::array<uint8_t, kHostLine> row{};
      std::memcpy(row.data(), &t.row_data_o[16 * s], kHostLine);
      const bool valid = t.row_valid_o >> s & 1;
      REQUIRE((!valid || !requested_[s].empty()));
      if (held_row_[s]) REQUIRE((valid && row == *held_row_[s]));
      held_row_[s].reset();
      if (valid && (t.row_ready_i >> s & 1) != 0) {
        const Read read = requested_[s].front();
        requested_[s].pop_front();
        ++rows[s];
        came(read, row);
      } else if (valid) {
        held_row_[s] = row;
      }
      if (offered_[s] && (t.read_ready_o >> s & 1) != 0) {
        ++reads[s];
        requested_[s].push_back(requests_[s].front());
        requests_[s].pop_front();
        offered_[s] = false;
      }
    }
  }
  /// A row of a piece: the rows of its two segments may come in any order.
  void came(const Read& read, const std::array<uint8_t, kHostLine>& row) {
    Piece& piece = *read.piece;
    if (piece.answered) return;  // it has failed, and its place may be another's
    const std::size_t from = read.line * kHostLine, size = std::min<std::size_t>(kHostLine, piece.length - from);
    check(piece.address + from, row.data(), size);
    piece.came += size;
  }

  std::deque<Read> work_;  ///< pieces of which a row is still to be asked for
  std::array<std::deque<Read>, kSegs> requests_, requested_;
  std::array<bool, kSegs> offered_{};
  std::array<std::optional<std::array<uint8_t, kHostLine>>, kSegs> held_row_;
};

/// Packets and completions at random for so many cycles, then all to its end; returns the completions sent.
template <class Bench>
unsigned run_random(Bench& bench, unsigned cycles, std::size_t most) {
  uint64_t seen = 0;
  unsigned sent = 0;
  for (unsigned i = 0; i < cycles; ++i) {
    if (bench.waiting() < 4) bench.send_any(most);
    // Completions of packets that were taken, and some that wait for none.
    for (; seen < bench.taken; ++seen) {
      if (bench.cqes.size() >= 6 || !bench.rng.chance(0.4)) continue;
      bench.complete(bench.rng.chance(0.7), static_cast<unsigned>(bench.rng.below(kHostQps)), sent++);
    }
    bench.cycle();
  }
  bench.finish();
  bench.require_written();
  REQUIRE(bench.left.size() == sent);
  for (unsigned i = 0; i < sent; ++i) REQUIRE(bench.left[i].wr_id == i);
  CHECK(failed_assertions() == std::vector<std::string>{});
  return sent;
}

}  // namespace

TEMPLATE_TEST_CASE("packets are written by descriptors, byte by byte where they belong, whatever the shell does",
                   "[fpga][dma]", Streams, Ram) {
  uint64_t pieces = 0, longest = 0, completions = 0, overtakes = 0, crossed = 0, most_open = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    TestType bench(seed);
    bench.any_order = seed % 2 == 0;
    bench.offers = seed % 3 == 0 ? 1.0 : 0.6;
    bench.takes = seed % 3 == 1 ? 1.0 : 0.5;
    bench.answers = seed % 4 == 0 ? 1.0 : 0.1;
    bench.host = seed % 5 == 0 ? 0.05 : 0.8;
    completions += run_random(bench, 5000, seed % 4 == 1 ? 4096 : 700);
    CHECK(bench.strays == 0);
    pieces += bench.pieces;
    longest = std::max(longest, bench.longest);
    overtakes += bench.overtakes;
    crossed += bench.crossed;
    most_open = std::max(most_open, bench.most_open);
  }
  CHECK(pieces > 1000);
  CHECK(longest == kMaxBeats * kHostLine);
  CHECK(completions > 300);
  CHECK(overtakes > 100);
  CHECK(crossed > 100);
  CHECK(most_open == kMaxDescs);
}

TEST_CASE("a packet that crosses a page is two descriptors, and its completion waits for both statuses",
          "[fpga][dma]") {
  Streams bench(1);
  bench.any_order = bench.oldest_waits = true;
  bench.send(0, 2, 700, 0x0005000000001fc3);
  bench.run(40);
  CHECK(bench.taken == 1);
  CHECK(bench.pieces == 2);
  CHECK(bench.beats == 1 + 10);  // 61 bytes, and 639 packed anew
  bench.complete(true, 2, 7);
  bench.run(40);
  CHECK(bench.open() == 2);  // the second has its status
  CHECK(bench.left.empty());
  bench.oldest_waits = false;
  bench.run(10);
  bench.require_written();
  CHECK(bench.left.size() == 1);
  CHECK(bench.idle());
}

TEST_CASE("packets go out at a line per cycle, also at odd addresses; a boundary costs one cycle at most",
          "[fpga][dma]") {
  struct Case {
    unsigned address, size, cycles;
  };
  // In a page, aligned and odd; across a boundary with one beat more than lines, and with as many.
  for (const auto [address, size, cycles] :
       {Case{0, 1024, 16}, Case{61, 1024, 16}, Case{4096 - 61, 1024, 17}, Case{4096 - 61, 1000, 16}}) {
    CAPTURE(address, size);
    Streams bench(3);
    for (unsigned i = 0; i < 400; ++i) bench.send(i % 2, 0, size, 0x10000 + 2 * kPage * i + address);
    unsigned took = 0;
    for (; !bench.idle() && took < 400 * (cycles + 2); ++took) bench.cycle();
    CHECK(took <= 400 * cycles + 40);  // the last packet's beats go when all are inside
  }
}

TEST_CASE("a piece is offered two cycles after its last line is inside, and its packet done one after the status",
          "[fpga][dma]") {
  Streams bench(3);
  bench.send(0, 0, 200, 0x10000);
  bench.answers = 0.0;
  while (bench.taken == 0) bench.cycle();
  bench.complete(true, 0, 0);
  bench.run(2);  // it is at the head of the input, then in the queue of pieces
  CHECK(bench.pieces == 0);
  bench.run(1);
  CHECK(bench.pieces == 1);
  bench.run(10);
  bench.answers = 1.0;
  bench.run(1);
  CHECK(bench.top->status_valid_i);
  CHECK(bench.left.empty());
  bench.run(2);  // done, and the gate's two cycles
  CHECK(bench.left.empty());
  bench.run(1);
  CHECK(bench.left.size() == 1);
}

TEST_CASE("packets go through the RAM at a line per cycle", "[fpga][dma]") {
  Ram bench(3);
  for (unsigned i = 0; i < 200; ++i) bench.send(i % 2, 0, 1024, 0x10000 + kPage * i);
  unsigned cycles = 0;
  for (; !bench.idle() && cycles < 200 * 24; ++cycles) bench.cycle();
  CHECK(cycles < 200 * 16 + 100);
}

TEST_CASE("a segment whose row is not taken reads no further, the other goes on", "[fpga][dma]") {
  Ram bench(8);
  bench.segment_stands[1] = true;
  for (unsigned i = 0; i < 4; ++i) bench.send(0, 0, 1024, 0x10000 + kPage * i);
  bench.run(200);
  CHECK(bench.reads[1] == 1);
  CHECK(bench.rows[1] == 0);
  CHECK(bench.rows[0] == 4 * 8);
  bench.segment_stands[1] = false;
  bench.finish();
  CHECK(bench.rows[1] == 4 * 8);
}

TEMPLATE_TEST_CASE("ids go round no further than to the oldest without its status", "[fpga][dma]", Streams, Ram) {
  TestType bench(4);
  bench.any_order = bench.oldest_waits = true;
  for (unsigned i = 0; i < 20; ++i) bench.send(i % 2, i % kHostQps, 200, 0x10000 + 333 * i);
  bench.run(200);
  CHECK(bench.pieces == kMaxDescs);
  CHECK(bench.open() == kMaxDescs);
  CHECK(bench.taken == kMaxOpen);
  bench.complete(true, 0, 0);
  bench.complete(false, 0, 1);
  bench.run(200);
  CHECK(bench.left.empty());  // the second does not overtake
  bench.finish();
  CHECK(bench.left.size() == 2);
  CHECK(bench.taken == 20);
  bench.require_written();
}

TEMPLATE_TEST_CASE("a shell that takes nothing, or answers nothing, holds writes and completions, and loses none",
                   "[fpga][dma]", Streams, Ram) {
  TestType bench(5);
  bench.stands = true;
  for (unsigned i = 0; i < 20; ++i) bench.send(i % 2, i % kHostQps, 900, 0x10000 + 1000 * i);
  bench.run(400);
  CHECK(bench.pieces == 0);
  CHECK(bench.taken > 0);
  CHECK(bench.waiting() >= 20 - kMaxOpen);  // lines wait
  for (unsigned i = 0; i < 10; ++i) bench.complete(true, 0, i);
  bench.stands = false;
  bench.answers = 0.0;
  bench.run(1000);
  CHECK(bench.pieces == kMaxDescs);
  CHECK(bench.left.empty());
  CHECK(bench.cqes.size() == 10 - kDepth);
  bench.finish();
  CHECK(bench.left.size() == 10);
  bench.require_written();
}

TEST_CASE("short pieces fill the queue of pieces, long ones the queue of beats, and lines of all planes wait",
          "[fpga][dma]") {
  struct Case {
    unsigned size, inside;  ///< 4 pieces wait, one is issued, 2 lines are in front; 32 beats
  };
  for (const auto [size, inside] : {Case{64, 7}, Case{1024, 2}}) {
    CAPTURE(size);
    Streams bench(9);
    bench.stands = true;
    for (unsigned i = 0; i < 10; ++i) bench.send(0, 0, size, 0x10000 + kPage * i);
    bench.run(300);
    CHECK(bench.taken == inside);
    bench.send(1, 0, size, 0x1000);
    bench.run(20);
    CHECK(bench.taken == inside);
    CHECK(bench.waiting() == 10 - inside + 2);  // with the line on offer
    bench.finish();
    bench.require_written();
  }
}

TEMPLATE_TEST_CASE("a completion behind a write whose status failed says so, until its QP is cleared", "[fpga][dma]",
                   Streams, Ram) {
  TestType bench(6);
  bench.send(0, 2, 300, 0x10001);
  bench.fails = 1.0;
  bench.run(60);
  CHECK(bench.top->failed_o == 4);
  bench.fails = 0.0;
  bench.send(1, 2, 300, 0x20001);
  bench.complete_failed(2);
  bench.top->clear_i = 1 << 2;
  bench.run(1);
  bench.top->clear_i = 0;
  CHECK(bench.top->failed_o == 0);
  bench.complete(true, 2, 4);
  bench.run(10);
  REQUIRE(bench.left.size() == 5);
  CHECK(static_cast<unsigned>(bench.left[4].status) == kStatusOk);

  // At random, in any order, some before the shell has seen a byte.
  uint64_t reported = 0, early = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    TestType random(seed);
    random.any_order = seed % 2 == 0;
    random.fails = 0.002;
    random.early = 0.002;
    random.answers = random.takes = 0.3;
    random.host = 0.7;
    run_random(random, 3000, 500);
    early += random.fell_early;
    for (const Cqe& cqe : random.left) reported += static_cast<unsigned>(cqe.status) == kStatusRemOp;
  }
  CHECK(early > 5);
  CHECK(reported > 20);
}

TEMPLATE_TEST_CASE("a status that nobody waits for is told, and does nothing", "[fpga][dma]", Streams, Ram) {
  TestType bench(7);
  bench.odd = 0;  // nothing is open
  bench.run(1);
  bench.odd.reset();
  CHECK(bench.strays == 1);
  bench.any_order = bench.oldest_waits = true;
  bench.send(0, 0, 64, 0x1000);
  bench.send(0, 0, 64, 0x2000);
  bench.complete(true, 0, 0);
  bench.run(40);
  CHECK(bench.open() == 2);
  bench.odd = 1;  // the second of two has its status already
  bench.run(1);
  bench.odd = 2;  // no such piece is open
  bench.run(1);
  bench.odd.reset();
  CHECK(bench.strays == 3);
  CHECK(bench.left.empty());
  bench.finish();
  CHECK(bench.strays == 3);
  REQUIRE(bench.left.size() == 1);
  CHECK(static_cast<unsigned>(bench.left[0].status) == kStatusOk);
  CHECK(bench.top->failed_o == 0);
}

}  // namespace mrc::test::dma_test
