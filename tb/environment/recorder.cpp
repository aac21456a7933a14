// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/recorder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>

#include "gen/headers.hpp"
#include "pipeline/lib/convert.hpp"
#include "protocol/ev_profile.hpp"
#include "protocol/psn.hpp"
#include "reference/profile.hpp"
#include "tb/device/qp_numbers.hpp"
#include "tb/environment/mac.hpp"
#include "tb/environment/station.hpp"
#include "wire/bytes.hpp"

namespace mrc::tb {
namespace {

constexpr uint32_t kNoPsn = ~uint32_t{0};

log::Ip bytes_of(U128 address) {
  log::Ip ip;
  wire::store_be<8>(ip.data(), static_cast<uint64_t>(address >> 64));
  wire::store_be<8>(ip.data() + 8, static_cast<uint64_t>(address));
  return ip;
}

/// The value of "CTRL.oor_drop" in the registers of the plan. Nothing: the NIC has no such register and does not what
/// it stands for, as a profile that does not name it says.
std::optional<uint32_t> setting(const SidePlan& plan, std::string_view name) {
  if (name == "LOSS.time") return csr::kCtrlTimeWait.get(plan.ctrl) == 0 || csr::kCtrlSilenceWait.get(plan.ctrl) == 0;
  const std::pair<std::string_view, uint32_t> words[] = {
      {"CTRL", plan.ctrl},
      {"UDP_PORT", plan.udp_port},
      {"DSCP_TX", plan.dscp_tx},
      {"DSCP_TRIM", plan.dscp_trim},
      {"SACK_TRIGGER", plan.sack_trigger},
      {"NAK_CODE", plan.nak_code},
      {"IP_PLANE", plan.ip_plane},
      {"REORDER", plan.reorder},
      {"EV_CTL", plan.ev_ctl},
      {"EV_PROBE", plan.ev_probe},
      {"EP_CTL", plan.ep_ctl},
      {"SHARE", plan.share},
  };
  const std::size_t dot = name.find('.');
  const auto word = std::ranges::find(words, name.substr(0, dot), &std::pair<std::string_view, uint32_t>::first);
  if (word == std::end(words)) return {};
  const auto reg = std::ranges::find(csr::kRegisters, name.substr(0, dot), &csr::Register::name);
  const auto field = std::ranges::find(reg->fields, name.substr(dot + 1), &csr::Field::name);
  return field->get(word->second);
}

/// The words of a controller as the numbers that they stand for (docs/design/blocks/cc/cc_nscc.md, Configuration
/// words).
ref::Controller controller_of(const csr::TblCcProfile& row, unsigned dest) {
  constexpr double kTickNs = 128;
  const auto fixed = [](uint64_t word, int fraction) { return std::ldexp(static_cast<double>(word), -fraction); };
  ref::Controller c;
  c.dest = dest;
  c.rate_gbps = fixed(row.wnd_rate, 16) / 1.5 / kTickNs * 8;
  c.base_rtt_ns = row.base_rtt * kTickNs;
  c.mtu = row.mtu;
  c.max_cwnd = row.max_cwnd;
  c.target_ns = fixed(row.target, 8) * kTickNs;
  c.adjust_bytes = row.adjust_bytes;
  c.adjust_period_ns = row.adjust_period * kTickNs;
  c.near_zero_ns = row.near_zero * kTickNs;
  constexpr uint32_t kNever = 0xffff;
  c.trimming = row.qa_threshold == kNever;
  c.qa_threshold_ns = c.trimming ? 0 : row.qa_threshold * kTickNs;
  c.fi = fixed(row.fi, 12);
  c.eta = fixed(row.eta, 16);
  c.fi_scale = fixed(row.fi_scale, 24);
  c.alpha = fixed(row.alpha, 18) / kTickNs;
  c.gamma = fixed(row.gamma, 24);
  c.max_md_jump = fixed(row.max_md_jump, 24);
  c.ewma_weight = fixed(row.ewma_weight, 28);
  c.qa_gate = row.qa_gate;
  c.quick_adapt = !row.disable_qa;
  c.md_resets_fast = row.md_resets_fast;
  c.nack_any_reason = row.nack_any_reason;
  c.nack_sample_cfg = row.nack_sample_cfg;
  c.nack_rtt = row.nack_rtt;
  return c;
}

ref::Profile profile_of(const Preset& preset, const SidePlan& plan) {
  ref::Profile p;
  p.name = std::string("mrcnic ") + preset.name;
  p.planes = preset.num_planes;
  p.port_gbps = preset.port_gbps;
  for (const ref::Setting& s : ref::settings()) {
    if (const auto value = setting(plan, s.name)) s.set(p.settings, *value);
  }
  p.ack_gap = log::Time{csr::kAckCtlGap.get(plan.ack_ctl)} * preset.clock_ps;
  // room(q) of docs/design/blocks/tx/segment/tx_segment.md: Intake leaves a request that finds none at the head of its
  // input.
  p.qp_works = preset.wqe_depth;
  p.all_works = preset.num_wqes * 3 / 4 - std::min(preset.num_qps, preset.num_wqes / 2);
  for (unsigned d = 0; d < plan.dests; ++d) p.addresses.push_back(bytes_of(plan.ip ^ d));
  for (unsigned d = 0; d < plan.dests; ++d) {
    const auto row = csr::TblCcProfile::unpack(plan.cc_profiles[d % plan.cc_profiles.size()].data());
    if (row.enable) p.controllers.push_back(controller_of(row, d));
  }
  return p;
}

std::vector<uint32_t> evs_of(const Preset& preset, const SidePlan::Profile& profile) {
  if (!profile.list.empty()) return profile.list;
  const csr::TblEvGen row = csr::TblEvGen::unpack(profile.gen.data());
  std::vector<uint32_t> evs;
  uint32_t v = row.seed;
  bool zero = false;
  while (evs.size() < preset.evs_per_qp) {
    if (!row.mode) v = ev_auto_next(v);
    const uint32_t made = row.mode ? ev_expand(row.init, row.mask, v) : ev_auto(row.init, row.mask, v);
    if (const auto ev = ev_not_zero(made, zero)) evs.push_back(*ev);
    if (row.mode) v = ev_number_next(v, row.max_val);
  }
  return evs;
}

log::QpState state_of(QpState state) {
  switch (state) {
    case QpState::Init:
      return log::QpState::Init;
    case QpState::Rtr:
      return log::QpState::Rtr;
    case QpState::Rts:
      return log::QpState::Rts;
    case QpState::Error:
      return log::QpState::Error;
    default:
      return log::QpState::Reset;
  }
}

}  // namespace

Recorder::Recorder(const Setup& s) : device_(s.device), preset_(s.preset), owned_(s.plan.qps.size()), plan_(s.plan) {
  for (const SidePlan::Profile& profile : plan_.profiles) evs_.push_back(evs_of(preset_, profile));
  coming_.fill(kNone);
  up_ = (1u << preset_.num_planes) - 1;
  profile_ = profile_of(preset_, plan_);
  for (unsigned d = 0; d < plan_.dests; ++d) {
    controlled_.push_back(std::ranges::any_of(profile_.controllers, [&](const auto& c) { return c.dest == d; }));
  }
  add<log::Device>(0) = {s.name, ref::to_json(profile_)};
  for (const Region& r : plan_.regions) {
    const log::Mr region{.rkey = r.rkey, .va = r.va, .bytes = r.length, .addr = plan_.host_base + r.dest};
    add<log::Mr>(0) = region;
    if (r.gone) (add<log::Mr>(0) = region).valid = false;
  }
}

template <class Body>
Body& Recorder::add(uint64_t time) {
  log::Record& record = records_.emplace_back();
  record.device = device_;
  record.time = time;
  return record.body.emplace<Body>();
}

log::Qp Recorder::qp(unsigned index) const {
  const SidePlan::Qp& q = plan_.qps[index];
  const Owned& own = owned_[index];
  log::Qp r;
  r.qp = plan_.qpn(index);
  r.peer_qp = plan_.peer_qpn(index);
  r.state = state_of(own.state);
  r.flags = own.ordered ? log::kOrdered : 0;
  if (own.state == QpState::Reset) return r;
  r.dest = q.dest;
  r.mtu = 256u << q.mtu;
  copy_qp_numbers(r, q);
  r.dynamic_mpr = q.dyn_mpr;
  r.time_stamps = q.ts;
  r.controlled = q.cc;
  r.own_class = q.own_class;
  r.dscp_data = static_cast<uint8_t>(q.own_class ? q.class_data : 0);
  r.dscp_rtx = static_cast<uint8_t>(q.own_class ? q.class_rtx : 0);
  const auto encap = static_cast<Encap>(q.encap);
  r.encap = encap == Encap::Srv6 ? 1 : encap == Encap::Srv6Srh ? 2 : 0;
  r.own_ip = bytes_of(plan_.ip);
  r.peer_ip = bytes_of(q.dip);
  r.evs = evs_[q.profile];
  for (std::size_t i = 0; i < r.evs.size(); ++i) r.ev_planes.push_back(static_cast<uint8_t>(i % preset_.num_planes));
  r.backup = plan_.backup * preset_.num_planes;
  r.denied.assign(own.denied.begin(), own.denied.end());
  r.window = own.window;
  return r;
}

log::Status Recorder::status(CqStatus status) const {
  const auto code = static_cast<uint32_t>(status);
  if (code == 0) return log::Status::Ok;
  if (code == csr::kNakCodeInvalid.get(plan_.nak_code)) return log::Status::RemoteInvalid;
  if (code == csr::kNakCodeAccess.get(plan_.nak_code)) return log::Status::RemoteAccess;
  switch (status) {
    case CqStatus::RemInvalid:
      return log::Status::RemoteInvalid;
    case CqStatus::RemAccess:
      return log::Status::RemoteAccess;
    case CqStatus::RemOp:
      return log::Status::RemoteOperation;
    case CqStatus::RemEvent:
      return log::Status::Fatal;
    case CqStatus::LocLength:
      return log::Status::LocalLength;
    case CqStatus::LocState:
    case CqStatus::Flushed:
      return log::Status::Flushed;
    case CqStatus::WimmOverrun:
      return log::Status::WimmOverrun;
    case CqStatus::RetryExceeded:
      return log::Status::Retries;
    default:
      return log::Status::Other;
  }
}

void Recorder::moved(unsigned index, QpState to, uint64_t now_ps, bool ordered) {
  if (to == QpState::Reset || to == QpState::Init) owned_[index] = {};
  owned_[index].state = to;
  owned_[index].ordered = ordered;
  add<log::Qp>(now_ps) = qp(index);
}

void Recorder::reset(uint64_t now_ps) {
  for (unsigned i = 0; i < owned_.size(); ++i) {
    if (owned_[i].state != QpState::Reset || owned_[i].ordered) moved(i, QpState::Reset, now_ps);
  }
  for (auto& reads : reads_) reads.clear();
  for (std::size_t i = 0; i < evs_.size(); ++i) evs_[i] = evs_of(preset_, plan_.profiles[i]);  // written anew
  ports((1u << preset_.num_planes) - 1, now_ps);
  counter("resets", ++resets_, now_ps);
}

void Recorder::half_received(unsigned plane, uint64_t now_ps) {
  ++came_[plane];
  came_ps_[plane] = now_ps;
  coming_[plane] = kNone;
}

void Recorder::changed(unsigned index, uint64_t now_ps) {
  if (owned_[index].state != QpState::Reset) add<log::Qp>(now_ps) = qp(index);
}

void Recorder::denied(unsigned index, unsigned place, bool on, uint64_t now_ps) {
  if (on) {
    owned_[index].denied.insert(place);
  } else {
    owned_[index].denied.erase(place);
  }
  changed(index, now_ps);
}

void Recorder::ev(unsigned profile, unsigned place, uint32_t ev, uint64_t now_ps) {
  evs_[profile][place] = ev;
  for (unsigned i = 0; i < owned_.size(); ++i) {
    if (plan_.qps[i].profile == profile) changed(i, now_ps);
  }
}

void Recorder::window(unsigned index, unsigned units, uint64_t now_ps) {
  owned_[index].window = units;
  changed(index, now_ps);
}

void Recorder::posted(const Wqe& w, uint64_t now_ps) {
  add<log::Post>(now_ps) = {.qp = plan_.qpn(w.qp),
                            .wr_id = w.wr_id,
                            .addr = w.laddr,
                            .remote = w.raddr,
                            .bytes = w.length,
                            .rkey = w.rkey,
                            .immediate = w.imm_valid,
                            .imm = w.imm};
}

void Recorder::completed(const Cqe& c, uint64_t now_ps) {
  log::Cqe& r = add<log::Cqe>(now_ps);
  r.qp = plan_.qpn(c.qp);
  r.receive = c.recv;
  r.status = status(c.status);
  r.bytes = c.length;
  if (c.recv) {
    r.imm = c.imm;
    r.rqmsn = c.msn;
  } else {
    r.wr_id = c.wr_id;
    r.msn = c.msn;
  }
}

void Recorder::read(const Rdreq& read, uint64_t now_ps) {
  log::Host& r = add<log::Host>(now_ps);
  r.op = log::HostOp::Read;
  r.addr = read.addr;
  r.bytes = read.len;
  r.tag = ++tags_;
  reads_[read.plane].push_back({r.tag, r.addr, r.bytes});
}

void Recorder::read_done(unsigned plane, const uint8_t* data, bool error, uint64_t now_ps) {
  const Read read = reads_[plane].front();
  reads_[plane].pop_front();
  log::Host& r = add<log::Host>(now_ps);
  r.op = log::HostOp::ReadDone;
  r.addr = read.addr;
  r.bytes = read.bytes;
  r.tag = read.tag;
  r.status = error;
  if (!error) r.data.assign(data, data + read.bytes);
}

void Recorder::wrote(uint64_t address, unsigned length, const uint8_t* data, uint64_t now_ps) {
  log::Host& r = add<log::Host>(now_ps);
  r.op = log::HostOp::Write;
  r.addr = address;
  r.bytes = length;
  r.tag = ++tags_;
  r.data.assign(data, data + length);
}

void Recorder::ports(unsigned up, uint64_t now_ps) {
  for (unsigned p = 0; p < preset_.num_planes; ++p) {
    if (((up ^ up_) >> p & 1) != 0) add<log::Port>(now_ps) = {static_cast<uint8_t>(p), (up >> p & 1) != 0};
  }
  up_ = up;
}

log::Frame& Recorder::frame(const Frame& frame, uint64_t begin_ps) {
  log::Frame& r = add<log::Frame>(begin_ps + uint64_t{kPreambleBytes} * byte_ps(preset_));
  r.plane = frame.plane;
  r.length = static_cast<uint32_t>(frame.bytes.size());
  r.number = ++numbers_;
  r.bytes = frame.bytes;
  return r;
}

void Recorder::sent(const Frame& of) {
  log::Frame& r = frame(of, of.sent_ps);
  r.sent = true;
  if ((of.fate & kFateSpoiled) != 0) {  // the host's fault: nobody is to judge its ICRC, nor its payload
    r.flags = log::kCut;
    r.bytes.resize(r.bytes.size() - wire::kIcrcBytes);
  }
  r.last = of.sent_ps + uint64_t{kPreambleBytes + r.length + kFcsBytes} * byte_ps(preset_);
}

void Recorder::received(const Frame& of, uint64_t begun_ps, uint64_t now_ps) {
  log::Frame& r = frame(of, begun_ps);
  r.last = now_ps;
  if (of.mac_error) r.flags = log::kFcsBad;
  coming_[of.plane] = kNone;
  ++came_[of.plane];
  came_ps_[of.plane] = now_ps;
}

void Recorder::shows_streams(bool said) {
  shows_streams_ = true;
  if (said) shows({log::EventKind::Take, log::EventKind::Answer});
}

void Recorder::shows_inside() { shows({log::EventKind::Path, log::EventKind::Cc}); }

void Recorder::shows(std::initializer_list<log::EventKind> kinds) {
  for (const log::EventKind kind : kinds) profile_.shows |= uint64_t{1} << static_cast<unsigned>(kind);
  std::get<log::Device>(records_.front().body).profile = ref::to_json(profile_);
}

void Recorder::controller(unsigned dest, log::CcNotified reported, uint64_t bytes, uint64_t rtt_ps, uint64_t window,
                          uint64_t time_ps) {
  if (dest >= controlled_.size() || !controlled_[dest]) return;
  add<log::Event>(time_ps) = {log::EventKind::Cc, 0, {dest, reported.pack(), bytes, rtt_ps, 0, window}};
}

void Recorder::path(unsigned qp, unsigned place, log::EvState from, log::EvState to, uint64_t time_ps) {
  const SidePlan::Qp& q = plan_.qps[qp];
  if (q.peer >= plan_.qps.size() || owned_[qp].state == QpState::Reset) return;
  add<log::Event>(time_ps) = {log::EventKind::Path,
                              plan_.qpn(qp),
                              {evs_[q.profile][place], static_cast<uint64_t>(from), static_cast<uint64_t>(to), place}};
}

void Recorder::event(log::EventKind kind, unsigned qp, std::array<uint64_t, 6> arg, uint64_t time_ps) {
  add<log::Event>(time_ps) = {kind, plan_.qpn(qp), arg};
  if (kind != log::EventKind::Take || arg[1] != static_cast<uint64_t>(log::TakeResult::New)) return;
  std::vector<uint32_t>& taken = owned_[qp].taken;
  if (taken.empty()) taken.assign(std::size_t{2} * preset_.max_mpr, kNoPsn);
  taken[arg[0] % taken.size()] = static_cast<uint32_t>(arg[0]);
}

bool Recorder::taken(unsigned qp, uint32_t psn) const {
  const std::vector<uint32_t>& taken = owned_[qp].taken;
  const uint32_t at = taken.empty() ? kNoPsn : taken[psn % taken.size()];
  return at != kNoPsn && !psn_before(at, psn);
}

void Recorder::lane_empty(unsigned plane, uint64_t now_ps) {
  // From a frame's last beat until its description stands at the lane's end: rx_lane has five stages.
  constexpr uint64_t kLane = 16;
  if (now_ps < came_ps_[plane] + kLane * preset_.clock_ps) return;
  const uint64_t discarded = came_[plane] - std::min(came_[plane], described_[plane]);
  if (discarded == discarded_[plane]) return;
  discarded_[plane] = discarded;
  add<log::Counter>(now_ps) = {"silent_drops", std::reduce(discarded_.begin(), discarded_.end())};
}

void Recorder::hand_over(uint64_t until, const Sink& sink) {
  order_.resize(records_.size());
  std::iota(order_.begin(), order_.end(), 0u);
  // What was taken at the time of an answer is told before it.
  std::ranges::stable_sort(order_, {}, [&](uint32_t i) {
    const auto* event = std::get_if<log::Event>(&records_[i].body);
    return std::pair{records_[i].time, event != nullptr && event->kind == log::EventKind::Answer};
  });
  std::vector<log::Record> later;
  for (const uint32_t i : order_) {
    if (records_[i].time < until) {
      sink(records_[i]);
    } else {
      later.push_back(std::move(records_[i]));
    }
  }
  records_ = std::move(later);
}

void Recorder::flush(uint64_t now_ps, const Sink& sink) {
  // A first beat is there some bytes later than its frame began; the rest is for the cycles on the way.
  const uint64_t slack = 64 * uint64_t{byte_ps(preset_)} + 4 * uint64_t{preset_.clock_ps};
  uint64_t until = now_ps - std::min(slack, now_ps);
  until = std::min({until, held_ps_, held_inside_ps_});
  for (const uint64_t begun : coming_) until = std::min(until, begun);
  const std::size_t before = records_.size();
  hand_over(until, sink);
  constexpr uint64_t kSilence = 10'000'000;
  if (records_.size() == before && until < reported_ps_ + kSilence) return;
  reported_ps_ = until;
  sink({device_, until, log::Until{}});
}

void Recorder::counter(std::string name, uint64_t value, uint64_t time_ps) {
  add<log::Counter>(time_ps) = {std::move(name), value};
}

void Recorder::end(uint64_t now_ps, const NicCounters* counters, log::End end, const Sink& sink) {
  hand_over(kNone, sink);
  const auto counter = [&](std::string name, uint64_t value) {
    sink({device_, now_ps, log::Counter{std::move(name), value}});
  };
  // The streams tell it exactly, in a hang too. Without them: CNT_OVF counts what had no room: frames lost whole,
  // and payloads, whose packets are NACKed and counted by CNT_RX too. What came to the port and is not in CNT_RX was
  // lost whole; one frame may have been on its way.
  uint64_t silent = std::reduce(discarded_.begin(), discarded_.end());
  for (unsigned p = 0; counters != nullptr && p < preset_.num_planes && !shows_streams_; ++p) {
    silent += std::min<uint64_t>(counters->ovf[p], counters->rx_after[p] - counters->rx[p]);
  }
  if (counters != nullptr || (shows_streams_ && !end.cut)) counter("silent_drops", silent);
  if (counters != nullptr) {
    for (const CounterRegister& r : kCounterRegisters) counter(r.name, counters->*r.value);
  }
  sink({device_, now_ps, std::move(end)});
}

}  // namespace mrc::tb
