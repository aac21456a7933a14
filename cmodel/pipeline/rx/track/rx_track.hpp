// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gen/csr.hpp"
#include "gen/nic_pulses.hpp"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/cfg.hpp"
#include "pipeline/lib/demux.hpp"
#include "pipeline/lib/plane_counts.hpp"
#include "pipeline/lib/pool.hpp"
#include "pipeline/lib/ram.hpp"
#include "pipeline/lib/stream.hpp"
#include "protocol/rx_share.hpp"
#include "protocol/rx_tracker.hpp"

namespace mrc {

/// Which PSNs are here, and what the sender must learn: places or discards each checked packet, moves cack, and owes
/// SACKs, NACKs, ACKs. A QP whose WRITE is refused goes to Error. Contract: docs/design/blocks/rx/track/rx_track.md. A
/// packet per cycle while its outputs are taken, a cycle more when cack leaves a row; a SACK per four cycles.
class RxTrack {
 public:
  using Pulses = RxTrackPulses;

  RxTrack(const Preset& preset, Stream<Rxpkt>& rxpkt, PlaneDemux<Verdict>& verdict, Stream<Resp>& resp,
          Stream<Ackev>& ackev, Stream<Ord>& ord, Stream<Qperr>& qperr, Stream<Came>& came);

  bool cfg_ack() const { return ack_.value(); }
  const Pulses& pulses() const { return pulses_; }
  /// Register: a packet has passed Post for the first time.
  bool posted() const { return posted_; }
  /// Of this cycle's registers, before step(): a packet goes on in its next row, or waits for that.
  bool goes_on() const {
    return adv_.valid() || (m_valid_ && m_.again) || (t_valid_ && t_.again) || (x_valid_ && x_.what == What::Done);
  }
  /// Levels of rx_reorder and rx_share.
  struct In {
    bool imm_ok = true;   ///< entries for immediates that must wait
    bool hold_ok = true;  ///< room for a completion
    /// By QP: its peer had an immediate too many outstanding.
    const std::vector<uint8_t>& over;
    ShareLevels share;
    bool fat = false;  ///< of post_qp()
  };
  /// The QP of the packet in Post.
  unsigned post_qp() const { return qp(x_.p.qp); }
  void step(const CfgBus& cfg, const CsrOut& csr, const In& in);
  void clock();

 private:
  static constexpr std::size_t kAdvDepth = 4, kSackDepth = 4;

  /// Row of 64 PSNs in the map: where its bits are, if any is set.
  struct Entry {
    bool valid = false;
    unsigned idx = 0;
  };
  /// Register files, by the stage that writes them.
  struct TrackQp {
    RxWindow window;
    bool failed = false;
  };
  struct PostQp {
    uint32_t rcvd = 0;  ///< bytes, modulo 2^32
    SackDue due;
    bool ackv = false;
    uint16_t emsn = 0;  ///< MSN of the message now being completed
    uint8_t nsyn = 0;
    uint32_t ackpsn = 0, npsn = 0;
    uint8_t armed = 0;  ///< generation of rx_share in which the sender was told to save its window
  };
  struct CfgQp {
    uint8_t mpr = 0, mpr_dest = 0;        ///< window now and at most, units of 128 PSNs
    bool trim_nack = false, dyn = false;  ///< capability TRIM_NACK; dynamic MPR
  };

  /// A packet in Map or Track.
  struct Work {
    Rxpkt p;
    bool again = false;                 ///< cack goes on at PSN next, which the packet itself is not
    bool acked = false, moved = false;  ///< so far: a message is complete; cack has moved
    uint32_t next = 0;
  };
  enum class What : uint8_t {
    Done,
    Discard,
    Nak,
    Over,
    Event,
    Probe,
    Dup,
    Refuse,
    Trim,
    Full,
    Fatal,
    NoImm,
    NoRow,
    Take
  };
  /// A packet in Post: what becomes of it, and the QP after it.
  struct Judged {
    Rxpkt p;
    What what = What::Done;
    uint32_t cack = 0;
    uint16_t ooo = 0;
    unsigned messages = 0;  ///< L: completed in this pass
    uint32_t ackpsn = 0;    ///< last packet of the newest one
    bool acked = false, moved = false, goes_on = false;
  };

