// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "log/packet.hpp"
#include "reference/history_parts.hpp"

namespace mrc::ref::history {
namespace {

/// What a single sent frame must look like, whatever happened before.
class WirePart final : public Part {
 public:
  explicit WirePart(World& world) : w_(world), wire_(world.profile().wire()) {}

  void sent(const Seen& seen, QpWorld* qp) override {
    if (!ours(seen)) return;
    if (!seen.mrc()) return;
    frame(seen, qp);
    transport(seen);
    control(seen);
    if (!endpoint(seen)) of_qp(seen, qp);
  }
  void qp(const QpWorld& qp, Time time) override {
    if (qp.state_since == time) waited_before_[qp.set.qp] = w_.waited(time);
  }
  uint64_t memory() const override { return waited_before_.size() * 48 + classes_.size() * 64; }

 private:
  static bool endpoint(const Seen& seen) { return seen.packet.erth || seen.packet.eeth; }

  bool check(Rule rule, bool holds, const Seen& seen, const QpWorld* qp, const char* right) {
    return w_.check(
        rule, holds, &seen, qp, [&] { return words(seen, wire_); }, [&] { return std::string(right); });
  }
  /// With the value that came and the one that fits.
  bool equal(Rule rule, uint64_t came, uint64_t right, const char* name, const Seen& seen, const QpWorld* qp) {
    return w_.check(
        rule, came == right, &seen, qp, [&] { return fmt::format("{} {} in {}", name, came, words(seen, wire_)); },
        [&] { return fmt::format("{} {}", name, right); });
  }

  /// What a device without a profile has chosen in an open question, by the first packet that shows it: it keeps to it.
  struct Choice {
    unsigned value = 0;
    uint64_t frame = 0;
    uint32_t capture = 0;
  };
  static void choose(std::optional<Choice>& choice, unsigned value, const Seen& seen) {
    if (!choice) choice = {value, seen.frame.number, seen.frame.capture};
  }
  /// ", as in packet 17"; "" where a setting says it.
  static std::string shown_by(const std::optional<Choice>& choice, const Seen& seen) {
    if (!choice || choice->frame == 0) return {};
    return fmt::format(", as in packet {}{}", choice->frame,
                       choice->capture == seen.frame.capture ? "" : fmt::format(" of capture {}", choice->capture));
  }
  /// As equal(), of such a choice.
  bool same(Rule rule, std::optional<Choice>& choice, unsigned came, unsigned notified, const char* name,
            const Seen& seen) {
    if (silent()) choose(choice, came, seen);
    const unsigned right = choice ? choice->value : notified;
    return w_.check(
        rule, came == right, &seen, nullptr, [&] { return fmt::format("{} {} in {}", name, came, words(seen, wire_)); },
        [&] { return fmt::format("{} {}{}", name, right, shown_by(choice, seen)); });
  }

  /// The frame is to be MRC's. Headers that are none of its end here.
  bool ours(const Seen& seen) {
    const wire::Packet& p = seen.packet;
    const bool mrc_port = p.udp && wire::is_mrc_port(p.udp->dst_port, wire_);
    if (p.error) {
      using enum wire::ErrorCode;
      const wire::ErrorCode code = p.error->code;
      if (code == BadTver) equal(Rule::WireTver, p.bth->tver, 0, "tver", seen, nullptr);
      if (code == UnknownOpcode) check(Rule::WireOpcode, false, seen, nullptr, "one of the twelve opcodes");
      if (code == BadPad) check(Rule::WirePad, false, seen, nullptr, "a pad count that fits payload and padding");
      if (code == BadIcrc) icrc(seen);
      const bool udp_next =
          (p.ipv6 && p.ipv6->next_header == wire::kProtoUdp) || (p.ipv4 && p.ipv4->protocol == wire::kProtoUdp);
      // A switch may trim with a code point that no capture tells: the IP header fits, those in it are of the whole.
      const bool trimmed = !w_.recorded() && code == BadLength && p.udp && p.dscp_class == wire::DscpClass::Other &&
                           p.error->header == "udp" && p.error->got > p.error->want;
      if (trimmed) {
        w_.report().rests(Rule::WireFormat, "it may be trimmed, with a code point that is not known");
      } else if ((code == Short || code == BadLength) && (mrc_port || (udp_next && !p.udp))) {
        w_.check(
            Rule::WireFormat, false, &seen, nullptr, [&] { return p.error->message(); },
            [] { return std::string("headers and lengths that fit the frame"); });
      }
    }
    return mrc_port;
  }

