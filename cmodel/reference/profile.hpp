// SPDX-License-Identifier: Apache-2.0
/// What a device says of itself: how large it is, how fast it promises to be, and which setting of each open question
/// it has. JSON, docs/reference/judge.md; settings have the names of docs/protocol/assumptions.md, "CTRL.oor_drop".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input/error.hpp"
#include "log/record.hpp"
#include "reference/controller.hpp"
#include "wire/packet.hpp"

namespace mrc::ref {

using log::Time;

/// Values of Settings that code asks for.
inline constexpr uint32_t kZeroLegal = 0, kZeroNak = 1, kZeroDrop = 2;               ///< CTRL.zero_length
inline constexpr uint32_t kWimmWaits = 0, kWimmRefused = 1, kWimmError = 2;          ///< CTRL.wimm_over
inline constexpr uint32_t kSkipModeOnce = 0, kSkipModeTwice = 1, kSkipModeTime = 2;  ///< CTRL.skip_mode
inline constexpr uint32_t kDropReturned = 0, kLearnReturned = 1, kNotDistinct = 2;   ///< CTRL.returned

/// Settings of open questions. Names and ids: settings().
struct Settings {
  uint32_t udp_port = 4971;                             ///< A-01 UDP_PORT.port
  bool udp_port_only = false;                           ///< A-01 UDP_PORT.only
  bool bth_m_high = true;                               ///< A-02 CTRL.bth_m_high: M in bit 7 of BTH byte 1
  bool bth_m = false;                                   ///< A-02 CTRL.bth_m: sent as 1
  bool ev_swap = false;                                 ///< A-03 CTRL.ev_swap
  uint32_t dscp_data = 4, dscp_rtx = 8, dscp_ctl = 46;  ///< A-04 DSCP_TX.*
  uint32_t dscp_ep = 4;                                 ///< A-60 DSCP_TX.ep
  uint32_t dscp_trimmed = 12, dscp_lasthop = 16;        ///< A-04 DSCP_TRIM.*
  uint32_t dscp_returned = 0;                           ///< A-80 DSCP_TRIM.returned
  bool returned_valid = false;                          ///< A-80 DSCP_TRIM.returned_valid
  /// A-80 CTRL.returned: 0 counted and dropped, 1 a loss that is known at once, 2 not told apart
  uint32_t returned = 0;
  bool notified_data = false,
       notified_rtx = false;      ///< DSCP_TX.data, DSCP_TX.rtx: the device says it, others may be right
  uint32_t sack_trigger = 16384;  ///< A-09 SACK_TRIGGER.bytes
  bool sack_base_self = false;    ///< A-11 CTRL.sack_base_self
  bool oor_drop = false;          ///< A-12 CTRL.oor_drop
  bool icrc_outer = false;        ///< A-14 CTRL.icrc_outer
  bool ack_with_sack = false;     ///< A-16, A-17 CTRL.ack_with_sack
  bool ack_plane = false;         ///< A-06 CTRL.ack_plane
  bool rev_fixed = false;         ///< A-06 CTRL.rev_fixed
  uint32_t zero_length = 0;       ///< A-19 CTRL.zero_length: 0 legal, 1 NAK, 2 dropped
  uint32_t wimm_over = 0;         ///< A-62 CTRL.wimm_over: 0 waits, 1 refused, 2 ends its QP
  uint32_t skip_mode = 0;         ///< A-20 CTRL.skip_mode: 0 once, 1 twice, 2 a round trip
  uint32_t skip_ticks = 94;       ///< A-20 EV_CTL.skip_ticks, 128 ns
  bool tsr_us = false;            ///< A-21 CTRL.tsr_us
  bool pdcid_zero = false;        ///< A-22 CTRL.pdcid_zero
  bool eeth_op_high = false;      ///< A-36 CTRL.eeth_op_high
  bool ports_from_0 = false;      ///< A-37 CTRL.ports_from_0
  uint32_t nominal = 0;           ///< A-55 CTRL.nominal: 0 UDP length + 40, 1 payload, 2 payload + 40
  bool err_silent = false;        ///< A-57 CTRL.err_silent
  bool rtt_rtx = false;           ///< A-58 CTRL.rtt_rtx
  uint32_t nak_invalid = 0x61, nak_access = 0x62;  ///< A-70 NAK_CODE.*
  bool trim_silent = false;                        ///< A-74 CTRL.trim_silent
  bool state_silent = false;                       ///< A-75 CTRL.state_silent
  bool port_wait = false;                          ///< A-82 CTRL.port_wait: a port that fell shows no losses
  bool ip_per_plane = false;                       ///< A-76 IP_PLANE.enable
  uint32_t ip_plane_lsb = 64;                      ///< A-76 IP_PLANE.lsb
  uint32_t reorder_pkts = 64;                      ///< A-08 REORDER.pkts
  bool same_ev = true;                             ///< A-08 REORDER.same_ev
  bool loss_port = false;                          ///< A-82 LOSS.port: after a port fell answers are told again
  bool loss_time = false;                          ///< A-83 LOSS.time: time stamps tell of losses
  bool loss_again = false;                         ///< A-83 LOSS.again: what they tell is sent again at once
  uint32_t min_active = 8;                         ///< A-31 EV_CTL.min_active
  uint32_t loss_share = 0;                         ///< A-87 EV_CTL.loss_share: 0 each loss counts
  bool any_plane = false;                          ///< A-85 CTRL.any_plane: what was lost goes again on any plane
  bool one_copy = false;                           ///< A-89 EV_CTL.one_copy: what was lost goes again once
  bool bad_waits = false;                          ///< A-90 EV_CTL.bad_waits: no packet goes on an EV that is bad
  uint32_t probe_interval = 781;                   ///< A-32 EV_PROBE.interval, 128 ns
  uint32_t probe_cap = 6;                          ///< A-71 EV_PROBE.cap
  uint32_t probe_successes = 3;                    ///< A-32 EV_PROBE.successes
  uint32_t probe_kind = 0;                         ///< A-32 EV_PROBE.kind: 0 either, 1 EV probes, 2 reliability probes
  bool skip_good = false;                          ///< A-33 EV_PROBE.skip_good
  uint32_t ep_interval = 781;                      ///< A-60 EP_CTL.interval, 128 ns
  uint32_t ep_repeats = 15;                        ///< A-60 EP_CTL.repeats: 0 never, 15 for ever
  bool share = false;                              ///< A-78 SHARE.enable: SACKs shut and open windows
};

/// One of them: a flag or a number.
struct Setting {
  const char* name;        ///< "CTRL.oor_drop"
  const char* assumption;  ///< "A-12"
  uint64_t most;           ///< its largest value
  bool Settings::*flag;
  uint32_t Settings::*number;  ///< null: flag
  uint32_t get(const Settings& of) const { return number == nullptr ? uint32_t{of.*flag} : of.*number; }
  void set(Settings& of, uint32_t value) const {
    if (number == nullptr) {
      of.*flag = value != 0;
    } else {
      of.*number = value;
    }
  }
};
/// All of them.
std::span<const Setting> settings();

/// Code points of a QP's data and of its retransmissions.
struct TrafficClass {
  uint8_t data = 0, rtx = 0;
  bool operator==(const TrafficClass&) const = default;
};

struct Profile {
  std::string name;
  uint32_t planes = 1;
  double port_gbps = 100;
  /// From the last byte of a cause at a port until the window has taken it (or discarded it), at most. The sandwich's
  /// L.
  Time take = 3'000'000;
  /// From there until the first byte of the answer that is owed, at most, while its port could send.
  Time answer = 10'000'000;
  /// Least time between two semantic ACKs of the device (A-16, ACK_CTL.gap).
  Time ack_gap = 0;
  /// Ports' clocks and the order of ports may differ by so much.
  Time skew = 0;
  /// The device may discard a frame without a word. If false, or once a counter "silent_drops" has read 0, what must
  /// have been taken was taken.
  bool silent_drops = true;
  /// Each work request that completes has a completion in the log; false: some WRITEs may be unsignalled.
  bool all_completions = false;
  /// With more work requests open, of one QP or of all, requests of all QPs may wait in a queue they share. 0: never.
  uint32_t qp_works = 0, all_works = 0;
  uint64_t shows = 0;  ///< bit n: all events of EventKind n are in the log
  Settings settings;
  std::vector<TrafficClass> classes;  ///< of its QPs; empty: not told
  std::vector<log::Ip> addresses;     ///< own ones; empty: those of its QPs
  std::vector<log::Qp> qps;           ///< that exist before the log begins
  std::vector<log::Mr> regions;
  std::vector<Controller> controllers;  ///< of destinations

  /// How its frames are read.
  wire::WireConfig wire() const;
  /// Takes over what frames of a capture say about the settings.
  void read_as(const wire::WireConfig& wire);
};

/// Reads a profile. Throws InputError: not JSON, a key that is not known, a value out of range; `file` and the place
/// are in the sentence.
Profile read_profile(std::string_view json, const std::string& file);
/// A QP or a region alone, as in a profile's lists.
log::Qp read_qp(std::string_view json, const std::string& file);
log::Mr read_region(std::string_view json, const std::string& file);
/// The JSON that read_profile() makes the same profile of: one line, settings that differ from the defaults alone.
std::string to_json(const Profile& profile);

}  // namespace mrc::ref
