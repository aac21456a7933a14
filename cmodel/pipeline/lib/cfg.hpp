// SPDX-License-Identifier: Apache-2.0
/// What csr broadcasts to the blocks: table writes and register values.
#pragma once

#include <array>
#include <cstdint>

#include "gen/streams.hpp"

namespace mrc {

/// A table write (docs/blocks/conventions.md, "Configuration"). Stable while req is true.
struct CfgBus {
  bool req = false;
  uint8_t table = 0;  ///< CfgTable
  uint16_t index = 0;
  std::array<uint32_t, 16> data{};  ///< word 0 holds bits 31:0

  bool is(CfgTable t) const { return table == static_cast<uint8_t>(t); }
};

/// Register cfg_ack_q of a block. In step(): begin(cfg) once, pending(cfg) to ask, done() to acknowledge.
class CfgAck {
 public:
  bool value() const { return ack_; }
  /// True when the block has a table write to perform.
  bool pending(const CfgBus& cfg) const { return cfg.req && !ack_; }
  /// Rule for every state: without request the acknowledgement falls.
  void begin(const CfgBus& cfg) { next_ = ack_ && cfg.req; }
  void done() { next_ = true; }
  void clock() { ack_ = next_; }

 private:
  bool ack_ = false, next_ = false;
};

/// Values of the CSR registers that blocks use directly (registers: they change at csr's clock()).
struct CsrOut {
  bool sack_base_self = false, oor_drop = false, err_silent = false, ev_swap = false, bth_m = false;
  bool rtt_rtx = false, rev_fixed = false, ports_from_0 = false;
  bool bth_m_high = true, eeth_op_high = false, tsr_us = false, pdcid_zero = false;
  bool ack_with_sack = false, zero_drop = false, skip_twice = false, icrc_outer = false;
  bool ack_plane = false, trim_silent = false, state_silent = false;
  Nominal nominal = Nominal::UdpLength;
  uint8_t nak_invalid = 0x61, nak_access = 0x62;  ///< syndromes
  uint16_t udp_port = 4791;
  bool udp_only = false;
  uint8_t dscp_data = 4, dscp_rtx = 8, dscp_ctl = 46;
  uint8_t dscp_trimmed = 12, dscp_lasthop = 16;
  uint64_t mac = 0;  ///< 48 bits, last byte on the wire in bits 7:0
  U128 ip = 0;       ///< last byte on the wire in bits 7:0
  uint8_t ip_plane_lsb = 64;
  bool ip_plane_enable = false;
  uint16_t reorder = 32;
  bool same_ev = true;
  uint16_t ev_min_active = 8;
  uint16_t probe_interval = 781;  ///< ticks
  uint8_t probe_successes = 3;
  bool probe_skip_good = false;
  uint8_t probe_cap = 6;
  bool probe_keep_count = false;
  Revive probe_kind = Revive::Either;
  uint16_t ep_interval = 781;  ///< ticks
  uint8_t ep_repeats = 15;
  bool rev_probe = true;
  uint16_t ack_gap = 16;  ///< cycles
  uint16_t ar_gap = 32;   ///< cycles
  uint32_t sack_trigger = 16384;
  uint32_t srv6 = 0x0000'000c;  ///< register SRV6, as is
  std::array<uint32_t, kMaxPlanes> rev_ev{};
  uint32_t rev_seed = 1;
  uint32_t tick = 0;  ///< level: 128 ns ticks since reset
};

}  // namespace mrc
