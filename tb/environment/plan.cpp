// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/plan.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>
#include <unordered_set>

#include "gen/csr.hpp"
#include "protocol/nscc_config.hpp"
#include "tb/device/qp_numbers.hpp"

namespace mrc::tb {
namespace {

constexpr QpIndex kUnused = ~QpIndex{0};

U128 address(Rng& rng) { return U128{rng.next() | 0xfd00000000000000u} << 64 | rng.next(); }

void draw_side(SidePlan& side, const Preset& preset, const Scenario& s, Rng& rng) {
  side.mac = (rng.next() & 0xfcffffffffffu) | 0x020000000000u;
  side.ip = address(rng);
  for (uint32_t& ev : side.rev_ev) ev = static_cast<uint32_t>(rng.next());
  const uint64_t largest = uint64_t{s.size_max} + 4096;
  side.source_size = std::max<uint64_t>(1 << 20, 4 * largest);
  side.source_base = (rng.next() & 0x0000'7fff'ffff'f000u) | 0x0000'1000'0000'0000u;
  const uint64_t region_size = (std::max<uint64_t>(1 << 19, 4 * largest) + 63) / 64 * 64;
  const unsigned regions = std::min(preset.num_mrs, 8u);
  side.host_size = regions * region_size;
  side.host_base = (rng.next() & 0x7fff'ffff'ffff'f000u) | 0x1000'0000'0000'0000u;
  std::vector<unsigned> rows(preset.num_mrs);
  std::iota(rows.begin(), rows.end(), 0u);
  for (unsigned i = 0; i < regions; ++i) {
    std::swap(rows[i], rows[i + rng.below(rows.size() - i)]);
    const auto high = static_cast<uint32_t>(rng.below((1u << 24) / preset.num_mrs)) * preset.num_mrs;
    Region r;
    r.rkey = (high + rows[i]) << 8 | static_cast<uint32_t>(rng.below(256));
    r.va = (rng.next() & 0xffff'ffff'ffff'ffc0u) | 0x1'0000'0000u;
    if (r.va + region_size < r.va) r.va -= 2 * region_size;  // no wrap of the address space
    r.length = region_size;
    r.dest = i * region_size;
    r.gone = s.bad_access > 0 && regions > 2 && i + 1 == regions;
    side.regions.push_back(r);
    side.region_rows.push_back(rows[i]);
  }
}

void draw_profiles(SidePlan& side, const Preset& preset, const Scenario& s, Rng& rng) {
  std::unordered_set<uint32_t> used;
  side.profiles.resize(std::min(preset.num_profiles, 4u));
  side.profiles[0].udp = s.udp_share > 0 && side.profiles.size() > 1;
  for (SidePlan::Profile& profile : side.profiles) {
    const uint32_t bits = side.ev_mask(profile);
    if (rng.chance(s.generated)) {
      const bool field_expansion = profile.udp || rng.chance(0.5);
      uint32_t mask = static_cast<uint32_t>(rng.next() | rng.next()) & bits;
      if (!field_expansion) mask = 0;
      const uint64_t numbers = uint64_t{1} << std::popcount(mask);
      const auto max_val = static_cast<uint32_t>(rng.chance(0.7) ? rng.below(numbers) : numbers - 1);
      auto first = static_cast<uint32_t>(field_expansion ? rng.below(uint64_t{max_val} + 1) : rng.next() | 1);
      // Many begin so near to the last number that they go round.
      if (field_expansion && first % 4 != 0) first = max_val - std::min(first % preset.evs_per_qp, max_val);
      const uint64_t drawn = rng.next();
      const auto init = static_cast<uint32_t>(drawn) & bits;
      if (profile.udp && drawn >> 63 != 0) {  // AUTO, in the bits that travel
        profile.gen = {false, static_cast<uint32_t>(drawn >> 31) | 1, 0, init, bits};
      } else {
        profile.gen = {field_expansion, first, max_val, init, mask};
      }
      continue;
    }
    while (profile.list.size() < preset.evs_per_qp) {
      const auto ev = static_cast<uint32_t>(rng.next()) & bits;
      if (used.insert(ev).second) profile.list.push_back(ev);
    }
  }
}

void draw_controllers(SidePlan& side, const Preset& preset, const Scenario& s) {
  NsccParams params;
  params.rate_gbps = preset.port_gbps * preset.num_planes;
  params.path_mtu = 256u << s.mtu_max;
  // Both ways, with a full packet and a SACK stored and forwarded twice.
  params.base_rtt = static_cast<uint32_t>(s.cc_rtt_ns > 0 ? s.cc_rtt_ns : 2 * s.delay_ns + 2 * s.jitter_ns + 2000);
  params.disable_qa = s.cc_disable_qa;
  params.md_resets_fast = s.cc_md_resets_fast;
  params.nack_any_reason = s.cc_nack_any_reason;
  params.nack_sample_cfg = s.cc_nack_sample_cfg;
  params.nack_rtt = s.cc_nack_rtt;
  params.ar_shift = s.cc_ar_shift;
  if (s.cc_mtu > 0) params.mtu = s.cc_mtu;
  if (s.cc_eta > 0) params.eta = s.cc_eta;
  if (s.cc_fi > 0) params.fi = s.cc_fi;
  if (s.cc_alpha > 0) params.alpha = s.cc_alpha;
  if (s.cc_rate_gbps > 0) params.rate_gbps = s.cc_rate_gbps;
  if (s.cc_qa_threshold_ns > 0) params.qa_threshold = static_cast<uint32_t>(s.cc_qa_threshold_ns);
  if (s.cc_adjust_ns > 0) params.adjust_period_threshold = static_cast<uint32_t>(s.cc_adjust_ns);
  params.near_zero = static_cast<uint32_t>(s.cc_near_zero_ns);
  params.ewma_weight = s.cc_ewma_weight;
  for (unsigned i = 0; i < 2; ++i) {
    params.trimming = i == 0;
    const auto resolved = nscc_resolve(params);
    if (!resolved) {
      throw ScenarioError("scenario " + s.name + ": no such controller: " + resolved.error().what + ".",
                          resolved.error().remedy);
    }
    side.cc_profiles.push_back(nscc_row(nscc_words(*resolved)));
  }
  side.dests = std::min(s.dests, preset.num_dests);
}

/// Registers that both NICs have alike.
struct SharedRegisters {
  uint32_t ctrl = 0, ack_ctl = 0, udp_port = 0, ip_plane = 0, probe_kind = 0, dscp_tx = 0, dscp_trim = 0;
  uint32_t skip_ticks = 0;
};

/// Drawn from the plan's own stream, in this order; the others from theirs, in the order of their bits, so that the
/// rest of a seed's plan does not depend on how many switches there are.
constexpr const csr::Field* kFirstSwitches[] = {&csr::kCtrlEvSwap,  &csr::kCtrlBthM,      &csr::kCtrlSackBaseSelf,
                                                &csr::kCtrlOorDrop, &csr::kCtrlRttRtx,    &csr::kCtrlRevFixed,
                                                &csr::kCtrlNominal, &csr::kCtrlPortsFrom0};
/// Where CTRL ended when the others were drawn first: what came later has a stream of its own.
constexpr unsigned kLaterSwitches = csr::kCtrlZeroLength.lsb;
/// Drawn from a stream of its own again, and not at all where the scenario has it: who waits for gap, EV and timer.
bool newest_switch(const Switch& w) {
  return w.field->lsb >= csr::kCtrlPortWait.lsb || w.field == &csr::kCtrlSilenceWait;
}

const Switch& switch_of(const csr::Field& field) {
  return *std::ranges::find_if(kSwitches, [&](const Switch& w) { return w.field == &field; });
}

/// DSCP_TX and DSCP_TRIM. With vary all code points differ but that of endpoint requests, which may be that of data.
void draw_codes(SharedRegisters& r, const Scenario& s, Rng& rng, Rng& later) {
  std::array<uint32_t, 64> code{s.dscp_ctl, s.dscp_rtx, s.dscp_data, s.dscp_lasthop, s.dscp_trimmed};
  uint32_t ep = s.dscp_ep == Scenario::kAsData ? s.dscp_data : s.dscp_ep;
  uint32_t returned = s.dscp_returned;
  bool valid = s.dscp_returned_valid;
  if (s.vary && rng.chance(0.5)) {
    std::iota(code.begin(), code.end(), 0u);
    for (unsigned i = 0; i < 5; ++i) std::swap(code[i], code[i + rng.below(64 - i)]);
    constexpr unsigned kReturned = 5, kEp = 6;  // those behind the five are nobody's
    for (const unsigned i : {kReturned, kEp}) std::swap(code[i], code[i + later.below(64 - i)]);
    returned = code[kReturned];
    ep = later.chance(0.5) ? code[kEp] : code[2];
    valid = later.chance(0.5) && s.registers.empty();  // of a fabric: what is drawn here may be in use there
  }
  r.dscp_tx = csr::kDscpTxData.set(csr::kDscpTxRtx.set(csr::kDscpTxCtl.set(0, code[0]), code[1]), code[2]);
  r.dscp_tx = csr::kDscpTxEp.set(r.dscp_tx, ep);
  r.dscp_trim = csr::kDscpTrimTrimmed.set(csr::kDscpTrimLasthop.set(0, code[3]), code[4]);
  r.dscp_trim = csr::kDscpTrimReturned.set(csr::kDscpTrimReturnedValid.set(r.dscp_trim, valid), returned);
}

/// As the scenario says, or with vary as the seed does.
SharedRegisters draw_shared(const Scenario& s, Rng& rng, Rng& switches, Rng& later, Rng& newest) {
  SharedRegisters r;
  const auto draw = [&](Rng& from, const Switch& w) {
    // With err_silent retries would have to be allowed to end.
    const bool drawn = s.vary && w.field != &csr::kCtrlErrSilent && !(newest_switch(w) && w.get(s) != 0);
    r.ctrl = w.field->set(r.ctrl, drawn ? static_cast<uint32_t>(from.below(w.largest + 1)) : w.get(s));
  };
  for (const csr::Field* field : kFirstSwitches) draw(rng, switch_of(*field));
  const auto draw_others = [&](unsigned from_bit, unsigned to_bit) {
    for (const Switch& w : kSwitches) {
      const bool first = std::ranges::find(kFirstSwitches, w.field) != std::end(kFirstSwitches);
      if (!first && !newest_switch(w) && w.field->lsb >= from_bit && w.field->lsb < to_bit) draw(switches, w);
    }
  };
  draw_others(0, csr::kCtrlIcrcOuter.lsb);
  for (unsigned gone = 0; s.vary && gone < 2; ++gone) switches.below(2);  // two switches that were there
  const auto gap = [&](uint32_t fixed) {
    return s.vary && switches.chance(0.5) ? static_cast<uint32_t>(switches.below(64)) : fixed;
  };
  r.ack_ctl = csr::kAckCtlGap.set(r.ack_ctl, gap(s.ack_gap));
  r.ack_ctl = csr::kAckCtlArGap.set(r.ack_ctl, gap(s.ar_gap));
  draw_others(csr::kCtrlIcrcOuter.lsb, kLaterSwitches);
  for (const Switch& w : kSwitches) {
    if (w.field->lsb >= kLaterSwitches) draw(newest_switch(w) ? newest : later, w);
  }
  draw(newest, switch_of(csr::kCtrlSilenceWait));

  const bool drawn_only = s.vary && switches.below(2) != 0;
  r.ip_plane = csr::kIpPlaneEnable.set(0, s.vary ? static_cast<uint32_t>(switches.below(2)) : s.ip_plane);
  const bool draw_lsb = s.vary && switches.chance(0.5);
  r.ip_plane = csr::kIpPlaneLsb.set(r.ip_plane, draw_lsb ? static_cast<uint32_t>(switches.below(128)) : s.ip_plane_lsb);
  r.probe_kind = s.vary ? static_cast<uint32_t>(switches.below(3)) : s.probe_kind;

  r.udp_port = s.vary && rng.chance(0.5) ? static_cast<uint32_t>(rng.between(1024, 65535)) : s.udp_port;
  // Not drawn for a peer with another port: it would be left alone.
  r.udp_port = csr::kUdpPortOnly.set(r.udp_port, s.udp_only || (drawn_only && s.peer_port == 0));
  draw_codes(r, s, rng, later);
  r.skip_ticks = s.vary && later.chance(0.5) ? static_cast<uint32_t>(later.below(300)) : s.skip_ticks;
  return r;
}

/// The register SRV6: plane, then where the uplink number goes and how wide it is.
uint32_t srv6_word(uint64_t plane_lsb, uint64_t uplink_usid, uint64_t uplink_lsb, uint64_t uplink_bits) {
  const auto word = [](uint64_t value) { return static_cast<uint32_t>(value); };
  return csr::kSrv6PlaneLsb.set(0, word(plane_lsb)) | csr::kSrv6UplinkUsid.set(0, word(uplink_usid)) |
         csr::kSrv6UplinkLsb.set(0, word(uplink_lsb)) | csr::kSrv6UplinkBits.set(0, word(uplink_bits));
}

/// Everything that configure() writes but for regions and QPs.
void draw_registers(SidePlan& side, const Preset& preset, const Scenario& s, const SharedRegisters& shared, Rng& rng,
                    Rng& switches) {
  side.ctrl = shared.ctrl;
  side.udp_port = shared.udp_port;
  side.ip_plane = shared.ip_plane;
  side.dscp_tx = shared.dscp_tx;
  side.dscp_trim = shared.dscp_trim;
  side.ack_ctl = shared.ack_ctl;
  draw_profiles(side, preset, s, rng);
  draw_controllers(side, preset, s);
  side.reorder = csr::kReorderPkts.set(0, s.reorder_pkts) | csr::kReorderSameEv.set(0, s.same_ev);
  side.ep_ctl = csr::kEpCtlInterval.set(0, s.ep_ticks) | csr::kEpCtlRevProbe.set(0, s.rev_probe) |
                csr::kEpCtlRepeats.set(0, s.ep_repeats);
  side.port_stall = s.port_stall;
  if (s.share) {
    side.share = csr::kShareEnable.set(0, 1) | csr::kShareEpoch.set(0, s.share_epoch) |
                 csr::kShareLeast.set(0, s.share_least) | csr::kShareTrims.set(0, s.share_trims) |
                 csr::kSharePen.set(0, s.share_pen);
    side.share_drain = s.share_drain;
  }
  side.nak_code = csr::kNakCodeInvalid.set(0, s.nak_invalid) | csr::kNakCodeAccess.set(0, s.nak_access);
  side.rev_seed = s.vary && switches.chance(0.5) ? static_cast<uint32_t>(switches.next()) : s.rev_seed;
  side.ev_ctl = csr::kEvCtlMinActive.set(0, s.min_active) | csr::kEvCtlLossShare.set(0, s.loss_share) |
                csr::kEvCtlBadWaits.set(0, s.bad_waits) | csr::kEvCtlLostStays.set(0, s.lost_stays) |
                csr::kEvCtlOneCopy.set(0, s.one_copy) | csr::kEvCtlSkipTicks.set(0, shared.skip_ticks);
  side.ev_probe = csr::kEvProbeInterval.set(0, s.probe_ticks) | csr::kEvProbeSuccesses.set(0, s.probe_successes) |
                  csr::kEvProbeSkipGood.set(0, s.skip_good) | csr::kEvProbeCap.set(0, s.probe_cap) |
                  csr::kEvProbeKeepCount.set(0, s.probe_keep) | csr::kEvProbeKind.set(0, shared.probe_kind);
  side.backup = std::min(s.backup, preset.evs_per_qp / preset.num_planes - 1);
  side.sack_trigger = s.vary && rng.chance(0.5) ? static_cast<uint32_t>(rng.below(40000)) : s.sack_trigger;
  side.srv6 = srv6_word(s.srv6_plane_lsb, s.srv6_uplink_usid, s.srv6_uplink_lsb, s.srv6_uplink_bits);
  if (s.vary) {
    const uint64_t plane_lsb = rng.below(13), usid = rng.below(8), lsb = rng.below(8), bits = rng.below(9);
    side.srv6 = srv6_word(plane_lsb, usid, lsb, bits);
  }
}

/// What the two ends of a connection have in common, and what one says to the other: `a` at the device, `b` at the
/// peer.
void draw_connection(const Plan& plan, SidePlan::Qp& a, SidePlan::Qp& b, const Preset& preset, const Scenario& s,
                     Rng& rng) {
  const bool wrap = rng.chance(s.wrap_share);
  const auto psn = [&] { return static_cast<uint32_t>(wrap ? (1u << 24) - rng.between(1, 300) : rng.below(1u << 24)); };
  const auto msn = [&] {
    const auto drawn = static_cast<uint16_t>(wrap ? 65536 - rng.between(1, 12) : rng.below(65536));
    return s.msn_zero ? uint16_t{0} : drawn;
  };
  a.mtu = b.mtu = static_cast<unsigned>(rng.between(s.mtu_min, s.mtu_max));
  const bool srv6 = rng.chance(s.srv6_share), srh = rng.chance(s.srh_share);
  const bool udp = !srv6 && plan.dut.profiles[0].udp && rng.chance(s.udp_share);
  const Encap encap = srv6 ? (srh ? Encap::Srv6Srh : Encap::Srv6) : udp ? Encap::Udp : Encap::Ipv6;
  a.encap = b.encap = static_cast<unsigned>(encap);
  a.ts = b.ts = rng.chance(s.ts_share);
  const unsigned max_mpr = preset.max_mpr / 128;
  a.mpr = a.mpr_dest = s.mpr == 0 ? max_mpr : std::min(s.mpr, max_mpr);
  b.mpr = b.mpr_dest = s.peer_mpr == 0 ? a.mpr : std::min(s.peer_mpr, max_mpr);
  a.cc = b.cc = rng.chance(s.cc_share);
  a.pkey = b.pkey = static_cast<uint16_t>(rng.next());
  b.pkey = static_cast<uint16_t>((b.pkey & 0x7fff) | (rng.chance(0.5) ? 0x8000 : 0));  // membership may differ
  a.msn = b.msn = msn();
  a.rqmsn = b.rqmsn = msn();
  a.sq_psn = b.rq_psn = psn();
  b.sq_psn = a.rq_psn = psn();
  const auto profile = [&](const SidePlan& side) {
    if (udp) return 0u;
    const unsigned first = side.profiles[0].udp ? 1 : 0;
    return first + static_cast<unsigned>(rng.below(side.profiles.size() - first));
  };
  a.profile = profile(plan.dut);
  b.profile = profile(plan.peer);
}

/// Classes of QPs: with code points that mean nothing else.
void draw_class(SidePlan::Qp& q, const SidePlan& side, const Scenario& s, Rng& later) {
  q.own_class = later.chance(s.own_class) || q.fifo;
  if (!q.own_class) return;
  if (!s.classes.empty()) {
    std::tie(q.class_data, q.class_rtx) = s.classes[later.below(s.classes.size())];
    return;
  }
  std::vector<unsigned> free;
  for (unsigned code = 0; code < 64; ++code) {
    if (side.fits_data(code)) free.push_back(code);
  }
  q.class_data = free[later.below(free.size())];
  q.class_rtx = free[later.below(free.size())];
}

/// Upper bits of a QPN, of which the highest is 1: no frame to a QP that nobody has hits it by chance.
uint32_t draw_high(const Preset& preset, const Scenario& s, Rng& qpns) {
  if (!qpns.chance(s.qpn_share)) return 0;
  const uint32_t most = kQpnMask / preset.num_qps;
  return static_cast<uint32_t>(qpns.between(most / 2 + 1, most - 1));
}

/// What each end has for itself.
void draw_end(SidePlan::Qp& q, const SidePlan& side, const Preset& preset, const Scenario& s, Rng& rng) {
  q.trim_nack = s.vary ? rng.below(5) != 0 : s.trim_nack;
  q.svc_time = rng.chance(s.svc_share);
  q.dyn_mpr = s.dyn_mpr;
  q.timeout = s.rto;
  q.retry_linear = s.retry_linear;
  q.retry_exp = s.retry_exp;
  q.max_wimm = std::min(s.max_wimm, preset.max_wimm);
  q.max_wimm_dest = std::min(s.max_wimm_dest, preset.max_wimm);
  q.wimm_room = immediates_posted(side, q, s);
  q.dmac = rng.next() & 0xfeffffffffffu;
  q.template_address = U128{0x20011000u} << 96;
  const uint64_t usids = rng.between(1, 6);
  for (unsigned u = 0; u < usids; ++u) q.template_address |= U128{rng.between(1, 0x0fff)} << (80 - 16 * u);
}

csr::TblQpCtx qp_row(const SidePlan& side, unsigned index) {
  const SidePlan::Qp& q = side.qps[index];
  csr::TblQpCtx row;
  row.mtu = static_cast<uint8_t>(q.mtu);
  row.encap = static_cast<uint8_t>(q.encap);
  row.ts = q.ts;
  copy_qp_numbers(row, q);
  row.dyn_mpr = q.dyn_mpr;
  row.cc = q.cc;
  row.dest = static_cast<uint16_t>(q.dest);
  row.profile = static_cast<uint8_t>(q.profile);
  row.backup = static_cast<uint8_t>(side.backup);
  row.dqpn = side.peer_qpn(index);
  row.dmac = q.dmac;
  row.dip = q.dip;
  row.srv6 = q.template_address;
  return row;
}

constexpr uint32_t bit(QpAttr a) { return 1u << static_cast<unsigned>(a); }
constexpr uint32_t kInitAttributes = bit(QpAttr::EvProfile) | bit(QpAttr::CcProfile);
constexpr uint32_t kRtrAttributes =
    bit(QpAttr::Path) | bit(QpAttr::RqPsn) | bit(QpAttr::MaxWimmDest) | bit(QpAttr::MprDest) | bit(QpAttr::Caps);
constexpr uint32_t kRtsAttributes =
    bit(QpAttr::SqPsn) | bit(QpAttr::MaxWimm) | bit(QpAttr::Mpr) | bit(QpAttr::Timeout) | bit(QpAttr::RetryCnt);

void move_qp(Driver& driver, csr::TblQpCtx row, unsigned index, QpState state, uint32_t attributes,
             Driver::Done done = {}) {
  row.state = state;
  uint32_t words[csr::TblQpCtx::kWords];
  row.pack(words);
  driver.write(csr::kQpAttr, attributes);
  driver.row(csr::kTblQpCtxId, index, words, std::move(done));
}

}  // namespace

std::string random_stream(const char* what, bool is_dut) {
  return std::string(what) + (is_dut ? " of dut" : " of peer");
}

uint32_t SidePlan::ev_mask(const Profile& profile) const {
  if (!profile.udp) return ~0u;
  return csr::kCtrlEvSwap.get(ctrl) ? 0x0000ffffu : 0xffff0000u;
}

bool SidePlan::fits_data(unsigned code) const {
  return code != csr::kDscpTxCtl.get(dscp_tx) && code != csr::kDscpTrimTrimmed.get(dscp_trim) &&
         code != csr::kDscpTrimLasthop.get(dscp_trim) && code != csr::kDscpTrimReturned.get(dscp_trim);
}

wire::WireConfig SidePlan::wire() const {
  wire::WireConfig config;
  config.udp_port = static_cast<uint16_t>(csr::kUdpPortPort.get(udp_port));
  config.udp_port_only = csr::kUdpPortOnly.get(udp_port) != 0;
  config.bth_se_first = csr::kCtrlBthMHigh.get(ctrl) == 0;
  config.ev_swap = csr::kCtrlEvSwap.get(ctrl) != 0;
  config.eeth_op_high = csr::kCtrlEethOpHigh.get(ctrl) != 0;
  config.icrc_outer = csr::kCtrlIcrcOuter.get(ctrl) != 0;
  const auto code = [](uint32_t value) { return static_cast<uint8_t>(value); };
  config.dscp.trimmable = code(csr::kDscpTxData.get(dscp_tx));
  config.dscp.trimmable_retx = code(csr::kDscpTxRtx.get(dscp_tx));
  config.dscp.control = code(csr::kDscpTxCtl.get(dscp_tx));
  config.dscp.trimmed = code(csr::kDscpTrimTrimmed.get(dscp_trim));
  config.dscp.trimmed_lasthop = code(csr::kDscpTrimLasthop.get(dscp_trim));
  // A NIC that does not tell them apart takes them for what they are besides.
  const bool apart = csr::kDscpTrimReturnedValid.get(dscp_trim) != 0 &&
                     csr::kCtrlReturned.get(ctrl) != static_cast<uint32_t>(Returned::Peer);
  config.dscp.returned = apart ? code(csr::kDscpTrimReturned.get(dscp_trim)) : wire::kNoDscp;
  return config;
}

std::vector<std::string> SidePlan::wire_notes() const {
  std::vector<std::string> notes;
  if (csr::kCtrlTsrUs.get(ctrl)) notes.emplace_back("time stamps count 1.024 us (CTRL.tsr_us)");
  if (csr::kCtrlPortsFrom0.get(ctrl)) notes.emplace_back("port_status_mask: bit p is plane p (CTRL.ports_from_0)");
  const auto nominal = static_cast<Nominal>(csr::kCtrlNominal.get(ctrl));
  if (nominal == Nominal::Payload) notes.emplace_back("rcvd_bytes counts payload (CTRL.nominal)");
  if (nominal == Nominal::Payload40) notes.emplace_back("rcvd_bytes counts payload + 40 (CTRL.nominal)");
  return notes;
}

QpPlan SidePlan::requester_plan(const Qp& qp) const {
  QpPlan plan{.peer = qp.peer,
              .mtu = qp.mtu,
              .msn = qp.msn,
              .rqmsn = qp.rqmsn,
              .fails = qp.fails,
              .may_fail = qp.may_fail,
              .max_wimm = qp.max_wimm,
              .wimm_room = qp.wimm_room,
              .fifo = qp.fifo};
  plan.zero_legal = csr::kCtrlZeroLength.get(ctrl) == static_cast<uint32_t>(ZeroLength::Legal);
  plan.wimm_waits = csr::kCtrlWimmOver.get(ctrl) == static_cast<uint32_t>(WimmOver::Wait);
  return plan;
}

std::vector<QpPlan> SidePlan::requester_plan() const {
  std::vector<QpPlan> list;
  for (const Qp& qp : qps) {
    if (qp.peer == kUnused) break;  // used ones come first
    list.push_back(requester_plan(qp));
  }
  return list;
}

void set_registers(SidePlan& side, const std::vector<RegisterSetting>& settings) {
  const std::pair<uint32_t, uint32_t*> planned[] = {
      {csr::kCtrl, &side.ctrl},          {csr::kUdpPort, &side.udp_port},      {csr::kDscpTx, &side.dscp_tx},
      {csr::kDscpTrim, &side.dscp_trim}, {csr::kReorder, &side.reorder},       {csr::kSackTrigger, &side.sack_trigger},
      {csr::kSrv6, &side.srv6},          {csr::kEvCtl, &side.ev_ctl},          {csr::kEvProbe, &side.ev_probe},
      {csr::kEpCtl, &side.ep_ctl},       {csr::kNakCode, &side.nak_code},      {csr::kAckCtl, &side.ack_ctl},
      {csr::kRevSeed, &side.rev_seed},   {csr::kIpPlane, &side.ip_plane},      {csr::kPortStall, &side.port_stall},
      {csr::kShare, &side.share},        {csr::kShareDrain, &side.share_drain}};
  for (const RegisterSetting& s : settings) {
    const std::size_t dot = std::min(s.field.find('.'), s.field.size());
    const auto reg = std::ranges::find(csr::kRegisters, std::string_view(s.field).substr(0, dot), &csr::Register::name);
    const auto word = std::ranges::find_if(
        planned, [&](const auto& p) { return reg != std::end(csr::kRegisters) && p.first == reg->offset; });
    if (word == std::end(planned))
      throw ScenarioError("register " + s.field + ": no scenario sets it.",
                          "docs/reference/generated/csr.md lists registers.");
    if (reg->fields.empty() && dot == s.field.size()) {
      *word->second = s.value;
      continue;
    }
    const std::string name = s.field.substr(std::min(dot + 1, s.field.size()));
    const auto field = std::ranges::find_if(reg->fields, [&](const csr::Field& f) { return name == f.name; });
    if (field == reg->fields.end())
      throw ScenarioError("register " + s.field + ": there is no such field.",
                          "docs/reference/generated/csr.md lists them.");
    if (field->get(field->set(0, s.value)) != s.value)
      throw ScenarioError("register " + s.field + ": " + std::to_string(s.value) + " does not fit.",
                          "It has " + std::to_string(field->width) + " bits.");
    *word->second = field->set(*word->second, s.value);
  }
}

unsigned immediates_posted(const SidePlan& side, const SidePlan::Qp& q, const Scenario& s) {
  if (s.may_fail) return ~0u;
  const unsigned both = std::min(q.max_wimm, q.max_wimm_dest);
  // More than that wait in the requestor, unless the responder has less room than it.
  const bool wait = csr::kCtrlWimmOver.get(side.ctrl) == static_cast<uint32_t>(WimmOver::Wait);
  return wait && q.max_wimm != 0 && q.max_wimm <= q.max_wimm_dest ? both + s.wimm_extra : both;
}

Plan make_plan(const Preset& preset, const Scenario& s, uint64_t seed) {
  Rng rng(seed, "plan");
  Rng switches(seed,
               "switches");  // of its own: the rest of a seed's plan does not depend on how many switches there are
  Rng newest(seed, "newest registers");
  Rng later(seed, "later registers");  // of its own, too: what the NIC has learned since
  Rng qpns(seed, "QPNs");
  Plan plan;
  draw_side(plan.dut, preset, s, rng);
  draw_side(plan.peer, preset, s, rng);
  const SharedRegisters shared = draw_shared(s, rng, switches, later, newest);
  for (SidePlan* side : {&plan.dut, &plan.peer}) draw_registers(*side, preset, s, shared, rng, switches);
  for (SidePlan* side : {&plan.dut, &plan.peer}) set_registers(*side, s.registers);
  if (s.peer_port != 0) plan.peer.udp_port = csr::kUdpPortPort.set(plan.peer.udp_port, s.peer_port);

  // QPs: index i here, perm[i] there.
  const unsigned n = s.qps == 0 ? preset.num_qps : std::min(s.qps, preset.num_qps);
  std::vector<QpIndex> perm(n);
  std::iota(perm.begin(), perm.end(), QpIndex{0});
  for (unsigned i = 0; i + 1 < n; ++i) std::swap(perm[i], perm[i + rng.below(n - i)]);
  plan.dut.qps.resize(preset.num_qps, {.peer = kUnused});
  plan.peer.qps.resize(preset.num_qps, {.peer = kUnused});
  for (unsigned i = 0; i < n; ++i) {
    SidePlan::Qp& a = plan.dut.qps[i];
    SidePlan::Qp& b = plan.peer.qps[perm[i]];
    a = {.peer = perm[i]};
    b = {.peer = static_cast<QpIndex>(i)};
    draw_connection(plan, a, b, preset, s, rng);
    for (SidePlan::Qp* q : {&a, &b}) {
      q->dest = i % plan.dut.dests;
      const SidePlan& side = q == &a ? plan.dut : plan.peer;
      draw_end(*q, side, preset, s, rng);
      q->fifo = i + s.fifo_qps >= n;
      draw_class(*q, side, s, later);
      q->high = draw_high(preset, s, qpns);
    }
    a.peer_high = b.high;
    b.peer_high = a.high;
    a.dip = plan.peer.ip ^ a.dest;  // the peer answers to several addresses
    b.dip = plan.dut.ip ^ b.dest;
    if (i < s.bad_access) (i % 2 ? b : a).fails = true;
    a.may_fail = b.may_fail = s.may_fail || a.fails || b.fails;
  }
  return plan;
}

void configure(Driver& driver, const Preset& preset, const SidePlan& side, const Moving& moving) {
  const auto at = [](uint32_t offset) { return static_cast<uint16_t>(offset); };
  driver.write(at(csr::kCtrl), side.ctrl);
  driver.write(at(csr::kUdpPort), side.udp_port);
  driver.write(at(csr::kDscpTx), side.dscp_tx);
  driver.write(at(csr::kDscpTrim), side.dscp_trim);
  driver.write(at(csr::kNakCode), side.nak_code);
  driver.write(at(csr::kMacLo), static_cast<uint32_t>(side.mac));
  driver.write(at(csr::kMacHi), static_cast<uint32_t>(side.mac >> 32));
  for (unsigned i = 0; i < 4; ++i) driver.write(at(csr::kIp0 + 4 * i), static_cast<uint32_t>(side.ip >> (32 * i)));
  driver.write(at(csr::kIpPlane), side.ip_plane);
  driver.write(at(csr::kReorder), side.reorder);
  driver.write(at(csr::kEpCtl), side.ep_ctl);
  if (side.port_stall != csr::kPortStallReset) driver.write(at(csr::kPortStall), side.port_stall);
  if (side.share_drain != csr::kShareDrainReset) driver.write(at(csr::kShareDrain), side.share_drain);
  if (side.share != csr::kShareReset) driver.write(at(csr::kShare), side.share);
  driver.write(at(csr::kAckCtl), side.ack_ctl);
  driver.write(at(csr::kRevSeed), side.rev_seed);
  driver.write(at(csr::kEvCtl), side.ev_ctl);
  driver.write(at(csr::kEvProbe), side.ev_probe);
  driver.write(at(csr::kSackTrigger), side.sack_trigger);
  driver.write(at(csr::kSrv6), side.srv6);
  for (unsigned p = 0; p < preset.num_planes; ++p) driver.write(at(csr::kRevEv0 + 4 * p), side.rev_ev[p]);

  for (std::size_t i = 0; i < side.regions.size(); ++i) {
    const Region& r = side.regions[i];
    csr::TblMr row;
    row.rkey = r.rkey;
    row.valid = true;
    row.va = r.va;
    row.length = r.length;
    row.addr = side.host_base + r.dest;
    uint32_t words[csr::TblMr::kWords];
    row.pack(words);
    driver.row(csr::kTblMrId, side.region_rows[i], words);
    if (!r.gone) continue;
    row.valid = false;
    row.pack(words);
    driver.row(csr::kTblMrId, side.region_rows[i], words);
  }
  for (unsigned i = 0; i < side.profiles.size(); ++i) {
    const SidePlan::Profile& profile = side.profiles[i];
    if (profile.list.empty()) {
      driver.row(csr::kTblEvGenId, i, profile.gen);
      continue;
    }
    for (unsigned k = 0; k < preset.evs_per_qp; ++k) {
      driver.row(csr::kTblEvId, i * preset.evs_per_qp + k, std::span(&profile.list[k], 1));
    }
  }
  for (unsigned i = 0; i < side.cc_profiles.size(); ++i) driver.row(csr::kTblCcProfileId, i, side.cc_profiles[i]);
  for (uint32_t i = 0; i < side.dests; ++i) {
    const uint32_t profile = i % static_cast<uint32_t>(side.cc_profiles.size());
    driver.row(csr::kTblCcCtxId, i, std::span(&profile, 1));
  }
  for (unsigned i = 0; i < preset.num_qps; ++i) {
    if (side.qps[i].peer != kUnused) connect_qp(driver, side, i, moving);
  }
}

void connect_qp(Driver& driver, const SidePlan& side, unsigned index, const Moving& moving) {
  const csr::TblQpCtx row = qp_row(side, index);
  const auto move = [&](QpState state, uint32_t attributes) {
    if (moving) driver.before_next([moving, index, state] { moving(index, state); });
    move_qp(driver, row, index, state, attributes);
  };
  move(QpState::Init, kInitAttributes);
  if (const SidePlan::Qp& q = side.qps[index]; q.own_class) {
    csr::TblQpClass own;
    own.own = true;
    own.data = static_cast<uint8_t>(q.class_data);
    own.rtx = static_cast<uint8_t>(q.class_rtx);
    uint32_t words[csr::TblQpClass::kWords];
    own.pack(words);
    driver.row(csr::kTblQpClassId, index, words);
  }
  if (const uint32_t high = side.qps[index].high; high != 0) driver.row(csr::kTblQpQpnId, index, std::span(&high, 1));
  move(QpState::Rtr, kRtrAttributes);
  move(QpState::Rts, kRtsAttributes);
}

void force_rts(Driver& driver, const SidePlan& side, unsigned index, Driver::Done done) {
  move_qp(driver, qp_row(side, index), index, QpState::Rts, kRtsAttributes, std::move(done));
}

void renew_qp(Plan& plan, unsigned index, Rng& rng) {
  SidePlan::Qp& a = plan.dut.qps[index];
  SidePlan::Qp& b = plan.peer.qps[a.peer];
  a.sq_psn = b.rq_psn = static_cast<uint32_t>(rng.below(1u << 24));
  b.sq_psn = a.rq_psn = static_cast<uint32_t>(rng.below(1u << 24));
  a.msn = b.msn = static_cast<uint16_t>(rng.next());
  a.rqmsn = b.rqmsn = static_cast<uint16_t>(rng.next());
}

}  // namespace mrc::tb