  void icrc(const Seen& seen) {
    if (!seen.whole) {
      w_.report().rests(Rule::WireIcrc, "the log does not hold the frame's bytes");
      return;
    }
    if (!seen.packet.icrc) return;
    w_.check(
        Rule::WireIcrc, seen.packet.icrc->ok, &seen, nullptr,
        [&] { return seen.packet.error ? seen.packet.error->message() : words(seen, wire_); },
        [] { return std::string("the ICRC of what was sent"); });
  }

  void frame(const Seen& seen, const QpWorld* qp) {
    const wire::Packet& p = seen.packet;
    if (!p.error) {
      w_.report().ok(Rule::WireFormat);
      w_.report().ok(Rule::WireTver);
      w_.report().ok(Rule::WireOpcode);
      icrc(seen);
    }
    same(Rule::WireUdpPort, port_, p.udp->dst_port, w_.settings().udp_port, "UDP port", seen);
    equal(Rule::WireUdpChecksum, p.udp->checksum, 0, "UDP checksum", seen, nullptr);
    const char* why = w_.under_way();
    // A switch may have trimmed it with a code point that no capture tells, and left all of its bytes.
    if (why == nullptr && !w_.recorded() && !p.trimmed() && qp != nullptr && w_.sent_before(seen, *qp))
      why = "it was sent before, and may have come back";
    if (why != nullptr) {
      for (const Rule rule : {Rule::WireTrimmed, Rule::WireEcn, Rule::WireClass}) w_.report().rests(rule, why);
    } else if (check(Rule::WireTrimmed, !p.trimmed(), seen, nullptr, "a code point of data or control")) {
      if (wire::opcode_info(p.bth->opcode) != nullptr) traffic_class(seen, qp);
      check(Rule::WireEcn, p.ecn() != 3, seen, nullptr, "ECT or Not-ECT: CE is set by switches");
    }
  }

  /// Control packets have one code point, endpoint requests that of their caller, data and retransmissions those
  /// of their QP's class, or of the NIC's. Who says neither may have any, but each QP the same ones over its
  /// life, and the device one for control.
  void traffic_class(const Seen& seen, const QpWorld* qp) {
    const wire::Packet& p = seen.packet;
    const Settings& s = w_.settings();
    if (!is_data(p) && !p.peth && !p.erth) {
      same(Rule::WireClass, control_, p.dscp(), s.dscp_ctl, "DSCP", seen);
      return;
    }
    const bool unlike = silent() ? !control_ || p.dscp() != control_->value : p.dscp() != s.dscp_ctl;
    if (!check(Rule::WireClass, unlike, seen, qp, "a code point of data, not of control") || p.erth) return;
    const bool rtx = is_data(p) && p.bth->rtx != 0;
    const auto of = [&](const TrafficClass& c) { return rtx ? c.rtx : c.data; };
    const std::optional<TrafficClass> own = qp == nullptr ? std::nullopt : class_of(qp->set);
    // Frames do not tell whether the owner of a QP gave it a class of its own.
    const bool notified = (rtx ? s.notified_rtx : s.notified_data) && qp != nullptr && !qp->inferred();
    const auto nics = static_cast<uint8_t>(rtx ? s.dscp_rtx : s.dscp_data);
    const auto one = [&](uint8_t right) { equal(Rule::WireClass, p.dscp(), right, "DSCP", seen, qp); };
    if (qp != nullptr && qp->class_since != 0 && inside_since(seen, qp->class_since, qp->class_waited)) {
      // It may have been built before the class was written, by the class of before.
      const bool before = qp->class_before ? p.dscp() == of(*qp->class_before) : !notified || p.dscp() == nics;
      if (before && !(own && p.dscp() == of(*own)))
        return w_.report().rests(Rule::WireClass, "the QP's owner has changed its class");
    }
    if (own) return one(of(*own));
    const auto& sets = w_.profile().classes;
    if (sets.empty() && notified) return one(nics);
    if (!sets.empty()) {
      const bool listed = std::ranges::any_of(sets, [&](const TrafficClass& c) { return of(c) == p.dscp(); });
      if (!check(Rule::WireClass, listed, seen, qp, "a code point of one of the profile's classes")) return;
    }
    if (qp == nullptr)
      return w_.report().rests(Rule::WireClass, "no QP is known: its packets may have several classes");
    Class& seen_before = classes_[qp->set.qp];
    if (seen_before.incarnation != qp->incarnation || seen_before.since != qp->class_since) {
      seen_before = {qp->incarnation, qp->class_since, {}, {}, {}};
    }
    if (qp->again && inside_since(seen, qp->since, waited_before_[qp->set.qp]))
      return w_.report().rests(Rule::WireClass, "the packet may be of the QP's life before");
    std::optional<uint8_t>& mine = rtx ? seen_before.rtx : seen_before.data;
    const std::optional<uint8_t>& other = rtx ? seen_before.data : seen_before.rtx;
    bool& twice = seen_before.twice[rtx];
    const bool alone = mine && !twice && qp->inferred() && silent() && p.dscp() != *mine;
    twice |= mine == p.dscp();
    if (mine && !alone) return one(*mine);
    mine = p.dscp();
    if (alone)
      return w_.report().rests(Rule::WireClass, "one packet alone showed another code point, and may have come back");
    if (!sets.empty()) {
      const bool pair = !other || std::ranges::any_of(sets, [&](const TrafficClass& c) {
        return of(c) == p.dscp() && (rtx ? c.data : c.rtx) == *other;
      });
      check(Rule::WireClass, pair, seen, qp, "one of the profile's classes, for data and retransmissions");
    } else if (other == mine && qp->inferred()) {
      w_.report().rests(Rule::WireClass, "the QP's owner may have given it one code point for both");
    } else {
      check(Rule::WireClass, other != mine, seen, qp, "another code point for retransmissions than for data");
    }
  }

