// SPDX-License-Identifier: Apache-2.0
/// The fast endpoint: all of MRC at the level of packets, without a clock. Every rule is that of cmodel/protocol; where
/// the pipeline's pages (docs/design/blocks) make a choice, it is theirs.
///
///     FastConfig config;
///     config.nscc.base_rtt = 6000;
///     auto endpoint = std::make_unique<FastEndpoint>(config);
///
/// PSN, MSN and RQMSN of a new QP are 0 on both sides.
#pragma once

#include <array>
#include <cstdint>
#include <forward_list>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "gen/fabric_profiles.hpp"
#include "gen/presets.hpp"
#include "protocol/endpoint.hpp"
#include "protocol/nscc.hpp"
#include "protocol/retry.hpp"
#include "protocol/rx_tracker.hpp"
#include "sim/engine/endpoint.hpp"
#include "sim/nic/fast/fast_qp.hpp"
#include "sim/nic/fast/fast_rules.hpp"
#include "wire/packet.hpp"

namespace mrc::sim {

struct FastConfig {
  // What the NIC takes: measured on the model of asic800, whose host answers a read after 131 ns (tests/sim/nic/cycle).
  Time packet_to_answer = 40 * kNs;  ///< from the last byte of a packet to the first of its SACK, NACK or ACK
  /// From a work request, SACK or NACK to the packet it lets go; a probe, which has no payload. With a lane that has
  /// packets waiting neither shows.
  Time work_to_wire = 164 * kNs, work_to_probe = 33 * kNs;
  /// 16 bytes of a frame on their way to the MAC, which begins to send when it has all of them, and of payload on their
  /// way from the receiving lane to memory, which begins with the last of them. 0: 25/32 of their time on the link, as
  /// in a NIC whose ports are as fast.
  Time lane_16_bytes = 0;
  Time packet_to_memory = 18 * kNs;  ///< from the last byte of a packet to the first in memory
  Time burst_alone = 7 * kNs;        ///< from one burst to the next, when only one QP sends; among others 1 ns a packet
  unsigned lane_fifo = 32;           ///< TxLaneFifo: how many data packets a port takes (pipeline/timing/lane_room.hpp)
  bool mac_holds = false;            ///< and its MAC one more frame behind the one it sends: nothing overtakes that

  // Requestor.
  unsigned wqe_depth = 1024;  ///< incomplete work requests of one QP
  unsigned mpr = 8;           ///< window, in units of 128 PSNs; 1 to 32
  unsigned max_wimm = 32;     ///< WRITEs with immediate of one QP that may be on their way; 0: none may be posted
  WimmOver wimm_over = WimmOver::Wait;  ///< one more waits, is refused, or ends its QP (A-62)
  bool time_stamps = true;              ///< TSETH; without it there is no round trip to control congestion by
  unsigned reorder = 256;               ///< packets above a gap before it counts as lost (register REORDER)
  bool same_ev = true;                  ///< the oldest gap is lost once a packet sent later on the same EV has arrived
  /// What was given to a plane whose port is down, here or at the peer, is lost at once.
  bool port_loss = true;
  /// A gap that a SACK shows is lost, also when it was sent again before, once its newest transmission is older than
  /// the packet that the SACK answers by so many eighths of the longest round trip of late. 0: no. Needs time
  /// stamps.
  unsigned overdue = 6;
  /// A SACK that counts as many packets as are reported says of all others that they have not arrived, however far away
  /// they are. Otherwise its bitmap alone says so.
  bool by_count = true;
  unsigned timeout = 7;  ///< the timer's interval is 1.024 us x 2^timeout
  RetryLimits retry{};
  /// In a fabric that trims, what is lost without a trim is no sign of congestion: the controller hears that its bytes
  /// are gone, and keeps its window.
  bool loss_spares = true;
  /// Where the window is shut, what is lost stays in flight until its turn to go again.
  bool lost_stays = false;
  bool rtt_rtx = true;  ///< time stamps of packets sent again are round trips too (A-58)
  NsccParams nscc{};    ///< rate_gbps and path_mtu are taken from the links and the QP
  /// AckReq on the last packet of a burst when less than cwnd / 2^ar_shift is left; 0: less than a packet.
  unsigned ar_shift = 3;
  /// A QP that has sent all, or whose window is full, and hears nothing for so many eighths of a round trip
  /// asks for the receiver's state, on two planes, again after twice the time. 0: it waits for its timer.
  unsigned silence = 9;
  unsigned silence_least = 0;  ///< ticks of 128 ns, at least
  bool other_plane = true;     ///< a packet is sent again on another plane than before, if one can be used (A-85)
  /// Of what was lost and not trimmed, when the QP may send nothing else: two go at once, on two planes.
  unsigned copies = 2;
  /// The clock of a NIC that takes answers one after the other, asks again for a refused retransmission every 16
  /// cycles, and wakes new packets when the window opens: what is asked for first gets it. 0: all of that takes no
  /// time, and retransmissions go first.
  Time clock = 0;
  uint64_t remote_va = 0;  ///< added to message_address(): where WRITEs go
  uint32_t rkey = 0;

