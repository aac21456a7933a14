// SPDX-License-Identifier: Apache-2.0
/// A memory behind a DMA that takes descriptors (docs/design/boards/host_b.md), with the face of AxiMemory: slow,
/// stalls at random, gives statuses in any order. Whose bytes they are is not its own affair: it asks for what is read,
/// and tells what is written. A write is told when its status is about to be given, and not before.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "util/rng.hpp"

namespace mrc {

/// Of lines of Bytes bytes. Ram: it works on RAMs of two segments, as mrc_fpga_top_dma has them with that parameter;
/// otherwise it takes and gives streams.
template <unsigned Bytes, bool Ram>
class DmaMemory {
 public:
  explicit DmaMemory(uint64_t seed) : rng_(seed, "dma memory") {}

  // Chances in each cycle: that a descriptor, a beat or a row is taken, that an answer that is there is given, and a
  // status.
  double takes = 0.8, gives = 0.8, acknowledges = 0.3;
  /// That a piece which fails has its status before its bytes are here.
  double early = 0.5;
  /// Cycles at most until a line is given after its bytes are known, and until a piece that came is written.
  /// With 16 pieces open a longer one would cost line rate, and the core would discard packets.
  unsigned read_delay = 40, write_delay = 60;
  /// Pieces that begin at these addresses fail, and lines that do.
  std::function<bool(uint64_t)> write_fails, read_fails;

  /// A read of one line or less.
  struct Beat {
    unsigned id = 0;  ///< always: a descriptor does not say whose plane it is
    uint64_t address = 0;
    unsigned length = 0, tag = 0, ram = 0;
    bool known = false;
    uint64_t ready = 0;
    std::array<uint8_t, Bytes> data{};
    unsigned filled = 0;  ///< of a RAM: bytes that are there
  };
  struct Line {
    uint64_t address = 0;
    std::vector<uint8_t> bytes;
  };

  /// The read whose bytes it wants to know next, null: none.
  const Beat* wanted() const { return requests_.empty() ? nullptr : requests_.front().get(); }
  void requested() {
    answers_.push_back(requests_.front());
    requests_.pop_front();
  }
  /// The bytes of the oldest read that was asked for.
  void answered(unsigned, const uint8_t* data) {
    Beat& beat = *answers_.front();
    answers_.pop_front();
    beat.known = true;
    beat.ready = now_ + rng_.below(read_delay + 1);
    std::memcpy(beat.data.data(), data, beat.length);
    // What lies behind its length is arbitrary.
    for (unsigned b = beat.length; b < Bytes; ++b) beat.data[b] = static_cast<uint8_t>(rng_.next());
  }
  /// Nobody answers what was asked for any more: it makes up the bytes.
  void forgotten() {
    std::array<uint8_t, Bytes> junk{};
    junk.fill(0xEE);
    while (wanted() != nullptr) requested();
    while (!answers_.empty()) answered(0, junk.data());
    while (write() != nullptr) visible();
  }
  /// The DMA is in reset: nothing is owed any more.
  void reset() {
    forgotten();
    reads_.clear();
    pieces_.clear();
    owed_.clear();
    beats_.clear();
    work_.clear();
    for (unsigned s = 0; s < kSegs; ++s) {
      requests_rows_[s].clear();
      rows_[s].clear();
      offered_[s] = false;
    }
    rd_held_.reset();
    wr_held_.reset();
    data_held_.reset();
    row_held_ = {};
    status_.reset();
    gives_ = false;
  }
  /// What is visible from now on, null: nothing. Until visible() is called no later write is, nor the status of its
  /// piece.
  const Line* write() const { return lines_.empty() ? nullptr : &lines_.front(); }
  void visible() {
    --whose_.front()->unseen;
    whose_.pop_front();
    lines_.pop_front();
  }

