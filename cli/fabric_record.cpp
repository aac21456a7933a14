// SPDX-License-Identifier: Apache-2.0
#include "cli/fabric_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>

#include "cli/context.hpp"
#include "input/number.hpp"
#include "picture/story.hpp"
#include "reference/profile.hpp"
#include "sim/engine/codec.hpp"
#include "sim/engine/fabric.hpp"
#include "sim/experiment/endpoints.hpp"
#include "wire/bytes.hpp"

namespace mrc::cli {
namespace {

log::Ip ip_of(sim::NodeId host) {
  const sim::Address address = sim::host_address(host);
  log::Ip ip;
  wire::store_be<8>(ip.data(), address.hi);
  wire::store_be<8>(ip.data() + 8, address.lo);
  return ip;
}

ref::Profile profile_of(const sim::FastConfig& c, const sim::Endpoint& endpoint, const sim::Topology& topology,
                        sim::NodeId host) {
  ref::Profile p;
  p.name = std::string("mrcnic ") + endpoint.fidelity();
  p.planes = topology.planes();
  p.port_gbps = topology.config().gbps;
  p.silent_drops = !endpoint.apart();  // packets of a NIC with a clock may find a lane full
  p.addresses = {ip_of(host)};
  ref::Settings& s = p.settings;
  s.dscp_data = c.dscp.trimmable;
  s.dscp_rtx = c.dscp.trimmable_retx;
  s.dscp_ctl = c.dscp.control;
  s.dscp_trimmed = c.dscp.trimmed;
  s.dscp_lasthop = c.dscp.trimmed_lasthop;
  s.dscp_ep = c.dscp_endpoint;
  s.returned = static_cast<uint32_t>(c.returned);
  s.returned_valid = c.dscp_returned.has_value();
  s.dscp_returned = c.dscp_returned.value_or(0);
  s.zero_length = static_cast<uint32_t>(c.zero_length);
  s.wimm_over = static_cast<uint32_t>(c.wimm_over);
  s.sack_trigger = c.sack_trigger;
  s.oor_drop = c.oor_drop;
  s.pdcid_zero = endpoint.apart();  // packets without bytes carry no QPN of their sender
  s.skip_mode = static_cast<uint32_t>(c.skip_mode);
  s.skip_ticks = c.skip_ticks;
  s.rtt_rtx = c.rtt_rtx;
  s.nominal = static_cast<uint32_t>(c.nominal);
  s.trim_silent = !c.trim_sack;
  s.state_silent = c.silence == 0 && endpoint.apart();
  s.reorder_pkts = c.reorder;
  s.same_ev = c.same_ev;
  s.loss_port = c.port_loss;
  s.loss_time = c.overdue != 0 || c.silence != 0;
  s.min_active = std::min(c.ev_min_active, 511u);
  s.loss_share = c.loss_share;
  s.any_plane = !c.other_plane;
  s.one_copy = c.copies == 1;
  s.bad_waits = c.bad_waits;
  s.probe_interval = c.probe_interval;
  s.probe_kind = static_cast<uint32_t>(c.probe_kind);
  s.probe_successes = c.probe_successes;
  s.skip_good = c.probe_skip_good;
  s.ep_interval = c.endpoint_interval;
  s.ep_repeats = c.endpoint_repeats;
  s.share = c.share.on;
  return p;
}

}  // namespace

/// An endpoint that is the one inside, and tells what passes its door.
class RecordedEndpoint final : public sim::Endpoint, sim::Listener {
 public:
  RecordedEndpoint(std::unique_ptr<sim::Endpoint> inside, uint32_t device, std::string name,
                   const sim::FastConfig& config, const sim::Topology& topology, const FabricRecord::Sink& sink)
      : inside_(std::move(inside)),
        device_(device),
        name_(std::move(name)),
        config_(config),
        topology_(topology),
        sink_(sink) {}

