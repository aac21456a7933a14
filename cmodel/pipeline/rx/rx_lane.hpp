// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/cfg.hpp"
#include "pipeline/lib/stream.hpp"
#include "protocol/rx_parse.hpp"

namespace mrc {

/// One plane's way from the port to host memory: finds the inner packet, checks the ICRC while the bytes pass, keeps
/// the payload until a verdict comes, and writes it out line by line. Contract: docs/design/blocks/rx/rx_lane.md. It
/// never stops the port: a payload that does not fit is dropped and its description says so; without room for that the
/// frame is dropped whole.
///
/// Its stages run in step() from the last to the first, each on the registers that the one before left last cycle.
class RxLane {
 public:
  /// The port in this cycle. tdata points to port_bytes bytes.
  struct In {
    bool tvalid = false, tlast = false, tuser = false;
    uint32_t tkeep = 0;
    const uint8_t* tdata = nullptr;
  };

  /// desc: rx_check's input FIFO. verdict: this lane's, of depth LaneFifo.
  RxLane(const Preset& preset, Fifo<Rxdesc>& desc, Fifo<Verdict>& verdict, Stream<Line>& line);

  /// Output desc, the head of a FIFO.
  bool desc_valid() const { return descs_.valid(); }
  bool desc_ready() const { return desc_out_.ready(); }
  const Rxdesc& desc() const { return descs_.head(); }
  /// Registers rx_inc_q and ovf_inc_q.
  bool rx_inc() const { return rx_inc_; }
  bool ovf_inc() const { return ovf_inc_; }

  void step(const CsrOut& csr, const In& in);
  void clock() {
    if (!active_) return;
    descs_.clock();
    words_.clock();
    rx_inc_ = rx_inc_next_;
    ovf_inc_ = ovf_inc_next_;
  }

 private:
  static constexpr unsigned kMaxPb = 32;

  template <unsigned Pb>
  void run(const CsrOut& csr, const In& in);
  template <unsigned Pb>
  void drain();
  template <unsigned Pb>
  void read_buffer();
  template <unsigned Pb>
  void write_buffer(uint32_t wr, unsigned word, const uint8_t* bytes);
  template <unsigned Pb>
  void finish(const CsrOut& csr);
  template <unsigned Pb>
  void collect(uint32_t wr, uint32_t rd, bool icrc_outer);
  template <unsigned Pb>
  void align(bool icrc_outer);
  template <unsigned Pb>
  void cover_outer(unsigned off);
  template <unsigned Pb>
  void emit(const uint8_t* from, unsigned len, bool eof, bool err);

  const unsigned port_bytes_, line_words_, buf_words_;
  Fifo<Rxdesc>& desc_out_;
  Fifo<Verdict>& verdict_;
  Stream<Line>& line_;
  bool active_ = false;

  // Stages 0 and 1. align_[0, Pb) is prev, [Pb, 2 Pb) the beat in in_q.
  alignas(64) uint8_t align_[2 * kMaxPb] = {};
  bool in_valid_ = false, in_last_ = false, in_err_ = false;
  unsigned in_len_ = 0;
  unsigned beat_ = 0;
  bool etype_ok_ = false, srh_ok_ = false;
  RxEncap enc_ = RxEncap::Plain;
  uint32_t outer_crc_ = 0;  // crc_o
  uint8_t tc_ = 0;
  bool flush_ = false, flush_err_ = false;
  unsigned flush_len_ = 0;
  unsigned next_chunk_ = 0;

  // Stage 2. chunk_[0, Pb) is the chunk before, [Pb, 2 Pb) the one in c_q.
  alignas(64) uint8_t chunk_[2 * kMaxPb] = {};
  bool c_valid_ = false, c_eof_ = false, c_err_ = false, c_encap_ok_ = false, c_outer_ = false;
  uint8_t c_tc_ = 0;
  unsigned c_len_ = 0, c_index_ = 0;
  RxFrame frame_;
  bool room_ = false, fin_ = false;
  unsigned last_chunk_ = 0;
  Fifo<Rxdesc> descs_;
  Fifo<uint16_t> words_;  // pl
  bool rx_inc_ = false, rx_inc_next_ = false, ovf_inc_ = false, ovf_inc_next_ = false;

  // The payload buffer and its drain. Counters of words, modulo 2^32.
  std::vector<uint8_t> buf_;
  uint32_t wr_ = 0, rd_ = 0;
  bool reading_ = false;  // DRead
  alignas(32) uint8_t word_[kMaxPb] = {};
  uint64_t d_addr_ = 0;
  unsigned d_left_ = 0, d_word_ = 0;
  QpIndex d_qp_ = 0;  // of the packet that is drained
  Line asm_{};
};

}  // namespace mrc
