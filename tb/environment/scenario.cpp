// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "input/file.hpp"
#include "input/names.hpp"
#include "input/toml_tree.hpp"

namespace mrc::tb {
namespace {

#define KEY(name, min, max, integer, doc)                                         \
  ScenarioKey {                                                                   \
#name, doc, min, max, integer, [](Scenario & s) -> double& { return s.name; } \
  }
#define LINK(name, doc)                                                          \
  ScenarioKey {                                                                  \
#name, doc, 0, 1, false, [](Scenario & s) -> double& { return s.link.name; } \
  }
#define SWITCH(name, doc) KEY(name, 0, 1, true, doc)

const ScenarioKey kKeys[] = {
    KEY(qps, 0, 256, true, "QPs in use; 0: all of the preset"),
    SWITCH(dut_sends, "the device under test sends messages"),
    SWITCH(peer_sends, "the peer sends messages"),
    KEY(outstanding, 0, 64, true, "WQEs a QP has posted at once; 0: 16, or the preset's WqeDepth if that is less"),
    KEY(size_min, 1, 1048576, true, "smallest message, bytes"),
    KEY(size_max, 1, 1048576, true, "largest message, bytes"),
    KEY(small_share, 0, 1, false, "share of messages of 1 to 64 bytes"),
    KEY(exact_share, 0, 1, false, "share of messages of whole MTUs"),
    KEY(aligned_share, 0, 1, false, "share of messages with addresses that are multiples of 64"),
    KEY(imm_share, 0, 1, false, "share of WRITEs with immediate"),
    KEY(wqe_gap, 0, 1e6, false, "cycles between WQEs on average"),
    KEY(mtu_min, 0, 4, true, "smallest path MTU, 256 << m"),
    KEY(mtu_max, 0, 4, true, "largest path MTU, 256 << m"),
    KEY(srv6_share, 0, 1, false, "share of QPs with an SRv6 outer header"),
    KEY(ts_share, 0, 1, false, "share of QPs with a time stamp header"),
    KEY(srh_share, 0, 1, false, "share of the QPs with SRv6 that have a routing header"),
    KEY(udp_share, 0, 1, false, "share of the QPs without SRv6 whose entropy is the UDP source port alone"),
    KEY(generated, 0, 1, false, "share of the EV profiles that the NIC fills itself, AUTO or GENERATED"),
    KEY(mpr, 0, 32, true, "window in units of 128 PSNs; 0: the preset's MaxMpr"),
    KEY(peer_mpr, 0, 32, true, "window of the peer's QPs; 0: as mpr"),
    KEY(wrap_share, 0, 1, false, "share of QPs that start just before PSN, MSN and RQMSN wrap"),
    SWITCH(msn_zero, "MSN and RQMSN of every QP start at 0"),
    KEY(bad_wqes, 0, 1, false, "share of WQEs of an impossible length"),
    KEY(bad_access, 0, 256, true, "QPs on which one message leaves its memory region"),
    SWITCH(may_fail, "QPs may fail: retries end, the other side has failed"),
    KEY(rounds, 1, 100, true, "rounds of traffic; between them failed QPs and some others are connected anew"),
    KEY(max_wimm, 0, 32, true, "WRITEs with immediate a requestor may have outstanding; 0: none"),
    KEY(max_wimm_dest, 0, 32, true, "WRITEs with immediate a responder reorders; 0: it takes none"),
    KEY(cc_share, 0, 1, false, "share of QPs with a congestion controller"),
    KEY(dests, 1, 256, true, "destinations that the QPs are spread over"),
    KEY(cc_rtt_ns, 0, 1e6, false, "base round trip of the controllers; 0: what the links make of it"),
    SWITCH(cc_disable_qa, "CC_PROFILE: no quick adapt"),
    SWITCH(cc_md_resets_fast, "CC_PROFILE: a decrease ends fast increase"),
    SWITCH(cc_nack_any_reason, "CC_PROFILE: every NACK is congestion"),
    SWITCH(cc_nack_sample_cfg, "CC_PROFILE: a trim's sample is the configured round trip, not the smallest seen"),
    SWITCH(cc_nack_rtt, "CC_PROFILE: a NACK may lower the base round trip"),
    KEY(cc_ar_shift, 0, 7, true, "CC_PROFILE: AckReq when less than the window / 2^n is left; 0: less than a packet"),
    KEY(cc_mtu, 0, 16383, true, "CC_PROFILE: bytes of a full packet, floor of the window; 0: path MTU + 92"),
    KEY(cc_eta, 0, 1e6, false, "CC_PROFILE: bytes added to the window per period; 0: the default"),
    KEY(cc_fi, 0, 1e6, false, "CC_PROFILE: gain of the fair increase, bytes; 0: the default"),
    KEY(cc_alpha, 0, 1e6, false, "CC_PROFILE: gain of the proportional increase, bytes per 128 ns; 0: the default"),
    KEY(cc_rate_gbps, 0, 1600, false, "CC_PROFILE: rate that the largest window is made of; 0: the ports' together"),
    KEY(cc_qa_threshold_ns, 0, 1e6, false, "CC_PROFILE: a longer delay triggers quick adapt; 0: the default"),
    KEY(cc_adjust_ns, 0, 1e6, false, "CC_PROFILE: period of adjustment; 0: the base round trip"),
    KEY(cc_near_zero_ns, 0, 1e6, false, "CC_PROFILE: a smaller delay counts as none"),
    KEY(cc_ewma_weight, 0, 1, false, "CC_PROFILE: weight of a new delay sample"),
    LINK(loss, "frames lost"),
    LINK(trim, "data frames trimmed"),
    LINK(lasthop, "share of the trimmed frames with the last hop's code point"),
    LINK(ecn, "data frames and reliability probes marked CE"),
    LINK(corrupt, "frames with flipped bits"),
    LINK(duplicate, "frames delivered twice"),
    LINK(rogue, "frames followed by an altered copy that must have no effect"),
    LINK(reorder, "frames delayed by up to reorder_ns"),
    LINK(penalty, "SACKs given a window penalty or its end, as responders of another make may send them"),
    LINK(no_bytes, "WRITEs of one packet that lose their payload, with a right ICRC: their QP may fail"),
    KEY(delay_ns, 100, 1e6, false, "delay of a link"),
    KEY(jitter_ns, 0, 1e6, false, "random delay of every frame on top"),
    KEY(skew_ns, 0, 1e6, false, "constant extra delay per entropy value, up to this"),
    KEY(reorder_ns, 0, 1e6, false, "largest extra delay of reordered frames"),
    KEY(trim_size, 0, 4084, true, "bytes left of a trimmed frame; 0: 128, 206, 256 or 4084 at random"),
    KEY(trim_lengths, 0, 2, true, "length fields that a trimming switch rewrites: 0 none, 1 the outermost IP's, 2 all"),
    KEY(mac_errors, 0, 1, false, "share of the corrupted frames whose FCS is wrong"),
    KEY(read_ns, 0, 1e5, false,
        "latency of host memory reads; with read_jitter_ns 0 too: what the preset's prefetch hides"),
    KEY(read_jitter_ns, 0, 1e5, false, "random latency on top"),
    KEY(stall, 0, 0.99, false, "share of cycles in which the host takes nothing"),
    KEY(pause, 0, 10, false, "long pauses of the host's writes per microsecond"),
    KEY(pause_ns, 0, 1e5, false, "length of such a pause"),
    KEY(cqe_pause, 0, 10, false, "times per microsecond that the host stops to take completions"),
    KEY(cqe_pause_ns, 0, 1e5, false, "for so long"),
    KEY(rto, 0, 24, true, "QP attribute TIMEOUT: timer 1.024 us x 2^rto"),
    KEY(backup, 0, 31, true, "groups of backup EVs at the end of each profile"),
    KEY(min_active, 0, 511, true, "register EV_CTL: EVs that stay in use whatever they lose"),
    KEY(probe_ticks, 1, 65535, true, "register EV_PROBE: first interval of the probes of a bad EV, 128 ns"),
    KEY(retry_linear, 0, 7, true, "QP attribute RETRY_CNT: retries at the same interval before it doubles"),
    KEY(retry_exp, 0, 25, true, "QP attribute RETRY_CNT: further retries; 25: for ever"),
    SWITCH(same_ev, "register REORDER: the oldest gap is lost once a later packet of its EV has arrived"),
    KEY(svc_share, 0, 1, false, "share of QPs with the capability SVC_TIME"),
    SWITCH(dyn_mpr, "dynamic MPR, changed at random while traffic runs"),
    SWITCH(move_mpr, "responders' windows are changed even if their SACKs do not carry them"),
    KEY(ep_ticks, 1, 65535, true, "register EP_CTL: endpoint requests are repeated after so long, 128 ns"),
    KEY(ep_repeats, 0, 15, true, "register EP_CTL: times that a port status update is sent again; 15: for ever"),
    KEY(rev_seed, 0, 4294967295.0, true, "register REV_SEED: entropy values of reverse-path probes go on from it"),
    SWITCH(rev_probe, "register EP_CTL: reverse paths of destinations that only send are probed"),
    SWITCH(err_silent, "register CTRL"),
    SWITCH(rtt_rtx, "register CTRL"),
    SWITCH(rev_fixed, "register CTRL"),
    SWITCH(ack_plane, "register CTRL"),
    KEY(nominal, 0, 2, true, "register CTRL: 0 UDP length + 40, 1 payload, 2 payload + 40"),
    SWITCH(ports_from_0, "register CTRL"),
    SWITCH(bth_m_high, "register CTRL"),
    SWITCH(eeth_op_high, "register CTRL"),
    SWITCH(tsr_us, "register CTRL"),
    SWITCH(pdcid_zero, "register CTRL"),
    SWITCH(ack_with_sack, "register CTRL"),
    SWITCH(zero_drop, "register CTRL"),
    SWITCH(skip_twice, "register CTRL"),
    SWITCH(icrc_outer, "register CTRL"),
    SWITCH(trim_silent, "register CTRL"),
    SWITCH(state_silent, "register CTRL"),
    KEY(probe_cap, 0, 14, true, "register EV_PROBE: doublings of the probe interval at most"),
    SWITCH(probe_keep, "register EV_PROBE: a failed probe leaves the count of answers in a row"),
    SWITCH(skip_good, "register EV_PROBE: answers with SKIP_ONCE revive to 0 SKIP, 1 GOOD"),
    KEY(probe_successes, 1, 7, true, "register EV_PROBE: answers in a row that revive an EV"),
    KEY(probe_kind, 0, 2, true, "register EV_PROBE: probes that revive, 0 either kind, 1 EV probes, 2 reliability probes"),
    KEY(nak_invalid, 96, 127, true, "register NAK_CODE: syndrome for a WRITE of no bytes, an immediate too many"),
    KEY(nak_access, 96, 127, true, "register NAK_CODE: syndrome for a WRITE beyond its memory region"),
    KEY(dscp_data, 0, 63, true, "register DSCP_TX; the five code points differ"),
    KEY(dscp_rtx, 0, 63, true, "register DSCP_TX"),
    KEY(dscp_ctl, 0, 63, true, "register DSCP_TX"),
    KEY(dscp_trimmed, 0, 63, true, "register DSCP_TRIM, and what switches write"),
    KEY(dscp_lasthop, 0, 63, true, "register DSCP_TRIM, and what last switches write"),
    KEY(srv6_plane_lsb, 0, 15, true, "register SRV6: bit of the plane number in every uSID"),
    KEY(srv6_uplink_usid, 0, 7, true, "register SRV6: uSID that takes the uplink number"),
    KEY(srv6_uplink_lsb, 0, 15, true, "register SRV6: bit of the uplink number there"),
    KEY(srv6_uplink_bits, 0, 15, true, "register SRV6: width of the uplink number; 0: none"),
    KEY(ack_gap, 0, 65535, true, "register ACK_CTL: least cycles between two semantic ACKs"),
    KEY(ar_gap, 0, 65535, true, "register ACK_CTL: least cycles between two AckReqs of QPs with nothing more to send"),
    KEY(reorder_pkts, 1, 32767, true, "register REORDER: packets above a gap before it counts as lost"),
    KEY(sack_trigger, 0, 1048575, true, "register SACK_TRIGGER, bytes"),
    SWITCH(sack_base_self, "register CTRL"),
    SWITCH(oor_drop, "register CTRL"),
    SWITCH(trim_nack, "capability TRIM_NACK"),
    SWITCH(ev_swap, "register CTRL"),
    SWITCH(bth_m, "register CTRL"),
    KEY(udp_port, 1, 65535, true, "register UDP_PORT: sent, and received"),
    SWITCH(udp_only, "register UDP_PORT: no other port is received, 4791 and 4971 neither"),
    KEY(peer_port, 0, 65535, true, "register UDP_PORT of the peer; 0: as udp_port"),
    SWITCH(ip_plane, "register IP_PLANE: one address per plane"),
    KEY(ip_plane_lsb, 0, 127, true, "register IP_PLANE: lowest of the three bits that hold the number of the plane"),
    SWITCH(
        vary,
        "draw the registers of open choices from the seed: CTRL, UDP_PORT, IP_PLANE, code points, SRV6, SACK_TRIGGER, "
        "ACK_CTL, REV_SEED, probe_kind"),
    KEY(csr_gap, 0, 1e9, false, "cycles between register accesses during traffic; 0: none"),
    KEY(churn, 0, 1, false, "share of the register accesses that write table rows: EVs in use, unused QPs and regions"),
    KEY(flap_us, 0, 1e6, false, "mean time between two failures of a port of the device; 0: none"),
    KEY(flap_down_us, 0, 1e6, false, "mean time that a port stays down"),
    SWITCH(peer_flap, "the peer's ports fail as well"),
    KEY(cut_planes, 0, 8, true, "ports of the device that go down at cut_us, all but one or all of them if so many"),
    KEY(cut_us, 0, 1e9, false, "when they go down, after the beginning of traffic"),
    KEY(back_us, 0, 1e9, false, "when they come back; 0: never"),
    KEY(control, 0, 1, false,
        "share of the register accesses that are a controller's: EVs denied and allowed, EV probes"),
    ScenarioKey{"hang_us", "a hang is no progress for so long; 0: 40 timer intervals", 100, 1e9, false,
                [](Scenario& s) -> double& { return s.hang_us; }, nullptr, nullptr, nullptr, true},
};
#undef KEY
#undef LINK
#undef SWITCH

struct Row {
  const char* name;
  const char* description;
  const char* settings;  // "key value key value ..."
};
constexpr Row kScenarios[] = {
    {"clean", "nothing is lost or changed: line rate, two directions",
     "size_min 4096 size_max 65536 mtu_min 4 mtu_max 4 small_share 0 exact_share 0 wrap_share 0 csr_gap 0 imm_share "
     "0.1"},
    {"reorder", "paths of different length, a tenth of the frames delayed by up to 4 us",
     "jitter_ns 200 skew_ns 600 reorder 0.1 reorder_ns 4000 reorder_pkts 200 rto 5"},
    {"loss", "two in a hundred frames lost, control packets as well", "loss 0.02 wrap_share 1 reorder_pkts 32"},
    {"trim", "five in a hundred data frames trimmed to 128, 206, 256 or 4084 bytes, some on the last hop",
     "trim 0.05 lasthop 0.3 srv6_share 0.7 ts_share 0.7"},
    {"ecn", "a tenth of the data frames marked CE", "ecn 0.1 jitter_ns 50 vary 1"},
    {"corrupt", "flipped bits, duplicates and altered copies",
     "corrupt 0.02 duplicate 0.01 rogue 0.02 jitter_ns 50 wrap_share 1"},
    {"mixed", "a little of everything, mixed message and packet sizes, a host that pauses",
     "size_max 131072 loss 0.002 trim 0.01 lasthop 0.2 ecn 0.02 corrupt 0.002 duplicate 0.002 rogue 0.002 reorder 0.01 "
     "jitter_ns 50 skew_ns 200 stall 0.05 pause 0.02 vary 1 churn 0.3 reorder_pkts 32"},
    {"immediate", "WRITEs with immediate only, through reordering and loss",
     "imm_share 1 size_max 8192 loss 0.003 reorder 0.05 jitter_ns 200 skew_ns 300 wrap_share 1 stall 0.1 reorder_pkts "
     "32"},
    {"many-qps", "every QP of the preset, small messages, loss and trimming",
     "qps 0 size_max 4096 small_share 0.4 loss 0.002 trim 0.005 ecn 0.01 jitter_ns 100 wrap_share 1 vary 1 outstanding "
     "20 generated 0.8 udp_share 0.4 reorder_pkts 32"},
    {"slow-host", "a host that is often busy: back-pressure and full buffers",
     "stall 0.3 pause 0.06 pause_ns 4000 rto 6 mtu_min 3 size_min 2048 exact_share 0 small_share 0.02"},
    {"late-data", "immediates, duplicates, a host that pauses: no completion before its data",
     "imm_share 0.6 size_min 64 size_max 2048 loss 0.003 reorder 0.05 jitter_ns 200 skew_ns 300 wrap_share 1 stall 0.3 "
     "pause 0.2 pause_ns 1500 cqe_pause 0.02 cqe_pause_ns 8000 duplicate 0.05 rto 1 reorder_pkts 32"},
    {"link-flap", "ports of both NICs go down and come up, peers are told; tables are rewritten meanwhile",
     "flap_us 25 flap_down_us 10 peer_flap 1 hang_us 4000 jitter_ns 300 qps 3 csr_gap 300 churn 0.7 vary 1 ep_ticks 12 "
     "control 0.2"},
    {"plane-loss", "one port of the device goes down under full load and stays down",
     "qps 8 cut_planes 1 cut_us 15 size_min 4096 mtu_min 4 small_share 0 exact_share 0 wrap_share 0 csr_gap 0 "
     "imm_share 0.1 "
     "ep_ticks 40 rto 4"},
    {"few-updates", "ports go down and come up, a fifth of all frames is lost, and peers are told once more at most",
     "flap_us 25 flap_down_us 10 peer_flap 1 hang_us 4000 loss 0.2 qps 3 size_max 8192 ep_ticks 12 ep_repeats 1 "
     "rto 3 reorder_pkts 32"},
    {"plane-addresses", "a NIC has one address per plane; ports go down and come up, destinations are probed",
     "ip_plane 1 flap_us 40 flap_down_us 10 peer_flap 1 hang_us 4000 jitter_ns 100 qps 4 dests 2 srh_share 0.5 "
     "ep_ticks 12 control 0.2 csr_gap 500 loss 0.002 trim 0.01 ecn 0.02 reorder_pkts 32"},
    {"refused", "WQEs and messages that must be refused: lengths, memory regions, dead QPs",
     "bad_wqes 0.1 bad_access 3 size_max 8192 jitter_ns 100 loss 0.002"},
    {"bad-ev",
     "one entropy value in eight loses a third of its frames: bad ones leave use, backups come in, probes go out",
     "backup 3 probe_ticks 40 jitter_ns 50 rto 4 imm_share 0.1 reorder_pkts 32"},
    {"probe-revive", "a third of the entropy values is bad for a while: probes bring them back",
     "backup 1 probe_ticks 20 probe_cap 1 jitter_ns 50 rto 3 min_active 2 imm_share 0.1 control 0.3 csr_gap 500 "
     "reorder_pkts 32"},
    {"incast-trim", "a fabric that trims and marks in bursts, answered by congestion control",
     "cc_share 1 ts_share 1 trim 0.02 ecn 0.05 penalty 0.05 jitter_ns 1500 reorder_pkts 64 cc_rtt_ns 2000 size_min "
     "4096 "
     "mtu_min 2 small_share 0.05 svc_share 0.5"},
    {"penalty", "a SACK for every small packet, and responders that shut and open the window all the time",
     "cc_share 1 ts_share 1 sack_trigger 0 penalty 0.3 ecn 0.05 jitter_ns 50 size_min 64 size_max 4096 mtu_max 2 "
     "small_share 0 "
     "exact_share 0"},
    {"many-peers", "as many destinations as there are QPs, each with its controller",
     "cc_share 0.8 ts_share 0.8 dests 256 qps 0 trim 0.01 ecn 0.02 loss 0.002 jitter_ns 100 vary 1 same_ev 1 size_max "
     "16384 reorder_pkts 32"},
    {"retry-exhaust", "nothing gets through for a while: retries end, QPs fail, and are connected anew",
     "may_fail 1 retry_linear 2 retry_exp 1 rto 2 rounds 2 size_max 8192 jitter_ns 50 cc_share 0.5 backup 1 hang_us "
     "3000"},
    {"qp-error", "QPs fail on one message or on one immediate too many, and are connected anew",
     "may_fail 1 bad_access 2 max_wimm 3 max_wimm_dest 2 outstanding 5 imm_share 0.42 rounds 4 size_max 8192 jitter_ns "
     "100 loss 0.002 "
     "cc_share 0.5 wrap_share 1 err_silent 0 retry_linear 5 retry_exp 2"},
    {"no-bytes",
     "WRITEs lose their payload on the way and have a right ICRC: refused, or dropped; QPs are connected anew",
     "may_fail 1 no_bytes 0.02 rounds 3 size_max 4096 small_share 0.3 jitter_ns 100 loss 0.002"},
    {"dynamic-mpr", "the responder's window grows and shrinks while packets are in flight",
     "dyn_mpr 1 control 0.9 delay_ns 5000 qps 2 mtu_max 0 size_min 4096 small_share 0 loss 0.01 rto 6 csr_gap 400 "
     "jitter_ns 50 reorder_pkts 32"},
    {"soak", "everything at random",
     "size_max 131072 loss 0.002 trim 0.01 lasthop 0.2 ecn 0.02 corrupt 0.001 duplicate 0.002 rogue 0.002 reorder "
     "0.005 "
     "jitter_ns 50 skew_ns 200 stall 0.03 pause 0.02 cqe_pause 0.005 vary 1 churn 0.4 control 0.2 csr_gap 1000 flap_us "
     "300 "
     "flap_down_us "
     "20 peer_flap 1 cc_share 0.5 dests 3 backup 1 probe_ticks 100 dyn_mpr 1 same_ev 1 svc_share 0.5 ep_ticks 60 "
     "reorder_pkts 32"},
    {"rto", "a tenth of all frames lost: timers, retries with growing intervals",
     "loss 0.1 rto 2 retry_linear 1 size_max 4096 jitter_ns 50 reorder_pkts 32"},
    {"bad-plane", "one plane loses a fifth of its frames, and one entropy value in twenty half of them",
     "jitter_ns 50 reorder_pkts 32"},
    {"long", "links of 5 us and small packets: full windows, losses inside them",
     "delay_ns 5000 qps 4 mtu_max 1 size_min 1024 small_share 0 loss 0.005 jitter_ns 100 rto 6 reorder_pkts 32"},
    {"window", "as long; the peer believes in a larger window than the responder keeps",
     "delay_ns 5000 qps 2 mtu_max 0 size_min 4096 small_share 0 mpr 1 peer_mpr 2 loss 0.003 reorder_pkts 300 rto 6"},
};

// QPs of a scenario unless it says otherwise: enough to fill eight planes.
constexpr double kDefaultQps = 32;

Scenario built(const Row& row) {
  Scenario s;
  s.name = row.name;
  s.description = row.description;
  s.qps = kDefaultQps;
  std::istringstream in(row.settings);
  std::string key;
  double value = 0;
  while (in >> key >> value) set_key(s, key, value, "scenario " + s.name);
  if (s.name == "bad-ev") s.rules.push_back({.ev_share = 0.125, .what = {.loss = 0.33}});
  if (s.name == "probe-revive") {
    s.rules.push_back({.ev_share = 0.33, .until_us = 60, .what = {.loss = 0.5}});
    s.rules.push_back({.what = {.ecn = 0.02}});
  }
  if (s.name == "incast-trim") {
    for (double at = 20; at < 1000; at += 40) {
      s.rules.push_back(
          {.from_us = at, .until_us = at + 8, .what = {.trim = 0.5, .lasthop = 0.2, .ecn = 0.5, .penalty = 0.05}});
    }
  }
  if (s.name == "qp-error") {  // slow paths: immediates overtake earlier ones until the responder holds too many
    s.rules.push_back({.ev_share = 0.2, .what = {.loss = 0.01, .reorder = 0.5}});
  }
  if (s.name == "retry-exhaust") {
    s.rules.push_back({.from_us = 8, .until_us = 55, .what = {.loss = 1}});
  }
  if (s.name == "bad-plane") {
    s.rules.push_back({.planes = 1u << 1, .what = {.loss = 0.2}});
    s.rules.push_back({.ev_share = 0.05, .what = {.loss = 0.5}});
  }
  return s;
}

/// Keys that say what a link does to frames: those that a rule may have.
bool of_link(const ScenarioKey& key) {
  Scenario s;
  const auto* begin = reinterpret_cast<const char*>(&s.link);
  const auto* at = reinterpret_cast<const char*>(&key.number(s));
  return at >= begin && at < begin + sizeof s.link;
}

constexpr const char* kRemedy = "Write TOML as in docs/bench.md, or use a name from 'mrc cosim --scenario list'.";
constexpr const char* kListRemedy = "'mrc cosim --scenario list' prints all keys.";
constexpr input::FileKind kScenarioFile{"scenario", input::kTomlBytes, kRemedy};

std::vector<std::string_view> scenario_names() {
  std::vector<std::string_view> names;
  for (const Scenario& s : scenarios()) names.push_back(s.name);
  return names;
}

/// A [[rule]] while it is read: what it does to frames goes into the link of a scenario.
struct RuleDraft {
  LinkRule rule;
  std::string to = "both";
  Scenario link;
};

const input::Key<RuleDraft> kRuleKeys[] = {
    {"ev_share", "share of the entropy values, chosen by hash", 0, 1, false,
     [](RuleDraft& d) -> double& { return d.rule.ev_share; }},
    {"from_us", "from when on, after the beginning of traffic", 0, 1e9, false,
     [](RuleDraft& d) -> double& { return d.rule.from_us; }},
    {"until_us", "until when", 0, 1e12, false, [](RuleDraft& d) -> double& { return d.rule.until_us; }},
    {"to", "which direction", 0, 0, false, nullptr, nullptr, [](RuleDraft& d) -> std::string& { return d.to; },
     "dut|peer|both"},
};

uint32_t planes_of(const input::TomlFile& file, const toml::node& node) {
  const toml::array* planes = node.as_array();
  if (!planes || planes->empty()) file.refuse(node, "planes is no list of planes", "Write planes = [0, 3].");
  uint32_t mask = 0;
  for (const toml::node& plane : *planes) {
    if (!plane.is_number()) file.refuse(plane, "planes holds something that is no number", "Write planes = [0, 3].");
    mask |= 1u << input::whole(file.literal(plane, "planes"), 0, 7, "number of a plane");
  }
  return mask;
}

LinkRule read_rule(const input::TomlFile& file, const toml::table& table) {
  static const std::vector<ScenarioKey> link_keys = [] {
    std::vector<ScenarioKey> keys;
    std::copy_if(std::begin(kKeys), std::end(kKeys), std::back_inserter(keys), of_link);
    return keys;
  }();
  RuleDraft draft;
  input::Source& source = draft.rule.source;
  source.begin(file, table);
  for (const auto& [key, node] : table) {
    const std::string_view k = key.str();
    if (k == "planes") {
      draft.rule.planes = planes_of(file, node);
      source.lines.insert_or_assign("planes",
                                    input::Source::Spot{node.source().begin.line, node.source().begin.column});
    } else if (!input::set_key<RuleDraft>(kRuleKeys, draft, source, file, k, node) &&
               !input::set_key<Scenario>(link_keys, draft.link, source, file, k, node)) {
      auto known = input::names_of<RuleDraft>(kRuleKeys);
      for (const ScenarioKey& link : link_keys) known.push_back(link.name);
      known.push_back("planes");
      input::unknown_key(file, key, "a rule", known,
                         "Rules take planes, ev_share, to, from_us, until_us, and what a link does (loss, trim, ...).");
    }
  }
  draft.rule.what = draft.link.link;
  draft.rule.to_dut = draft.to != "peer";
  draft.rule.to_peer = draft.to != "dut";
  if (draft.rule.from_us >= draft.rule.until_us) {
    throw ScenarioError(
        fmt::format("{}: the rule ends at {} us, not after {} us, when it begins.", source.at("until_us"),
                    input::digits(draft.rule.until_us), input::digits(draft.rule.from_us)),
        "Give until_us above from_us.");
  }
  return std::move(draft.rule);
}

/// Values that are good alone, but not together.
void check_together(const Scenario& s) {
  const auto refuse = [&](const char* key, const std::string& what, const std::string& remedy) {
    throw ScenarioError(s.source.at(key) + ": " + what + ".", remedy);
  };
  const auto range = [&](const char* low, double min, const char* high, double max) {
    if (min <= max) return;
    refuse(s.source.has(low) ? low : high,
           fmt::format("{} = {} is above {} = {}", low, input::digits(min), high, input::digits(max)),
           fmt::format("Give {} and {} so that the first is not above the second.", low, high));
  };
  range("size_min", s.size_min, "size_max", s.size_max);
  range("mtu_min", s.mtu_min, "mtu_max", s.mtu_max);
  if (s.dut_sends == 0 && s.peer_sends == 0) {
    refuse("dut_sends", "neither the device nor the peer sends: dut_sends = 0 and peer_sends = 0",
           "Let at least one of them send.");
  }
  if (const double timers = 4 * 1.024 * std::ldexp(1, static_cast<int>(s.rto)); s.hang_us > 0 && s.hang_us < timers) {
    refuse("hang_us",
           fmt::format("hang_us = {} is less than four timer intervals of rto = {}", input::digits(s.hang_us),
                       input::digits(s.rto)),
           fmt::format("Use {:.0f} or more, or 0 for 40 timer intervals.", std::ceil(timers)));
  }
  const std::pair<const char*, double> codes[] = {{"dscp_data", s.dscp_data},
                                                  {"dscp_rtx", s.dscp_rtx},
                                                  {"dscp_ctl", s.dscp_ctl},
                                                  {"dscp_trimmed", s.dscp_trimmed},
                                                  {"dscp_lasthop", s.dscp_lasthop}};
  for (const auto& a : codes) {
    for (const auto& b : codes) {
      if (&a >= &b || a.second != b.second) continue;
      refuse(
          s.source.has(b.first) ? b.first : a.first,
          fmt::format("{} and {} are both {}: nobody could tell them apart", a.first, b.first, input::digits(a.second)),
          "Give five different code points.");
    }
  }
}

}  // namespace

std::span<const ScenarioKey> scenario_keys() { return kKeys; }

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = [] {
    std::vector<Scenario> list;
    for (const Row& row : kScenarios) list.push_back(built(row));
    return list;
  }();
  return all;
}