  /// Reads without an answer, pieces without a status.
  std::size_t reads() const { return reads_.size(); }
  std::size_t writes() const { return pieces_.size(); }
  uint64_t failed_writes() const { return failed_writes_; }
  uint64_t failed_reads() const { return failed_reads_; }
  /// Of statuses, those that overtook one; of failures, those that were told before the bytes had come.
  uint64_t overtakes() const { return overtakes_; }
  uint64_t fell_early() const { return fell_early_; }
  /// What the skin has done against its contract, "" if nothing.
  const std::string& problem() const { return problem_; }

  /// Pins for this cycle.
  template <class Top>
  void drive(Top& t) {
    ++now_;
    commit();
    status_ = pick_status();
    std::erase(work_, status_);
    t.wr_status_valid_i = status_ != nullptr;
    t.wr_status_id_i = static_cast<uint8_t>(status_ ? status_->id : rng_.below(kMaxDescs));
    t.wr_status_err_i = status_ ? status_->fails : rng_.chance(0.5);
    t.rd_desc_ready_i = rng_.chance(takes);
    t.wr_desc_ready_i = rng_.chance(takes);
    if constexpr (Ram) {
      drive_rows(t);
      drive_fills(t);
    } else {
      t.wr_data_ready_i = rng_.chance(takes);
      drive_answer(t);
    }
  }

  /// Looks at the pins before the edge.
  template <class Top>
  void sample(const Top& t) {
    if (status_) give_status();
    if constexpr (!Ram) {
      if (gives_) take_line(reads_.begin());
    }
    sample_reads(t);
    sample_pieces(t);
    if constexpr (Ram) {
      sample_rows(t);
    } else {
      sample_beats(t);
    }
  }

 private:
  static constexpr unsigned kSegs = 2, kMaxDescs = 16, kMaxBeats = 64, kPage = 4096;
  struct Piece {
    uint64_t address = 0;
    std::size_t length = 0;
    unsigned id = 0, ram = 0;
    std::vector<uint8_t> bytes;  ///< of streams: what came, of RAMs: room for all
    std::size_t came = 0, requested = 0, lines = 0;
    std::size_t unseen = 0;  ///< of its lines: written, not visible
    bool fails = false, written = false;
    uint64_t ready = 0;  ///< 0: bytes are missing
  };
  using PieceP = std::shared_ptr<Piece>;
  using BeatP = std::shared_ptr<Beat>;
  struct Row {
    PieceP piece;
    std::size_t line = 0;
  };
  /// A line as a pin has it, and what belongs to it.
  struct Word {
    std::array<uint8_t, Bytes> data{};
    uint64_t keep = 0;
    bool last = false;
    bool operator==(const Word&) const = default;
  };
  using Offer = std::array<uint64_t, 5>;

  void fail(const std::string& what) {
    if (problem_.empty()) problem_ = what;
  }
  /// True: it is taken in this cycle. What was offered and not taken must be as it was.
  template <class T>
  bool stays(const char* name, std::optional<T>& held, bool valid, const T& now, bool ready) {
    if (held && !(valid && now == *held)) fail(std::string(name) + " was offered, and has gone or changed");
    held.reset();
    if (valid && !ready) held = now;
    return valid && ready;
  }
  void in_page(const char* name, uint64_t at, uint64_t length, uint64_t most) {
    if (length == 0 || length > most) fail(std::string(name) + " is of " + std::to_string(length) + " bytes");
    if (length != 0 && at / kPage != (at + length - 1) / kPage) fail(std::string(name) + " crosses a page");
  }

