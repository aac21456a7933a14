// SPDX-License-Identifier: Apache-2.0
#include "tb/device/pins_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

#include "gen/csr.hpp"
#include "protocol/nscc_config.hpp"
#include "tb/device/pins_settings.hpp"
#include "tb/environment/driver.hpp"
#include "tb/environment/mac.hpp"
#include "util/rng.hpp"
#include "wire/text.hpp"

namespace mrc::tb {
namespace {

constexpr unsigned kResetCycles = 4;
/// Work requests that wait for the NIC's pin, reads of host memory without an answer, frames on their way to a port.
constexpr size_t kMaxWaiting = 64, kMaxReads = 4096, kMaxArriving = 4096;
/// Between two looks at states and counters.
constexpr uint64_t kPollCycles = 4096;
/// A frame's share of the wire besides its own bytes.
constexpr unsigned kBetweenFrames = kFcsBytes + kGapBytes + kPreambleBytes;
constexpr unsigned kMaxFrame = 9216;
/// An answer of advance() is not larger than this by much.
constexpr size_t kMaxOutput = 256 << 10;
/// Clock cycles after which a register access counts as unanswered.
constexpr uint64_t kHangCycles = 4'000'000;

constexpr uint32_t bit(QpAttr a) { return 1u << static_cast<unsigned>(a); }
constexpr uint32_t kInitAttributes = bit(QpAttr::EvProfile) | bit(QpAttr::CcProfile);
constexpr uint32_t kRtrAttributes =
    bit(QpAttr::Path) | bit(QpAttr::RqPsn) | bit(QpAttr::MaxWimmDest) | bit(QpAttr::MprDest) | bit(QpAttr::Caps);
constexpr uint32_t kRtsAttributes =
    bit(QpAttr::SqPsn) | bit(QpAttr::MaxWimm) | bit(QpAttr::Mpr) | bit(QpAttr::Timeout) | bit(QpAttr::RetryCnt);

[[noreturn]] void cannot(const std::string& sentence) { throw Refusal(sentence, true); }
[[noreturn]] void wrong(const std::string& sentence) { throw Refusal(sentence, false); }

U128 number(const log::Ip& ip) {
  U128 out = 0;
  for (const uint8_t byte : ip) out = out << 8 | byte;
  return out;
}

const char* name_of(log::QpState state) {
  constexpr const char* kNames[] = {"RESET", "INIT", "RTR", "RTS", "ERROR"};
  return kNames[static_cast<unsigned>(state)];
}

log::Status status_of(CqStatus status) {
  switch (status) {
    case CqStatus::Ok:
      return log::Status::Ok;
    case CqStatus::RemInvalid:
      return log::Status::RemoteInvalid;
    case CqStatus::RemAccess:
      return log::Status::RemoteAccess;
    case CqStatus::RemOp:
      return log::Status::RemoteOperation;
    case CqStatus::LocLength:
      return log::Status::LocalLength;
    case CqStatus::WimmOverrun:
      return log::Status::WimmOverrun;
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

class PinsDevice final : public NicDevice {
 public:
  explicit PinsDevice(const PinsOptions& options) : options_(options), preset_(*options.preset) {}

  DeviceInfo open(const OpenRequest& request) override;
  void address(uint64_t mac, const log::Ip& ip) override;
  QpConfig qp_now(uint32_t qp) const override;
  bool qp(const QpConfig& config) override;
  std::pair<log::QpState, Time> query(uint32_t qp) override;
  bool mr(const log::Mr& region) override;
  bool post(const log::Post& request) override;
  void recv(uint32_t qp, uint32_t count) override;
  void port(unsigned plane, bool up, Time t) override;
  bool ev(uint32_t qp, uint32_t ev, bool deny) override;
  bool mpr(uint32_t qp, unsigned units) override;
  void rx(unsigned plane, Time t, std::span<const uint8_t> frame, bool fcs_bad) override;
  void host_done(uint64_t tag, Time t, std::span<const uint8_t> data, uint32_t status) override;
  Advanced advance(Time until, Time slack) override;
  Counters counters() override;

 private:
  struct Qp {
    QpConfig config;
    log::QpState state = log::QpState::Reset;  ///< as ordered, or as the NIC has told
    log::QpState seen = log::QpState::Reset;   ///< as polled last
    bool known = false;                        ///< config is of a QP that is not in RESET
    bool touched = false;                      ///< it was known once
    unsigned profile = 0, dest = 0;
    unsigned open = 0;  ///< work requests without completion
  };
  /// A call whose register accesses are queued.
  struct Order {
    Done done;
    std::string refused;
  };
  using OrderPtr = std::shared_ptr<Order>;
  struct Arriving {
    std::vector<uint8_t> bytes;
    Time first = 0;
    bool fcs_bad = false;
  };
  struct Rx {
    std::deque<Arriving> queue;
    unsigned at = 0;
    Time next = log::kNever, free = 0;
    bool cut = false;
  };
  struct Read {
    uint64_t tag;
    uint32_t bytes;
    bool answered = false;
    Time ready = 0;
    std::vector<uint8_t> data{};
  };
  struct Work {
    Wqe wqe;
    uint64_t after;  ///< orders that must have been carried out
  };
  struct PortEvent {
    Time time;
    unsigned plane;
    bool up;
  };

  void need_open() const {
    if (!dut_) wrong("the device is not open.");
    if (!problem_.empty()) wrong(problem_);
  }
  Qp& find(uint32_t qpn);
  const Qp& find(uint32_t qpn) const { return const_cast<PinsDevice*>(this)->find(qpn); }
  Qp& existing(uint32_t qpn);
  unsigned plane_of(unsigned plane) const;
  Time byte_time() const { return byte_ps(preset_); }
  void fail(const std::string& what) {
    if (problem_.empty()) problem_ = what + ".";
  }

  // Registers.
  OrderPtr begin(const char* call, bool region, uint32_t number);
  void put(const OrderPtr& order, uint32_t offset, uint32_t value);
  void row(const OrderPtr& order, unsigned table, unsigned index, std::span<const uint32_t> words);
  bool end(const OrderPtr& order);
  void settle();
  void poll();

  // Queue pairs.
  void check(const QpConfig& c) const;
  unsigned profile_for(const Qp& qp, const QpConfig& c, std::vector<uint32_t>& values) const;
  unsigned dest_for(const Qp& qp, const QpConfig& c) const;
  void put_controller(const OrderPtr& order, const QpConfig& c, unsigned dest);
  csr::TblQpCtx row_of(const Qp& qp) const;
  void move(const OrderPtr& order, const Qp& qp, log::QpState state, uint32_t attributes);
  bool connect(Qp& qp, const QpConfig& c);
  void reset(const OrderPtr& order, Qp& qp);
  std::vector<uint32_t> slots(const QpConfig& c) const;

  // The clock.
  void cycle(bool traffic);
  void ports();
  void host();
  void transmit();
  void receive(unsigned plane);
  void schedule(unsigned plane);
  void completion(const mrc::Cqe& cqe);
  void tell(Time time, decltype(Output::body) body, size_t bytes);

  PinsOptions options_;
  const Preset& preset_;
  std::unique_ptr<Dut> dut_;
  PinsSettings settings_;
  tb::Driver driver_{Rng(0, "bus")};
  mrc_pins_in in_{};
  mrc_pins_out out_{};
  std::string problem_;
  Time now_ = 0, reached_ = 0;
  bool started_ = false;
  unsigned planes_ = 0, up_ = 0;
  uint64_t mac_ = 0x020000000001, seed_ = 1;
  uint64_t ordered_ = 0, carried_out_ = 0;

  std::vector<Qp> qps_;
  std::vector<std::vector<uint32_t>> profiles_;  ///< values of the rows
  std::vector<std::optional<log::Ip>> dests_;
  std::vector<unsigned> dest_mtu_, cc_mtus_;
  std::vector<uint32_t> regions_;  ///< R_Key of a row, 0: none
  std::vector<bool> region_used_;

  std::vector<TxMac> tx_;
  std::vector<Output> on_wire_;  ///< whose first byte is yet to come
  std::vector<Rx> rx_;
  std::vector<PortEvent> port_events_;
  std::vector<std::deque<Read>> reads_;
  std::unordered_map<uint64_t, Read*> unanswered_;
  size_t reads_pending_ = 0;
  unsigned last_rsp_ = 0;
  uint64_t next_tag_ = 1;
  std::deque<Work> works_;
  struct Posted {
    uint32_t qp;
    uint64_t wr_id;
  };
  std::unordered_map<uint32_t, Posted> posted_;
  uint32_t next_wr_ = 0;

  std::vector<Output> outputs_;
  size_t output_bytes_ = 0;

  Time next_poll_ = 0, polled_ = 0;
  std::map<std::string, uint64_t> counters_, counting_;
  uint64_t stray_frames_ = 0;
};

// Registers.

PinsDevice::OrderPtr PinsDevice::begin(const char* call, bool region, uint32_t number) {
  ++ordered_;
  return std::make_shared<Order>(Order{{call, region, number, {}}, {}});
}

void PinsDevice::put(const OrderPtr& order, uint32_t offset, uint32_t value) {
  driver_.write(static_cast<uint16_t>(offset), value, [order, offset](uint32_t, unsigned resp) {
    if (resp != 0 && order->refused.empty())
      order->refused = fmt::format("the NIC refuses a write to register {:#x}.", offset);
  });
}

void PinsDevice::row(const OrderPtr& order, unsigned table, unsigned index, std::span<const uint32_t> words) {
  driver_.row(table, index, words, [order, table, index](uint32_t, unsigned resp) {
    if (resp != 0 && order->refused.empty())
      order->refused = fmt::format("the NIC refuses row {} of table {}.", index, table);
  });
}

/// True: it is pending.
bool PinsDevice::end(const OrderPtr& order) {
  driver_.read(csr::kCmdStatus, [this, order](uint32_t, unsigned) {
    ++carried_out_;
    if (!started_) return;
    order->done.error = order->refused;
    tell(now_, order->done, 128);
  });
  if (started_) return true;
  settle();
  if (!order->refused.empty()) wrong(order->refused);
  for (Qp& qp : qps_) qp.seen = qp.known ? qp.state : log::QpState::Reset;
  return false;
}

/// Before traffic: the register accesses are carried out while no time passes.
void PinsDevice::settle() {
  for (uint64_t i = 0; !driver_.idle() && problem_.empty(); ++i) {
    if (i == kHangCycles) fail("the register bus of the NIC does not answer");
    cycle(false);
  }
  need_open();
}

void PinsDevice::poll() {
  next_poll_ = now_ + kPollCycles * preset_.clock_ps;
  for (unsigned i = 0; i < qps_.size(); ++i) {
    if (!qps_[i].touched) continue;
    driver_.write(csr::kQpSel, i);
    driver_.read(csr::kQpInfo, [this, i, orders = ordered_](uint32_t info, unsigned) {
      Qp& qp = qps_[i];
      qp.seen = static_cast<log::QpState>(std::min(csr::kQpInfoState.get(info), 4u));
      // The NIC's own doing, unless a later order is about another state.
      if (qp.seen == log::QpState::Error && qp.known && orders == ordered_) qp.state = log::QpState::Error;
    });
  }
  counting_.clear();
  counting_["silent_drops"] = 0;
  for (const csr::Register& r : csr::kRegisters) {
    const std::string_view name = r.name;
    if (!name.starts_with("CNT_")) continue;
    const bool lane = r.count > 1, drops = r.offset == csr::kCntOvf0;
    for (unsigned p = 0; p < (lane ? preset_.num_planes : 1); ++p) {
      const std::string key =
          lane ? std::string(name.substr(0, name.size() - 1)) + std::to_string(p) : std::string(name);
      driver_.read(static_cast<uint16_t>(r.offset + 4 * p), [this, key, drops](uint32_t data, unsigned) {
        counting_[key] = data;
        if (drops) counting_["silent_drops"] += data;
      });
    }
  }
  driver_.read(csr::kCmdStatus, [this, at = now_](uint32_t, unsigned) {
    counters_ = counting_;
    polled_ = at;
  });
}

DeviceInfo PinsDevice::open(const OpenRequest& request) {
  if (request.planes > preset_.num_planes)
    cannot(fmt::format("this NIC ({}) has {} planes, not {}.", preset_.name, preset_.num_planes, request.planes));
  PinsSettings settings = read_settings(request.settings, preset_);
  const PinsOptions options = options_;
  // Everything as new. The NIC before goes first: some devices exist once only.
  dut_.reset();
  std::string why;
  std::unique_ptr<Dut> dut = options.open(why);
  if (!dut) wrong(fmt::format("no device: {}.", why));
  dut_ = std::move(dut);
  settings_ = std::move(settings);
  driver_ = tb::Driver(Rng(0, "bus"));
  in_ = {};
  out_ = {};
  problem_.clear();
  now_ = reached_ = next_poll_ = polled_ = 0;
  started_ = false;
  planes_ = request.planes == 0 ? preset_.num_planes : request.planes;
  up_ = (1u << preset_.num_planes) - 1;
  seed_ = request.seed;
  ordered_ = carried_out_ = 0;
  qps_.assign(preset_.num_qps, {});
  profiles_.assign(preset_.num_profiles, {});
  dests_.assign(preset_.num_dests, {});
  dest_mtu_.assign(preset_.num_dests, 0);
  cc_mtus_.clear();
  regions_.assign(preset_.num_mrs, 0);
  region_used_.assign(preset_.num_mrs, false);
  tx_.clear();
  for (unsigned p = 0; p < preset_.num_planes; ++p) tx_.emplace_back(preset_, p);
  on_wire_.clear();
  rx_.assign(preset_.num_planes, {});
  port_events_.clear();
  reads_.assign(preset_.num_planes, {});
  unanswered_.clear();
  reads_pending_ = 0;
  works_.clear();
  posted_.clear();
  outputs_.clear();
  output_bytes_ = 0;
  counters_.clear();
  stray_frames_ = 0;

  in_.bug = options_.bug;
  in_.link_up = static_cast<uint8_t>(up_);
  for (unsigned i = 0; i < kResetCycles; ++i) {
    dut_->outputs(out_);
    dut_->step(in_);
  }
  in_.rst_n = 1;
  const OrderPtr order = begin("open", false, 0);
  for (const auto& [offset, value] : settings_.registers) put(order, offset, value);
  if (!settings_.registers.contains(csr::kRevSeed)) put(order, csr::kRevSeed, static_cast<uint32_t>(seed_));
  end(order);
  log::Ip ip{0xfd, 0};
  ip[15] = 1;
  address(mac_, ip);

  DeviceInfo info;
  info.name = options_.name;
  info.version = options_.version.empty() ? dut_->version() : options_.version;
  info.planes = planes_;
  info.port_gbps = preset_.port_gbps;
  info.caps = {"batch",    "responder", "requestor", "write_imm", "trim_nack",  "time_stamps",
               "svc_time", "dyn_mpr",   "nscc",      "evprobe",   "ev_control", "srv6",
               "srh",      "psn",       "regions",   "pkey",      "bytes",      "ports"};
  info.latency = kTakeTime + kAnswerTime;
  info.qp_first = kQpnBase;
  info.qps = preset_.num_qps;
  info.mpr = preset_.max_mpr / 128;
  info.max_wimm = preset_.max_wimm;
  info.evs = preset_.evs_per_qp / preset_.num_planes * planes_;
  info.regions = preset_.num_mrs;
  info.post = preset_.wqe_depth;
  info.profile = profile_json(info.name, planes_, preset_, request.settings, true);
  return info;
}

void PinsDevice::address(uint64_t mac, const log::Ip& ip) {
  need_open();
  if (std::any_of(qps_.begin(), qps_.end(), [](const Qp& qp) { return qp.known; }))
    wrong("the NIC's address is set before its first QP.");
  mac_ = mac;
  const OrderPtr order = begin("address", false, 0);
  put(order, csr::kMacLo, static_cast<uint32_t>(mac));
  put(order, csr::kMacHi, static_cast<uint32_t>(mac >> 32));
  for (unsigned i = 0; i < 4; ++i) put(order, csr::kIp0 + 4 * i, static_cast<uint32_t>(number(ip) >> (32 * i)));
  end(order);
}

// Queue pairs.

PinsDevice::Qp& PinsDevice::find(uint32_t qpn) {
  if (qpn < kQpnBase || qpn - kQpnBase >= preset_.num_qps)
    cannot(fmt::format("queue pair {} is not between {} and {}, as this NIC ({}) has them.", qpn, kQpnBase,
                       kQpnBase + preset_.num_qps - 1, preset_.name));
  return qps_[qpn - kQpnBase];
}

PinsDevice::Qp& PinsDevice::existing(uint32_t qpn) {
  Qp& qp = find(qpn);
  if (!qp.known) wrong(fmt::format("queue pair {} does not exist: it is in RESET.", qpn));
  return qp;
}

QpConfig PinsDevice::qp_now(uint32_t qpn) const {
  need_open();
  const Qp& qp = find(qpn);
  if (qp.known) {
    QpConfig config = qp.config;
    config.state = qp.state;
    return config;
  }
  QpConfig config = settings_.qp;
  config.qp = qpn;
  Rng rng(seed_, "entropy values");
  for (unsigned i = 0; i < preset_.evs_per_qp / preset_.num_planes * planes_; ++i)
    config.evs.push_back(static_cast<uint32_t>(rng.next() >> 32));
  return config;
}

void PinsDevice::check(const QpConfig& c) const {
  const auto upto = [&](const char* name, unsigned value, unsigned min, unsigned max) {
    if (value < min || value > max)
      cannot(fmt::format("{} of queue pair {} is {} to {} on this NIC ({}), not {}.", name, c.qp, min, max,
                         preset_.name, value));
  };
  if (c.encap == Encapsulation::Ipv4) cannot("this NIC sends and accepts IPv6 only.");
  if (!std::has_single_bit(c.mtu) || c.mtu < 256 || c.mtu > 4096)
    cannot(fmt::format("mtu {} is none of 256, 512, 1024, 2048 and 4096.", c.mtu));
  upto("mpr", c.mpr, 1, preset_.max_mpr / 128);
  upto("mpr_dest", c.mpr_dest, 1, preset_.max_mpr / 128);
  upto("max_wimm", c.max_wimm, 0, preset_.max_wimm);
  upto("max_wimm_dest", c.max_wimm_dest, 0, preset_.max_wimm);
  upto("timeout", c.timeout, 0, 24);
  upto("retry_linear", c.retry_linear, 0, 7);
  upto("retry_exp", c.retry_exp, 0, 25);
  if (c.evs.empty() || c.backup >= c.evs.size())
    wrong(fmt::format("{} entropy values with {} for backup leave none to use.", c.evs.size(), c.backup));
  if (c.backup % planes_ != 0)
    cannot(fmt::format("backup is a multiple of {}, the number of planes, on this NIC, not {}.", planes_, c.backup));
  const auto groups = [&](size_t n) { return (n + planes_ - 1) / planes_; };
  if (groups(c.evs.size() - c.backup) + c.backup / planes_ > preset_.evs_per_qp / preset_.num_planes)
    cannot(fmt::format("{} entropy values are more than the {} of this NIC ({}).", c.evs.size(),
                       preset_.evs_per_qp / preset_.num_planes * planes_, preset_.name));
}

/// The rows of a profile: entry group * NumPlanes + plane. Places that nobody named have a neighbour's value, and are
/// denied later.
std::vector<uint32_t> PinsDevice::slots(const QpConfig& c) const {
  const unsigned n = preset_.num_planes, groups = preset_.evs_per_qp / n, backup = c.backup / planes_;
  const auto active = static_cast<unsigned>(c.evs.size()) - c.backup;
  std::vector<uint32_t> values(preset_.evs_per_qp);
  for (unsigned g = 0; g < groups; ++g) {
    for (unsigned p = 0; p < n; ++p) {
      const unsigned plane = p % planes_;
      const unsigned i = g < groups - backup ? g * planes_ + plane : active + (g - (groups - backup)) * planes_ + plane;
      const bool named = g < groups - backup ? i < active : true;
      values[g * n + p] = c.evs[named ? i : i % active];
    }
  }
  return values;
}

unsigned PinsDevice::profile_for(const Qp& self, const QpConfig& c, std::vector<uint32_t>& values) const {
  values = slots(c);
  for (unsigned i = 0; i < profiles_.size(); ++i) {
    if (profiles_[i] == values) return i;
  }
  for (unsigned i = 0; i < profiles_.size(); ++i) {
    const bool used = std::any_of(qps_.begin(), qps_.end(),
                                  [&](const Qp& qp) { return &qp != &self && qp.known && qp.profile == i; });
    if (!used) return i;
  }
  cannot(fmt::format("this NIC ({}) holds {} sets of entropy values, and all are in use.", preset_.name,
                     preset_.num_profiles));
}

unsigned PinsDevice::dest_for(const Qp& self, const QpConfig& c) const {
  for (unsigned i = 0; i < dests_.size(); ++i) {
    if (dests_[i] == c.peer_ip) return i;
  }
  for (unsigned i = 0; i < dests_.size(); ++i) {
    const bool used =
        std::any_of(qps_.begin(), qps_.end(), [&](const Qp& qp) { return &qp != &self && qp.known && qp.dest == i; });
    if (!used) return i;
  }
  cannot(fmt::format("this NIC ({}) knows {} other NICs at most.", preset_.name, preset_.num_dests));
}

/// The controller of a destination: its window is never smaller than the largest packet of its QPs.
void PinsDevice::put_controller(const OrderPtr& order, const QpConfig& c, unsigned dest) {
  if (!c.controlled || c.mtu <= dest_mtu_[dest]) return;
  auto found = std::find(cc_mtus_.begin(), cc_mtus_.end(), c.mtu);
  if (found == cc_mtus_.end() && cc_mtus_.size() == preset_.num_cc_profiles)
    cannot(fmt::format("this NIC ({}) holds {} settings of congestion control, one for each mtu.", preset_.name,
                       preset_.num_cc_profiles));
  NsccParams params;
  params.rate_gbps = preset_.port_gbps * planes_;
  params.path_mtu = c.mtu;
  const auto real = nscc_resolve(params);
  if (!real) wrong(fmt::format("congestion control: {}: {}.", real.error().input, real.error().what));
  if (found == cc_mtus_.end()) found = cc_mtus_.insert(cc_mtus_.end(), c.mtu);
  const auto profile = static_cast<uint32_t>(found - cc_mtus_.begin());
  std::array<uint32_t, 16> words = nscc_row(nscc_words(*real));
  settings_.apply(words);
  row(order, csr::kTblCcProfileId, profile, words);
  row(order, csr::kTblCcCtxId, dest, std::span(&profile, 1));
  dest_mtu_[dest] = c.mtu;
}

csr::TblQpCtx PinsDevice::row_of(const Qp& qp) const {
  const QpConfig& c = qp.config;
  csr::TblQpCtx row;
  row.mtu = static_cast<uint8_t>(std::countr_zero(c.mtu) - 8);
  row.encap = static_cast<uint8_t>(c.encap);
  row.ts = c.time_stamps;
  row.trim_nack = c.trim_nack;
  row.svc_time = c.svc_time;
  row.dyn_mpr = c.dynamic_mpr;
  row.cc = c.controlled;
  row.mpr = static_cast<uint8_t>(c.mpr);
  row.mpr_dest = static_cast<uint8_t>(c.mpr_dest);
  row.max_wimm = static_cast<uint8_t>(c.max_wimm);
  row.max_wimm_dest = static_cast<uint8_t>(c.max_wimm_dest);
  row.timeout = static_cast<uint8_t>(c.timeout);
  row.retry_linear = static_cast<uint8_t>(c.retry_linear);
  row.retry_exp = static_cast<uint8_t>(c.retry_exp);
  row.dest = static_cast<uint8_t>(qp.dest);
  row.profile = static_cast<uint8_t>(qp.profile);
  row.backup = static_cast<uint8_t>(c.backup / planes_);
  row.dqpn = c.peer_qp;
  row.pkey = c.pkey;
  row.sq_psn = c.sq_psn;
  row.rq_psn = c.rq_psn;
  row.msn = c.msn;
  row.rqmsn = c.rqmsn;
  row.dmac = c.peer_mac;
  row.dip = number(c.peer_ip);
  row.srv6 = number(c.path);
  return row;
}

void PinsDevice::move(const OrderPtr& order, const Qp& qp, log::QpState state, uint32_t attributes) {
  csr::TblQpCtx ctx = row_of(qp);
  ctx.state = static_cast<QpState>(state);
  uint32_t words[csr::TblQpCtx::kWords];
  ctx.pack(words);
  put(order, csr::kQpAttr, attributes);
  row(order, csr::kTblQpCtxId, qp.config.qp - kQpnBase, words);
}

void PinsDevice::reset(const OrderPtr& order, Qp& qp) {
  move(order, qp, log::QpState::Reset, 0);
  const auto index = static_cast<uint16_t>(qp.config.qp - kQpnBase);
  std::erase_if(works_, [&](const Work& w) { return w.wqe.qp == index; });
  const log::QpState seen = qp.seen;
  qp = {};
  qp.seen = seen;
  qp.touched = true;
}

bool PinsDevice::connect(Qp& qp, const QpConfig& c) {
  check(c);
  std::vector<uint32_t> values;
  const unsigned profile = profile_for(qp, c, values), dest = dest_for(qp, c);
  const log::QpState from = qp.known ? qp.state : log::QpState::Reset;
  const OrderPtr order = begin("qp", false, c.qp);
  put_controller(order, c, dest);
  if (profiles_[profile] != values) {
    profiles_[profile] = values;
    for (unsigned i = 0; i < preset_.evs_per_qp; ++i)
      row(order, csr::kTblEvId, profile * preset_.evs_per_qp + i, std::span(&values[i], 1));
  }
  if (dests_[dest] != c.peer_ip) {
    dests_[dest] = c.peer_ip;
    if (!c.controlled) dest_mtu_[dest] = 0;
    const uint32_t mask = (1u << planes_) - 1;  // the peer has no more ports than the tester uses
    row(order, csr::kTblPeerPortsId, dest, std::span(&mask, 1));
  }
  qp.config = c;
  qp.profile = profile;
  qp.dest = dest;
  qp.known = qp.touched = true;
  if (from < log::QpState::Init || c.state == log::QpState::Init) move(order, qp, log::QpState::Init, kInitAttributes);
  if (from < log::QpState::Rtr && c.state >= log::QpState::Rtr) move(order, qp, log::QpState::Rtr, kRtrAttributes);
  if (from < log::QpState::Rts && c.state >= log::QpState::Rts) move(order, qp, log::QpState::Rts, kRtsAttributes);
  // Each row of QP_CTX makes all entropy values good; the places that nobody named are not for use.
  const unsigned n = preset_.num_planes, groups = preset_.evs_per_qp / n, backup = c.backup / planes_;
  const auto active = static_cast<unsigned>(c.evs.size()) - c.backup;
  for (unsigned i = 0; i < preset_.evs_per_qp; ++i) {
    const unsigned g = i / n, p = i % n;
    if (p < planes_ && (g >= groups - backup || g * planes_ + p < active)) continue;
    const uint32_t deny = i | 1u << 16;
    row(order, csr::kTblEvStateId, c.qp - kQpnBase, std::span(&deny, 1));
  }
  qp.state = c.state;
  return end(order);
}

bool PinsDevice::qp(const QpConfig& c) {
  need_open();
  Qp& qp = find(c.qp);
  using log::QpState;
  if (c.state == QpState::Reset) {
    if (!qp.known) return false;
    const OrderPtr order = begin("qp", false, c.qp);
    reset(order, qp);
    return end(order);
  }
  if (c.state == QpState::Error) {
    if (!qp.known) wrong(fmt::format("queue pair {} is in RESET, from where no way leads to ERROR.", c.qp));
    const OrderPtr order = begin("qp", false, c.qp);
    const auto state = static_cast<uint32_t>(QpState::Error);
    row(order, csr::kTblQpStateId, c.qp - kQpnBase, std::span(&state, 1));
    qp.state = QpState::Error;
    return end(order);
  }
  if (qp.known &&
      (qp.state == QpState::Error || c.state < qp.state || (c.state == qp.state && c.state != QpState::Init)))
    wrong(fmt::format("queue pair {} is in {}, from where no way leads to {} but through RESET.", c.qp,
                      name_of(qp.state), name_of(c.state)));
  return connect(qp, c);
}

std::pair<log::QpState, Time> PinsDevice::query(uint32_t qpn) {
  need_open();
  Qp& qp = find(qpn);
  if (!qp.touched) return {log::QpState::Reset, reached_};
  if (!started_) {
    poll();
    settle();
  }
  return {qp.seen, polled_};
}

bool PinsDevice::ev(uint32_t qpn, uint32_t value, bool deny) {
  need_open();
  Qp& qp = existing(qpn);
  const auto found = std::find(qp.config.evs.begin(), qp.config.evs.end(), value);
  if (found == qp.config.evs.end()) wrong(fmt::format("queue pair {} has no entropy value {:#010x}.", qpn, value));
  const auto i = static_cast<unsigned>(found - qp.config.evs.begin());
  const auto active = static_cast<unsigned>(qp.config.evs.size()) - qp.config.backup;
  const unsigned groups = preset_.evs_per_qp / preset_.num_planes, backup = qp.config.backup / planes_;
  const unsigned group = i < active ? i / planes_ : groups - backup + (i - active) / planes_;
  const unsigned plane = i < active ? i % planes_ : (i - active) % planes_;
  const uint32_t word = (group * preset_.num_planes + plane) | uint32_t{deny} << 16;
  const OrderPtr order = begin("ev", false, qpn);
  row(order, csr::kTblEvStateId, qpn - kQpnBase, std::span(&word, 1));
  return end(order);
}

bool PinsDevice::mpr(uint32_t qpn, unsigned units) {
  need_open();
  Qp& qp = existing(qpn);
  if (!qp.config.dynamic_mpr) wrong(fmt::format("queue pair {} has no dynamic MPR.", qpn));
  if (units < 1 || units > qp.config.mpr_dest)
    wrong(fmt::format("the window of queue pair {} is 1 to {} units, its mpr_dest, not {}.", qpn, qp.config.mpr_dest,
                      units));
  const OrderPtr order = begin("mpr", false, qpn);
  row(order, csr::kTblQpMprId, qpn - kQpnBase, std::span(&units, 1));
  return end(order);
}

bool PinsDevice::mr(const log::Mr& region) {
  need_open();
  const unsigned index = (region.rkey >> 8) % preset_.num_mrs;
  if (region.valid && region_used_[index] && regions_[index] != region.rkey)
    cannot(fmt::format("R_Key {:#010x} needs row {} of this NIC ({}), (R_Key >> 8) modulo {}, which {:#010x} has.",
                       region.rkey, index, preset_.name, preset_.num_mrs, regions_[index]));
  if (!region.valid && (!region_used_[index] || regions_[index] != region.rkey))
    wrong(fmt::format("there is no region with R_Key {:#010x}.", region.rkey));
  csr::TblMr words_of;
  words_of.rkey = region.rkey;
  words_of.valid = region.valid && region.write;
  words_of.va = region.va;
  words_of.length = region.bytes;
  words_of.addr = region.addr;
  uint32_t words[csr::TblMr::kWords];
  words_of.pack(words);
  regions_[index] = region.rkey;
  region_used_[index] = region.valid;
  const OrderPtr order = begin("mr", true, region.rkey);
  row(order, csr::kTblMrId, index, words);
  return end(order);
}

bool PinsDevice::post(const log::Post& request) {
  need_open();
  Qp& qp = find(request.qp);
  if (request.bytes > 0xffffffffu) cannot(fmt::format("a message has 2^32 - 1 bytes at most, not {}.", request.bytes));
  if (works_.size() >= kMaxWaiting || qp.open >= preset_.wqe_depth) return false;
  Wqe wqe;
  wqe.qp = static_cast<uint16_t>(request.qp - kQpnBase);
  wqe.imm_valid = request.immediate;
  wqe.imm = request.imm;
  wqe.length = static_cast<uint32_t>(request.bytes);
  wqe.laddr = request.addr;
  wqe.raddr = request.remote;
  wqe.rkey = request.rkey;
  wqe.wr_id = next_wr_++;
  posted_[wqe.wr_id] = {request.qp, request.wr_id};
  ++qp.open;
  works_.push_back({wqe, ordered_});
  return true;
}

void PinsDevice::recv(uint32_t qpn, uint32_t) {
  need_open();
  existing(qpn);  // receive buffers never run out here: immediates complete into the queue of completions
}

// Wire and host memory.

unsigned PinsDevice::plane_of(unsigned plane) const {
  if (plane >= planes_) wrong(fmt::format("there is no plane {}: {} are in use, from 0 on.", plane, planes_));
  return plane;
}

void PinsDevice::port(unsigned plane, bool up, Time t) {
  need_open();
  plane_of(plane);
  if (t < reached_) wrong(fmt::format("a port changes at {}, before the time reached, {}.", t, reached_));
  const auto later = std::upper_bound(port_events_.begin(), port_events_.end(), t,
                                      [](Time a, const PortEvent& b) { return a < b.time; });
  port_events_.insert(later, {t, plane, up});
}

void PinsDevice::rx(unsigned plane, Time t, std::span<const uint8_t> frame, bool fcs_bad) {
  need_open();
  Rx& rx = rx_[plane_of(plane)];
  if (frame.size() < 14 || frame.size() > kMaxFrame)
    wrong(fmt::format("a frame has 14 to {} bytes, not {}.", kMaxFrame, frame.size()));
  if (rx.queue.size() >= kMaxArriving)
    wrong(fmt::format("{} frames are on their way to plane {}.", kMaxArriving, plane));
  const Time length = frame.size() * byte_time(), earliest = std::max(reached_, rx.free) + length;
  if (t < earliest)
    wrong(fmt::format("a frame of {} bytes ends on plane {} at {}, but cannot end before {}: it takes {} ps, and {}.",
                      frame.size(), plane, t, earliest, length,
                      rx.free > reached_ ? "follows another one" : "does not begin before the time reached"));
  const Time padded = std::max<Time>(frame.size(), kMinFrameBytes - kFcsBytes) * byte_time();
  rx.free = t - length + padded + kBetweenFrames * byte_time();
  rx.queue.push_back({{frame.begin(), frame.end()}, t - length, fcs_bad});
  std::vector<uint8_t>& bytes = rx.queue.back().bytes;
  if (bytes.size() < kMinFrameBytes - kFcsBytes) bytes.resize(kMinFrameBytes - kFcsBytes);
  if (rx.queue.size() == 1) schedule(plane);
}

void PinsDevice::host_done(uint64_t tag, Time t, std::span<const uint8_t> data, uint32_t status) {
  need_open();
  const auto found = unanswered_.find(tag);
  if (found == unanswered_.end()) wrong(fmt::format("no read has tag {}, or it was answered before.", tag));
  if (status != 0) cannot("this NIC knows no reads of memory that fail.");
  if (t < reached_) wrong(fmt::format("read {} is answered at {}, before the time reached, {}.", tag, t, reached_));
  Read& read = *found->second;
  if (data.size() != read.bytes)
    wrong(fmt::format("read {} is of {} bytes and is answered with {}.", tag, read.bytes, data.size()));
  read.data.assign(data.begin(), data.end());
  read.ready = t;
  read.answered = true;
  unanswered_.erase(found);
}

/// When the next beat of the first frame is in.
void PinsDevice::schedule(unsigned plane) {
  Rx& rx = rx_[plane];
  if (rx.queue.empty()) {
    rx.next = log::kNever;
    return;
  }
  const Arriving& frame = rx.queue.front();
  const auto size = static_cast<unsigned>(frame.bytes.size());
  unsigned upto = std::min(size, rx.at + preset_.port_bytes);
  if (upto == size) upto += kFcsBytes;
  rx.next = frame.first + upto * byte_time();
}

void PinsDevice::receive(unsigned plane) {
  Rx& rx = rx_[plane];
  const Arriving& frame = rx.queue.front();
  if (rx.at == 0 && (up_ >> plane & 1) == 0) {  // nothing comes in where there is no carrier
    rx.queue.pop_front();
    schedule(plane);
    return;
  }
  const auto size = static_cast<unsigned>(frame.bytes.size());
  const unsigned n = std::min(preset_.port_bytes, size - rx.at);
  const auto mask = static_cast<uint8_t>(1u << plane);
  in_.rx_tvalid = static_cast<uint8_t>(in_.rx_tvalid | mask);
  in_.rx_tkeep[plane] = n == 32 ? ~0u : (1u << n) - 1;
  std::memcpy(in_.rx_tdata[plane], frame.bytes.data() + rx.at, n);
  rx.at += n;
  if (rx.at == size || rx.cut) {
    in_.rx_tlast = static_cast<uint8_t>(in_.rx_tlast | mask);
    if (rx.cut || frame.fcs_bad) in_.rx_tuser = static_cast<uint8_t>(in_.rx_tuser | mask);
    rx.cut = false;
    rx.at = 0;
    rx.queue.pop_front();
  }
  schedule(plane);
}

void PinsDevice::ports() {
  while (!port_events_.empty() && port_events_.front().time <= now_) {
    const PortEvent event = port_events_.front();
    port_events_.erase(port_events_.begin());
    up_ = event.up ? up_ | 1u << event.plane : up_ & ~(1u << event.plane);
    Rx& rx = rx_[event.plane];
    if (!event.up && rx.at != 0) {  // what has begun ends in an error
      rx.cut = true;
      rx.next = now_;
    }
  }
  in_.link_up = static_cast<uint8_t>(up_);
  in_.rx_tvalid = in_.rx_tlast = in_.rx_tuser = 0;
  for (unsigned p = 0; p < planes_; ++p) {
    if (now_ >= rx_[p].next) receive(p);
  }
}

void PinsDevice::transmit() {
  unsigned ready = 0;
  for (unsigned p = 0; p < preset_.num_planes; ++p) {
    TxMac& mac = tx_[p];
    const bool take = mac.ready();
    ready |= unsigned{take} << p;
    if (take && (out_.tx_tvalid >> p & 1)) {
      if (const char* what = mac.beat(out_.tx_tdata[p], out_.tx_tkeep[p], out_.tx_tlast >> p & 1, now_))
        fail(fmt::format("port {}: {}", p, what));
    }
    FramePtr frame = mac.start(now_);
    if (!frame) continue;
    if (p >= planes_) ++stray_frames_;
    if (p >= planes_ || (up_ >> p & 1) == 0) continue;  // a MAC without carrier takes frames and loses them
    const Time first = frame->sent_ps + kPreambleBytes * byte_time();
    const Time last = first + frame->bytes.size() * byte_time();
    on_wire_.push_back({first, SentFrame{p, last, std::move(frame->bytes)}});
  }
  in_.tx_tready = static_cast<uint8_t>(ready);
  for (size_t i = 0; i < on_wire_.size();) {
    if (on_wire_[i].time > now_) {
      ++i;
      continue;
    }
    const size_t bytes = std::get<SentFrame>(on_wire_[i].body).bytes.size();
    tell(on_wire_[i].time, std::move(on_wire_[i].body), bytes);
    on_wire_.erase(on_wire_.begin() + static_cast<ptrdiff_t>(i));
  }
}

void PinsDevice::tell(Time time, decltype(Output::body) body, size_t bytes) {
  output_bytes_ += 2 * bytes + 128;
  outputs_.push_back({time, std::move(body)});
}

void PinsDevice::completion(const mrc::Cqe& cqe) {
  log::Cqe out;
  out.qp = cqe.qp + kQpnBase;
  out.receive = cqe.recv;
  out.status = status_of(cqe.status);
  out.bytes = cqe.length;
  if (cqe.recv) {
    out.imm = cqe.imm;
    out.rqmsn = cqe.msn;
  } else if (const auto found = posted_.find(cqe.wr_id); found != posted_.end()) {
    out.wr_id = found->second.wr_id;
    if (cqe.qp < qps_.size() && qps_[cqe.qp].open > 0) --qps_[cqe.qp].open;
    posted_.erase(found);
  } else {
    fail(fmt::format("the NIC completes work request {} of queue pair {}, which nobody posted", cqe.wr_id, out.qp));
  }
  tell(now_, out, 64);
}

void PinsDevice::host() {
  in_.host_wr_ready = in_.cqe_ready = 1;
  in_.host_rd_ready = reads_pending_ < kMaxReads;
  if (out_.host_rd_valid && in_.host_rd_ready) {
    const Rdreq rd = Rdreq::unpack(out_.host_rd);
    if (rd.plane >= preset_.num_planes || rd.len == 0 || rd.len > preset_.host_bytes) {
      fail(fmt::format("the NIC reads {} bytes of memory for plane {}", rd.len, rd.plane));
    } else {
      auto& queue = reads_[rd.plane];
      queue.push_back({next_tag_, rd.len});
      unanswered_[next_tag_] = &queue.back();
      ++reads_pending_;
      tell(now_, HostRead{next_tag_++, rd.addr, rd.len}, 32);
    }
  }
  in_.host_rsp_valid = 0;
  for (unsigned k = 1; k <= preset_.num_planes && reads_pending_ != 0; ++k) {
    const unsigned p = (last_rsp_ + k) % preset_.num_planes;
    if (reads_[p].empty() || !reads_[p].front().answered || reads_[p].front().ready > now_) continue;
    const Read& read = reads_[p].front();
    in_.host_rsp_valid = 1;
    in_.host_rsp_plane = static_cast<uint8_t>(p);
    std::memset(in_.host_rsp_data, 0, sizeof in_.host_rsp_data);
    std::memcpy(in_.host_rsp_data, read.data.data(), read.data.size());
    reads_[p].pop_front();
    --reads_pending_;
    last_rsp_ = p;
    break;
  }
  if (out_.host_wr_valid) {
    if (out_.host_wr_len == 0 || out_.host_wr_len > preset_.host_bytes) {
      fail(fmt::format("the NIC writes {} bytes of memory", out_.host_wr_len));
    } else {
      tell(now_, HostWrite{out_.host_wr_addr, {out_.host_wr_data, out_.host_wr_data + out_.host_wr_len}},
           out_.host_wr_len);
    }
  }
  if (out_.cqe_valid) completion(mrc::Cqe::unpack(out_.cqe));
  in_.wqe_valid = 0;
  if (!works_.empty() && works_.front().after <= carried_out_) {
    in_.wqe_valid = 1;
    works_.front().wqe.pack(in_.wqe);
    if (out_.wqe_ready) works_.pop_front();
  }
}

/// A clock cycle. Without traffic it takes no time: software brings the NIC up.
void PinsDevice::cycle(bool traffic) {
  dut_->outputs(out_);
  if (const FailedAssertion* failed = dut_->failed_assertion())
    fail(fmt::format("assertion {} of the device failed in {}: {}", failed->name, failed->place, failed->text));
  if (!driver_.idle() || in_.awvalid || in_.wvalid || in_.arvalid) driver_.cycle(out_, in_);
  if (traffic) {
    ports();
    transmit();
    host();
    if (now_ >= next_poll_ && driver_.idle()) poll();
  } else {
    in_.tx_tready = in_.host_rd_ready = in_.host_wr_ready = in_.cqe_ready = 0;
    in_.rx_tvalid = in_.wqe_valid = in_.host_rsp_valid = 0;
  }
  dut_->step(in_);
  if (const DeviceFault* fault = dut_->fault()) fail(fault->text);
  if (traffic) now_ += preset_.clock_ps;
}

Advanced PinsDevice::advance(Time until, Time slack) {
  need_open();
  if (until < reached_) wrong(fmt::format("time has reached {}, and does not go back to {}.", reached_, until));
  if (until > 0) started_ = true;
  Time stop = until;
  bool told = false;
  while (now_ < stop && problem_.empty()) {
    cycle(true);
    if (outputs_.empty()) continue;
    if (!told) {
      told = true;
      const Time first = outputs_.front().time;
      if (stop > first && stop - first > slack) stop = first + slack;
    }
    if (output_bytes_ > kMaxOutput) stop = std::min(stop, now_);
  }
  // After the cycle at time `last`, what comes later than that is for a later cycle.
  const Time last = now_ == 0 ? 0 : now_ - preset_.clock_ps;
  reached_ = std::max(reached_, told ? std::max(last, std::min(stop, now_)) : until);
  Advanced result{reached_, std::move(outputs_)};
  outputs_.clear();
  output_bytes_ = 0;
  std::stable_sort(result.out.begin(), result.out.end(),
                   [](const Output& a, const Output& b) { return a.time < b.time; });
  if (result.out.empty()) need_open();  // what the device told before it broke comes first
  return result;
}

Counters PinsDevice::counters() {
  need_open();
  if (!started_) {
    poll();
    settle();
  }
  Counters out{polled_, {}};
  for (const auto& [name, value] : counters_) out.values.emplace_back(name, value);
  out.values.emplace_back("stray_frames", stray_frames_);
  return out;
}

}  // namespace

std::unique_ptr<NicDevice> make_pins_device(const PinsOptions& options) {
  return std::make_unique<PinsDevice>(options);
}

}  // namespace mrc::tb