  // Paths.
  bool nic_walks = false;  ///< the order of a QP's EVs follows from its number alone, as in the NIC
  /// Time and questions as the NIC with a clock has them: by the QP's own round trips, questions on planes in turn.
  bool nic_times = false;
  /// A QP asks at a multiple of that times the QPs that watch for silence: its visits in tx_inflight. 0: at any time.
  Time visit = 0;
  unsigned ev_min_active = 8;  ///< EVs of a QP that stay in use whatever they lose
  /// A packet that finds no EV in use counts as sent and lost, instead of going on a bad one.
  bool bad_waits = false;
  /// So many EVs of one plane lose something within a round trip, and none of another plane towards that peer: the
  /// plane is not used until a probe on it is answered. 0: no; at most 4.
  unsigned suspect = 0;
  /// Losses on an EV, with nothing heard of it in between, that make it bad while other planes of its QP lose, too;
  /// otherwise one is enough. 0, 1: one always is.
  unsigned strikes = 3;
  /// What takes the place of strikes in a NIC with a clock, if not 0: of 2^loss_share losses one makes its EV bad,
  /// while other planes lose, too (EV_CTL.loss_share). At most 4.
  unsigned loss_share = 0;
  SkipMode skip_mode = SkipMode::Pass;  ///< how long an EV is in SKIP (A-20)
  unsigned skip_ticks = 94;             ///< with SkipMode::RoundTrip: 128 ns, at least so long
  uint16_t probe_interval = 781;        ///< 128 ns: until the first probe of a bad EV, doubled per failure
  unsigned probe_successes = 3;         ///< answers in a row that revive
  Revive probe_kind = Revive::Either;   ///< probes that revive: EV probes, reliability probes, or either (A-32)
  bool probe_skip_good = false;         ///< a marked answer revives to GOOD instead of SKIP
  uint16_t endpoint_interval = 781;     ///< 128 ns: port status updates and EV probes are repeated or given up
  unsigned endpoint_repeats = kEpRepeatsForEver;  ///< so often a port status update is sent again (A-60)
  bool reverse_probes = true;                     ///< of destinations that only send to us

  // Responder.
  unsigned mpr_dest = 8;          ///< window, in units of 128 PSNs; not less than the peers' mpr
  uint32_t sack_trigger = 16384;  ///< bytes
  bool trim_nack = true;          ///< a trimmed packet is NACKed
  /// A trimmed packet brings a SACK about what has arrived since the newest one, and so does every packet until it has
  /// come. Without it a sender whose window has shrunk below what it has on its way waits for its timer.
  bool trim_sack = true;
  bool oor_drop = false;    ///< packets beyond the window: dropped instead of NACKed
  bool dynamic_mpr = true;  ///< SACKs say how large the window is
  ShareWords share{};       ///< SACKs shut and open windows of those who send to us

  Nominal nominal = Nominal::UdpLength;          ///< what a packet counts for, at both ends (A-55)
  ZeroLength zero_length = ZeroLength::Legal;    ///< a WRITE of no bytes, at both ends (A-19)
  wire::DscpMap dscp{};                          ///< those of data: of QPs without a class of their own
  uint8_t dscp_endpoint = wire::kDscpTrimmable;  ///< of endpoint requests, but EV probes of a QP (A-60)
  /// A packet of our own that comes back trimmed: counted and dropped, a loss that the requestor knows at once, or not
  /// told apart from a peer's.
  Returned returned = Returned::Drop;
  std::optional<uint8_t> dscp_returned{};  ///< the operator has a code point for those

  /// Times and limits of the NIC of that preset, and no rules but its own.
  void be_nic(const Preset& preset);
  /// Without what tells of losses sooner: gaps, the EV of the oldest packet and the timer are left.
  void wait_for_timer();
  /// Clock cycles from a read of host memory until its data, in every endpoint: two fifths of the time in which a port
  /// sends the lines that its lane prefetches.
  static unsigned host_read_cycles(const Preset& preset);

