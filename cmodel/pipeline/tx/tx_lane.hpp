// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/stream.hpp"
#include "pipeline/timing/lane_room.hpp"

namespace mrc {

/// One plane's way out: queues headers, prefetches their payload from host memory, and serialises header, payload, pad
/// and ICRC onto the port. Contract: docs/design/blocks/tx/tx_lane.md.
class TxLane {
 public:
  struct In {
    bool tready = false;           ///< tx_tready_i
    bool rsp_valid = false;        ///< a host line for this lane
    bool rsp_err = false;          ///< it could not be read
    const uint8_t* rsp = nullptr;  ///< its HostBytes bytes
    uint16_t tick = 0;             ///< csr's tick, low 16 bits
    uint16_t port_stall = 0;       ///< PORT_STALL.ticks
  };

  TxLane(const Preset& preset, unsigned plane, Stream<Rdreq>& rdreq);

  /// Input hdr, by class. push_hdr(): the caller has seen the ready of the header's class; it takes effect at clock().
  bool hdr_ready_ctl() const { return ctl_.ready() | stands_; }
  bool hdr_ready_data() const { return data_.ready(); }
  void push_hdr(const Hdr& hdr);

  bool lane_room() const { return lane_room_; }
  /// The port takes nothing: the plane counts as down, and control packets that find no place are dropped.
  bool stands() const { return stands_; }
  /// Registers tx_inc_q, drop_inc_q.
  bool tx_inc() const { return tx_inc_; }
  bool drop_inc() const { return drop_inc_; }
  /// Register: the port has taken the last beat of a data packet.
  bool data_done() const { return data_done_; }

  /// The port. Nothing inside the NIC reads it: between step() and clock() it shows the next cycle already.
  bool tvalid() const { return tvalid_; }
  const uint8_t* tdata() const { return tdata_; }  ///< PortBytes bytes, zeros up to MRC_PORT_BYTES
  uint32_t tkeep() const { return tkeep_; }
  bool tlast() const { return tlast_; }

  void step(const In& in) {
    active_ =
        in.rsp_valid | tvalid_ | f_busy_ | tx_inc_ | drop_inc_ | data_done_ | stands_ | ctl_.busy() | data_.busy() ||
        state_ != State::Idle || ctl_.valid() || data_.valid() || fq_.valid();
    if (active_) run(in);
  }
  void clock() {
    if (!active_) return;
    ctl_.clock();
    data_.clock();
    fq_.clock();
    lines_.clock();
    lane_room_ = mrc::lane_room(static_cast<unsigned>(data_.count()) + (state_ != State::Idle && !ctl_q_ ? 1u : 0u),
                                queued_, fifo_);
    tx_inc_ = tx_inc_next_;
    tx_inc_next_ = false;
    drop_inc_ = drop_inc_next_;
    drop_inc_next_ = false;
    data_done_ = data_done_next_;
    stands_ = stands_next_;
  }

 private:
  enum class State : uint8_t { Idle, Hdr, Pay, Icrc, Flush };
  struct Job {
    uint64_t addr = 0;
    uint16_t left = 0;
    QpIndex qp = 0;
  };
  struct HostLine {
    std::array<uint8_t, kMaxLineBytes> data;
    bool err;
  };
  static constexpr unsigned kMaxPortBytes = 32;

  void run(const In& in);
  void watch(const In& in);
  void fetch();
  template <unsigned kPortBytes>
  void serialise();
  void take(Fifo<Hdr>& fifo, bool ctl);
  template <unsigned kPortBytes>
  void append(const uint8_t* bytes, unsigned n, bool end);

  const unsigned port_bytes_, host_bytes_, fifo_;
  const uint8_t plane_;
  bool active_ = false;  // something is under way in this cycle
  Stream<Rdreq>& rdreq_;
  Fifo<Hdr> ctl_, data_;
  unsigned queued_ = 0;  // bytes of payload in data_
  bool lane_room_ = true;
  bool tx_inc_ = false, tx_inc_next_ = false;
  bool drop_inc_ = false, drop_inc_next_ = false;
  bool data_done_ = false, data_done_next_ = false;
  bool stands_ = false, stands_next_ = false;
  uint16_t since_ = 0;  // tick at which the port began to wait

  // Fetch.
  Fifo<Job> fq_;
  Fifo<HostLine> lines_;
  Job f_{};
  bool f_busy_ = false;
  unsigned credit_;

  // Serialiser. cur is kept as its bytes (zero behind the header) and lengths.
  State state_ = State::Idle;
  bool ctl_q_ = false;
  bool bad_ = false;  // a line of this packet could not be read
  bool tvalid_ = false, tlast_ = false;
  bool beat_ctl_ = false;  // the beat is of a control packet
  uint8_t hdr_len_ = 0, pos_ = 0;
  uint16_t plen_ = 0, left_ = 0;
  unsigned acc_n_ = 0;
  uint32_t crc_ = 0, tkeep_ = 0;
  alignas(32) uint8_t acc_[2 * kMaxPortBytes] = {};
  alignas(32) uint8_t tdata_[kMaxPortBytes] = {};
  alignas(32) uint8_t cur_[kHdrBytes + kMaxPortBytes] = {};
};

}  // namespace mrc
