// SPDX-License-Identifier: Apache-2.0
/// What software decides before traffic: QPs, entropy values, memory regions, registers, for both NICs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gen/csr.hpp"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "protocol/qpn.hpp"
#include "tb/environment/driver.hpp"
#include "tb/environment/scenario.hpp"
#include "tb/environment/traffic.hpp"
#include "wire/packet.hpp"

namespace mrc::tb {

/// The name of a side's random stream (util/rng.hpp): what it is for, and whose.
std::string random_stream(const char* what, bool is_dut);

/// One NIC's share of the plan.
struct SidePlan {
  uint64_t mac = 0;
  U128 ip = 0;
  uint32_t ctrl = 0, dscp_tx = 0, dscp_trim = 0, udp_port = 0, reorder = 0, sack_trigger = 0, srv6 = 0;
  uint32_t ev_ctl = 0, ev_probe = 0, ep_ctl = 0, nak_code = 0, ack_ctl = 0, rev_seed = 1, ip_plane = 0;
  uint32_t port_stall = 0, share = csr::kShareReset, share_drain = csr::kShareDrainReset;
  unsigned backup = 0;  ///< groups of backup EVs
  std::array<uint32_t, kMaxPlanes> rev_ev{};
  /// An EV profile: listed (EXPLICIT), or a row of EV_GEN that lets the NIC fill it.
  struct Profile {
    bool udp = false;            ///< for QPs whose entropy is the UDP port alone: the other half is 0
    std::vector<uint32_t> list;  ///< empty: generated
    std::array<uint32_t, 5> gen{};
  };
  std::vector<Profile> profiles;
  std::vector<std::array<uint32_t, 16>> cc_profiles;
  unsigned dests = 1;  ///< destination indices in use
  struct Qp {
    QpIndex peer = 0;
    uint32_t high = 0, peer_high = 0;  ///< upper bits of its QPN and of the peer's: QP_QPN
    unsigned mtu = 0, encap = 0, mpr = 0, mpr_dest = 0, profile = 0, dest = 0;
    unsigned max_wimm = 0, max_wimm_dest = 0, wimm_room = 0, timeout = 0, retry_linear = 0, retry_exp = 0;
    bool ts = false, cc = false, trim_nack = true, svc_time = false, dyn_mpr = false;
    uint16_t pkey = 0, msn = 0, rqmsn = 0;
    uint32_t sq_psn = 0, rq_psn = 0;
    uint64_t dmac = 0;
    U128 dip = 0, template_address = 0;
    bool fails = false, may_fail = false;
    bool own_class = false;                  ///< it has one: QP_CLASS
    unsigned class_data = 0, class_rtx = 0;  ///< its code points
    bool fifo = false;                       ///< all its messages have 64 bytes
  };
  std::vector<Qp> qps;          ///< by QP index; unused ones have kUnused as peer
  std::vector<Region> regions;  ///< where the other side may write
  std::vector<unsigned> region_rows;
  uint64_t host_base = 0, source_base = 0, source_size = 0, host_size = 0;

  bool fits_data(unsigned code) const;  ///< neither control nor what switches trim has this code point (A-04, A-60)
  /// How to read the frames of a NIC with these registers.
  wire::WireConfig wire() const;
  /// What else the registers say about fields of frames, one sentence each.
  std::vector<std::string> wire_notes() const;

  unsigned rows() const { return static_cast<unsigned>(qps.size()); }
  uint32_t qpn(unsigned qp) const { return qpn_of(qp, qps[qp].high, rows()); }
  uint32_t peer_qpn(unsigned qp) const { return qpn_of(qps[qp].peer, qps[qp].peer_high, rows()); }
  /// The QP with that QPN, or rows().
  unsigned qp_of(uint32_t qpn) const {
    const QpIndex row = qpn_row(qpn, rows());
    return qpn_is(qpn, qps[row].high, rows()) ? row : rows();
  }

  std::vector<QpPlan> requester_plan() const;
  QpPlan requester_plan(const Qp& qp) const;
  uint32_t ev_mask(const Profile& profile) const;  ///< bits of an EV that may be set
};

/// So many WRITEs with immediate a QP's host lets be outstanding.
unsigned immediates_posted(const SidePlan& side, const SidePlan::Qp& q, const Scenario& scenario);

struct Plan {
  SidePlan dut, peer;
};

/// Sets fields of the registers that a plan has. Throws ScenarioError: it has none of that name, or the value does not
/// fit.
void set_registers(SidePlan& side, const std::vector<RegisterSetting>& settings);

/// Draws a plan. The same arguments give the same plan.
Plan make_plan(const Preset& preset, const Scenario& scenario, uint64_t seed);

/// Told that a QP's row is about to be written, and the state that it takes.
using Moving = std::function<void(unsigned index, QpState to)>;

/// Queues the register accesses that bring a NIC into the planned state.
void configure(Driver& driver, const Preset& preset, const SidePlan& side, const Moving& moving = {});

/// Queues the table writes that take QP `index` from RESET through INIT and RTR to RTS.
void connect_qp(Driver& driver, const SidePlan& side, unsigned index, const Moving& moving = {});
/// The last of these rows alone: a QP that is not in RTR must not take it. `done` gets the answer.
void force_rts(Driver& driver, const SidePlan& side, unsigned index, Driver::Done done);

/// New PSNs and MSNs for QP `index` of the device and its peer: for a new connection.
void renew_qp(Plan& plan, unsigned index, Rng& rng);

}  // namespace mrc::tb
