// SPDX-License-Identifier: Apache-2.0
/// One direction of the network between two NICs: delay, and everything that can happen to a frame.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gen/presets.hpp"
#include "tb/environment/frame.hpp"
#include "tb/environment/scenario.hpp"
#include "util/rng.hpp"
#include "wire/packed.hpp"

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

/// What a WRITE Only loses on its way.
enum class Emptied {
  All,      ///< payload, pad and DMA length: a WRITE of no bytes
  Payload,  ///< payload and pad; its DMA length says otherwise
  Length    ///< its DMA length is 0, its payload is there
};
/// Takes that out of a WRITE Only; lengths and ICRC are right. False: it is none.
bool empty_write(std::vector<uint8_t>& bytes, bool icrc_outer, Emptied what = Emptied::All);

/// Exchanges the addresses of the inner and of the outermost IPv6 header, and those of Ethernet.
void swap_addresses(std::vector<uint8_t>& bytes);

/// What routers do to a frame with an outer IPv6 header: one hop less; the next uSID moves up, or the SRH's last
/// segment becomes the destination. The outer flow label is another one. Others stay as they are.
void route_frame(std::vector<uint8_t>& bytes);

/// Counts of one direction.
struct LinkCounters {
  uint64_t frames = 0, lost = 0, trimmed = 0, marked = 0, corrupt = 0, duplicates = 0, rogues = 0, delayed = 0;
  uint64_t penalties = 0, no_bytes = 0;
  uint64_t forged = 0;    ///< beside the frames of the NIC
  uint64_t returned = 0;  ///< of those that were neither lost nor trimmed therefore
  uint64_t data_lost = 0;
};

class Link {
 public:
  /// Draws what happens from `seed` and the direction. Frames arrive delay_ns after they were sent at the earliest.
  Link(const Preset& preset, const Scenario& scenario, uint64_t seed, bool to_peer);

  /// A frame whose transmission has begun. Afterwards `fate` says what happened to it.
  void transmit(FramePtr frame);

  /// One that no NIC has sent: it goes through as it is.
  void forged(FramePtr frame);

  /// Code points of trimmed frames, if they are not those of the wire library.
  void trim_codes(unsigned trimmed, unsigned lasthop) {
    trimmed_ = static_cast<uint8_t>(trimmed);
    lasthop_ = static_cast<uint8_t>(lasthop);
  }

  /// Code point of returned frames; without it they have the one of trimmed frames.
  void return_code(unsigned code) { returned_code_ = static_cast<uint8_t>(code); }
  /// The receiver's own address. Peers of scenarios with several destinations send to other ones, too: a trimmed frame
  /// gets this one, so that its receiver does not take it for somebody else's.
  void receiver(U128 address) { receiver_ = address; }
  /// A WRITE of no bytes is legal: WRITEs lose either their payload or their length.
  void zero_legal(bool on) { zero_legal_ = on; }

  /// The ICRC starts at the outer IP header.
  void icrc_outer(bool on) { icrc_outer_ = on; }

  /// Traffic begins now: rules with times count from here.
  void begin(uint64_t now_ps) { begin_ps_ = now_ps; }

  /// Frames that arrive at the other end, in order of transmission; the receiver takes them away.
  std::vector<FramePtr>& out() { return out_; }
  /// Frames that come back to the sender's port; the sender takes them away.
  std::vector<FramePtr>& back() { return back_; }
  const LinkCounters& counters() const { return counters_; }
  /// Fate of the frame given to transmit() last.
  unsigned last_fate() const { return last_fate_; }

 private:
  void deliver(FramePtr frame, uint64_t extra_ps, std::vector<FramePtr>& to);
  bool gives_back(const Impairment& what) { return return_rng_.chance(what.return_share); }
  void give_back(FramePtr frame, const Impairment& what);
  void trim(Frame& frame, const Impairment& what);
  void finish_copy(FramePtr copy, uint64_t extra_ps);
  unsigned trim_size(Rng& rng) const;
  bool never_arrives(const FrameInfo& info) const;
  const Impairment& rule_for(unsigned plane, uint32_t entropy, uint64_t now_ps) const;

  const Preset& preset_;
  const Scenario& scenario_;
  Rng rng_, return_rng_;
  uint64_t ev_salt_;
  bool to_peer_;
  bool icrc_outer_ = false, zero_legal_ = false;
  uint8_t trimmed_, lasthop_;
  std::optional<uint8_t> returned_code_;
  std::optional<U128> receiver_;
  uint64_t seq_ = 0, begin_ps_ = ~uint64_t{0};
  unsigned last_fate_ = 0;
  LinkCounters counters_;
  std::vector<FramePtr> out_, back_;
};

}  // namespace mrc::tb