  /// Time of that many bytes between a port's lane and its MAC, or memory.
  Time lane_time(unsigned bytes, Rate port) const {
    return lane_16_bytes != 0 ? lane_16_bytes * bytes / 16 : port.time(bytes) * 25 / 32;
  }
  /// What sender and receiver add to the round trip of a frame of that many bytes, as time stamps show it: two ticks
  /// for their rounding.
  Time nic_time(unsigned frame, Rate port) const {
    return work_to_wire + lane_time(frame, port) + packet_to_answer + 2 * (kNsccTickNs * kNs);
  }

  /// Settings for a fabric of that rate (of a NIC, all planes together) and empty round trip. What differs from the
  /// defaults keeps an incast of many senders steady, where the last hop marks nothing and every trim costs a header's
  /// time: the largest window is 1.25 BDP, target_delay half a round trip, the increases beyond it are small, and the
  /// timer waits for 64 round trips, as long as retransmissions may hold up data in a queue of strict priority. Quick
  /// adapt sets the window of a sender with less than a 32nd of the largest one (qa_gate) to what arrived in base_rtt +
  /// target_delay, which is less than is in flight when the last hop's queue is full. So a trim takes more than its
  /// packet from those below the gate only: were it an eighth, some of seven senders would stay at half the share.
  static FastConfig for_fabric(double gbps, Time base_rtt);
};

/// A fabric's code points.
void use_profile(FastConfig& config, const FabricProfile& profile);

/// Settings, and what follows from them: one for all NICs that have the same, and always in the cache.
class FastShared {
 public:
  explicit FastShared(const FastConfig& settings) : config(settings) {}
  const FastConfig config;
  /// Of the controller of a NIC with that rate; without `params` those of the settings count. They stay where they are.
  /// Not for threads of a window.
  const NsccWords* words(unsigned mtu_code, double gbps, const NsccParams* params);
  /// The same object for the same numbers.
  const NsccParams* keep(const std::optional<NsccParams>& params);

 private:
  struct Entry {
    unsigned mtu_code;
    double gbps;
    const NsccParams* params;
    NsccWords words;
  };
  std::forward_list<Entry> entries_;
  std::forward_list<NsccParams> numbers_;
};

class FastEndpoint final : public Endpoint {
 public:
  explicit FastEndpoint(const FastConfig& config = {}) : FastEndpoint(std::make_shared<FastShared>(config)) {}
  explicit FastEndpoint(std::shared_ptr<FastShared> shared);
  ~FastEndpoint() override;

  void attach(const Access& access) override;
  void start() override;
  void receive(PacketPtr packet, unsigned plane) override;
  bool apart() const override { return true; }
  void fetch(unsigned step) const override;
  PacketPtr pull(unsigned plane) override;
  void wake() override;
  void link_changed(unsigned plane, bool up) override;

  /// The peer's endpoint, if it is a fast one, must have the same idea of TSETH and of NSCC being there.
  bool open(const QpSpec& spec, std::string& why) override;
  /// Requests of 2^32 bytes or more are refused for good, and those of none unless they are legal. One with immediate
  /// beyond max_wimm: by wimm_over; with Error it is taken, completes with WimmOverrun, and its QP has failed.
  bool post(const WorkRequest& request) override;
  void listen(Listener* listener) override { listener_ = listener; }
  EndpointStats stats() const override { return stats_; }
  std::span<const LossNote> losses() const override { return notes_; }
  EvCounts ev_counts(uint32_t qpn) const override;
  bool steady(uint32_t qpn) const override;
  const char* fidelity() const override { return "fast"; }

  // Beyond the interface.

  const FastConfig& config() const { return config_; }
  /// The responder's window of a QP from now on, in units of 128 PSNs (dynamic MPR).
  void set_mpr(uint32_t qpn, uint8_t mpr);
  /// The controller's word on an EV.
  bool deny_ev(uint32_t qpn, unsigned ev_idx, bool deny);
  unsigned ev_state(uint32_t qpn, unsigned ev_idx) const;
  /// Congestion controller towards a peer; null: there is none.
  const NsccState* controller(NodeId peer) const;
  /// Planes the peer has said it can receive on.
  unsigned peer_planes(NodeId peer) const;
  bool failed(uint32_t qpn) const;
  /// The QP fails, as if something had gone wrong. False: no such QP.
  bool end(uint32_t qpn, CqStatus status);
  /// Packets received whose inner destination address is another host's: dropped before anything is made of them.
  uint64_t misdirected() const { return misdirected_; }
  /// Bytes held by QPs, destinations and windows.
  uint64_t memory() const override;

