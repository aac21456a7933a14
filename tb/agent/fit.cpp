// SPDX-License-Identifier: Apache-2.0
#include "tb/agent/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "gen/csr.hpp"
#include "protocol/nscc_config.hpp"
#include "reference/profile.hpp"
#include "tb/device/qp_numbers.hpp"
#include "wire/bytes.hpp"

namespace mrc::tb {
namespace {

constexpr const char* kRemedy = "docs/guide/levels.md says which scenarios which NICs can play.";

[[noreturn]] void cannot_play(const std::string& sentence) { throw CannotPlay(sentence, kRemedy); }

void check_ports(const OpenNic& nic, const Preset& preset, const char* who) {
  if (nic.info.planes != preset.num_planes || nic.info.port_gbps != preset.port_gbps) {
    cannot_play(fmt::format("the {} has {} ports of {} Gb/s, preset {} has {} of {}.", who, nic.info.planes,
                            nic.info.port_gbps, preset.name, preset.num_planes, preset.port_gbps));
  }
  for (const char* half : {"requestor", "responder"}) {
    if (!nic.has(half)) cannot_play(fmt::format("the {} is no {}, and the bench needs both halves.", who, half));
  }
}

/// The fields of a register that are not as after reset.
void add_fields(NamedSettings& to, uint32_t offset, uint32_t value) {
  for (const csr::Register& r : csr::kRegisters) {
    if (r.offset != offset) continue;
    if (r.fields.empty() && value != r.reset) to.emplace_back(r.name, value);
    for (const csr::Field& f : r.fields) {
      if (f.get(value) != f.get(r.reset)) to.emplace_back(std::string(r.name) + "." + f.name, f.get(value));
    }
  }
}

std::array<uint32_t, 16> controller_row(const Preset& preset, unsigned mtu) {
  NsccParams params;
  params.rate_gbps = preset.port_gbps * preset.num_planes;
  params.path_mtu = mtu;
  return nscc_row(nscc_words(*nscc_resolve(params)));
}

/// What is different from the controller that a NIC has by itself.
void add_controller(NamedSettings& to, const SidePlan& side, const Preset& preset, const Scenario& s) {
  if (s.cc_share <= 0 || side.cc_profiles.empty()) return;
  const std::array<uint32_t, 16> common = controller_row(preset, 256u << s.mtu_max), &own = side.cc_profiles.front();
  for (const FieldInfo& f : csr::TblCcProfile::kFields) {
    if (std::string_view(f.name).starts_with("rsvd")) continue;
    const auto value = [&](const std::array<uint32_t, 16>& row) {
      uint64_t v = 0;
      for (unsigned i = 0; i < f.width; ++i) v |= uint64_t{row[(f.lsb + i) / 32] >> ((f.lsb + i) % 32) & 1} << i;
      return v;
    };
    if (value(own) != value(common)) to.emplace_back(std::string("CC_PROFILE.") + f.name, value(own));
  }
}

}  // namespace

log::Ip ip_bytes(U128 address) {
  log::Ip ip;
  wire::store_be<8>(ip.data(), static_cast<uint64_t>(address >> 64));
  wire::store_be<8>(ip.data() + 8, static_cast<uint64_t>(address));
  return ip;
}

bool OpenNic::has(std::string_view cap) const { return std::ranges::find(info.caps, cap) != info.caps.end(); }

Scenario fit(const Scenario& scenario, const Preset& preset, const OpenNic& dut, const OpenNic& peer,
             std::vector<std::string>& left_out) {
  check_ports(dut, preset, "device");
  check_ports(peer, preset, "peer");
  Scenario s = scenario;
  const auto leave = [&](const char* key, const std::string& why) {
    left_out.push_back(fmt::format("{}: {}", key, why));
  };
  const auto lacks = [&](const char* cap) -> std::string {
    if (!dut.has(cap)) return fmt::format("the device has no cap {}", cap);
    if (!peer.has(cap)) return fmt::format("the peer has no cap {}", cap);
    return {};
  };
  const auto share = [&](const char* key, auto& value, const char* cap) {
    const std::string why = lacks(cap);
    if (why.empty() || value == 0) return;
    value = 0;
    leave(key, why);
  };
  share("wrap_share", s.wrap_share, "psn");
  share("imm_share", s.imm_share, "write_imm");
  share("trim_nack", s.trim_nack, "trim_nack");
  share("ts_share", s.ts_share, "time_stamps");
  share("svc_share", s.svc_share, "svc_time");
  share("dyn_mpr", s.dyn_mpr, "dyn_mpr");
  share("cc_share", s.cc_share, "nscc");
  share("srv6_share", s.srv6_share, "srv6");
  share("srh_share", s.srh_share, "srh");
  share("bad_access", s.bad_access, "regions");
  share("own_class", s.own_class, "class");
  share("flap_us", s.flap_us, "ports");
  share("cut_planes", s.cut_planes, "ports");
  share("stall", s.stall, "host_pause");
  share("pause", s.pause, "host_pause");
  share("cqe_pause", s.cqe_pause, "host_pause");
  if (s.qpn_share > 0) leave("qpn_share", "QPNs are the devices' own");
  if (s.read_errors > 0) leave("read_errors", "hosts at these levels read all of their memory");
  if (s.write_errors > 0) leave("write_errors", "hosts at these levels write all of their memory");
  s.qpn_share = s.read_errors = s.write_errors = 0;
  if (s.stand_us > 0) leave("stand_us", "ports at these levels take what comes");
  s.stand_us = 0;
  if (s.fuzz_us > 0) leave("fuzz_us", "peers at these levels are legal");
  s.fuzz_us = 0;
  if (s.lives > 1) {
    if (const std::string why = lacks("reset"); !why.empty()) {
      leave("lives", why);
      s.lives = 1;
    }
  }
  if (s.csr_gap > 0) share("control", s.control, "ev_control");
  if (const std::string why = lacks("bytes"); !why.empty()) {
    std::vector<Impairment*> all{&s.link};
    for (LinkRule& rule : s.rules) all.push_back(&rule.what);
    bool rogue = false, no_bytes = false, corrupt = false;
    for (Impairment* what : all) {
      rogue = rogue || what->rogue > 0;
      no_bytes = no_bytes || what->no_bytes > 0;
      corrupt = corrupt || what->corrupt > 0;
      what->rogue = what->no_bytes = 0;
    }
    if (rogue) leave("rogue", why);
    if (no_bytes) leave("no_bytes", why);
    if (corrupt && s.mac_errors < 1) leave("mac_errors", why + ": the FCS tells of every flipped bit");
    s.mac_errors = 1;
  }
  if (s.dests > 1 && !lacks("any_address").empty()) {
    s.dests = 1;
    leave("dests", "there is one other NIC, and " + lacks("any_address"));
  }
  if (s.churn > 0) leave("churn", "rows of tables are no calls of docs/reference/device.md");
  if (s.ecc > 0) leave("ecc", "wrong bits in memories are no calls of docs/reference/device.md");
  s.ecc = s.ecc_two = 0;
  s.churn = 1e-9;  // no work requests for QPs that do not exist
  if (s.move_mpr && !s.dyn_mpr) leave("move_mpr", "a window moves with the capability dynamic MPR alone");
  s.move_mpr = false;
  if (s.udp_share > Scenario{}.udp_share)
    leave("udp_share", "entropy in the UDP port alone is no call of docs/reference/device.md");
  s.udp_share = 0;
  const unsigned qps = std::min({preset.num_qps, dut.info.qps, peer.info.qps});
  s.qps = s.qps == 0 ? qps : std::min(s.qps, qps);
  const unsigned room = std::min({preset.wqe_depth, dut.info.post, peer.info.post});
  s.outstanding = std::min(s.outstanding == 0 ? 16u : s.outstanding, std::max(1u, room));
  return s;
}

std::optional<uint32_t> reported(const std::string& profile, std::string_view setting) {
  const ref::Profile known = ref::read_profile(profile, "profile");
  for (const ref::Setting& s : ref::settings()) {
    if (setting == s.name) return s.get(known.settings);
  }
  return std::nullopt;
}

void fit_requestor(SidePlan& side, const Scenario& scenario, const OpenNic& nic, const NamedSettings& granted) {
  for (const csr::Field* field : {&csr::kCtrlZeroLength, &csr::kCtrlWimmOver}) {
    const std::string name = std::string("CTRL.") + field->name;
    const auto set = std::ranges::find(granted, name, &NamedSettings::value_type::first);
    const uint32_t otherwise = set == granted.end() ? field->reset : static_cast<uint32_t>(set->second);
    side.ctrl = field->set(side.ctrl, reported(nic.info.profile, name).value_or(otherwise));
  }
  for (SidePlan::Qp& q : side.qps) q.wimm_room = immediates_posted(side, q, scenario);
}

void fit(Plan& plan, const Preset& preset, const Scenario& scenario, const OpenNic& dut, const OpenNic& peer) {
  const unsigned mpr = std::min({preset.max_mpr / 128, dut.info.mpr, peer.info.mpr});
  const unsigned wimm = std::min({preset.max_wimm, dut.info.max_wimm, peer.info.max_wimm});
  const bool psn = dut.has("psn") && peer.has("psn"), pkey = dut.has("pkey") && peer.has("pkey");
  const bool own_class = dut.has("class") && peer.has("class");
  for (auto* side : {&plan.dut, &plan.peer}) {
    const OpenNic& nic = side == &plan.dut ? dut : peer;
    const std::size_t regions = std::max(1u, nic.info.regions);
    if (side->regions.size() > regions) {
      side->regions.resize(regions);
      side->region_rows.resize(regions);
    }
    for (SidePlan::Qp& q : side->qps) {
      q.mpr = std::min(q.mpr, mpr);
      q.mpr_dest = std::min(q.mpr_dest, mpr);
      q.max_wimm = std::min(q.max_wimm, wimm);
      q.max_wimm_dest = std::min(q.max_wimm_dest, wimm);
      q.wimm_room = immediates_posted(*side, q, scenario);
      if (!own_class) q.own_class = false;
      if (!pkey) q.pkey = 0xffff;
      if (!psn) q.sq_psn = q.rq_psn = q.msn = q.rqmsn = 0;
    }
  }
}

NamedSettings settings_of(const SidePlan& side, const Preset& preset, const Scenario& scenario) {
  NamedSettings list;
  add_fields(list, csr::kCtrl, side.ctrl);
  add_fields(list, csr::kUdpPort, side.udp_port);
  add_fields(list, csr::kDscpTx, side.dscp_tx);
  add_fields(list, csr::kDscpTrim, side.dscp_trim);
  add_fields(list, csr::kNakCode, side.nak_code);
  add_fields(list, csr::kIpPlane, side.ip_plane);
  add_fields(list, csr::kReorder, side.reorder);
  add_fields(list, csr::kEpCtl, side.ep_ctl);
  add_fields(list, csr::kAckCtl, side.ack_ctl);
  add_fields(list, csr::kRevSeed, side.rev_seed);
  add_fields(list, csr::kEvCtl, side.ev_ctl);
  add_fields(list, csr::kEvProbe, side.ev_probe);
  add_fields(list, csr::kSackTrigger, side.sack_trigger);
  add_fields(list, csr::kSrv6, side.srv6);
  if (side.share != csr::kShareReset) add_fields(list, csr::kShare, side.share);
  if (side.share_drain != csr::kShareDrainReset) add_fields(list, csr::kShareDrain, side.share_drain);
  add_controller(list, side, preset, scenario);
  return list;
}

void open_with(OpenNic& nic, OpenRequest request, std::vector<std::string>& refused) {
  try {
    nic.info = nic.device->open(request);
    return;
  } catch (const Refusal& refusal) {
    if (!refusal.unsupported || request.settings.empty()) throw;
  }
  NamedSettings taken;
  for (const auto& setting : request.settings) {
    OpenRequest one = request;
    one.settings = {setting};
    try {
      nic.device->open(one);
      taken.push_back(setting);
    } catch (const Refusal& refusal) {
      if (!refusal.unsupported) throw;
      refused.push_back(setting.first);
    }
  }
  request.settings = std::move(taken);
  nic.info = nic.device->open(request);
}

NamedSettings agreed(NamedSettings own, const std::string& dut_profile, const std::vector<std::string>& refused,
                     bool own_port) {
  std::erase_if(own, [&](const auto& s) { return std::ranges::find(refused, s.first) != refused.end(); });
  const ref::Profile dut = ref::read_profile(dut_profile, "profile of the device");
  const ref::Settings common;
  for (const ref::Setting& s : ref::settings()) {
    const std::string_view name = s.name;
    if (name == "SACK_TRIGGER.bytes" || (own_port && name.starts_with("UDP_PORT."))) continue;
    if (name.starts_with("LOSS.")) continue;  // what a requestor does with what it knows is its own
    const uint32_t value = s.get(dut.settings);
    const auto at = std::ranges::find(own, s.name, &NamedSettings::value_type::first);
    if (at != own.end()) {
      at->second = value;
    } else if (value != s.get(common)) {
      own.emplace_back(s.name, value);
    }
  }
  return own;
}

QpConfig qp_config(const SidePlan& side, const OpenNic& own, const OpenNic& other, uint64_t other_mac, unsigned index,
                   const NicDevice& device) {
  const SidePlan::Qp& q = side.qps[index];
  QpConfig c = device.qp_now(own.info.qp_first + index);
  c.qp = own.info.qp_first + index;
  c.state = log::QpState::Rts;
  c.peer_qp = other.info.qp_first + q.peer;
  c.peer_ip = ip_bytes(q.dip);
  c.peer_mac = other_mac;
  c.mtu = 256u << q.mtu;
  copy_qp_numbers(c, q);
  c.dynamic_mpr = q.dyn_mpr;
  c.time_stamps = q.ts;
  c.controlled = q.cc;
  c.own_class.reset();
  if (q.own_class) c.own_class = {static_cast<uint8_t>(q.class_data), static_cast<uint8_t>(q.class_rtx)};
  const auto encap = static_cast<Encap>(q.encap);
  c.encap = encap == Encap::Srv6      ? Encapsulation::Srv6
            : encap == Encap::Srv6Srh ? Encapsulation::Srh
                                      : Encapsulation::Ipv6;
  c.path = ip_bytes(q.template_address);
  const SidePlan::Profile& profile = side.profiles[q.profile];
  const unsigned planes = own.info.planes;
  if (!profile.list.empty()) {
    c.evs = profile.list;
    const std::size_t room = std::max<std::size_t>(planes, std::size_t{own.info.evs} / planes * planes);
    if (c.evs.size() > room) c.evs.resize(room);
  }
  const std::size_t groups = c.evs.size() / planes;
  c.backup = groups < 2 ? 0 : static_cast<unsigned>(std::min<std::size_t>(side.backup, groups - 1)) * planes;
  return c;
}

}  // namespace mrc::tb
