// SPDX-License-Identifier: Apache-2.0
#include "libmrc/host/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "gen/csr.hpp"
#include "tb/device/pins_settings.hpp"
#include "wire/bytes.hpp"
#include "wire/decode.hpp"

namespace mrc::libmrc {
namespace {

constexpr Time kUs = 1'000'000;
/// What a queue pair had in the NIC and on links has left so long after it was reset (docs/reference/device.md).
constexpr Time kRest = 10 * kUs;
/// Answers that are still under way when the last work request is over.
constexpr Time kLinger = 20 * kUs;
constexpr uint32_t kMaxWr = 4096;  ///< of one queue; the driver holds what the NIC has no room for
constexpr uint32_t kPsns = 1u << 24;

using tb::QpAttribute;

constexpr uint32_t kInit = tb::attribute_bit(QpAttribute::EvProfile) | tb::attribute_bit(QpAttribute::CcProfile);
constexpr uint32_t kRtr = tb::attribute_bit(QpAttribute::Path) | tb::attribute_bit(QpAttribute::RqPsn) |
                          tb::attribute_bit(QpAttribute::MaxWimmDest) | tb::attribute_bit(QpAttribute::MprDest) |
                          tb::attribute_bit(QpAttribute::Caps);
constexpr uint32_t kRts = tb::attribute_bit(QpAttribute::SqPsn) | tb::attribute_bit(QpAttribute::MaxWimm) |
                          tb::attribute_bit(QpAttribute::Mpr) | tb::attribute_bit(QpAttribute::Timeout) |
                          tb::attribute_bit(QpAttribute::RetryCnt);

/// Attributes without which a step cannot be made; all others have defaults.
constexpr uint32_t needed(State to) {
  using enum Attribute;
  if (to == State::Rtr) return bit(Path) | bit(PathMtu) | bit(PeerQp) | bit(RqPsn);
  return to == State::Rts ? bit(SqPsn) : 0;
}

constexpr bool is_step(State from, State to) {
  switch (to) {
    case State::Reset:
      return true;
    case State::Init:
      return from == State::Reset || from == State::Init;
    case State::Rtr:
      return from == State::Init;
    case State::Rts:
      return from == State::Rtr || from == State::Rts;
    case State::Error:
      return from != State::Reset;
  }
  return false;
}

const char* name_of(State state) {
  constexpr const char* kNames[] = {"RESET", "INIT", "RTR", "RTS", "ERROR"};
  return static_cast<uint32_t>(state) < 5 ? kNames[static_cast<uint32_t>(state)] : "no state";
}

Status status_of(log::Status status) {
  switch (status) {
    case log::Status::Ok:
      return Status::Success;
    case log::Status::LocalLength:
      return Status::LocalLength;
    case log::Status::WimmOverrun:
      return Status::LocalOperation;
    case log::Status::RemoteInvalid:
      return Status::RemoteInvalid;
    case log::Status::RemoteAccess:
      return Status::RemoteAccess;
    case log::Status::RemoteOperation:
      return Status::RemoteOperation;
    case log::Status::Retries:
      return Status::RetryExceeded;
    case log::Status::Flushed:
      return Status::Flushed;
    case log::Status::Fatal:
    case log::Status::Other:
      break;
  }
  return Status::Fatal;
}

log::Ip bytes_of(U128 address) {
  log::Ip ip;
  for (unsigned i = 0; i < 16; ++i) ip[i] = static_cast<uint8_t>(address >> (120 - 8 * i));
  return ip;
}

/// What a program reads back as the NIC has it.
void take_limits(QpAttributes& a, const tb::QpConfig& c) {
  a.mpr = c.mpr;
  a.mpr_dest = c.mpr_dest;
  a.max_wimm = c.max_wimm;
  a.max_wimm_dest = c.max_wimm_dest;
  a.timeout = c.timeout;
  a.retry_linear = c.retry_linear;
  a.retry_exp = c.retry_exp;
  a.trim_nack = c.trim_nack;
  a.dynamic_mpr = c.dynamic_mpr;
  a.svc_time = c.svc_time;
}

std::string without_stop(std::string sentence) {
  while (sentence.ends_with('.')) sentence.pop_back();
  return sentence;
}

}  // namespace

Driver::Driver(Setup setup)
    : setup_(std::move(setup)), device_(*setup_.device), mac_(0x020000000000 + setup_.number), regions_(1) {
  const Preset& preset = setup_.preset;
  tb::OpenRequest request;
  request.seed = setup_.seed;
  request.settings = setup_.network.settings();
  request.settings.emplace_back("EV_CTL.min_active", setup_.min_active);
  info_ = device_.open(request);
  has_psn_ = std::ranges::find(info_.caps, "psn") != info_.caps.end();
  has_numbers_ = std::ranges::find(info_.caps, "nscc_numbers") != info_.caps.end();
  regions_ = Regions(info_.regions);
  ip_[0] = 0xfd;
  ip_[15] = static_cast<uint8_t>(setup_.number);
  ip_[14] = static_cast<uint8_t>(setup_.number >> 8);
  device_.address(mac_, ip_);
  ports_.assign(info_.planes, kPortEnabled | kPortCarrier);
  setup_.network.join(
      mac_, ip_,
      [this](uint32_t number) {
        const auto found = qps_.find(number);
        return found != qps_.end() && found->second->program() != nullptr && !found->second->was_connected;
      },
      [this](unsigned plane, bool up) { set_port(plane, kPortCarrier, up); });
  const uint32_t rule = tb::read_settings(request.settings, preset).get(csr::kSrv6, csr::kSrv6Reset);
  controller_ = std::make_unique<Controller>(
      Controller::Setup{.planes = info_.planes,
                        .evs = info_.evs,
                        .seed = setup_.seed,
                        .min_active = setup_.min_active,
                        .say = [this](const std::string& line) { setup_.say(setup_.name + ": " + line); },
                        .rule = {csr::kSrv6PlaneLsb.get(rule), csr::kSrv6UplinkUsid.get(rule),
                                 csr::kSrv6UplinkLsb.get(rule), csr::kSrv6UplinkBits.get(rule)},
                        .events = info_.profile.find("\"path\"") != std::string::npos,
                        .ev_in_use = [this](uint64_t id) { return uses(&QpAttributes::ev_profile, id); },
                        .cc_in_use = [this](uint64_t id) { return uses(&QpAttributes::cc_profile, id); },
                        .happened =
                            [this](const EvEvent& event) {
                              for (Program* reported : programs_) reported->happened(event);
                            },
                        .show = setup_.show});
  endpoints_ = std::make_unique<Endpoints>(mac_, ip_, setup_.network, [this](const log::Ip& ip) {
    return std::ranges::any_of(qps_, [&](const auto& q) {
      const State state = q.second->attributes.state;
      return (state == State::Rtr || state == State::Rts) && q.second->config.peer_ip == ip;
    });
  });
  for (uint32_t i = 0; i < info_.qps; ++i) free_.push_back(info_.qp_first + i);
  // Shorter than what a lane can fetch ahead.
  read_time_ = static_cast<Time>(0.4 * 8000.0 * preset.line_fifo * preset.host_bytes / preset.port_gbps);
}

DeviceRow Driver::row() const {
  DeviceRow r{};
  r.planes = info_.planes;
  r.port_gbps = info_.port_gbps;
  r.max_qp = info_.qps;
  r.max_qp_wr = kMaxWr;
  r.max_mr = info_.regions;
  r.max_wimm = info_.max_wimm;
  r.max_mpr = info_.mpr;
  const auto cap = [this](std::string_view name) { return std::ranges::find(info_.caps, name) != info_.caps.end(); };
  r.caps = (cap("trim_nack") ? 1u : 0) | (cap("dyn_mpr") ? 2u : 0) | (cap("svc_time") ? 4u : 0);
  r.gid = ip_;
  r.guid = mac_;
  setup_.name.copy(r.name, sizeof r.name - 1);
  return r;
}

std::string Driver::summary() const {
  const auto& c = counts_;
  return fmt::format(
      "{}: {} queue pairs, {} WRITEs of {} bytes, {} failed, {} immediates received; frames: {} sent, {} received; "
      "ports went up or down {} times",
      setup_.name, c.qps, c.writes, c.bytes, c.failed, c.received, c.frames_sent, c.frames_got, c.port_changes);
}

// Protection domains and regions.

int Driver::refuse(Program& program, int error, const std::string& sentence) {
  program.say(fmt::format("{} ({})", sentence, strerrorname_np(error)));
  return error;
}

int Driver::alloc_pd(Program& program, uint32_t& pd) {
  pd = next_pd_++;
  pds_[pd] = &program;
  return 0;
}

int Driver::dealloc_pd(Program& program, uint32_t pd) {
  const auto found = pds_.find(pd);
  if (found == pds_.end() || found->second != &program) return refuse(program, EINVAL, "it has no such PD");
  const bool used = regions_.used(pd) || std::ranges::any_of(qps_, [pd](const auto& q) { return q.second->pd == pd; });
  if (used) return refuse(program, EBUSY, "a PD that has regions or queue pairs stays");
  pds_.erase(found);
  return 0;
}

void Driver::reg_mr(Program& program, const RegMr& wanted, const std::function<void(int, uint32_t)>& reply) {
  const auto no = [&](int error, const std::string& sentence) { reply(refuse(program, error, sentence), 0); };
  const auto pd = pds_.find(wanted.pd);
  if (pd == pds_.end() || pd->second != &program) return no(EINVAL, "it has no such PD");
  if (wanted.bytes == 0 || wanted.bytes > Regions::kMaxBytes || wanted.address + wanted.bytes < wanted.address ||
      wanted.iova + wanted.bytes < wanted.iova)
    return no(EINVAL, fmt::format("a region of {} bytes at {:#x} is none", wanted.bytes, wanted.address));
  if (wanted.remote_write != 0 && wanted.local_write == 0)
    return no(EINVAL, "a region for remote writes needs local ones, too");
  uint8_t byte = 0;
  if (!program.memory()->read(wanted.address, {&byte, 1}) ||
      !program.memory()->read(wanted.address + wanted.bytes - 1, {&byte, 1}))
    return no(EFAULT, fmt::format("there is no memory at {:#x}, {} bytes", wanted.address, wanted.bytes));
  Region region;
  region.pd = wanted.pd;
  region.address = wanted.address;
  region.bytes = wanted.bytes;
  region.iova = wanted.iova;
  region.remote_write = wanted.remote_write != 0;
  region.local_write = wanted.local_write != 0;
  region.memory = program.memory();
  const Region* added = regions_.add(std::move(region));
  if (added == nullptr) return no(ENOMEM, fmt::format("{} has {} regions at most", setup_.name, info_.regions));
  const uint32_t key = added->key;
  if (!added->remote_write) return reply(0, key);
  const log::Mr row{.rkey = key, .va = added->iova, .bytes = added->bytes, .addr = added->bus};
  try {
    if (!device_.mr(row)) return reply(0, key);
  } catch (const tb::Refusal& refusal) {
    regions_.remove(key);
    return no(refusal.unsupported ? ENOTSUP : EIO, without_stop(refusal.what()));
  }
  region_orders_[key] = [reply, key](const std::string& error) { reply(error.empty() ? 0 : EIO, key); };
}

/// True: `then` is called later.
bool Driver::forget_region(uint32_t key, std::function<void()> then) {
  const Region* region = regions_.find(key);
  const bool at_nic = region->remote_write;
  const log::Mr row{.rkey = key, .valid = false, .va = region->iova, .bytes = region->bytes, .addr = region->bus};
  regions_.remove(key);
  if (!at_nic || !device_.mr(row)) return false;
  region_orders_[key] = [then = std::move(then)](const std::string&) { then(); };
  return true;
}

void Driver::dereg_mr(Program& program, uint32_t key, const Reply& reply) {
  const Region* region = regions_.find(key);
  if (region == nullptr || region->memory != program.memory()) return reply(refuse(program, EINVAL, "no such region"));
  if (regions_.gathers(key)) return reply(refuse(program, EBUSY, "work requests gather from it"));
  for (const auto& [number, qp] : qps_) {
    if (qp->program() == &program && qp->reads(key))
      return reply(refuse(program, EBUSY, fmt::format("work requests of queue pair {} read from it", number)));
  }
  if (!forget_region(key, [reply] { reply(0); })) reply(0);
}

// Queue pairs.

QueuePair* Driver::find(const Program& program, uint32_t number) {
  const auto found = qps_.find(number);
  return found == qps_.end() || found->second->program() != &program ? nullptr : found->second.get();
}

int Driver::create_qp(Program& program, const CreateQp& wanted, uint32_t& number) {
  const auto pd = pds_.find(wanted.pd);
  if (pd == pds_.end() || pd->second != &program) return refuse(program, EINVAL, "it has no such PD");
  if (wanted.max_send > kMaxWr || wanted.max_recv > kMaxWr)
    return refuse(program, EINVAL, fmt::format("a queue holds {} work requests at most", kMaxWr));
  if (free_.empty())
    return refuse(program, ENOMEM, fmt::format("{} has {} queue pairs at most", setup_.name, info_.qps));
  number = free_.front();
  free_.pop_front();
  auto qp = std::make_unique<QueuePair>(program, number, wanted);
  qp->config = device_.qp_now(number);
  take_limits(qp->attributes, qp->config);
  qp->attributes.remote_write = 1;
  qp->own_evs = qp->config.evs;
  qp->release = [this](uint64_t source) { regions_.unmake(static_cast<uint32_t>(source)); };
  qps_[number] = std::move(qp);
  ++counts_.qps;
  return 0;
}

int Driver::check_values(Program& program, const ModifyQp& wanted) {
  const QpAttributes& a = wanted.attributes;
  struct Limit {
    Attribute attribute;
    const char* name;
    uint64_t value, least, most;
  };
  using enum Attribute;
  const Limit limits[] = {{PathMtu, "path_mtu", a.mtu, 256, 4096},
                          {PeerQp, "dest_qp_num", a.peer_qp, 0, kPsns - 1},
                          {RqPsn, "rq_psn", a.rq_psn, 0, kPsns - 1},
                          {SqPsn, "sq_psn", a.sq_psn, 0, kPsns - 1},
                          {MaxWimm, "max_wimm", a.max_wimm, 0, info_.max_wimm},
                          {MaxWimmDest, "max_wimm_dest", a.max_wimm_dest, 0, info_.max_wimm},
                          {Mpr, "mpr", a.mpr, 1, info_.mpr},
                          {MprDest, "mpr_dest", a.mpr_dest, 1, info_.mpr},
                          {Timeout, "timeout", a.timeout, 0, 24},
                          {Retry, "linear_cnt", a.retry_linear, 0, 7},
                          {Retry, "exp_cnt", a.retry_exp, 0, 25}};
  for (const Limit& l : limits) {
    if ((wanted.with & bit(l.attribute)) != 0 && (l.value < l.least || l.value > l.most))
      return refuse(program, EINVAL, fmt::format("{} is {} to {}, not {}", l.name, l.least, l.most, l.value));
  }
  return 0;
}

/// What the NIC is told for a step, in `config` and `carried`.
int Driver::step(Program& program, QueuePair& qp, const ModifyQp& wanted, uint32_t& carried, tb::QpConfig& config) {
  const QpAttributes& a = wanted.attributes;
  const State from = qp.attributes.state, to = a.state;
  const auto has = [&](Attribute attribute) { return (wanted.with & bit(attribute)) != 0; };
  using enum Attribute;
  if (has(CurrentState) && a.current != from)
    return refuse(program, EINVAL, fmt::format("it is in {}, not in {}", name_of(from), name_of(a.current)));
  if (!is_step(from, to))
    return refuse(program, EINVAL, fmt::format("no step leads from {} to {}", name_of(from), name_of(to)));
  if (const uint32_t missing = needed(to) & ~wanted.with; missing != 0 && from != to)
    return refuse(program, EINVAL, fmt::format("attributes are missing for {}: {:#x}", name_of(to), missing));
  if (from == State::Rts && to == State::Rts && (wanted.with & ~(bit(Attribute::State) | bit(CurrentState))) != 0)
    return refuse(program, ENOTSUP, "our NIC changes no attributes of a queue pair in RTS");
  if (const int error = check_values(program, wanted); error != 0) return error;
  config.state = static_cast<log::QpState>(to);
  if (has(Path)) {
    const auto mac = setup_.network.mac_of(a.gid);
    if (!mac) return refuse(program, EHOSTUNREACH, "no NIC of this host has the address of the path");
    config.peer_ip = a.gid;
    config.peer_mac = *mac;
    setup_.network.route(mac_, *mac, config);
    if (qp.path) {
      if (qp.segment && bytes_of(*qp.segment) != a.gid)
        return refuse(program, ENOTSUP, "our NIC's one segment is the address of the peer (A-63), not another one");
      config.encap = qp.segment ? tb::Encapsulation::Srh : tb::Encapsulation::Srv6;
      config.path = bytes_of(*qp.path);
    }
  }
  if (has(PathMtu)) config.mtu = a.mtu;
  if (has(PeerQp)) config.peer_qp = a.peer_qp;
  // Without a capability for it numbers begin at 0 on both sides.
  if (has(RqPsn) && has_psn_) config.rq_psn = a.rq_psn;
  if (has(SqPsn) && has_psn_) config.sq_psn = a.sq_psn;
  if (has(MaxWimm)) config.max_wimm = a.max_wimm;
  if (has(MaxWimmDest)) config.max_wimm_dest = a.max_wimm_dest;
  if (has(Mpr)) config.mpr = a.mpr;
  if (has(MprDest)) config.mpr_dest = a.mpr_dest;
  if (has(Timeout)) config.timeout = a.timeout;
  if (has(Retry)) {
    config.retry_linear = a.retry_linear;
    config.retry_exp = a.retry_exp;
  }
  if (has(Cap)) {
    config.dynamic_mpr = a.dynamic_mpr != 0;
    config.trim_nack = a.trim_nack != 0;
    config.svc_time = a.svc_time != 0;
  }
  if (to == State::Init) {
    if (const int error = profiles(program, qp, wanted, config); error != 0) return error;
  }
  carried = to == State::Init ? kInit : to == State::Rtr ? kRtr : to == State::Rts ? kRts : 0;
  return 0;
}

/// EVs and congestion control of the profiles that are wanted. With the first step to INIT all that is not named is 0.
int Driver::profiles(Program& program, QueuePair& qp, const ModifyQp& wanted, tb::QpConfig& config) {
  const QpAttributes& a = wanted.attributes;
  std::string why;
  if ((wanted.with & bit(Attribute::EvProfile)) != 0) {
    std::optional<Controller::Places> places;
    if (const int error = controller_->places(a.ev_profile, places, why); error != 0)
      return refuse(program, error, why);
    config.evs = places ? places->evs : qp.own_evs;
    config.backup = 0;
    qp.entries = places ? places->entry : std::vector<std::optional<uint32_t>>{};
    qp.denied = places ? places->denied : std::set<uint32_t>{};
    qp.path = places ? places->path : std::nullopt;
    qp.segment = places ? places->segment : std::nullopt;
  }
  if ((wanted.with & bit(Attribute::CcProfile)) != 0) {
    std::optional<tb::ControllerNumbers> numbers;
    if (const int error = controller_->control(a.cc_profile, numbers, why); error != 0)
      return refuse(program, error, why);
    if (numbers && !has_numbers_)
      return refuse(program, ENOTSUP, "this NIC takes no numbers for congestion control (cap nscc_numbers)");
    config.controlled = numbers.has_value();
    config.nscc = numbers.value_or(tb::ControllerNumbers{});
  }
  return 0;
}

bool Driver::uses(uint64_t QpAttributes::*profile, uint64_t id) const {
  return std::ranges::any_of(qps_, [&](const auto& q) {
    return q.second->attributes.state != State::Reset && q.second->attributes.*profile == id;
  });
}

bool Driver::deny(uint32_t number, uint32_t ev, bool deny) {
  try {
    return device_.ev(number, ev, deny);
  } catch (const tb::Refusal& refusal) {
    setup_.say(fmt::format("{}: {}", setup_.name, without_stop(refusal.what())));
  }
  return false;
}

int Driver::ev_entry(Program& program, const EvEntry& wanted, EvEntryRow& row) {
  std::string why;
  const int error = controller_->entry(wanted, row, why, [&](uint32_t ev, bool denied) {
    for (const auto& [number, qp] : qps_) {
      const State state = qp->attributes.state;
      if (qp->attributes.ev_profile != wanted.id || state == State::Reset || state == State::Error ||
          qp->entries.empty())
        continue;
      if (denied) {
        qp->denied.insert(ev);
      } else {
        qp->denied.erase(ev);
      }
      deny(number, ev, denied);
    }
  });
  return error == 0 ? 0 : refuse(program, error, why);
}

bool Driver::ep_request(Program& program, const EpRequest& wanted) {
  if (wanted.port < 1 || wanted.port > info_.planes || wanted.dscp > 63 || wanted.op > 1) return false;
  if (ports_[wanted.port - 1] == (kPortEnabled | kPortCarrier)) {
    endpoints_->request(program, wanted, now_);
  } else {
    endpoints_->lose(program, wanted, now_);
  }
  return true;
}

void Driver::ep_wait(Program& program, const EpWait& wanted, Endpoints::Reply reply) {
  endpoints_->wait(program, now_ + Time{wanted.timeout_ns} * 1000, std::move(reply));
}

/// The NIC says that a queue pair takes one of its EVs for something else.
void Driver::path(const log::Event& event) {
  const auto found = qps_.find(event.qp);
  if (found == qps_.end() || event.arg[3] >= found->second->entries.size()) return;
  const std::optional<uint32_t> entry = found->second->entries[event.arg[3]];
  if (!entry) return;
  const auto to = static_cast<log::EvState>(event.arg[2]);
  if (to == log::EvState::Denied) return;
  controller_->state(found->second->attributes.ev_profile, event.qp, *entry, to == log::EvState::Bad);
}

void Driver::order(QueuePair& qp, const tb::QpConfig& config, uint32_t carried,
                   std::function<void(const tb::Done&)> then) {
  tb::Done done;
  qp.denying = 0;  // whoever waited for it is gone
  try {
    const tb::Modified m = device_.modify(config, carried);
    if (m.pending) {
      qp.then = std::move(then);
      return;
    }
    done.refused = m.refused;
    done.attributes = m.attributes;
  } catch (const tb::Refusal& refusal) {
    done.error = refusal.what();
  }
  then(done);
}

void Driver::modify_qp(Program& program, const ModifyQp& wanted, const Reply& reply) {
  QueuePair* qp = find(program, wanted.qp);
  if (qp == nullptr) return reply(refuse(program, EINVAL, "it has no such queue pair"));
  if (qp->then) return qp->later.push_back([this, &program, wanted, reply] { modify_qp(program, wanted, reply); });
  if ((wanted.with & bit(Attribute::State)) == 0)
    return reply(refuse(program, ENOTSUP, "our NIC changes attributes with the state alone"));
  const State from = qp->attributes.state, to = wanted.attributes.state;
  tb::QpConfig config = qp->config;
  uint32_t carried = 0;
  if (const int error = step(program, *qp, wanted, carried, config); error != 0) return reply(error);
  if (from == State::Rts && to == State::Rts) return reply(0);
  if (to == State::Reset) return reset(*qp, [reply] { reply(0); });
  const uint32_t number = qp->number;
  order(*qp, config, carried, [this, number, config, wanted, reply](const tb::Done& done) {
    QueuePair& changed = *qps_.at(number);
    Program* owner = changed.program();
    if (owner == nullptr) return;
    if (!done.error.empty()) return reply(refuse(*owner, ENOTSUP, without_stop(done.error)));
    if (done.refused != tb::Refused::No)
      return reply(refuse(*owner, EINVAL, fmt::format("the NIC refuses the step, attributes {:#x}", done.attributes)));
    QpAttributes& a = changed.attributes;
    const QpAttributes& w = wanted.attributes;
    const auto has = [&](Attribute attribute) { return (wanted.with & bit(attribute)) != 0; };
    changed.config = config;
    a.state = w.state;
    changed.was_connected = changed.was_connected || a.state == State::Rtr;
    a.mtu = config.mtu;
    a.peer_qp = config.peer_qp;
    if (has(Attribute::RqPsn)) a.rq_psn = w.rq_psn;
    if (has(Attribute::SqPsn)) a.sq_psn = w.sq_psn;
    if (has(Attribute::Access)) a.remote_write = w.remote_write;
    if (has(Attribute::Path)) {
      a.gid = w.gid;
      a.traffic_class = w.traffic_class;
    }
    take_limits(a, config);
    if (has(Attribute::EvProfile)) a.ev_profile = w.ev_profile;
    if (has(Attribute::CcProfile)) a.cc_profile = w.cc_profile;
    if (a.state == State::Error && !changed.at_nic()) changed.flush();
    // Each step to RTR and RTS makes all EVs GOOD in the NIC; a program may send when the denied ones are denied again.
    if (a.state == State::Rtr || a.state == State::Rts) {
      for (std::size_t i = 0; i < changed.entries.size(); ++i) {
        const uint32_t ev = config.evs[i];
        if (!changed.entries[i] || changed.denied.contains(ev)) changed.denying += deny(number, ev, true) ? 1 : 0;
      }
    }
    if (changed.denying == 0) return reply(0);
    changed.then = [reply](const tb::Done&) { reply(0); };
  });
}

int Driver::query_qp(Program& program, uint32_t number, QpAttributes& attributes) {
  const QueuePair* qp = find(program, number);
  if (qp == nullptr) return refuse(program, EINVAL, "it has no such queue pair");
  attributes = qp->attributes;
  return 0;
}

/// Everything of it is forgotten, and has left the NIC when `then` is called.
void Driver::reset(QueuePair& qp, std::function<void()> then) {
  qp.clear();
  if (qp.attributes.state == State::Reset) return then();
  tb::QpConfig config = qp.config;
  config.state = log::QpState::Reset;
  order(qp, config, 0, [this, number = qp.number, then = std::move(then)](const tb::Done& done) {
    QueuePair& changed = *qps_.at(number);
    changed.attributes = {};
    changed.entries.clear();
    muted_.erase(number);
    controller_->forget(number);
    // A NIC that does not give queue pairs back: the number is not used again (destroy_qp).
    changed.attributes.state = done.error.empty() ? State::Reset : State::Error;
    if (done.error.empty()) changed.config = device_.qp_now(number);
    cool_.emplace_back(now_ + kRest, then);
  });
}

void Driver::destroy_qp(Program& program, uint32_t number, const Reply& reply) {
  QueuePair* qp = find(program, number);
  if (qp == nullptr) return reply(refuse(program, EINVAL, "it has no such queue pair"));
  if (qp->then) return qp->later.push_back([this, &program, number, reply] { destroy_qp(program, number, reply); });
  qp->ending = true;
  reset(*qp, [this, number, reply] {
    if (qps_.at(number)->attributes.state == State::Reset) free_.push_back(number);
    qps_.erase(number);
    reply(0);
  });
}

/// A queue pair that software has to end.
void Driver::fail(QueuePair& qp) {
  qp.attributes.state = State::Error;
  tb::QpConfig config = qp.config;
  config.state = log::QpState::Error;
  order(qp, config, 0, [this, number = qp.number](const tb::Done&) {
    QueuePair& failed = *qps_.at(number);
    if (!failed.at_nic()) failed.flush();
  });
}

bool Driver::post_gather(Program& program, const PostGather& request) {
  if (request.count > kMaxPieces) return false;
  uint64_t bytes = 0;
  for (std::size_t i = 0; i < request.count; ++i) bytes += request.piece[i].bytes;
  if (bytes != request.post.bytes || bytes == 0) return false;
  Region made;
  made.qp = request.post.qp;
  made.bytes = bytes;
  made.pieces.assign(request.piece.begin(), request.piece.begin() + static_cast<std::ptrdiff_t>(request.count));
  PostSend post = request.post;
  post.source = regions_.make(std::move(made));
  if (post_send(program, post)) return true;
  regions_.unmake(static_cast<uint32_t>(post.source));
  return false;
}

bool Driver::post_inline(Program& program, const PostInline& request) {
  if (request.post.bytes > kMaxInline || request.post.bytes == 0) return false;
  Region made;
  made.qp = request.post.qp;
  made.bytes = request.post.bytes;
  made.data.assign(request.data.begin(), request.data.begin() + request.post.bytes);
  PostSend post = request.post;
  post.source = regions_.make(std::move(made));
  if (post_send(program, post)) return true;
  regions_.unmake(static_cast<uint32_t>(post.source));
  return false;
}

bool Driver::post_send(Program& program, const PostSend& request) {
  QueuePair* qp = find(program, request.qp);
  if (qp == nullptr || qp->send_full() || qp->attributes.state < State::Rts) {
    program.say(fmt::format("a work request for queue pair {} has no place there", request.qp));
    return false;
  }
  qp->send(request);
  if (qp->attributes.state == State::Error) {
    if (!qp->at_nic()) qp->flush();
  } else {
    hand_over(*qp);
  }
  return true;
}

bool Driver::post_recv(Program& program, const PostRecv& request) {
  QueuePair* qp = find(program, request.qp);
  if (qp == nullptr || qp->recv_full() || qp->attributes.state == State::Reset) {
    program.say(fmt::format("a receive buffer for queue pair {} has no place there", request.qp));
    return false;
  }
  qp->receive(request.wr_id);
  if (qp->attributes.state == State::Error) {
    qp->flush();
  } else if (qp->attributes.state >= State::Rtr) {
    device_.recv(request.qp, 1);
  }
  return true;
}

/// Programs set queue pairs up in milliseconds, in which simulated time could use up all retries. So what is for a peer
/// that is about to receive waits here, and time for it.
bool Driver::held(const QueuePair& qp) const {
  return !qp.at_nic() && setup_.network.setting_up(qp.config.peer_mac, qp.config.peer_qp);
}

/// What a work request sends lies in regions of its queue pair's PD.
bool Driver::readable(const QueuePair& qp, const PostSend& request) const {
  const auto in_a_region = [&](uint32_t key, uint64_t address, uint64_t bytes) {
    const Region* region = regions_.find(key);
    return bytes == 0 || (region != nullptr && region->pd == qp.pd && region->memory == qp.program()->memory() &&
                          region->holds(address, bytes));
  };
  if (request.source == 0) return in_a_region(request.key, request.address, request.bytes);
  return std::ranges::all_of(regions_.made(static_cast<uint32_t>(request.source)).pieces,
                             [&](const Piece& p) { return in_a_region(p.key, p.address, p.bytes); });
}

/// As many work requests as the NIC takes. What it must not see ends here, in its turn.
void Driver::hand_over(QueuePair& qp) {
  while (const PostSend* next = qp.next()) {
    if (qp.attributes.state != State::Rts || qp.then || held(qp)) return;
    if (!readable(qp, *next)) {
      if (qp.at_nic()) return;
      qp.program()->say(fmt::format("queue pair {}: {} bytes at {:#x} are in no region of L_Key {:#010x} in its PD",
                                    qp.number, next->bytes, next->address, next->key));
      qp.refused(Status::LocalProtection);
      return fail(qp);
    }
    log::Post post;
    post.qp = qp.number;
    post.wr_id = next->wr_id;
    if (next->source != 0) {
      post.addr = regions_.made(static_cast<uint32_t>(next->source)).bus;
    } else if (next->bytes != 0) {
      post.addr = regions_.find(next->key)->bus_of(next->address);
    }
    post.remote = next->remote;
    post.bytes = next->bytes;
    post.rkey = next->rkey;
    post.immediate = next->immediate != 0;
    post.imm = next->imm;
    try {
      if (!device_.post(post)) return;
    } catch (const tb::Refusal& refusal) {
      if (qp.at_nic()) return;
      qp.program()->say(without_stop(refusal.what()));
      qp.refused(Status::LocalOperation);
      return fail(qp);
    }
    qp.taken();
    ++counts_.writes;
    counts_.bytes += post.bytes;
  }
}

int Driver::query_port(Program& program, uint32_t port, uint32_t& state) {
  if (port < 1 || port > ports_.size()) return refuse(program, EINVAL, fmt::format("there is no port {}", port));
  state = ports_[port - 1];
  return 0;
}

int Driver::modify_port(Program& program, uint32_t port, bool enabled) {
  if (port < 1 || port > ports_.size()) return refuse(program, EINVAL, fmt::format("there is no port {}", port));
  set_port(port - 1, kPortEnabled, enabled);
  return 0;
}

void Driver::set_port(unsigned plane, uint32_t bit, bool on) {
  constexpr uint32_t kUp = kPortEnabled | kPortCarrier;
  const uint32_t before = std::exchange(ports_[plane], on ? ports_[plane] | bit : ports_[plane] & ~bit);
  const bool up = ports_[plane] == kUp;
  if (up == (before == kUp)) return;
  device_.port(plane, up, now_);
  ++counts_.port_changes;
  quiet_from_ = now_ + kLinger;  // for peers to hear of it
  for (Program* reported : programs_) reported->changed(PortChange{plane + 1, up});
}

void Driver::leave(Program& program) {
  programs_.erase(&program);
  endpoints_->leave(program);
  for (const auto& [number, qp] : qps_) {
    if (qp->program() != &program) continue;
    if (qp->at_nic()) muted_.insert(number);
    qp->abandon();
    const auto gone = [this, number = number] {
      if (qps_.at(number)->attributes.state == State::Reset) free_.push_back(number);
      qps_.erase(number);
    };
    QueuePair* const of = qp.get();
    if (of->then) {  // an order is under way
      of->then = [this, of, gone](const tb::Done&) { reset(*of, gone); };
    } else if (!of->ending) {
      cool_.emplace_back(now_, [this, of, gone] { reset(*of, gone); });
    }
  }
  for (const uint32_t key : regions_.keys_of(program.memory().get())) forget_region(key, [] {});
  std::erase_if(pds_, [&](const auto& pd) { return pd.second == &program; });
}

// Time.

bool Driver::busy() const {
  if (!cool_.empty() || !region_orders_.empty() || now_ < quiet_from_ || endpoints_->busy()) return true;
  return std::ranges::any_of(
      qps_, [this](const auto& q) { return q.second->then || (q.second->busy() && !held(*q.second)); });
}

void Driver::run(Time from, Time to) {
  setup_.network.deliver(mac_, from, to, [this](unsigned plane, Time last, std::span<const uint8_t> bytes) {
    ++counts_.frames_got;
    if (!endpoints_->take(plane, last, bytes)) device_.rx(plane, last, bytes, false);
  });
  for (const auto& [number, qp] : qps_) {
    if (qp->busy() && qp->program() != nullptr) hand_over(*qp);
  }
  for (Time reached = from; reached < to;) {
    tb::Advanced ran = device_.advance(to, read_time_);
    if (ran.reached < reached || ran.reached > to || (ran.reached < to && ran.out.empty()))
      throw tb::DeviceGone(fmt::format("{} was to run to {} ps and says {} ps.", setup_.name, to, ran.reached));
    now_ = reached = ran.reached;
    for (tb::Output& output : ran.out) take(output, reached);
  }
  endpoints_->tick(now_);
  for (std::size_t i = 0; i < cool_.size();) {
    if (cool_[i].first > now_) {
      ++i;
      continue;
    }
    const auto then = std::move(cool_[i].second);
    cool_.erase(cool_.begin() + static_cast<std::ptrdiff_t>(i));
    then();
  }
}

void Driver::take(tb::Output& output, Time reached) {
  if (auto* frame = std::get_if<tb::SentFrame>(&output.body)) {
    ++counts_.frames_sent;
    if (!is_muted(frame->bytes)) setup_.network.send(mac_, std::move(*frame), output.time);
  } else if (const auto* queried = std::get_if<tb::HostRead>(&output.body)) {
    read(*queried, output.time, reached);
  } else if (const auto* write = std::get_if<tb::HostWrite>(&output.body)) {
    if (!regions_.write(write->addr, write->data) && std::has_single_bit(++lost_writes_))
      setup_.say(fmt::format("{}: {} writes to memory have gone nowhere: their region or program is gone", setup_.name,
                             lost_writes_));
  } else if (const auto* cqe = std::get_if<log::Cqe>(&output.body)) {
    completed(*cqe);
  } else if (const auto* is_done = std::get_if<tb::Done>(&output.body)) {
    done(*is_done);
  } else if (const auto* event = std::get_if<log::Event>(&output.body)) {
    if (event->kind == log::EventKind::Path) path(*event);
  }
}

void Driver::read(const tb::HostRead& queried, Time time, Time reached) {
  std::vector<uint8_t> bytes(queried.bytes);
  if (!regions_.read(queried.addr, bytes)) {
    std::ranges::fill(bytes, uint8_t{0});
    unreadable(queried.addr, queried.bytes);
    if (std::has_single_bit(++lost_reads_))
      setup_.say(fmt::format("{}: {} reads of memory have found zeros: their region or program is gone", setup_.name,
                             lost_reads_));
  }
  device_.host_done(queried.tag, std::max(time + read_time_, reached), bytes, 0);
}

/// Memory of a program that is not there (any more): what its queue pairs send from it must not reach a peer, and they
/// fail. Our NIC cannot be told that a read has failed.
void Driver::unreadable(uint64_t bus, uint64_t bytes) {
  const Region* region = regions_.at(bus, bytes);
  if (region == nullptr) return;
  for (const auto& [number, qp] : qps_) {
    if (qp->program() == nullptr) continue;
    const bool its =
        region->qp != 0 ? region->qp == number : qp->program()->memory() == region->memory && qp->reads(region->key);
    if (!its) continue;
    if (!muted_.insert(number).second) continue;
    qp->program()->say(fmt::format("queue pair {}: the memory that it sends from is not there", number));
    qp->cannot_read();
    if (!qp->then && qp->attributes.state == State::Rts) fail(*qp);
  }
}

bool Driver::is_muted(std::span<const uint8_t> frame) const {
  if (muted_.empty()) return false;
  const wire::Packet p = wire::decode(frame, {}, false);
  if (!p.eth || !p.bth) return false;
  const uint64_t to = wire::load_be<6>(p.eth->dst.data());
  return std::ranges::any_of(muted_, [&](uint32_t number) {
    const auto found = qps_.find(number);
    return found != qps_.end() && found->second->config.peer_mac == to && found->second->config.peer_qp == p.bth->dqp;
  });
}

void Driver::completed(const log::Cqe& cqe) {
  quiet_from_ = now_ + kLinger;
  const auto found = qps_.find(cqe.qp);
  if (found == qps_.end()) return;
  QueuePair& qp = *found->second;
  if (!cqe.receive) {
    counts_.failed += cqe.status == log::Status::Ok ? 0 : 1;
    qp.completed(status_of(cqe.status));
    if (qp.program() != nullptr) hand_over(qp);
    return;
  }
  ++counts_.received;
  if (qp.received(cqe.imm, static_cast<uint32_t>(cqe.bytes))) return;
  if (qp.program() == nullptr || qp.attributes.state == State::Error) return;
  qp.program()->say(fmt::format("queue pair {}: an immediate has come, and there is no receive buffer", qp.number));
  qp.program()->failed(Failure{qp.number});
  if (!qp.then) fail(qp);
}

void Driver::done(const tb::Done& done) {
  if (done.region) {
    const auto found = region_orders_.find(done.number);
    if (found == region_orders_.end()) return;
    const auto then = std::move(found->second);
    region_orders_.erase(found);
    return then(done.error);
  }
  const auto qp = qps_.find(done.number);
  if (qp == qps_.end() || !qp->second->then) return;
  if (done.call == "ev" && (qp->second->denying == 0 || --qp->second->denying > 0)) return;
  const auto then = std::move(qp->second->then);
  qp->second->then = nullptr;
  then(done);
  // One of them may end the queue pair.
  for (auto again = qps_.find(done.number);
       again != qps_.end() && !again->second->then && !again->second->later.empty(); again = qps_.find(done.number)) {
    const auto next = std::move(again->second->later.front());
    again->second->later.pop_front();
    next();
  }
}

}  // namespace mrc::libmrc