  template <class Top>
  void sample_reads(const Top& t) {
    const Offer now{t.rd_desc_addr_o, t.rd_desc_len_o, t.rd_desc_tag_o, t.rd_desc_ram_addr_o};
    if (!stays("a read's descriptor", rd_held_, t.rd_desc_valid_o, now, t.rd_desc_ready_i)) return;
    in_page("a read", now[0], now[1], Bytes);
    auto beat = std::make_shared<Beat>();
    beat->address = now[0];
    beat->length = static_cast<unsigned>(std::min<uint64_t>(now[1], Bytes));
    beat->tag = static_cast<unsigned>(now[2]);
    beat->ram = static_cast<unsigned>(now[3]);
    if (Ram && beat->ram != beat->tag * Bytes) fail("a read's place in the RAM is not that of its tag");
    if (Ram && std::ranges::any_of(reads_, [&](const BeatP& b) { return b->tag == beat->tag; })) {
      fail("a read has the tag of one that is open");
    }
    reads_.push_back(beat);
    requests_.push_back(beat);
  }
  template <class Top>
  void sample_pieces(const Top& t) {
    const Offer now{t.wr_desc_addr_o, t.wr_desc_len_o, t.wr_desc_id_o, t.wr_desc_ram_addr_o, t.wr_desc_last_o};
    if (!stays("a write's descriptor", wr_held_, t.wr_desc_valid_o, now, t.wr_desc_ready_i)) return;
    in_page("a write", now[0], now[1], kMaxBeats * Bytes);
    auto piece = std::make_shared<Piece>();
    piece->address = now[0];
    piece->length = now[1];
    piece->id = static_cast<unsigned>(now[2]);
    piece->ram = static_cast<unsigned>(now[3]);
    piece->lines = (piece->length + Bytes - 1) / Bytes;
    piece->fails = write_fails && write_fails(piece->address);
    if (std::ranges::any_of(pieces_, [&](const PieceP& p) { return p->id == piece->id; })) {
      fail("a write has the id of one that is open");
    }
    if (Ram && piece->ram != piece->id * kMaxBeats * Bytes) fail("a write's place in the RAM is not that of its id");
    if (Ram) piece->bytes.resize(piece->lines * Bytes);
    failed_writes_ += piece->fails;
    pieces_.push_back(piece);
    if (Ram) {
      work_.push_back(piece);
    } else {
      owed_.push_back(piece);
      fill_owed();
    }
  }

  // Streams.
  template <class Top>
  void sample_beats(const Top& t) {
    Word now;
    std::memcpy(now.data.data(), &t.wr_data_o[0], Bytes);
    std::memcpy(&now.keep, &t.wr_data_keep_o, Bytes / 8);
    now.last = t.wr_data_last_o;
    if (!stays("a beat", data_held_, t.wr_data_valid_o, now, t.wr_data_ready_i)) return;
    beats_.push_back(now);
    fill_owed();
  }
  /// Beats may come before their descriptor.
  void fill_owed() {
    while (!owed_.empty() && !beats_.empty()) {
      const PieceP piece = owed_.front();
      const Word beat = beats_.front();
      beats_.pop_front();
      const std::size_t size = std::min<std::size_t>(Bytes, piece->length - piece->came);
      if (beat.keep != ~uint64_t{0} >> (64 - size)) fail("a beat is not packed");
      piece->bytes.insert(piece->bytes.end(), beat.data.begin(), beat.data.begin() + size);
      piece->came += size;
      if (beat.last != (piece->came == piece->length)) fail("last comes with another beat than the last");
      if (piece->came != piece->length) continue;
      whole(*piece);
      owed_.pop_front();
    }
  }
  template <class Top>
  void drive_answer(Top& t) {
    gives_ = !reads_.empty() && reads_.front()->known && reads_.front()->ready <= now_ && rng_.chance(gives);
    t.rd_data_valid_i = gives_;
    t.rd_data_err_i = gives_ ? fails(*reads_.front()) : rng_.chance(0.5);
    if (!gives_) return;
    std::memcpy(&t.rd_data_i[0], reads_.front()->data.data(), Bytes);
    if (fails(*reads_.front())) std::memset(&t.rd_data_i[0], 0xA5, Bytes);
  }

