// SPDX-License-Identifier: Apache-2.0
/// One direction of the network between two NICs: delay, and everything that can happen to a frame.
#pragma once

#include <cstdint>
#include <vector>

#include "gen/presets.hpp"
#include "tb/environment/frame.hpp"
#include "tb/environment/scenario.hpp"
#include "util/rng.hpp"

namespace mrc::tb {

/// What a switch does to a frame it cannot queue: at most `size` bytes stay (from the Ethernet header on), the
/// outermost IPv6 header gets the code point and, if bytes went, length fields are rewritten: 0 none, 1 the outermost
/// IPv6 header's, 2 all (inner IPv6 and UDP too).
void trim_frame(std::vector<uint8_t>& bytes, unsigned size, uint8_t dscp, unsigned lengths = 1);

/// Flips bits. Never makes a change that a 32-bit CRC could miss by design: one to three bits, or an ICRC that differs
/// in its residue's top byte only (which a comparison of fewer bits would miss).
void corrupt_frame(std::vector<uint8_t>& bytes, Rng& rng);

/// An altered copy of a data frame that must have no effect on the receiver's data: foreign P_Key or QP, PSN far
/// outside the window or long past, other version, port, ethertype, opcode, a wrong length, a runt, a giant. The ICRC
/// is right. False: this frame has no such copy. Here and below `icrc_outer` says where an ICRC starts (CTRL).
bool make_rogue(std::vector<uint8_t>& bytes, unsigned num_qps, uint8_t trimmed_dscp, Rng& rng, bool icrc_outer);

/// Puts a penalty (1 to 127) or the end of one (0: restore_cwnd) into a SACK, with the right ICRC.
void penalize(std::vector<uint8_t>& bytes, unsigned penalty, bool icrc_outer);

/// Makes a WRITE of no bytes of a WRITE Only: no payload, no pad, DMA length 0; lengths and ICRC are right. False: it
/// is none.
bool empty_write(std::vector<uint8_t>& bytes, bool icrc_outer);

/// What routers do to a frame with an outer IPv6 header: one hop less; the next uSID moves up, or the SRH's last
/// segment becomes the destination. The outer flow label is another one. Others stay as they are.
void route_frame(std::vector<uint8_t>& bytes);

/// Counts of one direction.
struct LinkCounters {
  uint64_t frames = 0, lost = 0, trimmed = 0, marked = 0, corrupt = 0, duplicates = 0, rogues = 0, delayed = 0;
  uint64_t penalties = 0, no_bytes = 0;
  uint64_t data_lost = 0;
};

class Link {
 public:
  /// Draws what happens from `seed` and the direction. Frames arrive delay_ns after they were sent at the earliest.
  Link(const Preset& preset, const Scenario& scenario, uint64_t seed, bool to_peer);

  /// A frame whose transmission has begun. Afterwards `fate` says what happened to it.
  void transmit(FramePtr frame);

  /// Code points of trimmed frames, if they are not those of the wire library.
  void trim_codes(unsigned trimmed, unsigned lasthop) {
    trimmed_ = static_cast<uint8_t>(trimmed);
    lasthop_ = static_cast<uint8_t>(lasthop);
  }

  /// The ICRC starts at the outer IP header.
  void icrc_outer(bool on) { icrc_outer_ = on; }

  /// Traffic begins now: rules with times count from here.
  void begin(uint64_t now_ps) { begin_ps_ = now_ps; }

  /// Frames that arrive at the other end, in order of transmission; the receiver takes them away.
  std::vector<FramePtr>& out() { return out_; }
  const LinkCounters& counters() const { return counters_; }
  /// Fate of the frame given to transmit() last.
  unsigned last_fate() const { return last_fate_; }

 private:
  void deliver(FramePtr frame, uint64_t extra_ps);
  const Impairment& rule_for(unsigned plane, uint32_t entropy, uint64_t now_ps) const;

  const Preset& preset_;
  const Scenario& scenario_;
  Rng rng_;
  uint64_t ev_salt_;
  bool to_peer_;
  bool icrc_outer_ = false;
  uint8_t trimmed_, lasthop_;
  uint64_t seq_ = 0, begin_ps_ = ~uint64_t{0};
  unsigned last_fate_ = 0;
  LinkCounters counters_;
  std::vector<FramePtr> out_;
};

}  // namespace mrc::tb