const Scenario* find_scenario(std::string_view name) {
  for (const Scenario& s : scenarios()) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

void set_key(Scenario& scenario, std::string_view key, double value, const std::string& where) {
  for (const ScenarioKey& k : kKeys) {
    if (key != k.name) continue;
    if (!k.range().has(value)) {
      throw ScenarioError(fmt::format("{}: {} = {} is out of range.", where, key, input::digits(value)),
                          fmt::format("Use {}: {}.", k.range().words(), k.doc));
    }
    k.number(scenario) = value;
    return;
  }
  throw ScenarioError(
      fmt::format("{}: unknown key {}{}", where, key, input::did_you_mean(key, input::names_of<Scenario>(kKeys))),
      kListRemedy);
}

Scenario parse_scenario(std::string_view text, const std::string& name) {
  const input::TomlFile file(text, name, "scenario", kRemedy);
  Scenario s;
  s.qps = kDefaultQps;
  if (const toml::node* base = file.root().get("base")) {
    const auto from = base->value_exact<std::string>();
    if (!from) file.refuse(*base, "base is not a text", "Write base = \"clean\", for example.");
    const Scenario* found = find_scenario(*from);
    if (!found) {
      throw ScenarioError(fmt::format("{}: base = {} names no scenario{}", file.at(*base), input::shown(*from),
                                      input::did_you_mean(*from, scenario_names())),
                          "'mrc cosim --scenario list' prints the names.");
    }
    s = *found;
  }
  s.name = name;
  s.description = "from a file";
  s.source.file = name;
  for (const auto& [key, node] : file.root()) {
    const std::string_view k = key.str();
    if (k == "base") continue;
    if (k == "description") {
      const auto description = node.value_exact<std::string>();
      if (!description) file.refuse(node, "description is not a text", "Write it in quotes: one line for lists.");
      s.description = *description;
    } else if (k == "rule") {
      s.rules.clear();
      for (const toml::table* rule : file.tables(node, "rule")) s.rules.push_back(read_rule(file, *rule));
    } else if (!input::set_key<Scenario>(kKeys, s, s.source, file, k, node)) {
      auto known = input::names_of<Scenario>(kKeys);
      known.insert(known.end(), {"base", "description", "rule"});
      input::unknown_key(file, key, "the scenario", known, kListRemedy);
    }
  }
  check_together(s);
  return s;
}

void check(const Scenario& scenario, const Preset& preset) {
  for (const LinkRule& rule : scenario.rules) {
    // Rules of drawn scenarios have no place; they may name planes that the preset has not.
    if (rule.source.line == 0 || rule.planes == LinkRule{}.planes || rule.planes >> preset.num_planes == 0) continue;
    throw ScenarioError(fmt::format("{}: a rule for plane {}, but preset {} has {}.", rule.source.at("planes"),
                                    std::bit_width(rule.planes) - 1, preset.name, preset.num_planes),
                        fmt::format("Use planes 0 to {}, or another preset.", preset.num_planes - 1));
  }
}

std::string scenario_toml(const Scenario& scenario, const Preset* preset) {
  std::string t = fmt::format("description = \"{}\"\n", scenario.description);
  const auto differences = [&t](Scenario is, Scenario was, bool of_links) {
    for (const ScenarioKey& key : kKeys) {
      if (of_links && !of_link(key)) continue;
      if (key.number(is) != key.number(was)) t += fmt::format("{} = {}\n", key.name, key.number(is));
    }
  };
  Scenario plain;
  plain.qps = kDefaultQps;
  differences(scenario, plain, false);
  for (LinkRule rule : scenario.rules) {
    const LinkRule any;
    if (preset && rule.planes != any.planes) rule.planes &= (1u << preset->num_planes) - 1;
    if (rule.planes == 0) continue;  // no frame could meet it
    t += "[[rule]]\n";
    if (rule.planes != any.planes) {
      std::string list;
      for (unsigned p = 0; p < 8; ++p) {
        if ((rule.planes >> p & 1) != 0) list += fmt::format("{}{}", list.empty() ? "" : ", ", p);
      }
      t += fmt::format("planes = [{}]\n", list);
    }
    if (rule.ev_share != any.ev_share) t += fmt::format("ev_share = {}\n", rule.ev_share);
    if (!rule.to_peer || !rule.to_dut) t += fmt::format("to = \"{}\"\n", rule.to_dut ? "dut" : "peer");
    if (rule.from_us != any.from_us) t += fmt::format("from_us = {}\n", rule.from_us);
    if (rule.until_us != any.until_us) t += fmt::format("until_us = {}\n", rule.until_us);
    Scenario links;
    links.link = rule.what;
    differences(links, {}, true);
  }
  return t;
}

Scenario load_scenario(const std::string& file) {
  std::error_code ignored;
  if (file != "-" && !std::filesystem::exists(file, ignored)) {
    throw ScenarioError(fmt::format("{} is neither a built-in scenario nor a file{}", input::shown(file),
                                    input::did_you_mean(file, scenario_names())),
                        "'mrc cosim --scenario list' prints the names; a file must be TOML.");
  }
  return parse_scenario(input::read_text(file, kScenarioFile), input::file_name(file));
}

}  // namespace mrc::tb