  // RAMs.
  template <class Top>
  void drive_rows(Top& t) {
    if (!work_.empty() && rng_.chance(takes)) {
      const PieceP piece = work_[rng_.below(work_.size())];
      requests_rows_[piece->requested % kSegs].push_back({piece, piece->requested});
      if (++piece->requested == piece->lines) std::erase(work_, piece);
    }
    t.wr_read_valid_i = t.wr_row_ready_i = 0;
    t.wr_read_row_i = 0;
    for (unsigned s = 0; s < kSegs; ++s) {
      offered_[s] = offered_[s] || (!requests_rows_[s].empty() && rng_.chance(takes));
      if (offered_[s]) {
        const Row& issue = requests_rows_[s].front();
        const auto row = static_cast<uint32_t>((issue.piece->ram / Bytes + issue.line) / kSegs);
        t.wr_read_valid_i |= static_cast<uint8_t>(1u << s);
        t.wr_read_row_i |= row << kWrRowBits * s;
      }
      if (rng_.chance(takes)) t.wr_row_ready_i |= static_cast<uint8_t>(1u << s);
    }
  }
  template <class Top>
  void sample_rows(const Top& t) {
    for (unsigned s = 0; s < kSegs; ++s) {
      Word now;
      std::memcpy(now.data.data(), reinterpret_cast<const uint8_t*>(&t.wr_row_data_o[0]) + s * Bytes, Bytes);
      const bool valid = t.wr_row_valid_o >> s & 1;
      if (valid && rows_[s].empty()) fail("a row is on offer that was not asked for");
      if (stays("a row", row_held_[s], valid, now, t.wr_row_ready_i >> s & 1) && !rows_[s].empty()) {
        const auto [piece, line] = rows_[s].front();
        rows_[s].pop_front();
        std::memcpy(piece->bytes.data() + line * Bytes, now.data.data(), Bytes);
        if (++piece->came == piece->lines) whole(*piece);
      }
      if (offered_[s] && (t.wr_read_ready_o >> s & 1) != 0) {
        rows_[s].push_back(requests_rows_[s].front());
        requests_rows_[s].pop_front();
        offered_[s] = false;
      }
    }
  }
  /// A line comes in parts, a part of each segment per cycle, and its status behind the last one.
  template <class Top>
  void drive_fills(Top& t) {
    t.rd_write_valid_i = 0;
    t.rd_write_row_i = 0;
    for (unsigned s = 0; s < kSegs; ++s) {
      const auto found = pick(reads_, [&](const BeatP& b) {
        return b->known && b->ready <= now_ && b->filled < b->length && b->tag % kSegs == s;
      });
      if (found == reads_.end() || !rng_.chance(gives)) continue;
      Beat& beat = **found;
      const unsigned from = beat.filled;
      beat.filled = rng_.chance(0.5) ? beat.length : from + 1 + static_cast<unsigned>(rng_.below(beat.length - from));
      Word word;
      for (unsigned b = 0; b < Bytes; ++b) {
        const bool mine = b >= from && b < beat.filled;
        word.keep |= uint64_t{mine} << b;
        word.data[b] = mine && !fails(beat) ? beat.data[b] : static_cast<uint8_t>(rng_.next());
      }
      t.rd_write_valid_i |= static_cast<uint8_t>(1u << s);
      t.rd_write_row_i |= static_cast<uint16_t>(beat.tag / kSegs << kRdRowBits * s);
      std::memcpy(reinterpret_cast<uint8_t*>(&t.rd_write_be_i) + s * Bytes / 8, &word.keep, Bytes / 8);
      std::memcpy(reinterpret_cast<uint8_t*>(&t.rd_write_data_i[0]) + s * Bytes, word.data.data(), Bytes);
    }
    const auto filled = pick(reads_, [](const BeatP& b) { return b->known && b->filled == b->length; });
    t.rd_status_valid_i = filled != reads_.end() && rng_.chance(gives);
    t.rd_status_err_i = rng_.chance(0.5);
    if (!t.rd_status_valid_i) return;
    t.rd_status_tag_i = static_cast<uint8_t>((*filled)->tag);
    t.rd_status_err_i = fails(**filled);
    take_line(filled);
  }