  /// A SACK to be written.
  struct Req {
    QpIndex qp = 0;
    uint8_t plane = 0;
    uint32_t psn = 0;
    bool ackreq = false, ce = false, probe = false;
    uint32_t entropy = 0;
    uint16_t ts = 0;
    bool tsv = false;
    uint16_t at = 0;
    ShareAnswer share;
  };
  enum class Sack : uint8_t { Idle, Sack1, Sack2, Sack3, SackAck };

  unsigned qp(unsigned index) const { return index & qp_mask_; }
  std::size_t slot(unsigned index, uint32_t psn) const {
    return std::size_t{qp(index)} * rows_ + (psn >> 6 & (rows_ - 1));
  }
  RxRow row(const Entry& e) const { return e.valid ? bits_[e.idx] : RxRow{}; }

  void fetch(const CfgBus& cfg, bool empty);
  void configure(const CfgBus& cfg);
  void set_up(unsigned index, const csr::TblQpCtx& row);
  void init();

  void track(const In& in);
  What judge(const Rxpkt& p, const TrackQp& q, bool row_here, const RxRow& row, const In& in) const;
  void keep(std::size_t at, const Entry& entry, const RxRow& before, const RxRow& after);

  bool post_can_go() const;
  void post(const CsrOut& csr);
  void refuse(const CsrOut& csr);
  void arrived(const CsrOut& csr, PostQp& q);
  void report_share(const CsrOut& csr, const PostQp& q, uint16_t plen);
  void issue(bool place);
  Resp& respond(CtlKind kind);
  void nak(const PostQp& q);
  void nack(wire::NackReason reason);
  void repeat_ack(const CsrOut& csr, const PostQp& q);
  void load_ackev(QpIndex index, uint8_t plane, const PostQp& q, bool again);
  void request_sack(const CsrOut& csr, PostQp& q, bool unrequested = false);

  void sack(const CsrOut& csr);
  void sack_begin(const CsrOut& csr);
  void sack_send(const CsrOut& csr);

  const unsigned qp_mask_, rows_;  ///< rows_: of 64 PSNs, per QP
  Stream<Rxpkt>& rxpkt_;
  PlaneDemux<Verdict>& verdict_;
  Stream<Resp>& resp_;
  Stream<Ackev>& ackev_;
  Stream<Ord>& ord_;
  Stream<Qperr>& qperr_;
  Stream<Came>& came_;

  // A packet in Track sees what all before it have written, so the memories are read there; the Sack machine reads in
  // the cycle that its contract names.
  Rf1r1w<Entry> map_;
  Rf1r1w<RxRow> bits_;
  Pool pool_;
  Rf1r1w<TrackQp> track_;
  Rf1r1w<PostQp> post_;
  Rf1r1w<uint32_t> lowun_;  ///< next PSN a SACK should start from
  std::vector<CfgQp> cfg_;  ///< changes with empty stages only
  PlaneCounts issued_;
  Fifo<Work> adv_;
  Fifo<Req> sq_;

  bool m_valid_ = false, t_valid_ = false, x_valid_ = false;
  Work m_, t_;
  Judged x_;
  bool init_ = false;
  unsigned init_qp_ = 0, init_row_ = 0;
  CfgAck ack_;
  Pulses pulses_, pulses_next_;
  bool posted_ = false, posted_next_ = false;

  bool resp_taken_ = false, ackev_taken_ = false;  ///< Post loads it in this cycle
  ShareLevels share_;                              ///< of this cycle
  bool fat_ = false;                               ///< and of Post's QP
  Sack sack_ = Sack::Idle;
  Req s_;
  uint32_t base_ = 0;
  bool self_ = false;
  Entry entry_;  ///< the map's read data
  RxRow rdata_;  ///< the bits' read data, or nothing
  uint64_t low_ = 0;
};

}  // namespace mrc
