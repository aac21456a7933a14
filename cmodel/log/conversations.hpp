// SPDX-License-Identifier: Apache-2.0
/// Which QPs speak to each other in captures, from frames alone: the first of two passes over the files. It hands over
/// Qp records with kInferred, as a recorder writes them when a QP is set up; the second pass puts them in front of the
/// frames, so that the rules that need a QP are awake.
///
/// Evidence, and what is made of it:
/// - A flow is all that goes from one address to one QP of another. Two flows are the ways of one conversation when
///   answers of one name packets of the other, by PSN and entropy value; else when spdcid and dpdcid say so.
/// - P_Key, encapsulation, path MTU, dynamic MPR, service time, pdcids as 0: what most packets say. A device that
///   strays from that breaks a rule; one that says both as often has no such fact.
/// - A flow is *seen whole* when every PSN that its receiver has acknowledged was seen before that (one answer may be
///   wrong), from some PSN near its begin on, and some answers came, nearly all of which name only what was seen. A
///   capture of one plane, one with drops, one of answers alone is not. Nor is one of whose packets some went between
///   other addresses, as an answer shows that names one of these.
/// - Trims and marks are seen as they came when nearly all answers about them fit the frames seen, and no other place
///   saw a mark behind this one.
/// - What never shows (window, timer, retries, EVs) is the widest that MRC allows, or not told.
/// - Six packets of a row tell a new life of a QP, which was set up again: PSNs of no window, PSNs once more, MSNs that
///   are lower by two or more, rcvd_bytes of less than half, answers that name another QP, or another QP's packets.
///   Where one QP of a NIC is set up again, or several have six together, one such packet is enough of its others.
/// - Where the conversation was silent for kSilence in front of the first of these, that is where the life begins;
///   where not, none of its lives is told. A second reading, which knows all begins, takes each life for itself. It
///   tells none unless no life begins anew within, all lives have their QPs, and no packet is near a begin.
/// - An address and QP with two peers at a time are not told.
///
/// Bounded: kMostFlows flows, of each the PSNs of a window and some behind it, and no more than kMostPsns of all of
/// them: beyond, a flow that goes on has its newest 64. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "log/record.hpp"
#include "wire/packet.hpp"

namespace mrc::log {

/// A packet of the captures. Number 0: nobody said which.
struct CapturedAt {
  uint32_t capture = 0;
  uint64_t number = 0;
  uint8_t plane = 0;
  Time time = 0;
};

/// What frames tell of a way of data, and the packets that it stands on.
struct Fact {
  std::string about;  ///< "P_Key"
  std::string value;  ///< "0x8001"
  uint64_t packets = 0;
  CapturedAt first, last;
};

/// All facts of the way from an address to a QP of another one.
struct FactsOfWay {
  Ip from{}, to{};
  uint32_t dqp = 0;
  std::vector<Fact> facts;
  static bool before(const FactsOfWay& a, const FactsOfWay& b) {
    return std::tie(a.from, a.to, a.dqp) < std::tie(b.from, b.to, b.dqp);
  }
};

/// QPs of which lives begin within the captures, and when: by address of who sends to it, its own address and number.
using Lives = std::map<std::tuple<Ip, Ip, uint32_t>, std::set<Time>>;

class Conversations {
  using Way = Lives::key_type;

 public:
  static constexpr std::size_t kMostFlows = 1 << 16;
  static constexpr std::size_t kMostPsns = 1 << 23;  ///< 64 MB
  /// Fewer packets than these tell no QP.
  static constexpr uint64_t kLeastPackets = 4;
  /// Who sets a QP up again takes longer: its owner and the peer's have to agree on it.
  static constexpr Time kSilence = 100'000'000;

  /// `lives`: as an earlier reading of the same packets has found them; empty: this is the first one.
  explicit Conversations(Lives lives = {});
  Conversations(Conversations&&) noexcept;
  Conversations& operator=(Conversations&&) noexcept;
  ~Conversations();

  /// A packet of the captures, each once, in the order of time; `wire` is how it was decoded.
  void packet(const wire::Packet& packet, const wire::WireConfig& wire, const CapturedAt& at = {});
  /// A packet that was told before, as another place saw it: a switch between the two may have marked it.
  void again(const wire::Packet& packet, Time time = 0);
  /// A packet of which the capture has the BTH and not all headers: its flow is not seen whole, and its PSN may tell a
  /// new life. One without BTH: no flow between these addresses is seen whole.
  void unread(const wire::Packet& packet, const wire::WireConfig& wire, const CapturedAt& at = {});
  /// One that the capture has cut before the BTH.
  void cut(const wire::Packet& packet);
  /// The captures say that packets are missing: nothing is seen whole.
  void lost() { lost_ = true; }
  /// No more packets come: what is held to judge them by is given back.
  void end();

