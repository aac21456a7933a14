// SPDX-License-Identifier: Apache-2.0
#include "sim/device/fast_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gen/csr.hpp"
#include "protocol/opcodes.hpp"
#include "protocol/qp_state.hpp"
#include "sim/engine/cell.hpp"
#include "sim/engine/codec.hpp"
#include "sim/nic/fast/endpoint_fast.hpp"
#include "tb/device/pins_settings.hpp"
#include "util/rng.hpp"
#include "wire/bytes.hpp"
#include "wire/decode.hpp"
#include "wire/icrc.hpp"
#include "wire/text.hpp"

namespace mrc::sim {
namespace {

using tb::QpConfig;
using tb::Refusal;

constexpr NodeId kOwn = 1;  ///< hosts have numbers inside; peers count from 2 on
constexpr unsigned kReadBytes = 4096, kMaxReads = 256, kMaxQps = 256;
constexpr uint64_t kMaxMemory = uint64_t{256} << 20;  ///< bytes of messages that are being sent
constexpr size_t kMaxOutput = 256 << 10;
/// A packet may still wait at a port when its message is complete.
constexpr Time kKeep = 1000 * kUs;

[[noreturn]] void cannot(const std::string& sentence) { throw Refusal(sentence, true); }
[[noreturn]] void wrong(const std::string& sentence) { throw Refusal(sentence, false); }

U128 number(const log::Ip& ip) { return U128{wire::load_be<8>(ip.data())} << 64 | wire::load_be<8>(ip.data() + 8); }

/// What packet arrived and was new, told by the counters of the endpoint.
class Arrivals {
 public:
  virtual ~Arrivals() = default;
  virtual void placed(const Packet& packet, unsigned plane) = 0;
};

/// The endpoint, with somebody who looks at what it receives.
class Tap final : public Endpoint {
 public:
  Tap(const FastConfig& config, Arrivals& arrivals, PacketPool*& pool)
      : inner(config), arrivals_(arrivals), pool_(pool) {}

  void attach(const Access& access) override {
    pool_ = &access.pool();
    inner.attach(access);
  }
  void start() override { inner.start(); }
  void receive(PacketPtr packet, unsigned plane) override {
    const PacketPtr kept = copy(*pool_, *packet);
    const uint64_t before = inner.stats().delivered_packets;
    inner.receive(std::move(packet), plane);
    if (inner.stats().delivered_packets != before) arrivals_.placed(*kept, plane);
  }
  bool apart() const override { return inner.apart(); }
  void fetch(unsigned step) const override { inner.fetch(step); }
  PacketPtr pull(unsigned plane) override { return inner.pull(plane); }
  void wake() override { inner.wake(); }
  void link_changed(unsigned plane, bool up) override { inner.link_changed(plane, up); }
  bool open(const QpSpec& spec, std::string& why) override { return inner.open(spec, why); }
  bool post(const WorkRequest& request) override { return inner.post(request); }
  void listen(Listener* listener) override { inner.listen(listener); }
  EndpointStats stats() const override { return inner.stats(); }
  EvCounts ev_counts(uint32_t qpn) const override { return inner.ev_counts(qpn); }
  const char* fidelity() const override { return inner.fidelity(); }

  FastEndpoint inner;

 private:
  Arrivals& arrivals_;
  PacketPool*& pool_;
};

class FastDevice final : public tb::NicDevice, Exit, Listener, Arrivals {
 public:
  explicit FastDevice(const FastDeviceOptions& options) : options_(options), preset_(*options.preset) {}

  tb::DeviceInfo open(const tb::OpenRequest& request) override;
  void address(uint64_t mac, const log::Ip& ip) override;
  QpConfig qp_now(uint32_t qp) const override;
  bool qp(const QpConfig& config) override;
  std::pair<log::QpState, Time> query(uint32_t qp) override;
  tb::Modified modify(const QpConfig& config, uint32_t with) override;
  bool mr(const log::Mr& region) override;
  bool post(const log::Post& request) override;
  void recv(uint32_t qp, uint32_t count) override;
  void memory(bool takes) override;
  void port(unsigned plane, bool up, Time t) override;
  bool ev(uint32_t qp, uint32_t ev, bool deny) override;
  bool mpr(uint32_t qp, unsigned units) override;
  void rx(unsigned plane, Time t, std::span<const uint8_t> frame, bool fcs_bad) override;
  void host_done(uint64_t tag, Time t, std::span<const uint8_t> data, uint32_t status) override;
  tb::Advanced advance(Time until, Time slack) override;
  tb::Counters counters() override;

 private:
  struct Qp {
    QpConfig config;
    NodeId peer = 0;
    std::deque<uint64_t> waiting;  ///< posted, not yet given to the endpoint: their data is being read
    unsigned open = 0, immediates = 0;
    bool sends = true;  ///< false: it was taken to RTR only
  };
  struct Peer {
    log::Ip ip{};
    uint64_t mac = 0;
    uint16_t pkey = 0xffff;
  };
  struct Posted {
    log::Post request;
    std::vector<uint8_t> data;
    size_t have = 0;
  };
  struct Read {
    uint64_t id;
    uint32_t offset, bytes;
  };
  struct Immediate {
    uint32_t imm;
    uint16_t rqmsn;
  };

