// SPDX-License-Identifier: Apache-2.0
/// A peer that does what no peer may: in spells it puts frames of a grammar between its own. A NIC drops them, or
/// answers them, and goes on (docs/design/blocks/nic.md, "Frames that no peer may send").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gen/presets.hpp"
#include "tb/environment/frame.hpp"
#include "tb/environment/plan.hpp"
#include "tb/environment/scenario.hpp"
#include "tb/gen/counters.hpp"
#include "util/rng.hpp"
#include "wire/packet.hpp"

namespace mrc::tb {

class Forger {
 public:
  /// `victim`: the plan of whom it sends to; it outlives this.
  Forger(const Preset& preset, const Scenario& scenario, uint64_t seed, const SidePlan& victim);

  /// A frame of the peer's own: what is forged later looks like those.
  void heard(const std::vector<uint8_t>& frame, const FrameInfo& info);
  /// QPs are connected anew: nothing of before comes again.
  void forget();

  /// Is there something to forge at this port now?
  bool due(unsigned plane, uint64_t now_ps);
  /// It, with its verdict. None: too little was heard.
  FramePtr frame(unsigned plane, uint64_t now_ps);

 private:
  using Bytes = std::vector<uint8_t>;
  /// One rule of the grammar: writes a frame and says where it must be counted; Forged::No: it cannot be had.
  using Rule = Forged (Forger::*)(Frame&);
  /// Who has to do with a rule's frames in the end.
  enum class Group : uint8_t { Lane, Check, Responder, Nics, Requestor };
  static constexpr unsigned kGroups = 5;
  struct Production;
  static const Production kGrammar[];

  void next_spell(uint64_t now_ps);
  const Production& a_rule();
  const Bytes& one_of(const std::vector<Bytes>& heard);
  std::optional<wire::Packet> like(const std::vector<Bytes>& heard);
  wire::Packet like_another(const wire::Packet& other, wire::Opcode opcode, bool stamped);
  wire::Packet write_to(unsigned qp, const wire::Packet& other, wire::Opcode opcode, std::size_t payload);
  std::optional<unsigned> a_qp();
  bool ports_change() const;
  void seal(wire::Packet& packet, Bytes& to) const;
  void trim(Bytes& frame);
  void fill(Bytes& bytes, std::size_t size);
  std::size_t some_payload(std::size_t most);
  uint32_t far(uint32_t psn, bool before);

  Forged noise(Frame& f);
  Forged cut(Frame& f);
  Forged giant(Frame& f);
  Forged lengths(Frame& f);
  Forged headers(Frame& f);
  Forged bad_fcs(Frame& f);
  Forged bad_icrc(Frame& f);
  Forged no_opcode(Frame& f);
  Forged trimmed_control(Frame& f);
  Forged endpoint_to_qp(Frame& f);
  Forged no_qp(Frame& f);
  Forged foreign_key(Frame& f);
  Forged wrong_size(Frame& f);
  Forged beyond(Frame& f);
  Forged long_past(Frame& f);
  Forged trimmed_data(Frame& f);
  Forged stranger(Frame& f);
  Forged answer_to_nobody(Frame& f);
  Forged known_request(Frame& f);
  Forged probe(Frame& f);
  Forged never_sent(Frame& f);
  Forged nack(Frame& f);
  Forged again(Frame& f);

  const Preset& preset_;
  const Scenario& scenario_;
  const SidePlan& victim_;
  wire::WireConfig config_;
  Rng rng_;
  std::vector<QpIndex> in_use_, unused_;  ///< QPs of the victim
  std::vector<Bytes> data_, control_, others_, all_;
  struct Known {
    uint32_t sent = 0;   ///< the newest PSN that went to it
    uint32_t acked = 0;  ///< the newest of its own that was acknowledged
  };
  std::vector<Known> known_;
  uint64_t from_ps_ = 0, until_ps_ = 0;
  std::array<uint64_t, kMaxPlanes> next_ps_{};
  double load_ = 1;
  bool flood_ = false;
  std::vector<const Production*> rules_;  ///< of this spell; in a flood those of a group, or one
};

/// What a NIC has received of them, beside what it has counted.
class ForgedFrames {
 public:
  void came(Forged kind) { ++came_[static_cast<unsigned>(kind)]; }
  /// Is each counted where it must be, unless lanes lost it? "" if so. `lost`: frames for which they had no room.
  std::string check(const CounterValues& counters, uint64_t lost, const Scenario& scenario) const;

 private:
  std::array<uint64_t, kForgedKinds> came_{};
};

}  // namespace mrc::tb