  void attach(const sim::Access& access) override {
    access_ = access;
    const ref::Profile profile = profile_of(config_, *inside_, topology_, access.node());
    sink_({device_, 0, log::Device{name_, ref::to_json(profile)}});
    inside_->attach(access);
  }
  void start() override { inside_->start(); }
  void receive(sim::PacketPtr packet, unsigned plane) override {
    const sim::Time now = access_.now();
    const sim::Rate rate = access_.rate(plane);
    const unsigned all = sim::kPreambleBytes + packet->size + sim::kFcsBytes;
    // An endpoint that is early() gets it when its first 64 bytes are there, others when it is over.
    const sim::Time begin = now - std::min(now, rate.time(inside_->early() ? sim::kHeaderBytes : all));
    come();
    frame(*packet, plane, false, begin, begin + rate.time(all));
    inside_->receive(std::move(packet), plane);
  }
  bool early() const override { return inside_->early(); }
  bool apart() const override { return inside_->apart(); }
  void fetch(unsigned step) const override { inside_->fetch(step); }
  sim::PacketPtr pull(unsigned plane) override {
    sim::PacketPtr packet = inside_->pull(plane);
    if (packet != nullptr) {
      const sim::Time now = access_.now();
      const unsigned all = sim::kPreambleBytes + packet->size + sim::kFcsBytes;
      come();
      frame(*packet, plane, true, now, now + access_.rate(plane).time(all));
    }
    return packet;
  }
  void wake() override { inside_->wake(); }
  void link_changed(unsigned plane, bool up) override {
    const sim::Time now = access_.now();
    // What has not come to its end never does.
    std::erase_if(records_, [&](const log::Record& r) {
      const auto* f = std::get_if<log::Frame>(&r.body);
      return !up && f != nullptr && !f->sent && f->plane == plane && f->last > now;
    });
    add<log::Port>(now) = {static_cast<uint8_t>(plane), up};
    inside_->link_changed(plane, up);
  }

  bool open(const sim::QpSpec& spec, std::string& why) override {
    if (!inside_->open(spec, why)) return false;
    log::Qp& q = add<log::Qp>(access_.now());
    q.qp = spec.qpn;
    q.peer_qp = spec.peer_qpn;
    q.state = log::QpState::Rts;
    q.dest = spec.peer;
    q.mtu = spec.mtu;
    q.mpr = config_.mpr;
    q.mpr_dest = config_.mpr_dest;
    q.dynamic_mpr = config_.dynamic_mpr;
    q.max_wimm = q.max_wimm_dest = config_.max_wimm;
    q.timeout = config_.timeout;
    q.retry_linear = config_.retry.linear;
    q.retry_exp = config_.retry.exponential;
    q.trim_nack = config_.trim_nack;
    q.time_stamps = config_.time_stamps;
    q.controlled = spec.congestion && config_.nscc.enable;
    q.encap = spec.encap == Encap::Srv6 ? 1 : spec.encap == Encap::Srv6Srh ? 2 : 0;
    q.own_ip = ip_of(access_.node());
    q.peer_ip = ip_of(spec.peer);
    for (const auto* list : {&spec.ev_active, &spec.ev_backup}) {
      for (std::size_t i = 0; i < list->size() && q.evs.size() < kMostEvs; ++i) {
        q.evs.push_back((*list)[i]);
        q.ev_planes.push_back(static_cast<uint8_t>(i % spec.planes));
      }
    }
    q.backup = static_cast<uint32_t>(spec.ev_backup.size());
    peers_[spec.qpn].peer_qp = spec.peer_qpn;
    return true;
  }
  bool post(const sim::WorkRequest& request) override {
    Sender& qp = peers_[request.qpn];
    log::Post& p = add<log::Post>(access_.now());  // before it is: it may be completed at once
    p.qp = request.qpn;
    p.wr_id = next_id_;
    p.remote = config_.remote_va + sim::message_address(qp.peer_qp, qp.msn);
    p.bytes = request.bytes;
    p.rkey = config_.rkey;
    p.immediate = request.immediate;
    p.imm = request.imm;
    const std::size_t at = records_.size() - 1;
    qp.posted.push_back(next_id_++);
    ++qp.msn;
    if (inside_->post(request)) return true;
    records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(at));
    qp.posted.pop_back();
    --next_id_;
    --qp.msn;
    return false;
  }
  void listen(sim::Listener* listener) override {
    listener_ = listener;
    inside_->listen(listener == nullptr ? nullptr : this);
  }
  sim::EndpointStats stats() const override { return inside_->stats(); }
  std::span<const sim::LossNote> losses() const override { return inside_->losses(); }
  sim::EvCounts ev_counts(uint32_t qpn) const override { return inside_->ev_counts(qpn); }
  bool steady(uint32_t qpn) const override { return inside_->steady(qpn); }
  const char* fidelity() const override { return inside_->fidelity(); }
  std::string problem() const override { return inside_->problem(); }
  uint64_t memory() const override { return inside_->memory() + records_.size() * 4096; }