  /// Any of those that may, or end.
  template <class May>
  auto pick(std::deque<BeatP>& beats, const May& may) {
    const auto n = beats.size(), first = n == 0 ? 0 : rng_.below(n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = beats.begin() + static_cast<std::ptrdiff_t>((first + i) % n);
      if (may(*at)) return at;
    }
    return beats.end();
  }
  bool fails(const Beat& beat) const { return read_fails && read_fails(beat.address); }
  void take_line(typename std::deque<BeatP>::iterator at) {
    failed_reads_ += fails(**at);
    overtakes_ += at != reads_.begin();
    reads_.erase(at);
  }

  void whole(Piece& piece) { piece.ready = now_ + 1 + rng_.below(write_delay + 1); }
  /// Pieces whose time has come, in any order. One that fails is never seen.
  void commit() {
    for (const PieceP& piece : pieces_) {
      if (piece->written || piece->ready == 0 || piece->ready > now_) continue;
      piece->written = true;
      if (piece->fails) continue;
      for (std::size_t at = 0; at < piece->length; at += Bytes) {
        const auto from = piece->bytes.begin() + static_cast<std::ptrdiff_t>(at);
        const auto size = static_cast<std::ptrdiff_t>(std::min<std::size_t>(Bytes, piece->length - at));
        lines_.push_back({piece->address + at, {from, from + size}});
        whose_.push_back(piece);
        ++piece->unseen;
      }
    }
  }
  /// A piece that fails may do so before its bytes are here: those of a stream come nevertheless, of a RAM no further
  /// row is asked for.
  bool falls_early(const PieceP& piece) {
    if (!piece->fails || piece->written || !rng_.chance(early)) return false;
    const auto its = [&](const Row& row) { return row.piece == piece; };
    return std::ranges::none_of(requests_rows_, [&](const auto& rows) { return std::ranges::any_of(rows, its); });
  }
  PieceP pick_status() {
    if (!rng_.chance(acknowledges)) return nullptr;
    std::vector<PieceP> ready;
    for (const PieceP& piece : pieces_) {
      if ((piece->written && piece->unseen == 0) || falls_early(piece)) ready.push_back(piece);
    }
    return ready.empty() ? nullptr : ready[rng_.below(ready.size())];
  }
  void give_status() {
    overtakes_ += status_ != pieces_.front();
    fell_early_ += status_->ready == 0;
    std::erase(pieces_, status_);
  }

  static constexpr unsigned kWrRowBits = 9, kRdRowBits = 6;  // of 16 * 64 / 2 and 128 / 2 rows
  Rng rng_;
  uint64_t now_ = 0, overtakes_ = 0, fell_early_ = 0, failed_writes_ = 0, failed_reads_ = 0;
  std::deque<BeatP> reads_, requests_, answers_;  ///< open; whose bytes nobody was asked for; those asked for
  bool gives_ = false;                            ///< of a stream: an answer in this cycle
  std::deque<PieceP> pieces_;                     ///< open
  PieceP status_;                                 ///< in this cycle
  std::deque<PieceP> owed_, work_;  ///< of a stream: whose beats have not all come; of a RAM: rows not all asked for
  std::deque<Word> beats_;          ///< without a descriptor yet
  std::array<std::deque<Row>, kSegs> requests_rows_, rows_;  ///< rows to ask for; asked for
  std::array<bool, kSegs> offered_{};
  std::deque<Line> lines_;  ///< written, not visible, and whose each is
  std::deque<PieceP> whose_;
  std::optional<Offer> rd_held_, wr_held_;
  std::optional<Word> data_held_;
  std::array<std::optional<Word>, kSegs> row_held_;
  std::string problem_;
};

}  // namespace mrc