 private:
  enum class TimerKind : uint32_t {
    Retry,
    State,
    Probe,
    PortStatus,
    ReverseProbe,
    Memory,
    Resume,
    RtxRequest,
    Suspect
  };
  struct Timer {
    Time time;
    TimerKind kind;
    uint32_t index;
    bool operator<(const Timer& other) const { return time > other.time; }  // the earliest on top
  };
  struct Lane {
    Packet *control = nullptr, *control_tail = nullptr;
    Packet *data = nullptr, *data_tail = nullptr;
    Packet* next = nullptr;           // in the MAC
    uint32_t packets = 0, bytes = 0;  // data, without what is in the MAC or on the port; payload of these
    bool idle = true;                 // the port asks no more by itself
    Time taken_at = 0;                // the MAC has had all of the newest frame since then: the one behind it is chosen
  };
  /// What the transmit side is at work on: a burst of a QP, or one retransmission.
  struct Work {
    FastQp* qp = nullptr;
    bool retransmission = false, lost = false, walking = false, last_grant = false;
    bool loss = false;  // with lost: known as a loss, not by its plane alone
    uint32_t psn = 0;   // retransmission
    Record record{};
    uint32_t left = 0;  // granted and not used
    uint32_t packets = 0, bytes = 0;
    EvSet::Walk walk{};
  };
  struct Probe {
    FastQp* qp = nullptr;  // null: free
    uint16_t ev_idx = 0;
    bool waiting = false, marked = false;
    bool evp = true;  // the newest probe is an EV probe; before the first: it is to be one
    uint8_t fails = 0, successes = 0, seq = 0;
    Time due = 0;
  };

  uint32_t tick() const { return static_cast<uint32_t>(access_.now() / kTick); }
  FastQp* find(uint32_t qpn) const;
  FastDest& dest_of(const FastQp& qp) { return *dests_[qp.dest]; }
  const FastDest& dest_of(const FastQp& qp) const { return *dests_[qp.dest]; }
  unsigned usable(const FastQp& qp) const {
    const FastDest& dest = dest_of(qp);
    return planes_but(ev_plane_ok(up_, dest.peer_mask), dest.suspected);
  }
  const NsccWords* words(const FastDest& dest);

  // Lanes (endpoint_fast.cpp).
  void put_control(PacketPtr packet, unsigned plane, Time delay);
  void put_data(PacketPtr packet, unsigned plane);
  void flush_lane(unsigned plane);
  /// The queue whose first packet goes next, control packets first; null: both are empty.
  Packet** pick(Lane& lane, unsigned plane, Time now) const;
  /// That packet, out of its queue; null: none is ready.
  Packet* take(Lane& lane, unsigned plane, Time now) const;
  /// Notes whether the lane takes one more data packet.
  void look_for_room(unsigned plane);
  void schedule_wake(Time time);
  void add_timer(Time time, TimerKind kind, uint32_t index);
  /// Headers of a packet to the QP's peer.
  PacketPtr make_packet(const FastQp& qp, unsigned plane, uint32_t ev, uint8_t dscp, bool control = false);
  EvSkipping skip_rule() const {
    return {config_.skip_mode,
            config_.skip_mode == SkipMode::RoundTrip ? rules::skip_turn(tick(), config_.skip_ticks) : 0};
  }

