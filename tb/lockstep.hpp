// SPDX-License-Identifier: Apache-2.0
/// Two NICs side by side: every output pin and every block boundary, each cycle.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/pins.h"
#include "tb/events.hpp"

namespace mrc::tb {

/// One value in which device and model differ.
struct Difference {
  std::string field, dut, model;
};

/// A place in which they differ in the first wrong cycle.
struct Divergence {
  uint64_t cycle = 0;
  std::string block;  ///< who must have done it: producer of the data, or taker whose ready differs
  std::string where;  ///< boundary or pin
  unsigned rank = 0;  ///< position in the data flow
  int qp = -1;
  std::vector<Difference> differences;
  std::string context;  ///< model's view of the word at that place
};

class Lockstep {
 public:
  explicit Lockstep(const Preset& preset, std::size_t event_words = std::size_t{1} << 18);

  /// Compares a cycle and logs the handshakes. False: they differ; divergences() says where.
  bool compare(uint64_t cycle, const mrc_pins_out& dut, const mrc_pins_out& model, const uint32_t* dut_core,
               const uint32_t* dut_lanes, const uint32_t* model_core, const uint32_t* model_lanes) {
    unsigned wrong = boundaries(cycle, dut_core, dut_lanes, model_core, model_lanes);
    wrong |= pins(dut, model);
    if (wrong == 0) return true;
    explain(cycle, dut, model, dut_core, dut_lanes, model_core, model_lanes);
    return false;
  }
  /// As compare() for devices without boundaries: pins only, events from the model.
  bool compare_pins(uint64_t cycle, const mrc_pins_out& dut, const mrc_pins_out& model, const uint32_t* model_core,
                    const uint32_t* model_lanes) {
    return compare(cycle, dut, model, model_core, model_lanes, model_core, model_lanes);
  }

  /// All places that differ in that cycle, first in data flow order first.
  const std::vector<Divergence>& divergences() const { return divergences_; }
  const EventLog& log() const { return log_; }
  /// For reports: the QP here for each QP of the peer.
  void name_qps(std::vector<int> own) { own_ = std::move(own); }
  std::span<const int> qp_names() const { return own_; }

 private:
  unsigned boundaries(uint64_t cycle, const uint32_t* dc, const uint32_t* dl, const uint32_t* mc, const uint32_t* ml) {
    uint32_t wrong = 0;
    for (unsigned b = 0; b < kNumCoreBoundaries; ++b)
      wrong |= one(cycle, b, dc + core_[b].offset, mc + core_[b].offset, core_[b].words);
    unsigned number = kNumCoreBoundaries;
    for (unsigned p = 0; p < planes_; ++p, dl += kObsLaneWords, ml += kObsLaneWords) {
      for (unsigned b = 0; b < kNumLaneBoundaries; ++b) {
        wrong |= one(cycle, number++, dl + lane_[b].offset, ml + lane_[b].offset, lane_[b].words);
      }
    }
    return wrong;
  }
  uint32_t one(uint64_t cycle, unsigned number, const uint32_t* d, const uint32_t* m, unsigned words) {
    const uint32_t flags = *m;
    uint32_t wrong = (*d ^ flags) & 3;
    if (flags & 1) {
      wrong |= static_cast<uint32_t>(std::memcmp(d + 1, m + 1, words * 4) != 0);
      if ((flags & 3) == 3) log_.add(cycle, number, m + 1, words);
    }
    return wrong;
  }
  unsigned pins(const mrc_pins_out& d, const mrc_pins_out& m) const {
    unsigned wrong = static_cast<unsigned>(
        (d.awready ^ m.awready) | (d.wready ^ m.wready) | (d.bvalid ^ m.bvalid) | (d.arready ^ m.arready) |
        (d.rvalid ^ m.rvalid) | (d.wqe_ready ^ m.wqe_ready) | (d.cqe_valid ^ m.cqe_valid) |
        (d.host_rd_valid ^ m.host_rd_valid) | (d.host_wr_valid ^ m.host_wr_valid) | (d.tx_tvalid ^ m.tx_tvalid));
    if (m.bvalid) wrong |= static_cast<unsigned>(d.bresp ^ m.bresp);
    if (m.rvalid) wrong |= (d.rdata ^ m.rdata) | static_cast<unsigned>(d.rresp ^ m.rresp);
    if (m.cqe_valid) wrong |= static_cast<unsigned>(std::memcmp(d.cqe, m.cqe, sizeof d.cqe) != 0);
    if (m.host_rd_valid) wrong |= static_cast<unsigned>(std::memcmp(d.host_rd, m.host_rd, sizeof d.host_rd) != 0);
    if (m.host_wr_valid) {
      wrong |= static_cast<unsigned>(d.host_wr_len ^ m.host_wr_len) |
               static_cast<unsigned>(d.host_wr_addr != m.host_wr_addr) |
               static_cast<unsigned>(std::memcmp(d.host_wr_data, m.host_wr_data, host_bytes_) != 0);
    }
    wrong |= static_cast<unsigned>((d.tx_tlast ^ m.tx_tlast) & m.tx_tvalid);
    for (unsigned p = 0, v = m.tx_tvalid; v != 0; ++p, v >>= 1) {
      if (v & 1) {
        wrong |= (d.tx_tkeep[p] ^ m.tx_tkeep[p]) |
                 static_cast<unsigned>(std::memcmp(d.tx_tdata[p], m.tx_tdata[p], port_bytes_) != 0);
      }
    }
    return wrong;
  }
  void explain(uint64_t cycle, const mrc_pins_out& dut, const mrc_pins_out& model, const uint32_t* dc,
               const uint32_t* dl, const uint32_t* mc, const uint32_t* ml);

  struct Place {
    unsigned offset, words;
  };
  unsigned planes_, port_bytes_, host_bytes_;
  std::array<Place, kNumCoreBoundaries> core_;
  std::array<Place, kNumLaneBoundaries> lane_;
  EventLog log_;
  std::vector<Divergence> divergences_;
  std::vector<int> own_;
};

}  // namespace mrc::tb