  /// The packet may have been built before that time: it, or others before it, waited inside, for the host perhaps.
  bool inside_since(const Seen& seen, Time since, Time waited) const {
    return seen.first <= since + w_.queue() + (w_.waited(seen.first) - waited) + seen.frame.error;
  }

  void transport(const Seen& seen) {
    const wire::Packet& p = seen.packet;
    const wire::Bth& bth = *p.bth;
    uint64_t reserved = bth.reserved4 | bth.reserved8_6 | bth.reserved8_3;
    const auto look = [&](auto& header) {
      if (!header) return;
      using Header = typename std::decay_t<decltype(header)>::value_type;
      Header::visit(*header, [&](const wire::HeaderField& field, auto& value) {
        if constexpr (std::is_integral_v<std::decay_t<decltype(value)>>) {
          if (field.reserved) reserved |= static_cast<uint64_t>(value);
        }
      });
    };
    if (is_data(p)) {
      look(p.tseth);
    } else {
      wire::Extensions::visit(const_cast<wire::Packet&>(p), look);  // visit() changes nothing
    }
    check(Rule::WireReserved, reserved == 0, seen, nullptr, "reserved bits 0");
    // M may be the other one of the two bits.
    const unsigned bits = bth.m | bth.se << 1;
    const bool notified = w_.settings().bth_m || !silent();
    if (!notified && bits != 3) choose(m_se_, bits, seen);
    const unsigned right = notified ? w_.settings().bth_m : m_se_ ? m_se_->value : 0;
    w_.check(
        Rule::WireMSe, bits == right, &seen, nullptr, [&] { return words(seen, wire_); },
        [&] { return fmt::format("M {}, SE {}{}", right & 1, right >> 1, shown_by(m_se_, seen)); });
    if (!p.error && p.trimmed()) {
      w_.report().rests(Rule::WirePad, "a switch has cut the packet: its pad count is that of the whole one");
    } else if (!p.error) {
      check(Rule::WirePad, bth.pad_count == p.padding.size() && p.padding.size() == (4 - p.payload.size() % 4) % 4,
            seen, nullptr, "padding to a multiple of 4 bytes");
    }
    check(Rule::WireDqp, endpoint(seen) ? bth.dqp == wire::kEndpointDqp : bth.dqp > 2, seen, nullptr,
          endpoint(seen) ? "QP 2" : "a QP above 2");
    if (p.tseth) stamp(seen, p.tseth->ftype, p.tseth->tsr);
    if (p.peth) stamp(seen, p.peth->ftype, p.peth->tsr);
    if (p.erth) stamp(seen, p.erth->ftype, p.erth->tsr);
  }

  /// A device without a profile says nothing of its choices.
  bool silent() const { return w_.profile().name.empty(); }