  // Requestor (fast_requestor.cpp).
  void pump();
  bool choose();
  bool step();
  bool can_send(const FastQp& qp) const;
  bool goes_twice(const FastQp& qp) const;
  /// The next packet begins a message that has to wait for the completion of another one.
  bool over(const FastQp& qp) const;
  void activate(FastQp& qp);
  void begin_burst(FastQp& qp);
  bool begin_retransmission(FastQp& qp);
  void lost_leave(FastQp& qp);
  void end_burst(FastQp& qp, bool more);
  void cancel_work(FastQp& qp);
  void send_new(FastQp& qp, uint16_t ev_idx);
  void send_again(FastQp& qp, uint16_t ev_idx);
  void send_copy(FastQp& qp, uint32_t psn, const Record& old, unsigned planes);
  void send_data(FastQp& qp, const WritePart& part, uint32_t psn, uint16_t msn, uint16_t ev_idx, bool ackreq, bool rtx,
                 uint64_t id);
  /// Something of the QP is not acknowledged.
  static bool busy(const FastQp& qp) {
    return !qp.failed && (qp.una != qp.nxt || qp.msn_done != qp.msn_head || qp.fly.bytes() != 0);
  }
  uint32_t grant(FastQp& qp, uint32_t size, uint32_t bytes, bool& last);
  void give_back(FastQp& qp, uint32_t bytes);
  void cc_event(FastQp& qp, NsccEvent event);
  void resume_dest(FastDest& dest);
  void take_waiting(FastDest& dest);
  void list_retransmission(FastQp& qp);
  void take_answer(PacketPtr packet);
  void on_answer(const Packet& packet);
  void take_answers();
  void retry_refused(FastDest& dest);
  void on_sack(FastQp& qp, const Packet& packet);
  void on_nack(FastQp& qp, const Packet& packet);
  void on_ack(FastQp& qp, const Packet& packet);
  void on_returned(const Packet& packet);
  void feedback(FastQp& qp, unsigned ev_idx, FbKind kind, uint32_t entropy);
  void progress(FastQp& qp);
  void advance(FastQp& qp, uint32_t una);
  void complete(FastQp& qp, uint16_t msn);
  void fail(FastQp& qp, CqStatus status);
  void retry_timer(FastQp& qp);
  void start_timer(FastQp& qp);
  uint32_t timer_step(const FastQp& qp) const;
  /// Packets of the row at w are lost: counts and notes what told of it.
  void found(FastQp& qp, const Block& block, uint32_t w, uint64_t lost, LossCause cause);
  void note_again(FastQp& qp, uint32_t psn, unsigned plane);
  void note_back(FastQp& qp);
  void lose_planes(FastQp& qp, unsigned planes, LossCause cause);
  void lose_planes(uint32_t dest, unsigned planes);
  void report_again(FastQp& qp);
  void blame(FastQp& qp, unsigned ev_idx);
  void suspect(FastQp& qp, unsigned ev_idx);
  void query_suspect(uint32_t dest);
  /// The QP has sent what it may: if nothing is heard for a while, it asks what has arrived.
  void watch_state(FastQp& qp);
  void state_timer(FastQp& qp, Time time);
  /// The SACK counts as many packets above una as are reported: what is not reported has not arrived.
  bool knows_all(const FastQp& qp, const SackFields& sack) const;
  /// False: the SACK does not tell time. twice: it answers a copy of what was reported before.
  bool find_overdue(FastQp& qp, const Sack& sack, const Packet& packet, bool twice);
  void query_state(FastQp& qp, uint32_t out);
  void query_in_turn(FastQp& qp, unsigned times);
  void send_probe(const FastQp& qp, unsigned plane, uint32_t ev, uint16_t id);
  unsigned query_on(FastQp& qp, uint16_t id, unsigned planes, uint16_t& ev_idx);
  void arm_state(FastQp& qp, uint32_t out);
  /// Round trips to that peer, in ticks: the smallest, with target_delay in queues, the longest of late.
  uint32_t smallest(const FastDest& dest) const;
  uint32_t full_round_trip(const FastDest& dest) const;
  uint32_t longest(const FastDest& dest) const;
  uint32_t longest_out(const FastQp& qp) const;
  uint32_t quiet_since(const FastQp& qp, uint32_t out) const;
  uint32_t quiet_wait(const FastQp& qp, uint32_t out) const;
  uint32_t answer_spare(const FastDest& dest) const;
  bool queried_in_vain(const FastQp& qp, uint32_t sent) const;
  uint32_t sent_tick(const Block& block, uint32_t psn) const;
  /// A packet towards that peer was trimmed of late.
  bool trims(const FastDest& dest) const;
  Block* block_of(const FastQp& qp, uint32_t psn) const;
  /// Calls f(w, block) for each block of the QP's window, w its first PSN.
  template <class F>
  void each_block(const FastQp& qp, F&& f) const {
    for (uint32_t w = psn_word(qp.una); in_window(psn_before(w, qp.una) ? qp.una : w, qp.una, qp.nxt);
         w = psn_add(w, 64)) {
      if (Block* block = block_of(qp, psn_before(w, qp.una) ? qp.una : w)) f(w, *block);
    }
  }
  Block* take_block();
  void release_blocks(FastQp& qp);