  void need_open() const {
    if (planes_ == 0) wrong("the device is not open.");
  }
  Qp& existing(uint32_t qpn);
  void check_number(uint32_t qpn) const;
  void start(const QpConfig& first);
  void create(const QpConfig& c);
  log::QpState state_of(uint32_t qpn) const;
  FastEndpoint& endpoint() { return tap_->inner; }
  Time byte_time() const { return 8000 / preset_.port_gbps; }
  void begins(unsigned plane, std::span<const uint8_t> frame, Time time);
  void emit(Time time, decltype(tb::Output::body) body, size_t bytes);
  void read_on();
  void give(Qp& qp);
  void refuse_post(const log::Post& request, log::Status status);
  void flush_waiting(uint32_t qpn);

  // Of the endpoint.
  Time leave(unsigned port, PacketPtr packet, Time start, Time free) override;
  void completed(const Completion& completion) override;
  void delivered(const Delivery& delivery) override;
  void placed(const Packet& packet, unsigned plane) override;

  FastDeviceOptions options_;
  const Preset& preset_;
  unsigned planes_ = 0;
  tb::PinsSettings settings_;
  FastConfig config_;
  wire::WireConfig wire_;
  std::optional<QpConfig> common_;  ///< of the first QP: all have its windows and timers
  uint64_t seed_ = 1, mac_ = 0;
  log::Ip ip_{};
  std::map<uint32_t, Qp> qps_;
  std::map<uint32_t, QpConfig> initial_;  ///< in INIT: the endpoint does not know them yet
  std::map<NodeId, Peer> peers_;
  std::map<uint32_t, log::Mr> regions_;