  /// The unit is such a choice.
  void stamp(const Seen& seen, unsigned ftype, unsigned tsr) {
    const bool notified = w_.settings().tsr_us || !silent();
    if (!notified && tsr <= 1) choose(tsr_, tsr, seen);
    const unsigned right = notified ? w_.settings().tsr_us : tsr_ ? tsr_->value : 0;
    w_.check(
        Rule::WireStamp, ftype == 1 && tsr == right, &seen, nullptr,
        [&] { return fmt::format("ftype {}, tsr {} in {}", ftype, tsr, words(seen, wire_)); },
        [&] { return fmt::format("ftype 1, tsr {}{}", right, shown_by(tsr_, seen)); });
  }

  void control(const Seen& seen) {
    const wire::Packet& p = seen.packet;
    if (p.seth) {
      equal(Rule::WireSackPsn, p.bth->psn, p.seth->cack_psn, "PSN", seen, nullptr);
      check(Rule::WireSackType, p.seth->type == 0 && p.seth->next_header == 0, seen, nullptr, "type 0, next header 0");
      equal(Rule::WireCcType, p.seth->cc_type, 0, "cc_type", seen, nullptr);
      check(Rule::WireMark, p.seth->m != 3, seen, nullptr, "m 0, 1 or 2");
    }
    if (p.neth) {
      equal(Rule::WireSackPsn, p.bth->psn, p.neth->nack_psn, "PSN", seen, nullptr);
      check(Rule::WireSackType, p.neth->type == 0 && p.neth->next_header == 0, seen, nullptr, "type 0, next header 0");
      equal(Rule::WireCcType, p.neth->cc_type, wire::kNethCcType, "cc_type", seen, nullptr);
      const bool known = std::ranges::any_of(wire::kNackReasonValues,
                                             [&](const EnumValue& value) { return value.value == p.neth->reason; });
      check(Rule::WireReason, known, seen, nullptr, "0x01, 0x02, 0x06, 0x07, 0x0a, 0x0b or 0x19");
    }
    if (p.aeth) {
      const unsigned syndrome = p.aeth->syndrome;
      const Settings& s = w_.settings();
      // Without a profile it may have two codes of its own.
      constexpr unsigned kNak = 0x60, kLastNak = 0x7F;
      const bool known =
          (syndrome >= kNak && syndrome <= 0x63) || syndrome == s.nak_invalid || syndrome == s.nak_access;
      const bool code = !known && silent() && syndrome >= kNak && syndrome <= kLastNak;
      if (code && nak_codes_.size() < 2) nak_codes_.insert(syndrome);
      check(Rule::WireSyndrome, syndrome == 0x1F || known || (code && nak_codes_.contains(syndrome)), seen, nullptr,
            "0x1f, or 0x60 to 0x63");
    }
    if (p.erth) check(Rule::WireOp, p.erth->op <= 1, seen, nullptr, "op 0 or 1");
    if (p.eeth) check(Rule::WireOp, p.eeth->op <= 1, seen, nullptr, "op 0 or 1");
  }

  /// What its QP says of a packet.
  void of_qp(const Seen& seen, const QpWorld* qp) {
    const wire::Packet& p = seen.packet;
    const Rule known = is_data(p) ? Rule::QpKnown : Rule::RespPair;
    if (const char* why = qp == nullptr ? w_.no_qp() : nullptr) {
      for (const Rule rule : {known, Rule::QpState, Rule::WirePkey, Rule::WireAddress, Rule::WireEncap}) {
        w_.report().rests(rule, why);
      }
      return;
    }
    if (!check(known, qp != nullptr, seen, qp, "the address and QP of a peer") || p.error) return;
    const log::Qp& set = qp->set;
    if (p.trimmed() && qp->inferred()) {
      // Then it is the peer's.
      for (const Rule rule : {Rule::WirePkey, Rule::WireEncap, Rule::WirePdcid})
        w_.report().rests(rule, "a switch may have sent it back with its addresses exchanged");
      return;
    }
    state(seen, *qp);
    w_.check(
        Rule::WirePkey, p.bth->p_key == set.pkey, &seen, qp,
        [&] { return fmt::format("P_Key 0x{:04x} in {}", p.bth->p_key, words(seen, wire_)); },
        [&] { return fmt::format("0x{:04x}", set.pkey); });
    const bool v4 = p.ipv4.has_value();
    if (set.own_ip == log::Ip{}) {
      w_.report().rests(Rule::WireAddress, "the QP's own address is not known");
    } else {
      check(Rule::WireAddress, w_.plain(log::mapped_source(p), v4) == w_.plain(set.own_ip, v4), seen, qp,
            "the QP's own address as source");
    }
    const unsigned encap = v4 ? 3 : p.srh ? 2 : p.outer_ipv6 ? 1 : 0;
    static constexpr const char* kEncap[] = {"IPv6 alone", "an outer IPv6 header", "an outer IPv6 header and an SRH",
                                             "IPv4"};
    check(Rule::WireEncap, encap == set.encap, seen, qp, kEncap[set.encap & 3]);
    if (p.seth) {
      pdcid(seen, *qp, p.seth->spdcid, p.seth->dpdcid);
      const unsigned most = set.dynamic_mpr ? std::min(set.mpr_dest, 32u) : 0;
      w_.check(
          Rule::WireMpr, p.seth->mpr <= most, &seen, qp,
          [&] { return fmt::format("mpr {} in {}", p.seth->mpr, words(seen, wire_)); },
          [&] { return most == 0 ? "0: the QP has no dynamic MPR" : fmt::format("0 to {}", most); });
    }
    if (p.neth) pdcid(seen, *qp, p.neth->spdcid, p.neth->dpdcid);
    if (p.peth) pdcid(seen, *qp, p.peth->spdcid, p.peth->dpdcid);
  }

