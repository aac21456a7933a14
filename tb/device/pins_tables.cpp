// SPDX-License-Identifier: Apache-2.0
/// What software writes into tables: queue pairs, entropy values, regions.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "protocol/nscc_config.hpp"
#include "tb/device/pins_parts.hpp"
#include "tb/device/qp_numbers.hpp"

namespace mrc::tb {
namespace {

/// Work requests that wait for the NIC's pin.
constexpr size_t kMaxWaiting = 64;

constexpr uint32_t bit(QpAttr a) { return 1u << static_cast<unsigned>(a); }
constexpr uint32_t kInitAttributes = bit(QpAttr::EvProfile) | bit(QpAttr::CcProfile);
constexpr uint32_t kRtrAttributes =
    bit(QpAttr::Path) | bit(QpAttr::RqPsn) | bit(QpAttr::MaxWimmDest) | bit(QpAttr::MprDest) | bit(QpAttr::Caps);
constexpr uint32_t kRtsAttributes =
    bit(QpAttr::SqPsn) | bit(QpAttr::MaxWimm) | bit(QpAttr::Mpr) | bit(QpAttr::Timeout) | bit(QpAttr::RetryCnt);

const char* name_of(log::QpState state) {
  constexpr const char* kNames[] = {"RESET", "INIT", "RTR", "RTS", "ERROR"};
  return kNames[static_cast<unsigned>(state)];
}

}  // namespace

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

/// What no NIC of this kind can be asked for.
void PinsDevice::check_shape(const QpConfig& c) const {
  if (c.encap == Encapsulation::Ipv4) cannot("this NIC sends and accepts IPv6 only.");
  if (!std::has_single_bit(c.mtu) || c.mtu < 256 || c.mtu > 4096)
    cannot(fmt::format("mtu {} is none of 256, 512, 1024, 2048 and 4096.", c.mtu));
  if (c.evs.empty() || c.backup >= c.evs.size())
    wrong(fmt::format("{} entropy values with {} for backup leave none to use.", c.evs.size(), c.backup));
  if (c.own_class && (c.own_class->data > 63 || c.own_class->rtx > 63))
    wrong(fmt::format("a code point is 0 to 63, not {}.", std::max(c.own_class->data, c.own_class->rtx)));
  if (c.backup % planes_ != 0)
    cannot(fmt::format("backup is a multiple of {}, the number of planes, on this NIC, not {}.", planes_, c.backup));
  const auto groups = [&](size_t n) { return (n + planes_ - 1) / planes_; };
  if (groups(c.evs.size() - c.backup) + c.backup / planes_ > preset_.evs_per_qp / preset_.num_planes)
    cannot(fmt::format("{} entropy values are more than the {} of this NIC ({}).", c.evs.size(),
                       preset_.evs_per_qp / preset_.num_planes * planes_, preset_.name));
}

void PinsDevice::check(const QpConfig& c) const {
  const auto upto = [&](const char* name, unsigned value, unsigned min, unsigned max) {
    if (value < min || value > max)
      cannot(fmt::format("{} of queue pair {} is {} to {} on this NIC ({}), not {}.", name, c.qp, min, max,
                         preset_.name, value));
  };
  upto("mpr", c.mpr, 1, preset_.max_mpr / 128);
  upto("mpr_dest", c.mpr_dest, 1, preset_.max_mpr / 128);
  upto("max_wimm", c.max_wimm, 0, preset_.max_wimm);
  upto("max_wimm_dest", c.max_wimm_dest, 0, preset_.max_wimm);
  upto("timeout", c.timeout, 0, 24);
  upto("retry_linear", c.retry_linear, 0, 7);
  upto("retry_exp", c.retry_exp, 0, 25);
  check_shape(c);
}

/// Its class counts from INIT to RESET.
void PinsDevice::put_class(const OrderPtr& order, const QpConfig& c) {
  csr::TblQpClass own;
  own.own = c.own_class.has_value();
  if (own.own) {
    own.data = c.own_class->data;
    own.rtx = c.own_class->rtx;
  }
  uint32_t words[csr::TblQpClass::kWords];
  own.pack(words);
  row(order, csr::kTblQpClassId, c.qp - kQpnBase, words);
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

/// Whose entropy value of the queue pair stands at a place of the NIC's set; none: nobody named it.
std::optional<unsigned> PinsDevice::named_by(const QpConfig& c, unsigned slot) const {
  const unsigned n = preset_.num_planes, groups = preset_.evs_per_qp / n, backup = c.backup / planes_;
  const unsigned g = slot / n, p = slot % n;
  const auto active = static_cast<unsigned>(c.evs.size()) - c.backup;
  if (p >= planes_) return std::nullopt;
  if (g >= groups - backup) return active + (g - (groups - backup)) * planes_ + p;
  const unsigned i = g * planes_ + p;
  return i < active ? std::optional(i) : std::nullopt;
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

/// The controller that a destination needs for a queue pair; none: it has what it needs. A queue pair is refused before
/// anything is written for it. The window is never smaller than the largest packet of all its queue pairs.
std::optional<PinsDevice::Controller> PinsDevice::controller_for(const Qp& self, const QpConfig& c,
                                                                 unsigned dest) const {
  if (!c.controlled) return std::nullopt;
  const std::optional<Controller> now = dests_[dest] == c.peer_ip ? controllers_[dest] : std::nullopt;
  const bool same = now && now->numbers == c.nscc;
  if (same && c.mtu <= now->mtu) return std::nullopt;
  const auto used = [&](unsigned d) {
    return std::any_of(qps_.begin(), qps_.end(),
                       [&](const Qp& qp) { return &qp != &self && qp.known && qp.dest == d && qp.config.controlled; });
  };
  if (now && !same && used(dest))
    cannot("queue pairs to one NIC share a congestion controller, and another one has other numbers (nscc) for it.");
  Controller next{c.mtu, c.nscc, {}, 0};
  NsccParams params;
  put_numbers(c.nscc, params);
  params.rate_gbps = preset_.port_gbps * planes_;
  params.path_mtu = c.mtu;
  const auto real = nscc_resolve(params);
  if (!real) wrong(fmt::format("congestion control: {}: {}.", real.error().input, real.error().what));
  next.words = nscc_row(nscc_words(*real));
  settings_.apply(next.words);
  std::optional<unsigned> free;
  for (unsigned row = preset_.num_cc_profiles; row-- > 0;) {
    bool taken = false;
    for (unsigned d = 0; d < controllers_.size(); ++d) {
      if (!controllers_[d] || controllers_[d]->row != row) continue;
      next.row = row;
      if (controllers_[d]->words == next.words) return next;
      taken = taken || (d != dest && used(d));
    }
    if (!taken) free = row;
  }
  if (!free)
    cannot(fmt::format("this NIC ({}) holds {} settings of congestion control, and all are in use.", preset_.name,
                       preset_.num_cc_profiles));
  next.row = *free;
  return next;
}

void PinsDevice::put_controller(const OrderPtr& order, unsigned dest, const Controller& controller) {
  for (std::optional<Controller>& other : controllers_) {
    if (other && other->row == controller.row && other->words != controller.words) other.reset();  // nobody has it
  }
  row(order, csr::kTblCcProfileId, controller.row, controller.words);
  row(order, csr::kTblCcCtxId, dest, std::span(&controller.row, 1));
  controllers_[dest] = controller;
}

csr::TblQpCtx PinsDevice::row_of(const Qp& qp) const {
  const QpConfig& c = qp.config;
  csr::TblQpCtx row;
  row.mtu = static_cast<uint8_t>(std::countr_zero(c.mtu) - 8);
  row.encap = static_cast<uint8_t>(c.encap);
  row.ts = c.time_stamps;
  copy_qp_numbers(row, c);
  row.dyn_mpr = c.dynamic_mpr;
  row.cc = c.controlled;
  row.dest = static_cast<uint16_t>(qp.dest);
  row.profile = static_cast<uint8_t>(qp.profile);
  row.backup = static_cast<uint8_t>(c.backup / planes_);
  row.dqpn = c.peer_qp;
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

/// No row of QP_CTX yet: what is still on its way would count as the next connection's.
void PinsDevice::reset(const OrderPtr& order, Qp& qp) {
  const auto state = static_cast<uint32_t>(log::QpState::Reset);
  row(order, csr::kTblQpStateId, static_cast<unsigned>(&qp - qps_.data()), std::span(&state, 1));
  clear(qp);
}

/// It is in RESET: what was posted and not handed over is forgotten.
void PinsDevice::clear(Qp& qp) {
  const auto index = static_cast<QpIndex>(&qp - qps_.data());
  std::erase_if(works_, [&](const Work& w) { return w.wqe.qp == index; });
  const log::QpState seen = qp.seen;
  std::optional<csr::TblQpCtx> former = qp.known ? row_of(qp) : qp.former;
  qp = {};
  qp.seen = seen;
  qp.touched = true;
  qp.former = former;
}

/// Its former connection's row with state Reset: once that is taken, the queue pair stands in no list of before.
void PinsDevice::forget_former(const OrderPtr& order, Qp& qp) {
  if (!qp.former) return;
  qp.former->state = QpState::Reset;
  uint32_t words[csr::TblQpCtx::kWords];
  qp.former->pack(words);
  row(order, csr::kTblQpCtxId, static_cast<unsigned>(&qp - qps_.data()), words);
  qp.former.reset();
}

/// Its entropy values, which must be there before its row is.
void PinsDevice::put_evs(const OrderPtr& order, Qp& qp, const QpConfig& c) {
  std::vector<uint32_t> values;
  const unsigned profile = profile_for(qp, c, values);
  if (profiles_[profile] != values) {
    profiles_[profile] = values;
    for (unsigned i = 0; i < preset_.evs_per_qp; ++i)
      row(order, csr::kTblEvId, profile * preset_.evs_per_qp + i, std::span(&values[i], 1));
  }
  qp.config = c;
  qp.profile = profile;
  qp.known = qp.touched = true;
}

/// Where its path leads to, and the controller there: before its row names them.
void PinsDevice::put_dest(const OrderPtr& order, Qp& qp, const QpConfig& c) {
  const unsigned dest = dest_for(qp, c);
  const std::optional<Controller> controller = controller_for(qp, c, dest);
  if (dests_[dest] != c.peer_ip) {
    dests_[dest] = c.peer_ip;
    controllers_[dest].reset();
    const uint32_t mask = (1u << planes_) - 1;  // the peer has no more ports than the tester uses
    row(order, csr::kTblPeerPortsId, dest, std::span(&mask, 1));
  }
  if (controller) put_controller(order, dest, *controller);
  qp.dest = dest;
}

bool PinsDevice::connect(Qp& qp, const QpConfig& c) {
  check(c);
  const log::QpState from = qp.known ? qp.state : log::QpState::Reset;
  const OrderPtr order = begin("qp", false, c.qp);
  forget_former(order, qp);
  put_dest(order, qp, c);
  put_evs(order, qp, c);
  if (from < log::QpState::Init || c.state == log::QpState::Init) move(order, qp, log::QpState::Init, kInitAttributes);
  if (c.own_class) put_class(order, c);
  if (from < log::QpState::Rtr && c.state >= log::QpState::Rtr) move(order, qp, log::QpState::Rtr, kRtrAttributes);
  if (from < log::QpState::Rts && c.state >= log::QpState::Rts) move(order, qp, log::QpState::Rts, kRtsAttributes);
  deny_unnamed(order, c);
  qp.state = c.state;
  return end(order);
}

/// Each row of QP_CTX makes all entropy values good; the places that nobody named are not for use.
void PinsDevice::deny_unnamed(const OrderPtr& order, const QpConfig& c) {
  for (unsigned i = 0; i < preset_.evs_per_qp; ++i) {
    if (named_by(c, i)) continue;
    const uint32_t deny = i | 1u << 16;
    row(order, csr::kTblEvStateId, c.qp - kQpnBase, std::span(&deny, 1));
  }
}

/// CMD_STATUS of an order to modify is known: the queue pair is as wanted, or as it was before.
void PinsDevice::judged(const OrderPtr& order, Qp& qp, const Qp& before, const QpConfig& c, uint32_t status) {
  const uint32_t detail = csr::kCmdStatusDetail.get(status);
  switch (static_cast<CmdCode>(csr::kCmdStatusCode.get(status))) {
    case CmdCode::Ok:
      break;
    case CmdCode::BadTransition:
      order->done.refused = Refused::Transition;
      break;
    case CmdCode::MissingAttr:
      order->done.refused = Refused::Attributes;
      order->done.attributes = detail;
      break;
    case CmdCode::BadValue:
      order->done.refused = Refused::Value;
      order->done.attributes = 1u << detail;
      break;
    default:
      fail(fmt::format("the NIC refuses queue pair {} with code {}", c.qp, csr::kCmdStatusCode.get(status)));
  }
  if (order->done.refused != Refused::No) {
    qp.config = before.config;
    qp.profile = before.profile;
    qp.dest = before.dest;
    qp.known = before.known;
  } else if (c.state == log::QpState::Reset) {
    clear(qp);
  } else {
    qp.state = c.state;
    qp.known = true;
  }
}

Modified PinsDevice::modify(const QpConfig& c, uint32_t with) {
  need_open();
  Qp& qp = find(c.qp);
  check_shape(c);
  const Qp before = qp;
  qp.touched = true;
  const OrderPtr order = begin("modify", false, c.qp);
  const auto state = static_cast<uint32_t>(c.state);
  const unsigned index = c.qp - kQpnBase;
  if (c.state == log::QpState::Error || c.state == log::QpState::Reset) {
    driver_.row(csr::kTblQpStateId, index, std::span(&state, 1), [](uint32_t, unsigned) {});
  } else {
    if (c.state == log::QpState::Init) {
      forget_former(order, qp);
      put_evs(order, qp, c);
    }
    if (c.state == log::QpState::Rtr) put_dest(order, qp, c);
    qp.config = c;
    csr::TblQpCtx ctx = row_of(qp);
    ctx.state = static_cast<QpState>(state);
    uint32_t words[csr::TblQpCtx::kWords];
    ctx.pack(words);
    const csr::TblQpCtx kept = csr::TblQpCtx::unpack(words);
    if (kept.mpr != c.mpr || kept.mpr_dest != c.mpr_dest || kept.max_wimm != c.max_wimm ||
        kept.max_wimm_dest != c.max_wimm_dest || kept.timeout != c.timeout || kept.retry_linear != c.retry_linear ||
        kept.retry_exp != c.retry_exp) {
      qp = before;
      cannot(fmt::format("a value of queue pair {} does not fit into its row.", c.qp));
    }
    if (c.own_class && c.state == log::QpState::Rtr) put_class(order, c);  // of its path
    put(order, csr::kQpAttr, with);
    driver_.row(csr::kTblQpCtxId, index, words, [](uint32_t, unsigned) {});
  }
  driver_.read(csr::kCmdStatus,
               [this, order, &qp, before, c](uint32_t status, unsigned) { judged(order, qp, before, c, status); });
  if (c.state >= log::QpState::Init && c.state <= log::QpState::Rts) deny_unnamed(order, c);
  const bool waits = end(order);
  return {waits, order->done.refused, order->done.attributes};
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

bool PinsDevice::evprobe(uint32_t qpn, unsigned plane, uint32_t ev, std::optional<uint8_t> tc) {
  need_open();
  const Qp& qp = existing(qpn);
  plane_of(plane);
  if (tc.value_or(0) > 63) wrong(fmt::format("a code point is 0 to 63, not {}.", *tc));
  const OrderPtr order = begin("evprobe", false, qpn);
  put(order, csr::kEvpEv, ev);
  const uint32_t command = csr::kEvpCmdDest.set(csr::kEvpCmdPlane.set(0, plane), qp.dest) |
                           csr::kEvpCmdTc.set(0, tc.value_or(0)) | csr::kEvpCmdTcValid.set(0, tc.has_value());
  put(order, csr::kEvpCmd, command);
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
  wqe.qp = static_cast<QpIndex>(request.qp - kQpnBase);
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

}  // namespace mrc::tb
