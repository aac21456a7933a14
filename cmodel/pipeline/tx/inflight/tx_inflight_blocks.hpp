// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gen/presets.hpp"
#include "pipeline/lib/pool.hpp"
#include "pipeline/lib/ram.hpp"
#include "pipeline/tx/inflight/tx_inflight_pkg.hpp"
#include "util/check.hpp"

namespace mrc::inflight {

/// `sent`: the stamps of each block, each of which is written by itself.
class SentAt {
 public:
  explicit SentAt(std::size_t blocks) : mem_(blocks) {}
  const Stamps& rdata() const { return rdata_; }
  void read(unsigned n) {
    raddr_ = n;
    re_ = true;
  }
  void write(unsigned n, uint32_t psn, uint32_t tick) {
    MRC_CHECK(!we_, "two stamps are written in a cycle");
    waddr_ = n;
    lane_ = psn % kBlockPsns;
    wdata_ = static_cast<uint16_t>(tick & kStampMask);
    we_ = true;
  }
  void clock() {
    if (re_) rdata_ = mem_[raddr_];
    if (we_) mem_[waddr_][lane_] = wdata_;
    re_ = we_ = false;
  }

 private:
  std::vector<Stamps> mem_;
  Stamps rdata_{};
  unsigned raddr_ = 0, waddr_ = 0, lane_ = 0;
  uint16_t wdata_ = 0;
  bool re_ = false, we_ = false;
};

/// The blocks of 16 PSNs that all QPs share: the pool of their numbers, which block of which QP has which number
/// (`map`), the state of each (`win`) and what was sent (`recs`). A number that is read is the address of the row that
/// is read next, and stays the number of that row. Twin of mrc_tx_inflight_blocks.
class Blocks {
 public:
  explicit Blocks(const Preset& preset)
      : qp_mask_(preset.num_qps - 1),
        qp_blocks_(preset.max_mpr / kBlockPsns),
        map_(std::size_t{preset.num_qps} * qp_blocks_),
        win_(preset.num_blocks),
        recs_(std::size_t{preset.num_blocks} * kBlockPsns),
        sent_at_(preset.num_blocks),
        pool_(preset.num_blocks),
        held_(kChecks ? preset.num_blocks : 0) {}

  /// Blocks of one QP at most: B of the contract.
  unsigned of_qp() const { return qp_blocks_; }

  /// Reads the number of a QP's block.
  void read_number(unsigned qp, uint32_t block) { map_.read(map_row(qp, block)); }
  /// Reads the row of the block whose number was read.
  void read_row() {
    number_ = map_.rdata();
    win_.read(number_);
    sent_at_.read(number_);
  }
  /// The row that was read.
  const WinBlock& row() const { return win_.rdata(); }
  /// When its packets were sent, or chosen to go again: low 12 bits of the tick.
  const Stamps& stamps() const { return sent_at_.rdata(); }
  /// True when that packet of it, whose record was read, has not been chosen to go again, nor was it sent again for the
  /// sake of its ACK, of which its row knows nothing.
  bool sent_once(uint32_t psn) const { return (row().psns.rtxd & psn_bit<uint16_t>(psn)) == 0 && !sent().rtx; }
  /// True when that packet of it was reported.
  bool reported(uint32_t psn) const { return (row().psns.sacked & psn_bit<uint16_t>(psn)) != 0; }
  /// It becomes `row`.
  void write_row(const WinBlock& row) {
    MRC_CHECK(held_[number_], "a row is written of a block that no QP has");
    MRC_CHECK((win_.rdata().psns.sacked & ~row.psns.sacked) == 0, "a packet that was reported is no longer");
    MRC_CHECK((row.psns.sacked & row.psns.pend) == 0, "a packet that was reported waits to be sent again");
    MRC_CHECK(((row.psns.nacked | row.psns.mute) & ~row.psns.pend) == 0,
              "nacked or mute of a packet that does not wait");
    win_.write(number_, row);
  }

  /// Reads the record of a packet: of the block whose number was read, whose row was read, of block n.
  void read_sent_of_number(uint32_t psn) { recs_.read(recs_row(map_.rdata(), psn)); }
  void read_sent_of_row(uint32_t psn) { recs_.read(recs_row(number_, psn)); }
  void read_sent(unsigned n, uint32_t psn) { recs_.read(recs_row(n, psn)); }
  /// The record that was read.
  const Sent& sent() const { return recs_.rdata(); }
  /// Writes the record of a packet sent again, in the block whose number was read.
  void sent_again(const Rec& r, uint32_t tick) { write_sent(map_.rdata(), r, true, tick); }
  /// Writes the record of a packet sent for the first time, in block n.
  void sent_first(unsigned n, const Rec& r, uint32_t tick) { write_sent(n, r, false, tick); }
  /// A packet of the block whose row was read has been chosen to go again.
  void chosen_again(uint32_t psn, uint32_t tick) { sent_at_.write(number_, psn, tick); }

  /// Takes a block from the pool: tx_segment has seen to it that there is one.
  unsigned take() {
    const unsigned n = pool_.offer();
    pool_.take();
    return n;
  }
  /// Block n is that block of the QP, nothing known of its packets.
  void begin(unsigned qp, uint32_t block, unsigned n) {
    if (kChecks) held_[n] = true;
    map_.write(map_row(qp, block), static_cast<uint32_t>(n));
    win_.write(n, WinBlock{});
  }
  /// Gives the block back whose number was read.
  void give() {
    if (kChecks) held_[map_.rdata()] = false;
    pool_.give(map_.rdata());
  }

  void clock() {
    map_.clock();
    win_.clock();
    recs_.clock();
    sent_at_.clock();
    pool_.clock();
  }

 private:
  std::size_t map_row(unsigned qp, uint32_t block) const {
    return std::size_t{qp & qp_mask_} * qp_blocks_ + (block & (qp_blocks_ - 1));
  }
  static std::size_t recs_row(unsigned n, uint32_t psn) { return std::size_t{n} * kBlockPsns + psn % kBlockPsns; }
  void write_sent(unsigned n, const Rec& r, bool rtx, uint32_t tick) {
    MRC_CHECK(held_[n], "a packet is recorded in a block that no QP has");
    sent_at_.write(n, r.psn, tick);
    recs_.write(recs_row(n, r.psn), {r.msn, r.row, r.ev_idx, r.idx, r.size, rtx});
  }

  const unsigned qp_mask_, qp_blocks_;
  Ram1r1w<uint32_t> map_;
  Ram1r1w<WinBlock> win_;
  Ram1r1w<Sent> recs_;
  SentAt sent_at_;
  Pool pool_;
  unsigned number_ = 0;
  std::vector<bool> held_;  ///< where checks are on: by number
};

}  // namespace mrc::inflight