  /// QPs of the NIC with these addresses, as its owner sets them up, in the order of time, then by number: of those
  /// with several lives the end of each one as well. The same conversation has the same numbers in every capture.
  std::vector<QpChange> qps(std::span<const Ip> addresses) const;
  /// Lives that begin within the captures.
  const Lives& lives() const { return lives_; }
  /// Of each way of data, what its QPs are told by. By addresses and QP.
  std::vector<FactsOfWay> facts() const;
  /// PSNs that are held.
  std::size_t psns() const { return psns_; }
  /// Why flows are not told: reason -> how many.
  std::map<std::string, uint64_t> unreported() const;

 private:
  struct Flow;
  struct Key {
    Ip source, destination;
    uint32_t dqp;
    uint32_t life = 0;  ///< of that QP: so many have begun before
    bool operator<(const Key& o) const {
      return std::tie(source, destination, dqp, life) < std::tie(o.source, o.destination, o.dqp, o.life);
    }
    bool operator==(const Key&) const = default;
    /// Who sends to which QP, in any life.
    Way way() const { return {source, destination, dqp}; }
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Row;
  struct Reported;
  Flow* flow_of(const Key& key);
  /// That QP in the life that it has at that time.
  Key key_of(const Ip& source, const Ip& destination, uint32_t dqp, Time time) const;
  Flow* find(const Key& key) const;
  /// `read`: all headers of the packet are there, not its BTH alone.
  void data(Flow& flow, const wire::Packet& packet, uint32_t entropy, const CapturedAt& at, bool read = true);
  void note(Flow& flow, const wire::Packet& packet, uint32_t entropy, const CapturedAt& at, bool read);
  /// One more packet that only a QP set up again sends, or (not `more`) the end of such a row. `first`: the life may
  /// begin with it; it has begun by then, and by `begun`.
  void row(Flow& flow, Row& row, bool more, bool first, const CapturedAt& at, Time begun = ~Time{0});
  /// The middle of the newest silence of the flow's conversation that began before `begun`.
  std::optional<Time> silence(const Flow& flow, Time now, Time begun) const;
  void begins_anew(Flow& flow, const Row& row, const CapturedAt& at);
  using Begins = std::map<Ip, std::set<Time>>;
  /// When QPs were set up again of the NIC with that address, whether their lives can be told apart or not.
  Begins begins() const;
  /// Packets that only a QP set up again sends are those by which its lives are known already.
  bool life_known(const Flow& flow) const;
  /// Whether it may be another life of the QP, as one of another QP of either NIC begins.
  bool anew_with_others(const Flow& flow, const Begins& begins) const;
  /// Of which the lives cannot be told apart.
  std::set<Way> mixed_up() const;
  std::size_t lives_of(const Way& way) const;
  void leave_whole(std::map<uint32_t, std::vector<Reported>>& found) const;
  void answer(Flow& back, const Key& key, const wire::Packet& packet, const CapturedAt& at);
  /// The flow of data that answers to this QP are about; null: none that is known.
  Flow* answered(Flow& back, const Key& key, uint32_t psn, uint32_t entropy, bool probe, const CapturedAt& at);
  void astray(Flow& flow, uint32_t psn, uint32_t entropy);
  const Flow* way_back(const Flow& flow, uint32_t& own) const;
  bool own_unread(const Ip& source, const Ip& destination) const;
  using Addresses = std::pair<Ip, Ip>;  ///< from and to which; Ip{}: to any
  static bool on_way(const std::set<Addresses>& some, const Addresses& way) {
    return some.contains(way) || some.contains({way.first, Ip{}});
  }

  Lives lives_;
  bool given_ = false;  ///< lives_ are
  std::map<Key, std::unique_ptr<Flow>> flows_;
  std::unordered_map<Key, Flow*, Hash> index_;                  ///< the same
  std::unordered_map<uint32_t, std::vector<Flow*>> of_number_;  ///< the same, by DQP
  std::size_t psns_ = 0;                                        ///< of all flows
  uint64_t beyond_ = 0;                                         ///< packets of flows that are one too many
  bool lost_ = false;
  std::set<Addresses> unread_;  ///< of some packet of a flow that nobody knows
  std::set<Addresses> cut_;     ///< of some frame that the capture has cut before the BTH
};

}  // namespace mrc::log
