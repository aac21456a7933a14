// SPDX-License-Identifier: Apache-2.0
#include "sim/nic/cycle/endpoint_cycle.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "protocol/opcodes.hpp"
#include "sim/engine/codec.hpp"
#include "sim/engine/fabric.hpp"
#include "util/rng.hpp"
#include "util/round.hpp"

namespace mrc::sim {

namespace {
constexpr unsigned kResetCycles = 4;
/// The MAC takes a new frame while no more than this waits (as tb/environment/mac.hpp has it).
constexpr unsigned kWaitBytes = 2048;
constexpr unsigned kEndless = 9216;
/// Between two looks at the event queue and the counters.
constexpr uint64_t kPollCycles = 1024;
constexpr uint16_t kPkey = 0xffff;

constexpr uint32_t bit(QpAttr a) { return 1u << static_cast<unsigned>(a); }
constexpr uint32_t kInitAttributes = bit(QpAttr::EvProfile) | bit(QpAttr::CcProfile);
constexpr uint32_t kRtrAttributes =
    bit(QpAttr::Path) | bit(QpAttr::RqPsn) | bit(QpAttr::MaxWimmDest) | bit(QpAttr::MprDest) | bit(QpAttr::Caps);
constexpr uint32_t kRtsAttributes =
    bit(QpAttr::SqPsn) | bit(QpAttr::MaxWimm) | bit(QpAttr::Mpr) | bit(QpAttr::Timeout) | bit(QpAttr::RetryCnt);

U128 number(Address a) { return U128{a.hi} << 64 | a.lo; }
/// Locally administered, the host's number in it.
uint64_t mac_of(NodeId host) { return 0x020000000000u | host; }
std::array<uint8_t, 6> mac_bytes(NodeId host) {
  std::array<uint8_t, 6> out{};
  for (unsigned i = 0; i < 6; ++i) out[i] = static_cast<uint8_t>(mac_of(host) >> (40 - 8 * i));
  return out;
}
std::string text(uint64_t value) { return std::to_string(value); }
}  // namespace

std::string CycleEndpoint::problem(const Preset& preset, const FastConfig& c) {
  const auto beyond = [&](const char* name, uint64_t value, uint64_t min, uint64_t max) {
    return value >= min && value <= max ? std::string()
                                        : std::string(name) + " = " + text(value) + " is not between " + text(min) +
                                              " and " + text(max) + ", as the NIC " + preset.name + " needs it";
  };
  const auto off_or = [&](const char* name, uint64_t value, uint64_t on) {
    return value == 0 || value == on ? std::string()
                                     : std::string(name) + " = " + text(value) + " is neither 0 nor " + text(on) +
                                           ", as the NIC " + preset.name + " needs it";
  };
  const unsigned max_mpr = preset.max_mpr / 128;
  for (std::string why :
       {beyond("mpr", c.mpr, 1, max_mpr),
        beyond("mpr", c.mpr_dest, 1, max_mpr),
        beyond("reorder", c.reorder, 1, csr::kReorderPkts.mask() >> csr::kReorderPkts.lsb),
        beyond("timeout", c.timeout, 0, 24),
        beyond("ar_shift", c.ar_shift, 0, 7),
        beyond("sack_trigger", c.sack_trigger, 0, csr::kSackTriggerBytes.mask() >> csr::kSackTriggerBytes.lsb),
        beyond("min_active", c.ev_min_active, 0, csr::kEvCtlMinActive.mask() >> csr::kEvCtlMinActive.lsb),
        beyond("probe_successes", c.probe_successes, 1, 7),
        beyond("retry.linear", c.retry.linear, 0, 7),
        beyond("retry.exponential", c.retry.exponential, 0, 25),
        off_or("overdue", c.overdue, 6),
        off_or("silence", c.silence, 9),
        beyond("silence_us in ticks", c.silence_least, 0, 0),
        beyond("copies", c.copies, 1, 2),
        beyond("by_count", c.by_count ? 1 : 0, 0, 0),
        beyond("suspect", c.suspect, 0, 0),
        beyond("strikes", c.strikes, 0, 1),
        beyond("loss_share", c.loss_share, 0, 4),
        beyond("max_wimm", c.max_wimm, 0, preset.max_wimm),
        beyond("skip_ticks", c.skip_ticks, 0, csr::kEvCtlSkipTicks.mask() >> csr::kEvCtlSkipTicks.lsb),
        beyond("endpoint_repeats", c.endpoint_repeats, 0, kEpRepeatsForEver),
        beyond("wqe_depth", c.wqe_depth, 1, preset.wqe_depth)}) {
    if (!why.empty()) return why;
  }
  return {};
}

CycleEndpoint::CycleEndpoint(const char* fidelity, const Preset& preset, const FastConfig& settings,
                             std::unique_ptr<tb::Dut> dut)
    : fidelity_(fidelity),
      preset_(preset),
      config_(settings),
      dut_(std::move(dut)),
      driver_(Rng(0, "bus")),
      qps_(preset.num_qps) {
  config_.nscc.ar_shift = config_.ar_shift;
}

CycleEndpoint::~CycleEndpoint() = default;

void CycleEndpoint::fail(std::string what) {
  if (problem_.empty()) problem_ = std::move(what);
}

void CycleEndpoint::attach(const Access& access) { access_ = access; }

CycleEndpoint::Qp* CycleEndpoint::find(uint32_t qpn) {
  return qpn < kQpnBase || qpn - kQpnBase >= qps_.size() || !qps_[qpn - kQpnBase].opened ? nullptr
                                                                                         : &qps_[qpn - kQpnBase];
}
const CycleEndpoint::Qp* CycleEndpoint::find(uint32_t qpn) const { return const_cast<CycleEndpoint*>(this)->find(qpn); }

bool CycleEndpoint::failed(uint32_t qpn) const {
  const Qp* qp = find(qpn);
  return qp != nullptr && qp->failed;
}

// Software.

bool CycleEndpoint::open(const QpSpec& spec, std::string& why) {
  why = spec.problem(access_.planes());
  if (!why.empty()) return false;
  const std::string nic = std::string("the NIC ") + preset_.name;
  const unsigned planes = preset_.num_planes;
  if (spec.planes != planes || access_.planes() != planes) {
    why = nic + " has " + text(planes) + " planes, not " + text(std::max(spec.planes, access_.planes()));
    return false;
  }
  for (unsigned p = 0; p < planes; ++p) {
    // What a port can take: PortBytes in each clock cycle.
    const Rate rate = access_.rate(p);
    if (rate.valid() && rate.time(preset_.port_bytes) < preset_.clock_ps) {
      why = "links of " + text(nearest(rate.gbps())) + " Gb/s are faster than a port of " + nic + ", which takes " +
            text(preset_.port_bytes * 8000ull / preset_.clock_ps);
      return false;
    }
  }
  if (spec.qpn < kQpnBase || spec.qpn - kQpnBase >= preset_.num_qps) {
    why = "queue pair number " + text(spec.qpn) + " is not between " + text(kQpnBase) + " and " +
          text(kQpnBase + preset_.num_qps - 1) + ": " + nic + " has " + text(preset_.num_qps) + " queue pairs";
    return false;
  }
  Qp& qp = qps_[spec.qpn - kQpnBase];
  if (qp.opened) {
    why = "queue pair " + text(spec.qpn) + " is open already";
    return false;
  }
  if (const Srv6Rule& r = spec.path_rule;
      r.plane_lsb > 15 || r.uplink_usid > 7 || r.uplink_lsb > 15 || r.uplink_bits > 15) {
    why = "register SRV6 of " + nic + " cannot hold the rule of this topology's paths";
    return false;
  }
  // The profile: active groups, denied ones, backup groups.
  const size_t active = spec.ev_active.size(), backup = spec.ev_backup.size(), all = preset_.evs_per_qp;
  if (active % planes != 0 || backup % planes != 0 || active + backup > all || active == 0) {
    why = text(active) + " active and " + text(backup) + " backup entropy values are not the same number for each of " +
          text(planes) + " planes, or more than the " + text(all) + " of a queue pair of " + nic;
    return false;
  }
  std::vector<uint32_t> values = spec.ev_active;
  while (values.size() + backup < all) values.push_back(spec.ev_active[values.size() % active]);
  values.insert(values.end(), spec.ev_backup.begin(), spec.ev_backup.end());
  unsigned profile = 0;
  while (profile < profiles_.size() && profiles_[profile] != values) ++profile;
  if (profile == preset_.num_profiles) {
    why = nic + " holds " + text(preset_.num_profiles) +
          " sets of entropy values, and all its queue pairs have others (shared_evs = true: one set for all)";
    return false;
  }
  unsigned dest = 0;
  while (dest < dests_.size() && dests_[dest] != spec.peer) ++dest;
  if (dest == preset_.num_dests) {
    why = nic + " knows " + text(preset_.num_dests) + " other NICs at most";
    return false;
  }
  NsccParams params = config_.nscc;
  params.path_mtu = spec.mtu;
  if (const auto real = nscc_resolve(params); !real) {
    why = real.error().input + ": " + real.error().what;
    return false;
  }
  const bool new_mtu = std::find(cc_mtus_.begin(), cc_mtus_.end(), spec.mtu) == cc_mtus_.end();
  if (new_mtu && cc_mtus_.size() == preset_.num_cc_profiles) {
    why = nic + " holds " + text(preset_.num_cc_profiles) + " settings of congestion control, one for each MTU";
    return false;
  }

  if (profile == profiles_.size()) profiles_.push_back(std::move(values));
  if (dest == dests_.size()) {
    dests_.push_back(spec.peer);
    dest_mtu_.push_back(0);
  }
  if (new_mtu) cc_mtus_.push_back(spec.mtu);
  qp = {};
  qp.spec = spec;
  qp.index = spec.qpn - kQpnBase;
  qp.profile = profile;
  qp.dest = dest;
  qp.opened = true;
  qp.bad.assign(all, 0);
  if (started_) configure_qp(qp);
  return true;
}

csr::TblQpCtx CycleEndpoint::row_of(const Qp& qp) const {
  const QpSpec& s = qp.spec;
  csr::TblQpCtx row;
  row.mtu = static_cast<uint8_t>(std::countr_zero(s.mtu) - 8);
  row.encap = static_cast<uint8_t>(s.encap);
  row.ts = config_.time_stamps;
  row.trim_nack = config_.trim_nack;
  row.dyn_mpr = config_.dynamic_mpr;
  row.cc = s.congestion && config_.nscc.enable;
  row.mpr = static_cast<uint8_t>(config_.mpr);
  row.mpr_dest = static_cast<uint8_t>(config_.mpr_dest);
  row.profile = static_cast<uint8_t>(qp.profile);
  row.backup = static_cast<uint8_t>(s.ev_backup.size() / preset_.num_planes);
  row.dqpn = s.peer_qpn;
  row.retry_linear = config_.retry.linear;
  row.retry_exp = config_.retry.exponential;
  row.timeout = static_cast<uint8_t>(config_.timeout);
  row.pkey = kPkey;
  row.max_wimm = row.max_wimm_dest = static_cast<uint8_t>(config_.max_wimm);
  row.dmac = mac_of(s.peer);
  row.dest = static_cast<uint16_t>(qp.dest);
  row.dip = number(host_address(s.peer));
  row.srv6 = s.path_template;
  return row;
}

void CycleEndpoint::configure() {
  const auto put = [this](uint32_t offset, uint32_t value) { driver_.write(static_cast<uint16_t>(offset), value); };
  const NodeId node = access_.node();
  const wire::DscpMap& dscp = config_.dscp;
  put(csr::kCtrl, csr::kCtrlSilenceWait.set(csr::kCtrlReset, config_.silence == 0) |
                      csr::kCtrlOorDrop.set(0, config_.oor_drop) | csr::kCtrlRttRtx.set(0, config_.rtt_rtx) |
                      csr::kCtrlSkipMode.set(0, static_cast<uint32_t>(config_.skip_mode)) |
                      csr::kCtrlZeroLength.set(0, static_cast<uint32_t>(config_.zero_length)) |
                      csr::kCtrlWimmOver.set(0, static_cast<uint32_t>(config_.wimm_over)) |
                      csr::kCtrlReturned.set(0, static_cast<uint32_t>(config_.returned)) |
                      csr::kCtrlTrimSilent.set(0, !config_.trim_sack) | csr::kCtrlPortWait.set(0, !config_.port_loss) |
                      csr::kCtrlTimeWait.set(0, config_.overdue == 0) |
                      csr::kCtrlAnyPlane.set(0, !config_.other_plane) |
                      csr::kCtrlLossShrinks.set(0, !config_.loss_spares || !config_.nscc.trimming) |
                      csr::kCtrlNominal.set(0, static_cast<uint32_t>(config_.nominal)));
  put(csr::kDscpTx, csr::kDscpTxData.set(0, dscp.trimmable) | csr::kDscpTxRtx.set(0, dscp.trimmable_retx) |
                        csr::kDscpTxCtl.set(0, dscp.control) | csr::kDscpTxEp.set(0, config_.dscp_endpoint));
  put(csr::kDscpTrim, csr::kDscpTrimTrimmed.set(0, dscp.trimmed) | csr::kDscpTrimLasthop.set(0, dscp.trimmed_lasthop) |
                          csr::kDscpTrimReturned.set(0, config_.dscp_returned.value_or(0)) |
                          csr::kDscpTrimReturnedValid.set(0, config_.dscp_returned.has_value()));
  put(csr::kMacLo, static_cast<uint32_t>(mac_of(node)));
  put(csr::kMacHi, static_cast<uint32_t>(mac_of(node) >> 32));
  const U128 ip = number(host_address(node));
  for (unsigned i = 0; i < 4; ++i) put(csr::kIp0 + 4 * i, static_cast<uint32_t>(ip >> (32 * i)));
  put(csr::kReorder, csr::kReorderPkts.set(0, config_.reorder) | csr::kReorderSameEv.set(0, config_.same_ev));
  put(csr::kEpCtl, csr::kEpCtlInterval.set(0, config_.endpoint_interval) |
                       csr::kEpCtlRevProbe.set(0, config_.reverse_probes) |
                       csr::kEpCtlRepeats.set(0, config_.endpoint_repeats));
  put(csr::kRevSeed, reverse_seed(node));
  put(csr::kEvCtl,
      csr::kEvCtlMinActive.set(0, config_.ev_min_active) | csr::kEvCtlLossShare.set(0, config_.loss_share) |
          csr::kEvCtlBadWaits.set(0, config_.bad_waits) | csr::kEvCtlLostStays.set(0, config_.lost_stays) |
          csr::kEvCtlOneCopy.set(0, config_.copies == 1) | csr::kEvCtlSkipTicks.set(0, config_.skip_ticks));
  put(csr::kEvProbe, csr::kEvProbeSuccesses.set(csr::kEvProbeInterval.set(csr::kEvProbeReset, config_.probe_interval),
                                                config_.probe_successes) |
                         csr::kEvProbeSkipGood.set(0, config_.probe_skip_good) |
                         csr::kEvProbeKind.set(0, static_cast<uint32_t>(config_.probe_kind)));
  put(csr::kSackTrigger, config_.sack_trigger);
  if (const ShareWords& share = config_.share; share.on) {
    put(csr::kShareDrain, share.drain);
    put(csr::kShare, csr::kShareEnable.set(0, 1) | csr::kShareEpoch.set(0, share.epoch) |
                         csr::kSharePen.set(0, share.pen) | csr::kShareLeast.set(0, share.least) |
                         csr::kShareTrims.set(0, share.trims));
  }
  for (const Qp& qp : qps_) {
    if (!qp.opened) continue;
    // All paths of a topology follow one rule.
    const Srv6Rule& r = qp.spec.path_rule;
    put(csr::kSrv6, csr::kSrv6PlaneLsb.set(0, r.plane_lsb) | csr::kSrv6UplinkUsid.set(0, r.uplink_usid) |
                        csr::kSrv6UplinkLsb.set(0, r.uplink_lsb) | csr::kSrv6UplinkBits.set(0, r.uplink_bits));
    for (unsigned p = 0; p < preset_.num_planes; ++p) put(csr::kRevEv0 + 4 * p, qp.spec.ev_active[p]);
    break;
  }
  // All of memory may be written: addresses in packets are those of the host.
  csr::TblMr region;
  region.rkey = config_.rkey;
  region.valid = true;
  region.length = ~uint64_t{0};
  uint32_t words[csr::TblMr::kWords];
  region.pack(words);
  driver_.row(csr::kTblMrId, config_.rkey >> 8, words);
  for (Qp& qp : qps_) {
    if (qp.opened) configure_qp(qp);
  }
}

void CycleEndpoint::configure_qp(Qp& qp) {
  const QpSpec& s = qp.spec;
  // Rows that others share are written again: nothing changes.
  const std::vector<uint32_t>& values = profiles_[qp.profile];
  for (unsigned i = 0; i < preset_.evs_per_qp; ++i) {
    driver_.row(csr::kTblEvId, qp.profile * preset_.evs_per_qp + i, std::span(&values[i], 1));
  }
  if (s.mtu > dest_mtu_[qp.dest]) {
    // The window is never smaller than the largest packet of all QPs to that NIC.
    dest_mtu_[qp.dest] = s.mtu;
    const auto profile = static_cast<uint32_t>(std::find(cc_mtus_.begin(), cc_mtus_.end(), s.mtu) - cc_mtus_.begin());
    NsccParams params = config_.nscc;
    params.path_mtu = s.mtu;
    double rate = 0;
    for (unsigned p = 0; p < preset_.num_planes; ++p) {
      if (access_.rate(p).valid()) rate += access_.rate(p).gbps();
    }
    if (rate > 0) params.rate_gbps = rate;
    auto real = nscc_resolve(params);
    if (!real) {
      params.rate_gbps = config_.nscc.rate_gbps;  // as open() has tried it
      real = nscc_resolve(params);
    }
    driver_.row(csr::kTblCcProfileId, profile, nscc_row(nscc_words(*real)));
    driver_.row(csr::kTblCcCtxId, qp.dest, std::span(&profile, 1));
  }
  csr::TblQpCtx row = row_of(qp);
  const auto move = [&](QpState state, uint32_t attributes) {
    row.state = state;
    uint32_t words[csr::TblQpCtx::kWords];
    row.pack(words);
    driver_.write(csr::kQpAttr, attributes);
    driver_.row(csr::kTblQpCtxId, qp.index, words);
  };
  move(QpState::Init, kInitAttributes);
  move(QpState::Rtr, kRtrAttributes);
  move(QpState::Rts, kRtsAttributes);
  if (s.own_class) {
    csr::TblQpClass own;
    own.own = true;
    own.data = s.dscp_data;
    own.rtx = s.dscp_rtx;
    uint32_t word[csr::TblQpClass::kWords];
    own.pack(word);
    driver_.row(csr::kTblQpClassId, qp.index, word);
  }
  // Entropy values that the QP does not have: each row of QP_CTX makes all of them good.
  const auto first = static_cast<uint32_t>(s.ev_active.size());
  const auto end = static_cast<uint32_t>(values.size() - s.ev_backup.size());
  for (uint32_t i = first; i < end; ++i) {
    const uint32_t deny = i | 1u << 16;
    driver_.row(csr::kTblEvStateId, qp.index, std::span(&deny, 1));
  }
  driver_.write(csr::kQpSel, qp.index);
  driver_.read(csr::kQpInfo, [this, &qp](uint32_t info, unsigned) {
    if (csr::kQpInfoState.get(info) != static_cast<uint32_t>(QpState::Rts)) {
      fail("queue pair " + text(qp.spec.qpn) + " did not get to RTS");
    }
    qp.ready = true;
  });
}

void CycleEndpoint::start() {
  up_ = 0;
  for (unsigned p = 0; p < preset_.num_planes; ++p) {
    if (access_.link_up(p)) up_ |= 1u << p;
  }
  started_ = true;
  in_.link_up = static_cast<uint8_t>(up_);
  for (unsigned i = 0; i < kResetCycles; ++i) {
    dut_->outputs(out_);
    dut_->step(in_);
    ++cycle_;
  }
  in_.rst_n = 1;
  configure();
  while (!driver_.idle()) cycle(false);
  if (driver_.unexpected() != 0) fail(text(driver_.unexpected()) + " register accesses were refused");
  next_poll_ = cycle_ + kPollCycles;
  access_.wake_at(access_.now() + preset_.clock_ps);
}

bool CycleEndpoint::post(const WorkRequest& request) {
  Qp* qp = find(request.qpn);
  if (qp == nullptr || qp->failed || request.bytes > kMaxMessage) return false;
  if (request.bytes == 0 && config_.zero_length != ZeroLength::Legal) return false;
  if (qp->pending.size() >= config_.wqe_depth) return false;
  // What the NIC would refuse, the caller tries again later; but where it ends the queue pair, it shall.
  const bool waits = config_.max_wimm != 0 && config_.wimm_over == WimmOver::Wait;
  if (request.immediate && !waits && qp->immediates >= config_.max_wimm && config_.wimm_over != WimmOver::Error) {
    return false;
  }
  Wqe wqe;
  wqe.qp = static_cast<QpIndex>(qp->index);
  wqe.imm_valid = request.immediate;
  wqe.imm = request.imm;
  wqe.length = static_cast<uint32_t>(request.bytes);
  wqe.raddr = config_.remote_va + message_address(qp->spec.peer_qpn, qp->msn++);
  wqe.laddr = wqe.raddr;  // so that the bytes there are those that are expected there
  wqe.rkey = config_.rkey;
  wqe.wr_id = qp->next_wr++;
  qp->immediates += request.immediate;
  qp->pending.push_back({request.id, wqe.length, wqe.wr_id, request.immediate});
  wqes_.push_back(wqe);
  return true;
}

void CycleEndpoint::completion(const Cqe& cqe) {
  if (cqe.qp >= qps_.size() || !qps_[cqe.qp].opened)
    return fail("a completion of queue pair " + text(cqe.qp + kQpnBase));
  Qp& qp = qps_[cqe.qp];
  const bool ok = cqe.status == CqStatus::Ok;
  if (!ok && !qp.failed) {
    qp.failed = true;
    ++stats_.failed_qps;
  }
  if (cqe.recv) {
    // Immediates: what counts as delivered is what memory holds, and of a message of no bytes that the NIC says so.
    const auto number = qp.immediate_of.find(cqe.msn);
    if (!ok || number == qp.immediate_of.end()) return;
    const uint32_t message = number->second;
    qp.immediate_of.erase(number);
    // All bytes ahead of an immediate are in memory when its completion comes.
    for (const auto& [m, in] : qp.incoming) {
      if (m >= message) break;
      if (in.written == in.length) continue;
      return fail("an immediate of queue pair " + text(qp.spec.qpn) + " when " + text(in.written) + " of the " +
                  text(in.length) + " bytes of message " + text(m) + " ahead of it were in memory");
    }
    if (const auto found = qp.incoming.find(message); found != qp.incoming.end()) found->second.reported = true;
    deliver(qp);
    return;
  }
  if (qp.pending.empty() || qp.pending.front().wr_id != cqe.wr_id) {
    return fail("a completion of work request " + text(cqe.wr_id) + " of queue pair " + text(qp.spec.qpn) +
                " out of turn");
  }
  const Pending done = qp.pending.front();
  qp.pending.pop_front();
  qp.immediates -= done.immediate;
  if (ok) ++stats_.completions;
  if (listener_ != nullptr) listener_->completed({access_.node(), qp.spec.qpn, done.id, done.bytes, ok});
}

EvCounts CycleEndpoint::ev_counts(uint32_t qpn) const {
  const Qp* qp = find(qpn);
  if (qp == nullptr) return {};
  const auto all = static_cast<uint32_t>(qp->spec.ev_active.size() + qp->spec.ev_backup.size());
  // A bad one is replaced as long as there are others.
  const uint32_t good = std::min(static_cast<uint32_t>(qp->spec.ev_active.size()), all - qp->bad_evs);
  return {.good = good, .assumed_bad = qp->bad_evs};
}

void CycleEndpoint::poll() {
  next_poll_ = cycle_ + kPollCycles;
  const auto into = [this](uint32_t offset, uint64_t EndpointStats::*slot) {
    driver_.read(static_cast<uint16_t>(offset), [this, slot](uint32_t data, unsigned) { stats_.*slot = data; });
  };
  into(csr::kCntDup, &EndpointStats::duplicates);
  into(csr::kCntRto, &EndpointStats::timeouts);
  if (config_.returned != Returned::Peer) into(csr::kCntReturned, &EndpointStats::returned);
  driver_.read(csr::kEvq, [this](uint32_t data, unsigned) {
    if (csr::kEvqValid.get(data) == 0) return;
    next_poll_ = cycle_;  // there may be more
    const uint32_t index = csr::kEvqQp.get(data), ev = csr::kEvqEvIdx.get(data);
    if (index >= qps_.size() || ev >= qps_[index].bad.size() || csr::kEvqFloor.get(data) != 0) return;
    Qp& qp = qps_[index];
    const uint8_t bad = csr::kEvqState.get(data) == kEvBad;
    if (qp.bad[ev] != bad) qp.bad_evs = bad != 0 ? qp.bad_evs + 1 : qp.bad_evs - 1;
    qp.bad[ev] = bad;
  });
}

// The host's memory.

void CycleEndpoint::host() {
  in_.host_rd_ready = in_.host_wr_ready = in_.cqe_ready = 1;
  if (out_.host_rd_valid) {
    const Rdreq rd = Rdreq::unpack(out_.host_rd);
    if (rd.plane >= preset_.num_planes || rd.len == 0 || rd.len > preset_.host_bytes) {
      fail("a read of " + text(rd.len) + " bytes of memory for plane " + text(rd.plane));
    } else {
      reads_[rd.plane].push_back({cycle_ + FastConfig::host_read_cycles(preset_), rd.addr, rd.len});
      reads_pending_ |= 1u << rd.plane;
    }
  }
  in_.host_rsp_valid = 0;
  for (unsigned k = 1; k <= preset_.num_planes && reads_pending_ != 0; ++k) {
    const unsigned p = (last_rsp_ + k) % preset_.num_planes;
    if ((reads_pending_ >> p & 1) == 0 || reads_[p].front().ready > cycle_) continue;
    const HostRead& read = reads_[p].front();
    in_.host_rsp_valid = 1;
    in_.host_rsp_plane = static_cast<uint8_t>(p);
    fill_pattern(read.address, std::span(in_.host_rsp_data, read.length));
    reads_[p].pop_front();
    if (reads_[p].empty()) reads_pending_ &= ~(1u << p);
    last_rsp_ = p;
    break;
  }
  if (out_.host_wr_valid) written(out_.host_wr_addr, out_.host_wr_len, out_.host_wr_data);
  if (out_.cqe_valid) completion(Cqe::unpack(out_.cqe));
  in_.wqe_valid = 0;
  if (!wqes_.empty() && qps_[wqes_.front().qp].ready) {
    in_.wqe_valid = 1;
    wqes_.front().pack(in_.wqe);
    if (out_.wqe_ready) wqes_.pop_front();
  }
}

void CycleEndpoint::written(uint64_t address, unsigned length, const uint8_t* data) {
  const uint64_t place = address - config_.remote_va;
  Qp* qp = find(static_cast<uint32_t>(place >> 48));
  const auto offset = static_cast<uint32_t>(place);
  if (qp == nullptr || length == 0 || length > preset_.host_bytes || offset % preset_.host_bytes != 0) {
    return fail("a write of " + text(length) + " bytes to address " + text(address));
  }
  const auto distance = static_cast<int16_t>(static_cast<uint16_t>(place >> 32) - static_cast<uint16_t>(qp->delivered));
  const uint32_t message = qp->delivered + static_cast<uint32_t>(int32_t{distance});
  const auto found = qp->incoming.find(message);
  if (distance < 0 || found == qp->incoming.end()) {
    return fail("a write to message " + text(message) + " of queue pair " + text(qp->spec.qpn) +
                (distance < 0 ? ", which was complete" : ", which nobody has sent"));
  }
  Incoming& in = found->second;
  const uint32_t line = offset / preset_.host_bytes;
  if (offset >= in.length || length > in.length - offset) return fail("a write beyond the end of a message");
  if (in.lines[line / 64] >> (line % 64) & 1) return fail("bytes written twice");
  uint8_t expected[128];
  fill_pattern(address, std::span(expected, length));
  if (std::memcmp(expected, data, length) != 0) return fail("wrong bytes written to address " + text(address));
  in.lines[line / 64] |= uint64_t{1} << (line % 64);
  in.written += length;
  stats_.delivered_bytes += length;
  if (offset % qp->spec.mtu == 0) ++stats_.delivered_packets;
  deliver(*qp);
}

/// Messages that memory has, in their order.
void CycleEndpoint::deliver(Qp& qp) {
  while (!qp.incoming.empty()) {
    const auto first = qp.incoming.begin();
    const Incoming& in = first->second;
    if (first->first != qp.delivered || in.written != in.length || (in.length == 0 && !in.reported)) break;
    const uint32_t bytes = in.length;
    if (bytes == 0) ++stats_.delivered_packets;
    qp.incoming.erase(first);
    const uint32_t msn = qp.delivered++;
    if (listener_ != nullptr) listener_->delivered({access_.node(), qp.spec.qpn, msn, bytes});
  }
}

// Ports.

void CycleEndpoint::transmit(unsigned plane) {
  Tx& tx = tx_[plane];
  if (!tx.in_frame) {
    tx.frame.clear();
    tx.frame.reserve(4352);
    tx.in_frame = true;
  }
  const auto bytes = static_cast<size_t>(std::popcount(out_.tx_tkeep[plane]));
  tx.frame.insert(tx.frame.end(), out_.tx_tdata[plane], out_.tx_tdata[plane] + bytes);
  if (tx.frame.size() > kEndless) return fail("a frame without end on plane " + text(plane));
  if ((out_.tx_tlast >> plane & 1) == 0) return;
  tx.in_frame = false;
  if (tx.frame.size() < kMinFrameBytes - kFcsBytes) tx.frame.resize(kMinFrameBytes - kFcsBytes);
  if ((up_ >> plane & 1) == 0) return;  // a MAC without carrier takes what it is given and loses it
  PacketPtr packet = access_.pool().from_frame(tx.frame);
  if (packet->stack == Stack::Other) return fail("a frame that is no IPv6 on plane " + text(plane));
  tx.waiting_bytes += packet->size;
  tx.waiting.push_back(std::move(packet));
  access_.kick(plane);
}

PacketPtr CycleEndpoint::pull(unsigned plane) {
  if (plane >= preset_.num_planes || tx_[plane].waiting.empty()) return nullptr;
  Tx& tx = tx_[plane];
  PacketPtr packet = std::move(tx.waiting.front());
  tx.waiting.pop_front();
  tx.waiting_bytes -= packet->size;
  count_sent(*packet);
  return packet;
}

void CycleEndpoint::count_sent(const Packet& p) {
  if (is_data_opcode(p.opcode)) {
    ++stats_.data_packets;
    if (p.bth & kBthRtx) {
      ++stats_.retransmissions;
    } else {
      stats_.data_bytes += p.payload;
    }
    return;
  }
  using wire::Opcode;
  switch (static_cast<Opcode>(p.opcode)) {
    case Opcode::Sack:
      ++stats_.sacks;
      break;
    case Opcode::Nack:
      ++stats_.nacks;
      break;
    case Opcode::Ack:
      ++stats_.acks;
      break;
    case Opcode::ProbeRequest:
      ++stats_.probes;
      break;
    default:
      break;
  }
}

void CycleEndpoint::receive(PacketPtr packet, unsigned plane) {
  if (plane >= preset_.num_planes || !started_) return;
  Packet& p = *packet;
  const bool trimmed = p.dscp == config_.dscp.trimmed || p.dscp == config_.dscp.trimmed_lasthop;
  const bool mine = p.dst_host == access_.node() && p.src != access_.node() && config_.dscp_returned != p.dscp;
  if (p.ecn == 3) ++stats_.marked;
  if (trimmed && mine && is_data_opcode(p.opcode)) ++stats_.trimmed;
  // The receiver's software would know how long a message is; this one reads it from the packets.
  if (is_data_opcode(p.opcode) && !trimmed && mine && !p.trimmed) {
    if (Qp* qp = find(p.dqp)) {
      const auto distance = static_cast<int16_t>(p.data.msn - static_cast<uint16_t>(qp->delivered));
      if (distance >= 0) {
        const uint32_t number = qp->delivered + static_cast<uint32_t>(int32_t{distance});
        Incoming& in = qp->incoming[number];
        if (has_immediate(p.opcode)) qp->immediate_of[p.data.rqmsn] = number;
        if (in.lines.empty()) {
          in.length = p.data.dma_length;
          in.lines.resize((in.length / preset_.host_bytes + 64) / 64);
          // Of one without bytes and immediate nothing tells but its packet.
          in.reported = !has_immediate(p.opcode);
          if (in.length == 0) deliver(*qp);
        }
      }
    }
  }
  FrameContext context;
  context.wire.dscp = config_.dscp;
  context.p_key = kPkey;
  context.src_mac = mac_bytes(p.src);
  context.dst_mac = mac_bytes(access_.node());
  context.payload = fill_pattern;
  if (!give_frame(access_.pool(), p, context)) return fail("a packet that is no MRC came in");
  // Its first 64 bytes (all, if it is shorter) are in.
  const unsigned in = std::min(wire_bytes(p.size) - kGapBytes, kPreambleBytes + kEarlyBytes);
  Rx& rx = rx_[plane];
  const Time since = access_.rate(plane).time(in), now = access_.now();
  rx.queue.push_back({std::move(packet), now > since ? now - since : 0});
  if (rx.queue.size() == 1) schedule(rx, plane);
}

/// When the next beat of the first frame is in.
void CycleEndpoint::schedule(Rx& rx, unsigned plane) {
  if (rx.queue.empty()) {
    rx.next = kNever;
    return;
  }
  const auto& frame = rx.queue.front();
  const unsigned size = static_cast<unsigned>(frame_of(*frame.packet).size());
  unsigned upto = std::min(size, rx.at + preset_.port_bytes);
  if (upto == size) upto = wire_bytes(size) - kGapBytes - kPreambleBytes;  // the FCS too
  rx.next = frame.begin + access_.rate(plane).time(kPreambleBytes + upto);
}

void CycleEndpoint::receive_beat(unsigned plane, Time now) {
  Rx& rx = rx_[plane];
  if (now < rx.next) return;
  const std::span<const uint8_t> frame = frame_of(*rx.queue.front().packet);
  const unsigned size = static_cast<unsigned>(frame.size());
  const unsigned n = std::min(preset_.port_bytes, size - rx.at);
  in_.rx_tvalid = static_cast<uint8_t>(in_.rx_tvalid | 1u << plane);
  in_.rx_tkeep[plane] = n == 32 ? ~0u : (1u << n) - 1;
  std::memcpy(in_.rx_tdata[plane], frame.data() + rx.at, n);
  rx.at += n;
  if (rx.at == size || rx.cut) {
    in_.rx_tlast = static_cast<uint8_t>(in_.rx_tlast | 1u << plane);
    if (rx.cut) in_.rx_tuser = static_cast<uint8_t>(in_.rx_tuser | 1u << plane);
    rx.cut = false;
    rx.at = 0;
    rx.queue.pop_front();
  }
  schedule(rx, plane);
}

void CycleEndpoint::link_changed(unsigned plane, bool up) {
  if (plane >= preset_.num_planes || !started_) return;
  up_ = up ? up_ | 1u << plane : up_ & ~(1u << plane);
  if (up) return;
  Tx& tx = tx_[plane];
  tx.waiting.clear();
  tx.waiting_bytes = 0;
  // What has begun to come in ends in an error, with its next beat.
  Rx& rx = rx_[plane];
  while (rx.queue.size() > (rx.at != 0 ? 1u : 0u)) rx.queue.pop_back();
  rx.cut = rx.at != 0;
  if (rx.cut) {
    rx.next = access_.now();
  } else {
    rx.next = kNever;
  }
}

// The clock.

void CycleEndpoint::cycle(bool traffic) {
  dut_->outputs(out_);
  if (const tb::FailedAssertion* failed = dut_->failed_assertion())
    fail("assertion " + failed->name + " failed in " + failed->place + ": " + failed->text);
  if (!driver_.idle() || in_.awvalid || in_.wvalid || in_.arvalid) driver_.cycle(out_, in_);
  in_.rx_tvalid = in_.rx_tlast = in_.rx_tuser = 0;
  unsigned ready = 0;
  for (unsigned p = 0; p < preset_.num_planes; ++p) {
    Tx& tx = tx_[p];
    if (!tx.in_frame && tx.waiting_bytes > kWaitBytes) continue;
    ready |= 1u << p;
  }
  in_.tx_tready = static_cast<uint8_t>(ready);
  in_.link_up = static_cast<uint8_t>(up_);
  if (traffic) {
    const Time now = access_.now();
    host();
    for (unsigned m = ready & out_.tx_tvalid; m != 0; m &= m - 1) transmit(static_cast<unsigned>(std::countr_zero(m)));
    for (unsigned p = 0; p < preset_.num_planes; ++p) {
      if (now >= rx_[p].next) receive_beat(p, now);
    }
    if (cycle_ >= next_poll_ && driver_.idle()) poll();
  } else if ((ready & out_.tx_tvalid) != 0 || out_.host_rd_valid || out_.host_wr_valid || out_.cqe_valid) {
    fail("the NIC did something before it was told to");
  }
  dut_->step(in_);
  ++cycle_;
}

void CycleEndpoint::wake() {
  cycle(true);
  access_.wake_at(access_.now() + preset_.clock_ps);
}

}  // namespace mrc::sim
