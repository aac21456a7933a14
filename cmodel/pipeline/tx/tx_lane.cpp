// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/tx_lane.hpp"

#include <algorithm>
#include <cstring>

#include "pipeline/lib/convert.hpp"
#include "pipeline/lib/icrc_words.hpp"
#include "util/check.hpp"
#include "wire/bytes.hpp"

namespace mrc {

TxLane::TxLane(const Preset& preset, unsigned plane, Stream<Rdreq>& rdreq)
    : port_bytes_(preset.port_bytes),
      host_bytes_(preset.host_bytes),
      fifo_(preset.tx_lane_fifo),
      plane_(static_cast<uint8_t>(plane)),
      rdreq_(rdreq),
      ctl_(preset.tx_lane_fifo / 2),
      data_(preset.tx_lane_fifo),
      fq_(preset.tx_lane_fifo),
      lines_(preset.line_fifo),
      credit_(preset.line_fifo) {}

void TxLane::push_hdr(const Hdr& hdr) {
  active_ = true;
  if (hdr.ctl && !ctl_.ready()) {
    MRC_CHECK(stands_, "a control packet is dropped though its port does not stand still");
    drop_inc_next_ = true;
  } else if (hdr.ctl) {
    ctl_.push(hdr);
  } else {
    data_.push(hdr);
    queued_ += hdr.plen;
    if (hdr.plen != 0) fq_.push({hdr.laddr, hdr.plen, hdr.qp});
  }
}

/// A cycle of a lane that has something under way; without, nothing changes.
void TxLane::run(const In& in) {
  if (in.rsp_valid) {
    HostLine& line = lines_.push();
    std::memcpy(line.data.data(), in.rsp, host_bytes_);
    line.err = in.rsp_err;
  }
  watch(in);
  fetch();
  data_done_next_ = tvalid_ && in.tready && tlast_ && !beat_ctl_;
  if (in.tready) tvalid_ = false;
  if (state_ == State::Idle) {
    if (ctl_.valid()) {
      take(ctl_, true);
    } else if (data_.valid()) {
      take(data_, false);
    }
  } else if (!tvalid_) {
    port_bytes_ == 16 ? serialise<16>() : serialise<32>();
  }
}

/// Whether the port stands still: it has taken no beat for a while.
void TxLane::watch(const In& in) {
  const bool waits = tvalid_ && !in.tready;
  if (!waits) since_ = in.tick;
  const auto waited = static_cast<uint16_t>(in.tick - since_);
  stands_next_ = waits && in.port_stall != 0 && (stands_ || waited >= in.port_stall);
}

void TxLane::fetch() {
  if (!f_busy_) {
    if (fq_.valid()) {
      f_ = fq_.head();
      fq_.pop();
      f_busy_ = true;
    }
  } else if (credit_ != 0 && rdreq_.free()) {
    const unsigned n = std::min<unsigned>(f_.left, host_bytes_);
    MRC_CHECK(f_.left >= n, "more is asked for than is left");
    rdreq_.load({.addr = f_.addr, .len = static_cast<uint8_t>(n), .plane = plane_, .qp = f_.qp});
    f_.addr += n;
    f_.left = static_cast<uint16_t>(f_.left - n);
    --credit_;
    f_busy_ = f_.left != 0;
  }
}

void TxLane::take(Fifo<Hdr>& fifo, bool ctl) {
  const Hdr& h = fifo.head();
  fifo.pop();
  std::memcpy(cur_, header_bytes(h), kHdrBytes);
  ctl_q_ = ctl;
  MRC_CHECK(ctl || queued_ >= h.plen, "the payload in the queue goes below 0");
  if (!ctl) queued_ -= h.plen;
  hdr_len_ = h.hdr_len;
  plen_ = left_ = h.plen;
  crc_ = h.crc;
  bad_ = false;
  pos_ = 0;
  acc_n_ = 0;
  std::memset(acc_, 0, sizeof acc_);
  state_ = State::Hdr;
}

/// Puts n bytes behind those of acc and loads the port when a beat is full, or the frame ends. `bytes` has kPortBytes
/// bytes, zero from n on.
template <unsigned kPortBytes>
void TxLane::append(const uint8_t* bytes, unsigned n, bool end) {
  std::memcpy(acc_ + acc_n_, bytes, kPortBytes);
  const unsigned t = acc_n_ + n;
  if (t < kPortBytes && !end) {
    acc_n_ = t;
    return;
  }
  std::memcpy(tdata_, acc_, kPortBytes);
  std::memcpy(acc_, acc_ + kPortBytes, kPortBytes);
  std::memset(acc_ + kPortBytes, 0, kPortBytes);
  tkeep_ = static_cast<uint32_t>((uint64_t{1} << std::min(t, kPortBytes)) - 1);
  tvalid_ = true;
  beat_ctl_ = ctl_q_;
  tlast_ = end && t <= kPortBytes;
  tx_inc_next_ = tlast_;
  acc_n_ = t > kPortBytes ? t - kPortBytes : 0;
}

/// One step of the states that need the port free.
template <unsigned kPortBytes>
void TxLane::serialise() {
  switch (state_) {
    case State::Idle:
      break;
    case State::Hdr: {
      const unsigned n = std::min<unsigned>(kPortBytes, hdr_len_ - pos_);
      append<kPortBytes>(cur_ + pos_, n, false);
      pos_ = static_cast<uint8_t>(pos_ + n);
      if (pos_ == hdr_len_) {
        pos_ = 0;
        state_ = plen_ == 0 ? State::Icrc : State::Pay;
      }
      break;
    }
    case State::Pay: {
      if (!lines_.valid()) break;
      MRC_CHECK(left_ != 0, "payload behind the end of the packet");
      const unsigned n = std::min<unsigned>(kPortBytes, left_);
      const unsigned n4 = (n + 3) & ~3u;
      uint8_t chunk[kPortBytes];
      std::memcpy(chunk, lines_.head().data.data() + pos_, kPortBytes);
      if (n < kPortBytes) std::memset(chunk + n, 0, kPortBytes - n);
      crc_ = n4 == kPortBytes ? icrc_words(crc_, chunk, kPortBytes) : icrc_words(crc_, chunk, n4);
      append<kPortBytes>(chunk, n4, false);
      bad_ |= lines_.head().err;
      left_ = static_cast<uint16_t>(left_ - n);
      pos_ = static_cast<uint8_t>(pos_ + n);
      if (left_ == 0 || pos_ == host_bytes_) {
        lines_.pop();
        ++credit_;
        MRC_CHECK(credit_ + lines_.count() - 1 <= lines_.depth(), "a place for a line is given away twice");
        pos_ = 0;
      }
      if (left_ == 0) state_ = State::Icrc;
      break;
    }
    case State::Icrc: {
      uint8_t tail[kPortBytes] = {};
      wire::store_le32(tail, bad_ ? crc_ : ~crc_);
      const bool flush = acc_n_ + 4 > kPortBytes;
      append<kPortBytes>(tail, 4, true);
      state_ = flush ? State::Flush : State::Idle;
      break;
    }
    case State::Flush:
      MRC_CHECK(acc_n_ != 0, "a last beat without bytes");
      std::memcpy(tdata_, acc_, kPortBytes);
      tkeep_ = (1u << acc_n_) - 1;
      tvalid_ = tlast_ = tx_inc_next_ = true;
      beat_ctl_ = ctl_q_;
      state_ = State::Idle;
      break;
  }
}

}  // namespace mrc