  // Probes, port status (fast_paths.cpp).
  void ev_bad(FastQp& qp, unsigned ev_idx);
  void probe_timer(uint32_t slot);
  void probe_failed(Probe& probe);
  void probe_answer(FastQp& qp, uint16_t id, unsigned m);
  void ev_probe_answer(uint16_t id);
  void probe_answered(uint32_t slot);
  void port_status_timer(uint32_t dest);
  void ports_changed();
  void on_endpoint(const Packet& packet, unsigned plane);
  void good_reverse(FastDest& dest, unsigned plane, uint32_t ev);
  void want_reverse(FastDest& dest, unsigned plane);
  void reverse_timer();
  void reverse_next();

  // Responder (fast_responder.cpp).
  void on_data(FastQp& qp, const Packet& packet, unsigned plane, bool trimmed);
  void on_probe(FastQp& qp, const Packet& packet, unsigned plane);
  bool share_packet(FastQp& qp, const Packet& packet, bool trimmed);
  void send_sack(FastQp& qp, const Packet& packet, unsigned plane, bool probe);
  void send_nack(FastQp& qp, const Packet& packet, unsigned plane, wire::NackReason reason);
  void send_ack(FastQp& qp, unsigned plane, bool again = false);
  void send_nak(FastQp& qp, unsigned plane);
  /// The EV that answers take on a plane.
  uint32_t answer_ev(const FastQp& qp, unsigned plane) const;
  /// out: the plane it leaves on.
  unsigned next_plane(const FastQp& qp, unsigned plane);
  PacketPtr make_answer(const FastQp& qp, unsigned plane, wire::Opcode opcode, unsigned size, unsigned& out);

  static constexpr Time kTick = kNsccTickNs * kNs;
  static constexpr size_t kMostNotes = 65536;
  static constexpr unsigned kProbeSlots = 256, kStateSlot = kProbeSlots - 1, kSuspectSlot = kProbeSlots - 2,
                            kMaxPlanes = 8, kSlabBlocks = 4;

  std::shared_ptr<FastShared> shared_;
  const FastConfig& config_;
  Access access_;
  Listener* listener_ = nullptr;
  EndpointStats stats_;
  uint64_t misdirected_ = 0;
  unsigned planes_ = 0, up_ = 0, room_ = 0;
  unsigned ack_turn_ = 0;  // plane of the next SACK or ACK
  unsigned watched_ = 0;   // QPs that have a state timer
  bool started_ = false, pumping_ = false;
  std::array<Lane, kMaxPlanes> lanes_;
  std::vector<std::unique_ptr<FastQp>> qps_;
  std::vector<FastQp*> by_qpn_;
  std::unordered_map<uint32_t, FastQp*> by_high_qpn_;
  std::unordered_map<uint64_t, FastQp*> by_peer_;  // peer's node and QPN; only if what comes back is looked for
  std::vector<std::unique_ptr<FastDest>> dests_;
  std::unordered_map<NodeId, uint32_t> dest_of_node_;
  std::vector<LossNote> notes_;
  Ring<uint32_t> run_, rtx_list_;
  Work work_;
  std::priority_queue<Timer> timers_;
  Time wake_at_ = kNever;
  Time rtx_at_ = 0;  // the next retransmission asks at this time, or later
  Time ar_at_ = 0;   // a QP with nothing more to send may ask for a SACK at this time, or later
  Packet *answers_ = nullptr, *answers_tail_ = nullptr;
  Time answers_at_ = 0;  // the next one is taken at this time, or later
  Time pipe_ = 0;        // the next burst leaves the work queues at this time, or later
  struct Placed {
    Time time;
    Delivery delivery;
  };
  Ring<Placed> placed_;  // messages on their way to memory
  Block* free_blocks_ = nullptr;
  std::vector<std::unique_ptr<Block[]>> slabs_;
  std::vector<Probe> probes_;
  Ring<uint64_t> unprobed_;  // QP, EV
  // Reverse paths: one probe at a time.
  struct ReverseProbe {
    bool busy = false;
    uint32_t dest = 0, ev = 0;
    unsigned plane = 0;
    uint16_t seq = 0;
    Time due = 0;
  } reverse_;
  uint32_t entropy_lfsr_ = 1;
  uint32_t epoch_tick_ = 0, epoch_ = 1;
  Ring<uint64_t> wants_;
  unsigned rotate_ = 0;
  ShareNic share_;
};

}  // namespace mrc::sim