  std::unique_ptr<Cell> cell_;
  Tap* tap_ = nullptr;
  PacketPool* pool_ = nullptr;
  std::vector<Time> rx_free_;
  std::vector<bool> up_;
  Time now_ = 0, reached_ = 0;
  std::multimap<Time, std::function<void()>> events_;  ///< what the tester does at a time
  std::multimap<Time, std::pair<decltype(tb::Output::body), size_t>> due_;
  std::unordered_map<uint64_t, Posted> posted_;
  std::deque<std::pair<Time, uint64_t>> finished_;  ///< complete, still kept
  uint64_t next_id_ = 1, next_tag_ = 1, memory_ = 0;
  std::deque<Read> to_read_;
  std::unordered_map<uint64_t, Read> reading_;  ///< by tag; answered ones are of answered_
  std::map<std::pair<uint32_t, uint16_t>, Immediate> immediates_;
  std::unordered_map<uint32_t, Time> written_;  ///< by QP: when its newest write is visible
  uint64_t not_mrc_ = 0;
};

/// Registers that the fast endpoint has an answer to; of the others it has the value after reset.
bool has_setting(const std::string& name) {
  // With a blank on both sides of each.
  constexpr std::string_view kHas =
      " CTRL.oor_drop CTRL.rtt_rtx CTRL.skip_mode CTRL.trim_silent CTRL.nominal CTRL.zero_length "
      "CTRL.wimm_over CTRL.returned DSCP_TX.ep EV_CTL.skip_ticks DSCP_TX.data DSCP_TX.rtx DSCP_TX.ctl "
      "DSCP_TRIM.trimmed DSCP_TRIM.lasthop DSCP_TRIM.returned DSCP_TRIM.returned_valid UDP_PORT.port "
      "REORDER.pkts REORDER.same_ev EP_CTL.interval EP_CTL.rev_probe EP_CTL.repeats EV_CTL.min_active "
      "EV_CTL.loss_share EV_CTL.bad_waits EV_CTL.lost_stays EV_PROBE.interval EV_PROBE.successes EV_PROBE.skip_good "
      "EV_PROBE.kind "
      "SACK_TRIGGER.bytes "
      "SRV6.plane_lsb SRV6.uplink_usid SRV6.uplink_lsb SRV6.uplink_bits SHARE.enable SHARE.epoch "
      "SHARE.least SHARE.trims SHARE.pen SHARE_DRAIN.bytes ";
  return name.starts_with("QP_CTX.") || kHas.find(" " + name + " ") != std::string_view::npos;
}

FastConfig config_of(const tb::PinsSettings& s, const Preset& preset) {
  FastConfig c;
  c.be_nic(preset);
  const uint32_t ctrl = s.get(csr::kCtrl, csr::kCtrlReset);
  c.oor_drop = csr::kCtrlOorDrop.get(ctrl) != 0;
  c.rtt_rtx = csr::kCtrlRttRtx.get(ctrl) != 0;
  // 3 is taken as 2.
  const auto choice = [ctrl](const auto& field) { return std::min(field.get(ctrl), 2u); };
  c.skip_mode = static_cast<SkipMode>(choice(csr::kCtrlSkipMode));
  c.zero_length = static_cast<ZeroLength>(choice(csr::kCtrlZeroLength));
  c.wimm_over = static_cast<WimmOver>(choice(csr::kCtrlWimmOver));
  c.returned = static_cast<Returned>(choice(csr::kCtrlReturned));
  c.trim_sack = csr::kCtrlTrimSilent.get(ctrl) == 0;
  c.nominal = static_cast<Nominal>(csr::kCtrlNominal.get(ctrl) % 3);
  const auto code = [](uint32_t value) { return static_cast<uint8_t>(value); };
  const uint32_t tx = s.get(csr::kDscpTx, csr::kDscpTxReset), trim = s.get(csr::kDscpTrim, csr::kDscpTrimReset);
  c.dscp.trimmable = code(csr::kDscpTxData.get(tx));
  c.dscp.trimmable_retx = code(csr::kDscpTxRtx.get(tx));
  c.dscp.control = code(csr::kDscpTxCtl.get(tx));
  c.dscp_endpoint = code(csr::kDscpTxEp.get(tx));
  if (csr::kDscpTrimReturnedValid.get(trim) != 0) c.dscp_returned = code(csr::kDscpTrimReturned.get(trim));
  c.dscp.trimmed = code(csr::kDscpTrimTrimmed.get(trim));
  c.dscp.trimmed_lasthop = code(csr::kDscpTrimLasthop.get(trim));
  const uint32_t reorder = s.get(csr::kReorder, csr::kReorderReset);
  c.reorder = std::max(1u, csr::kReorderPkts.get(reorder));
  c.same_ev = csr::kReorderSameEv.get(reorder) != 0;
  const uint32_t ep = s.get(csr::kEpCtl, csr::kEpCtlReset);
  c.endpoint_interval = static_cast<uint16_t>(csr::kEpCtlInterval.get(ep));
  c.reverse_probes = csr::kEpCtlRevProbe.get(ep) != 0;
  c.endpoint_repeats = csr::kEpCtlRepeats.get(ep);
  const uint32_t ev = s.get(csr::kEvCtl, csr::kEvCtlReset);
  c.ev_min_active = csr::kEvCtlMinActive.get(ev);
  c.loss_share = csr::kEvCtlLossShare.get(ev);
  c.bad_waits = csr::kEvCtlBadWaits.get(ev) != 0;
  c.lost_stays = csr::kEvCtlLostStays.get(ev) != 0;
  c.skip_ticks = csr::kEvCtlSkipTicks.get(ev);
  const uint32_t probe = s.get(csr::kEvProbe, csr::kEvProbeReset);
  c.probe_interval = static_cast<uint16_t>(csr::kEvProbeInterval.get(probe));
  c.probe_successes = std::max(1u, csr::kEvProbeSuccesses.get(probe));
  c.probe_skip_good = csr::kEvProbeSkipGood.get(probe) != 0;
  c.probe_kind = static_cast<Revive>(csr::kEvProbeKind.get(probe) % 3);
  c.sack_trigger = csr::kSackTriggerBytes.get(s.get(csr::kSackTrigger, csr::kSackTriggerReset));
  const uint32_t share = s.get(csr::kShare, csr::kShareReset);
  c.share = {.on = csr::kShareEnable.get(share) != 0,
             .epoch = static_cast<uint8_t>(csr::kShareEpoch.get(share)),
             .least = static_cast<uint8_t>(csr::kShareLeast.get(share)),
             .pen = static_cast<uint8_t>(csr::kSharePen.get(share)),
             .trims = static_cast<uint8_t>(csr::kShareTrims.get(share)),
             .drain = csr::kShareDrainBytes.get(s.get(csr::kShareDrain, csr::kShareDrainReset))};
  return c;
}

tb::DeviceInfo FastDevice::open(const tb::OpenRequest& request) {
  const unsigned planes = request.planes == 0 ? preset_.num_planes : request.planes;
  if (planes > 8 || (planes & (planes - 1)) != 0) cannot(fmt::format("{} planes are not 1, 2, 4 or 8.", planes));
  settings_ = tb::read_settings(request.settings, preset_);
  for (const auto& [name, value] : request.settings) {
    if (!has_setting(name)) cannot(fmt::format("the fast endpoint has no setting {}.", name));
  }
  config_ = config_of(settings_, preset_);
  wire_ = {};
  wire_.dscp = config_.dscp;
  wire_.dscp.returned = config_.dscp_returned.value_or(wire::kNoDscp);
  wire_.udp_port = static_cast<uint16_t>(csr::kUdpPortPort.get(settings_.get(csr::kUdpPort, csr::kUdpPortReset)));
  planes_ = planes;
  seed_ = request.seed;
  common_.reset();
  qps_.clear();
  initial_.clear();
  peers_.clear();
  regions_.clear();
  cell_.reset();
  tap_ = nullptr;
  pool_ = nullptr;
  rx_free_.assign(planes, 0);
  up_.assign(planes, true);
  now_ = reached_ = 0;
  events_.clear();
  due_.clear();
  posted_.clear();
  finished_.clear();
  next_id_ = next_tag_ = 1;
  memory_ = not_mrc_ = 0;
  to_read_.clear();
  reading_.clear();
  immediates_.clear();
  written_.clear();
  mac_ = 0x020000000001;
  ip_ = {0xfd};
  ip_[15] = 1;

  tb::DeviceInfo info;
  info.name = "fast";
  info.version = options_.version;
  info.planes = planes;
  info.port_gbps = preset_.port_gbps;
  info.caps = {"batch",   "responder", "requestor", "write_imm",   "trim_nack", "time_stamps",
               "dyn_mpr", "nscc",      "evprobe",   "ev_control",  "srv6",      "srh",
               "ports",   "modify",    "class",     "nscc_numbers"};
  info.latency = tb::kTakeTime + tb::kAnswerTime;
  info.qp_first = kQpnBase;
  info.qps = kMaxQps;
  info.mpr = 32;
  info.max_wimm = preset_.max_wimm;
  info.evs = 256 * planes;
  info.regions = 1 << 16;
  info.post = config_.wqe_depth;
  auto settings = request.settings;
  settings.emplace_back("CTRL.pdcid_zero", 1);  // it has no PDC identifiers
  info.profile = tb::profile_json(info.name, planes, preset_, settings, false);
  return info;
}

void FastDevice::address(uint64_t mac, const log::Ip& ip) {
  need_open();
  if (!qps_.empty()) wrong("the NIC's address is set before its first QP.");
  mac_ = mac;
  ip_ = ip;
}

// Queue pairs.

void FastDevice::check_number(uint32_t qpn) const {
  need_open();
  if (qpn < kQpnBase || qpn >= kQpnBase + kMaxQps)
    cannot(fmt::format("queue pair {} is not between {} and {}, as this NIC has them.", qpn, kQpnBase,
                       kQpnBase + kMaxQps - 1));
}

FastDevice::Qp& FastDevice::existing(uint32_t qpn) {
  check_number(qpn);
  const auto found = qps_.find(qpn);
  if (found == qps_.end()) wrong(fmt::format("queue pair {} does not exist: it is in RESET.", qpn));
  return found->second;
}

QpConfig FastDevice::qp_now(uint32_t qpn) const {
  check_number(qpn);
  if (const auto found = qps_.find(qpn); found != qps_.end()) {
    QpConfig config = found->second.config;
    config.state = state_of(qpn);
    return config;
  }
  if (const auto found = initial_.find(qpn); found != initial_.end()) return found->second;
  QpConfig config = settings_.qp;
  config.qp = qpn;
  config.mpr = config.mpr_dest = 8;
  Rng rng(seed_, "entropy values");
  for (unsigned i = 0; i < preset_.evs_per_qp / preset_.num_planes * planes_; ++i)
    config.evs.push_back(rules::ev_not_zero(static_cast<uint32_t>(rng.next() >> 32)));
  return config;
}

/// With the first QP: what the endpoint has for all of them is known.
void FastDevice::start(const QpConfig& first) {
  config_.mpr = first.mpr;
  config_.mpr_dest = first.mpr_dest;
  config_.dynamic_mpr = first.dynamic_mpr;
  config_.max_wimm = first.max_wimm;
  config_.timeout = first.timeout;
  config_.retry.linear = static_cast<uint8_t>(first.retry_linear);
  config_.retry.exponential = static_cast<uint8_t>(first.retry_exp);
  config_.trim_nack = first.trim_nack;
  config_.time_stamps = first.time_stamps;
  auto tap = std::make_unique<Tap>(config_, static_cast<Arrivals&>(*this), pool_);
  tap_ = tap.get();
  cell_ = std::make_unique<Cell>(static_cast<Exit&>(*this));
  const double gbps = preset_.port_gbps;
  if (const auto error =
          cell_->make_endpoint("fast", std::move(tap), {.ports = planes_, .gbps = gbps, .tie_order = {}}, kOwn)) {
    cell_.reset();
    cannot(error->what + ".");
  }
  endpoint().listen(this);
  cell_->begin();
  cell_->act(now_);
  for (unsigned p = 0; p < planes_; ++p) {
    if (!up_[p]) cell_->set_port(p, false);
  }
}

bool FastDevice::qp(const QpConfig& c) {
  check_number(c.qp);
  const bool known = state_of(c.qp) != log::QpState::Reset;
  if (c.state == log::QpState::Reset && !known) return false;
  if (known || c.state != log::QpState::Rts)
    cannot(fmt::format("the fast endpoint takes queue pair {} from RESET to RTS, and no other way.", c.qp));
  create(c);
  return false;
}

/// The endpoint has the queue pair from now on.
void FastDevice::create(const QpConfig& c) {
  if (c.encap == tb::Encapsulation::Ipv4) cannot("this NIC sends and accepts IPv6 only.");
  if (c.sq_psn != 0 || c.rq_psn != 0 || c.msn != 0 || c.rqmsn != 0)
    cannot(fmt::format("PSN, MSN and RQMSN of queue pair {} begin at 0 in the fast endpoint.", c.qp));
  if (c.svc_time) cannot("the fast endpoint has no service time.");
  if (c.max_wimm_dest != preset_.max_wimm) cannot("the fast endpoint reorders any number of immediates.");
  if (c.max_wimm > preset_.max_wimm) cannot(fmt::format("max_wimm is at most {}.", preset_.max_wimm));
  if (c.timeout > 24 || c.retry_linear > 7 || c.retry_exp > 25)
    cannot("timeout is at most 24, retry_linear 7, retry_exp 25.");
  const auto common = [](const QpConfig& q) {
    return std::tuple(q.mpr, q.mpr_dest, q.dynamic_mpr, q.max_wimm, q.timeout, q.retry_linear, q.retry_exp, q.trim_nack,
                      q.time_stamps);
  };
  if (common_ && common(*common_) != common(c))
    cannot("all queue pairs of the fast endpoint have the same windows, timers and capabilities.");
  if (c.evs.empty() || c.backup >= c.evs.size())
    wrong(fmt::format("{} entropy values with {} for backup leave none to use.", c.evs.size(), c.backup));
  if (!cell_) start(c);
  NodeId peer = kOwn + 1;
  for (const auto& [n, known_peer] : peers_) {
    if (known_peer.ip == c.peer_ip) break;
    peer = n + 1;
  }
  QpSpec spec;
  spec.qpn = c.qp;
  spec.peer = peer;
  spec.peer_qpn = c.peer_qp;
  spec.mtu = c.mtu;
  spec.encap = static_cast<Encap>(c.encap);
  spec.path_template = number(c.path);
  const uint32_t rule = settings_.get(csr::kSrv6, csr::kSrv6Reset);
  spec.path_rule = {csr::kSrv6PlaneLsb.get(rule), csr::kSrv6UplinkUsid.get(rule), csr::kSrv6UplinkLsb.get(rule),
                    csr::kSrv6UplinkBits.get(rule)};
  spec.ev_active.assign(c.evs.begin(), c.evs.end() - c.backup);
  spec.ev_backup.assign(c.evs.end() - c.backup, c.evs.end());
  spec.planes = planes_;
  spec.congestion = c.controlled;
  if (c.controlled && !c.nscc.empty()) tb::put_numbers(c.nscc, spec.nscc.emplace(config_.nscc));
  spec.own_class = c.own_class.has_value();
  if (c.own_class) {
    spec.dscp_data = c.own_class->data;
    spec.dscp_rtx = c.own_class->rtx;
  }
  cell_->enter(now_);
  std::string why;
  if (!endpoint().open(spec, why)) {
    if (qps_.empty()) cell_.reset();
    cannot(why + ".");
  }
  if (!common_) common_ = c;
  peers_[peer] = {c.peer_ip, c.peer_mac, c.pkey};
  Qp& qp = qps_[c.qp];
  qp.config = c;
  qp.peer = peer;
}

log::QpState FastDevice::state_of(uint32_t qpn) const {
  if (initial_.contains(qpn)) return log::QpState::Init;
  const auto found = qps_.find(qpn);
  if (found == qps_.end()) return log::QpState::Reset;
  if (tap_->inner.failed(qpn)) return log::QpState::Error;
  return found->second.sends ? log::QpState::Rts : log::QpState::Rtr;
}

/// The endpoint has no states: a queue pair that is not in it yet, or that may not post, stands for INIT and RTR. It
/// never leaves it again.
tb::Modified FastDevice::modify(const QpConfig& c, uint32_t with) {
  check_number(c.qp);
  const auto from = static_cast<QpState>(state_of(c.qp)), to = static_cast<QpState>(c.state);
  const bool step = to == QpState::Error ? qp_state_allowed(from, to) : qp_setup_allowed(from, to);
  if (!step) return {false, tb::Refused::Transition, 0};
  if (const uint32_t missing = qp_attrs_required(to) & ~with; missing != 0)
    return {false, tb::Refused::Attributes, missing};
  using tb::QpAttribute;
  uint32_t out_of_range = 0;
  const auto need = [&](QpAttribute a, bool right) {
    if ((with & tb::attribute_bit(a)) != 0 && !right) out_of_range |= tb::attribute_bit(a);
  };
  need(QpAttribute::MprDest, c.mpr_dest >= 1 && c.mpr_dest <= 32);
  need(QpAttribute::Mpr, c.mpr >= 1 && c.mpr <= 32);
  need(QpAttribute::MaxWimmDest, c.max_wimm_dest <= preset_.max_wimm);
  need(QpAttribute::MaxWimm, c.max_wimm <= preset_.max_wimm);
  need(QpAttribute::Timeout, c.timeout <= 24);
  need(QpAttribute::RetryCnt, c.retry_linear <= 7 && c.retry_exp <= 25);
  if (out_of_range != 0) return {false, tb::Refused::Value, out_of_range};
  switch (to) {
    case QpState::Init:
      initial_[c.qp] = c;
      break;
    case QpState::Rtr:
      create(c);
      initial_.erase(c.qp);
      qps_.at(c.qp).sends = false;
      break;
    case QpState::Rts: {
      const QpConfig& was = qps_.at(c.qp).config;
      if (c.sq_psn != 0 || c.mpr != was.mpr || c.max_wimm != was.max_wimm || c.timeout != was.timeout ||
          c.retry_linear != was.retry_linear || c.retry_exp != was.retry_exp)
        cannot("the fast endpoint has windows and timers from RTR on: say them there, and begin at PSN 0.");
      qps_.at(c.qp).sends = true;
      break;
    }
    default:
      if (qps_.contains(c.qp)) cannot(fmt::format("the fast endpoint does not give queue pair {} back.", c.qp));
      if (to == QpState::Error) cannot("the fast endpoint has no queue pairs in ERROR but those that have failed.");
      initial_.erase(c.qp);
  }
  return {};
}

std::pair<log::QpState, Time> FastDevice::query(uint32_t qpn) {
  check_number(qpn);
  return {state_of(qpn), reached_};
}

bool FastDevice::ev(uint32_t qpn, uint32_t value, bool deny) {
  const Qp& qp = existing(qpn);
  const auto found = std::find(qp.config.evs.begin(), qp.config.evs.end(), value);
  if (found == qp.config.evs.end()) wrong(fmt::format("queue pair {} has no entropy value {:#010x}.", qpn, value));
  cell_->enter(now_);
  endpoint().deny_ev(qpn, static_cast<unsigned>(found - qp.config.evs.begin()), deny);
  return false;
}

bool FastDevice::mpr(uint32_t qpn, unsigned units) {
  const Qp& qp = existing(qpn);
  if (!qp.config.dynamic_mpr) wrong(fmt::format("queue pair {} has no dynamic MPR.", qpn));
  if (units < 1 || units > qp.config.mpr_dest)
    wrong(fmt::format("the window of queue pair {} is 1 to {} units, its mpr_dest, not {}.", qpn, qp.config.mpr_dest,
                      units));
  endpoint().set_mpr(qpn, static_cast<uint8_t>(units));
  return false;
}

bool FastDevice::mr(const log::Mr& region) {
  need_open();
  if (!region.valid && !regions_.contains(region.rkey))
    wrong(fmt::format("there is no region with R_Key {:#010x}.", region.rkey));
  if (region.valid) {
    regions_[region.rkey] = region;
  } else {
    regions_.erase(region.rkey);
  }
  return false;
}

// The requestor's memory.

void FastDevice::refuse_post(const log::Post& request, log::Status status) {
  log::Cqe cqe;
  cqe.qp = request.qp;
  cqe.wr_id = request.wr_id;
  cqe.status = status;
  emit(now_, cqe, 64);
}

bool FastDevice::post(const log::Post& request) {
  Qp& qp = existing(request.qp);
  if (!qp.sends) wrong(fmt::format("queue pair {} takes no work before RTS.", request.qp));
  if (request.bytes > kMaxMemory)
    cannot(fmt::format("the fast endpoint holds {} bytes of messages at most, not {}.", kMaxMemory, request.bytes));
  if (qp.open >= config_.wqe_depth || memory_ + request.bytes > kMaxMemory) return false;
  if (endpoint().failed(request.qp)) {
    const auto flush = [this, request] { refuse_post(request, log::Status::Flushed); };
    qp.waiting.empty() ? flush() : static_cast<void>(events_.emplace(now_, flush));  // in its turn
  } else if (request.bytes == 0 && config_.zero_length != ZeroLength::Legal) {
    refuse_post(request, log::Status::LocalLength);
  } else if (request.immediate && qp.immediates >= config_.max_wimm &&
             (config_.max_wimm == 0 || config_.wimm_over != WimmOver::Wait)) {
    refuse_post(request, log::Status::WimmOverrun);
    if (config_.wimm_over == WimmOver::Error) {
      cell_->enter(now_);
      endpoint().end(request.qp, CqStatus::Flushed);
      flush_waiting(request.qp);
    }
  } else {
    const uint64_t id = next_id_++;
    memory_ += request.bytes;
    posted_[id] = {request, std::vector<uint8_t>(request.bytes), 0};
    qp.waiting.push_back(id);
    ++qp.open;
    qp.immediates += request.immediate;
    for (uint64_t at = 0; at < request.bytes; at += kReadBytes)
      to_read_.push_back(
          {id, static_cast<uint32_t>(at), static_cast<uint32_t>(std::min<uint64_t>(kReadBytes, request.bytes - at))});
    read_on();
    if (request.bytes == 0) events_.emplace(now_, [this, qpn = request.qp] { give(qps_.at(qpn)); });
  }
  return true;
}

void FastDevice::read_on() {
  while (!to_read_.empty() && reading_.size() < kMaxReads) {
    const Read read = to_read_.front();
    to_read_.pop_front();
    const auto found = posted_.find(read.id);
    if (found == posted_.end()) continue;
    const uint64_t tag = next_tag_++;
    reading_[tag] = read;
    emit(now_, tb::HostRead{tag, found->second.request.addr + read.offset, read.bytes}, 32);
  }
}

/// Messages go to the endpoint in their order, when their data are here.
void FastDevice::give(Qp& qp) {
  while (!qp.waiting.empty()) {
    const uint64_t id = qp.waiting.front();
    const Posted& posted = posted_.at(id);
    if (posted.have < posted.request.bytes) return;
    const log::Post& r = posted.request;
    qp.waiting.pop_front();
    if (!endpoint().post({.id = id, .qpn = r.qp, .bytes = r.bytes, .immediate = r.immediate, .imm = r.imm}))
      completed({kOwn, r.qp, id, r.bytes, false, CqStatus::Flushed});
  }
}

void FastDevice::host_done(uint64_t tag, Time t, std::span<const uint8_t> data, uint32_t status) {
  need_open();
  const auto found = reading_.find(tag);
  if (found == reading_.end()) wrong(fmt::format("no read has tag {}, or it was answered before.", tag));
  if (status != 0) cannot("this NIC knows no reads of memory that fail.");
  if (t < reached_) wrong(fmt::format("read {} is answered at {}, before the time reached, {}.", tag, t, reached_));
  const Read read = found->second;
  if (data.size() != read.bytes)
    wrong(fmt::format("read {} is of {} bytes and is answered with {}.", tag, read.bytes, data.size()));
  reading_.erase(found);
  events_.emplace(t, [this, read, bytes = std::vector<uint8_t>(data.begin(), data.end())] {
    const auto posted = posted_.find(read.id);
    if (posted != posted_.end()) {
      std::copy(bytes.begin(), bytes.end(), posted->second.data.begin() + read.offset);
      posted->second.have += read.bytes;
      give(qps_.at(posted->second.request.qp));
    }
    read_on();
  });
}

log::Status status_of(const Completion& c) {
  if (c.ok) return log::Status::Ok;
  switch (c.status) {
    case CqStatus::RemInvalid:
      return log::Status::RemoteInvalid;
    case CqStatus::RemAccess:
      return log::Status::RemoteAccess;
    case CqStatus::RemOp:
      return log::Status::RemoteOperation;
    case CqStatus::RetryExceeded:
      return log::Status::Retries;
    case CqStatus::Flushed:
      return log::Status::Flushed;
    case CqStatus::RemEvent:
      return log::Status::Fatal;
    default:
      return log::Status::Other;
  }
}

void FastDevice::completed(const Completion& c) {
  const auto found = posted_.find(c.id);
  if (found == posted_.end()) return;
  Qp& qp = qps_.at(c.qpn);
  --qp.open;
  qp.immediates -= found->second.request.immediate;
  finished_.emplace_back(now_, c.id);
  refuse_post(found->second.request, status_of(c));
  if (c.ok || c.status == CqStatus::Flushed) return;
  // The QP has failed: what still waits for its data is flushed too, after what the endpoint had.
  flush_waiting(c.qpn);
}

void FastDevice::flush_waiting(uint32_t qpn) {
  events_.emplace(now_, [this, qpn] {
    Qp& failed = qps_.at(qpn);
    while (!failed.waiting.empty()) {
      const uint64_t id = failed.waiting.front();
      failed.waiting.pop_front();
      completed({kOwn, qpn, id, 0, false, CqStatus::Flushed});
    }
  });
}

// Frames.

Time FastDevice::leave(unsigned port, PacketPtr packet, Time start, Time free) {
  Packet& p = *packet;
  const Posted* posted = nullptr;
  uint32_t offset = 0;
  if (is_data_opcode(p.opcode)) {
    const auto found = posted_.find(p.data.user);
    if (found == posted_.end()) return free;  // complete for a millisecond and longer
    posted = &found->second;
    offset = static_cast<uint32_t>(p.data.va);  // each message has 4 GiB of addresses
    p.data.va = posted->request.remote + offset;
    p.data.rkey = posted->request.rkey;
  }
  const Peer& peer = peers_.at(p.dst_host);
  FrameContext context;
  context.wire = wire_;
  context.p_key = peer.pkey;
  for (unsigned i = 0; i < 6; ++i) {
    context.src_mac[i] = static_cast<uint8_t>(mac_ >> (40 - 8 * i));
    context.dst_mac[i] = static_cast<uint8_t>(peer.mac >> (40 - 8 * i));
  }
  const unsigned payload = posted != nullptr ? p.payload : 0;
  if (!give_frame(cell_->pool(), p, context)) return free;
  std::vector<uint8_t> bytes = std::move(p.attachment()->bytes);
  // The addresses that the tester knows, the bytes of its memory, and the ICRC over both.
  size_t inner = wire::Eth::kBytes;
  if (p.stack == Stack::Srv6 || p.stack == Stack::Srv6Srh) {
    std::copy(ip_.begin(), ip_.end(), bytes.begin() + static_cast<ptrdiff_t>(inner) + 8);
    inner += wire::Ipv6::kBytes;
  }
  if (p.stack == Stack::Srv6Srh) {
    inner += wire::Srh::kBytes;
    std::copy(peer.ip.begin(), peer.ip.end(), bytes.begin() + static_cast<ptrdiff_t>(inner) - 16);
  }
  std::copy(ip_.begin(), ip_.end(), bytes.begin() + static_cast<ptrdiff_t>(inner) + 8);
  std::copy(peer.ip.begin(), peer.ip.end(), bytes.begin() + static_cast<ptrdiff_t>(inner) + 24);
  const size_t end = bytes.size() - 4;
  if (posted != nullptr && offset + uint64_t{payload} <= posted->data.size()) {
    const auto from = posted->data.begin() + offset;
    std::copy(from, from + payload, bytes.begin() + static_cast<ptrdiff_t>(end - (size_t{payload} + 3) / 4 * 4));
  }
  wire::store_le32(&bytes[end], wire::icrc(std::span(bytes).subspan(inner, end - inner)));
  if (bytes.size() < kMinFrameBytes - kFcsBytes) bytes.resize(kMinFrameBytes - kFcsBytes);
  const Time first = start + kPreambleBytes * byte_time(), last = first + bytes.size() * byte_time();
  const size_t size = bytes.size();
  emit(first, tb::SentFrame{port, last, std::move(bytes)}, size);
  return free;
}

void FastDevice::rx(unsigned plane, Time t, std::span<const uint8_t> frame, bool fcs_bad) {
  need_open();
  if (plane >= planes_) wrong(fmt::format("there is no plane {}: {} are in use, from 0 on.", plane, planes_));
  if (frame.size() < 14 || frame.size() > tb::kMaxFrame)
    wrong(fmt::format("a frame has 14 to {} bytes, not {}.", tb::kMaxFrame, frame.size()));
  const Time length = frame.size() * byte_time(), earliest = std::max(reached_, rx_free_[plane]) + length;
  if (t < earliest)
    wrong(fmt::format("a frame of {} bytes ends on plane {} at {}, but cannot end before {}: it takes {} ps, and {}.",
                      frame.size(), plane, t, earliest, length,
                      rx_free_[plane] > reached_ ? "follows another one" : "does not begin before the time reached"));
  const auto padded = std::max<size_t>(frame.size(), kMinFrameBytes - kFcsBytes);
  rx_free_[plane] = t - length + (padded + kFcsBytes + kGapBytes + kPreambleBytes) * byte_time();
  if (fcs_bad) return;
  // Not before it begins: a carrier that goes takes what is on the wire by then.
  const Time preamble = kPreambleBytes * byte_time(), first = t - length;
  const Time begin = std::max(now_, first > preamble ? first - preamble : 0);
  events_.emplace(begin, [this, plane, bytes = std::vector<uint8_t>(frame.begin(), frame.end()), begin] {
    begins(plane, bytes, begin);
  });
}

void FastDevice::begins(unsigned plane, std::span<const uint8_t> frame, Time time) {
  if (!cell_) return;
  const wire::Packet decoded = wire::decode(frame, wire_);
  if (!decoded.bth || !decoded.ipv6) {
    ++not_mrc_;
    return;
  }
  const PacketPtr packet = cell_->pool().from_frame(frame, wire_);
  const auto host = [this](const log::Ip& ip) {
    if (ip == ip_) return kOwn;
    for (const auto& [n, peer] : peers_) {
      if (peer.ip == ip) return n;
    }
    return NodeId{0};
  };
  packet->trimmed = decoded.trimmed();
  packet->dst_host = host(decoded.ipv6->dst);
  packet->src = host(decoded.ipv6->src);
  cell_->enter(now_);
  cell_->arrive(plane, *packet, time);
}

void FastDevice::placed(const Packet& p, unsigned plane) {
  const Time time = now_ + config_.packet_to_memory + config_.lane_time(p.payload, cell_->rate(plane));
  const wire::Packet decoded = wire::decode(frame_of(p), wire_);
  uint64_t addr = p.data.va;
  const auto region = regions_.find(p.data.rkey);
  if (region != regions_.end() && addr - region->second.va < region->second.bytes)
    addr = region->second.addr + (addr - region->second.va);
  written_[p.dqp] = std::max(written_[p.dqp], time);
  if (!decoded.payload.empty())
    emit(time, tb::HostWrite{addr, {decoded.payload.begin(), decoded.payload.end()}}, decoded.payload.size());
  if (decoded.immdt) immediates_[{p.dqp, p.data.msn}] = {p.data.imm, p.data.rqmsn};
}

void FastDevice::delivered(const Delivery& d) {
  const auto found = immediates_.find({d.qpn, static_cast<uint16_t>(d.msn)});
  if (found == immediates_.end()) return;
  log::Cqe cqe;
  cqe.qp = d.qpn;
  cqe.receive = true;
  cqe.imm = found->second.imm;
  cqe.rqmsn = found->second.rqmsn;
  cqe.bytes = d.bytes;
  immediates_.erase(found);
  emit(std::max(now_, written_[d.qpn]), cqe, 64);  // after its data
}

void FastDevice::memory(bool takes) {
  if (!takes) throw tb::Refusal("the fast endpoint writes memory at once.", true);
}

void FastDevice::recv(uint32_t qpn, uint32_t) { existing(qpn); }  // receive buffers never run out here

void FastDevice::port(unsigned plane, bool up, Time t) {
  need_open();
  if (plane >= planes_) wrong(fmt::format("there is no plane {}: {} are in use, from 0 on.", plane, planes_));
  if (t < reached_) wrong(fmt::format("a port changes at {}, before the time reached, {}.", t, reached_));
  events_.emplace(t, [this, plane, up] {
    up_[plane] = up;
    if (!cell_) return;
    if (!up) cell_->carrier_lost(plane);
    cell_->set_port(plane, up);
  });
}

// Time.

void FastDevice::emit(Time time, decltype(tb::Output::body) body, size_t bytes) {
  due_.emplace(time, std::pair(std::move(body), 2 * bytes + 128));
}

tb::Advanced FastDevice::advance(Time until, Time slack) {
  need_open();
  if (until < reached_) wrong(fmt::format("time has reached {}, and does not go back to {}.", reached_, until));
  tb::Advanced result;
  Time stop = until;
  size_t size = 0;
  for (;;) {
    Time next = cell_ ? cell_->next() : kNever;
    if (!events_.empty()) next = std::min(next, events_.begin()->first);
    if (!due_.empty()) next = std::min(next, due_.begin()->first);
    if (next > stop) break;
    now_ = std::max(now_, next);
    if (cell_) cell_->act(now_);
    while (!events_.empty() && events_.begin()->first <= now_) {
      const auto act = std::move(events_.begin()->second);
      events_.erase(events_.begin());
      act();
    }
    if (cell_ && cell_->next() <= now_) continue;
    while (!due_.empty() && due_.begin()->first <= now_) {
      const Time time = due_.begin()->first;
      size += due_.begin()->second.second;
      result.out.push_back({time, std::move(due_.begin()->second.first)});
      due_.erase(due_.begin());
      if (result.out.size() == 1 && stop - time > slack) stop = std::max(now_, time + slack);
    }
    if (size > kMaxOutput) stop = now_;
  }
  now_ = reached_ = stop;
  if (cell_) cell_->act(now_);
  while (!finished_.empty() && finished_.front().first + kKeep < now_) {
    const auto gone = posted_.find(finished_.front().second);
    memory_ -= gone->second.request.bytes;
    posted_.erase(gone);
    finished_.pop_front();
  }
  result.reached = reached_;
  return result;
}

tb::Counters FastDevice::counters() {
  need_open();
  tb::Counters out{reached_, {{"silent_drops", 0}, {"not_mrc", not_mrc_}}};
  if (!cell_) return out;
  const EndpointStats s = endpoint().stats();
  const std::pair<const char*, uint64_t> values[] = {{"data_packets", s.data_packets},
                                                     {"retransmissions", s.retransmissions},
                                                     {"timeouts", s.timeouts},
                                                     {"delivered_packets", s.delivered_packets},
                                                     {"duplicates", s.duplicates},
                                                     {"trimmed", s.trimmed},
                                                     {"marked", s.marked},
                                                     {"returned", s.returned},
                                                     {"sacks", s.sacks},
                                                     {"nacks", s.nacks},
                                                     {"acks", s.acks},
                                                     {"probes", s.probes},
                                                     {"completions", s.completions},
                                                     {"failed_qps", s.failed_qps},
                                                     {"misdirected", endpoint().misdirected()}};
  for (const auto& [name, value] : values) out.values.emplace_back(name, value);
  return out;
}

}  // namespace

std::unique_ptr<tb::NicDevice> make_fast_device(const FastDeviceOptions& options) {
  return std::make_unique<FastDevice>(options);
}

}  // namespace mrc::sim