  /// What a flow of this NIC lost, as notes.
  void report(const sim::SlowestFlow& flow, sim::Time now) {
    if (flow.sender != access_.node()) return;
    for (const sim::LossStory& story : flow.losses) {
      const sim::LossNote& n = story.note;
      const picture::LossReported reported{.qp = n.qpn,
                                           .psn = n.psn,
                                           .sent = n.sent,
                                           .known = n.known,
                                           .again = n.again,
                                           .back = n.back,
                                           .again_plane = n.again_plane,
                                           .cause = sim::kLossCauseNames[static_cast<unsigned>(n.cause)],
                                           .way = story.by};
      add<log::Note>(now).text = reported.text();
    }
  }
  void end(sim::Time now, const std::string& reason) {
    std::erase_if(records_, [&](const log::Record& r) {
      const auto* f = std::get_if<log::Frame>(&r.body);
      return f != nullptr && !f->sent && f->last > now;
    });
    hand_over(sim::kNever);
    sink_({device_, now, log::End{true, reason}});
  }

 private:
  static constexpr std::size_t kMostEvs = 1u << 14, kEnough = 256;
  struct Sender {
    uint32_t peer_qp = 0;
    uint16_t msn = 0;
    std::deque<uint64_t> posted;
  };

  void completed(const sim::Completion& c) override {
    Sender& qp = peers_[c.qpn];
    log::Cqe& r = add<log::Cqe>(access_.now());
    r.qp = c.qpn;
    r.status = c.ok ? log::Status::Ok : log::Status::Other;
    r.bytes = c.bytes;
    if (!qp.posted.empty()) {
      r.wr_id = qp.posted.front();
      qp.posted.pop_front();
    }
    if (listener_ != nullptr) listener_->completed(c);
  }
  void delivered(const sim::Delivery& d) override {
    if (listener_ != nullptr) listener_->delivered(d);
  }

  template <class Body>
  Body& add(sim::Time time) {
    log::Record& record = records_.emplace_back();
    record.device = device_;
    record.time = time;
    return record.body.emplace<Body>();
  }

  void frame(const sim::Packet& packet, unsigned plane, bool sent, sim::Time begin, sim::Time last) {
    std::span<const uint8_t> bytes = sim::frame_of(packet);
    sim::PacketPtr copy;
    if (!sim::has_bytes(packet)) {  // a copy of the fields gets the bytes; the packet itself goes on without
      copy = sim::copy(pool_, packet);
      sim::FrameContext context;
      context.wire.dscp = config_.dscp;
      if (!sim::give_frame(pool_, *copy, context)) return;
      bytes = sim::frame_of(*copy);
    }
    log::Frame& f = add<log::Frame>(begin + access_.rate(plane).time(sim::kPreambleBytes));
    f.sent = sent;
    f.plane = static_cast<uint8_t>(plane);
    f.last = last;
    f.length = static_cast<uint32_t>(bytes.size());
    f.number = ++numbers_;
    f.bytes.assign(bytes.begin(), bytes.end());
  }