  void pdcid(const Seen& seen, const QpWorld& qp, unsigned source, unsigned destination) {
    if ((qp.set.flags & log::kNumberless) != 0) return w_.report().rests(Rule::WirePdcid, "no frame names the QP");
    const unsigned own = qp.set.qp & 0xFFFF, peer = qp.set.peer_qp & 0xFFFF;
    const bool notified = w_.settings().pdcid_zero || !silent();
    if (!notified && (own | peer) != 0) choose(pdcid_zero_, (source | destination) == 0, seen);
    const bool zero = notified ? w_.settings().pdcid_zero || (qp.set.flags & log::kNoPdcid) != 0
                               : pdcid_zero_ && pdcid_zero_->value != 0;
    const unsigned s = zero ? 0 : own, d = zero ? 0 : peer;
    w_.check(
        Rule::WirePdcid, source == s && destination == d, &seen, &qp,
        [&] { return fmt::format("spdcid {}, dpdcid {} in {}", source, destination, words(seen, wire_)); },
        [&] { return fmt::format("spdcid {}, dpdcid {}{}", s, d, shown_by(pdcid_zero_, seen)); });
  }

  void state(const Seen& seen, const QpWorld& qp) {
    using enum log::QpState;
    const log::QpState now = qp.set.state;
    // Packets of the incarnation before may still be under way inside the device. Those whose data the host has yet to
    // give wait for it, and others behind them: only time in which it owed nothing counts.
    const auto before = waited_before_.find(qp.set.qp);
    const Time waiting = before == waited_before_.end() ? 0 : w_.waited(seen.first) - before->second;
    // They leave a port that stands still when it goes on.
    const Time under_way =
        std::min(w_.lag() + waiting, w_.queue()) + w_.down(seen.frame.plane, qp.state_since, seen.first);
    const bool settled = seen.first > qp.state_since + under_way + seen.frame.error;
    const bool late = (now == Reset || (qp.incarnation != 0 && qp.again)) && !settled;
    bool legal = late || now == Rts || now == Error;
    if (now == Rtr) legal |= !is_data(seen.packet);
    if (!legal && now == Reset && (qp.set.flags & log::kOrdered) != 0)
      return w_.report().rests(Rule::QpState, "the device has not done what its owner ordered");
    static constexpr const char* kStates[] = {"RESET", "INIT", "RTR", "RTS", "ERROR"};
    w_.check(
        Rule::QpState, legal, &seen, &qp,
        [&] { return fmt::format("{} in state {}", words(seen, wire_), kStates[static_cast<unsigned>(now)]); },
        [&] { return std::string(now == Rtr ? "no data before RTS" : "nothing"); });
  }

  World& w_;
  wire::WireConfig wire_;
  std::optional<Choice> m_se_, tsr_, port_, control_, pdcid_zero_;
  std::set<unsigned> nak_codes_;
  std::unordered_map<uint32_t, Time> waited_before_;  ///< QP -> World::waited() at its newest change of state
  struct Class {
    uint64_t incarnation = 0;
    Time since = 0;  ///< of the QP's class
    std::optional<uint8_t> data, rtx;
    std::array<bool, 2> twice{};  ///< that of data, of retransmissions was seen twice
  };
  std::unordered_map<uint32_t, Class> classes_;  ///< QP -> code points that it has shown
};

}  // namespace

std::unique_ptr<Part> make_wire_part(World& world) { return std::make_unique<WirePart>(world); }

}  // namespace mrc::ref::history