  /// Before something that has a time is added: hands over what is old enough, now and then.
  void come() {
    if (records_.size() < kEnough) return;
    // Nothing that is told from now on began longer ago than the largest frame takes.
    constexpr unsigned kLargest = 10000;
    sim::Time slack = 0;
    for (unsigned p = 0; p < topology_.planes(); ++p) slack = std::max(slack, access_.rate(p).time(kLargest));
    const sim::Time now = access_.now();
    if (now <= slack) return;
    hand_over(now - slack);
    sink_({device_, now - slack, log::Until{}});
  }

  void hand_over(sim::Time until) {
    std::ranges::stable_sort(records_, {}, &log::Record::time);
    const auto first = std::ranges::partition_point(records_, [&](const log::Record& r) { return r.time < until; });
    for (auto r = records_.begin(); r != first; ++r) sink_(*r);
    records_.erase(records_.begin(), first);
  }

  const std::unique_ptr<sim::Endpoint> inside_;
  const uint32_t device_;
  const std::string name_;
  const sim::FastConfig config_;
  const sim::Topology& topology_;
  const FabricRecord::Sink& sink_;
  sim::Access access_;
  sim::Listener* listener_ = nullptr;
  sim::PacketPool pool_;
  std::vector<log::Record> records_;
  std::map<uint32_t, Sender> peers_;
  uint64_t next_id_ = 1, numbers_ = 0;
};

FabricRecord::FabricRecord(const sim::Scenario& scenario, const std::string& nics, Sink sink)
    : scenario_(scenario), topology_(scenario.topology), sink_(std::move(sink)) {
  if (scenario.transport != "mrc") {
    throw UsageError("--record is for MRC, not for transport " + scenario.transport + ".",
                     "Leave out --record, or use --transport mrc.");
  }
  wanted_.assign(topology_.hosts(), nics.empty());
  const auto number = [&](const std::string& text) {
    return static_cast<std::size_t>(
        input::whole({text, "--record-nics", {}, 0, 0}, 0, topology_.hosts() - 1, "the number of a NIC"));
  };
  for (std::size_t at = 0; at < nics.size();) {
    const std::size_t comma = std::min(nics.find(',', at), nics.size());
    const std::string part = nics.substr(at, comma - at);
    const std::size_t dash = part.find('-');
    const std::size_t first = number(part.substr(0, dash));
    const std::size_t last = dash == std::string::npos ? first : number(part.substr(dash + 1));
    if (last < first) throw UsageError("--record-nics " + part + " has no NIC.", "Write the smaller number first.");
    for (std::size_t i = first; i <= last; ++i) wanted_[i] = true;
    at = comma + 1;
  }
}

FabricRecord::~FabricRecord() = default;

std::unique_ptr<sim::Endpoint> FabricRecord::wrap(sim::NodeId host, std::unique_ptr<sim::Endpoint> endpoint) {
  if (!wanted_[host]) return endpoint;
  auto recorded = std::make_unique<RecordedEndpoint>(std::move(endpoint), static_cast<uint32_t>(endpoints_.size()),
                                                     topology_.node_name(host), nic_settings(scenario_, topology_),
                                                     topology_, sink_);
  endpoints_.push_back(recorded.get());
  return recorded;
}

void FabricRecord::end(const sim::ExperimentResult& result) {
  const std::string reason = result.reason.empty()
                                 ? sim::outcome_name(result.outcome)
                                 : std::string(sim::outcome_name(result.outcome)) + ": " + result.reason;
  for (RecordedEndpoint* endpoint : endpoints_) {
    for (const sim::GroupResult& group : result.groups) {
      if (group.slowest) endpoint->report(*group.slowest, result.time);
    }
    endpoint->end(result.time, reason);
  }
}

}  // namespace mrc::cli
