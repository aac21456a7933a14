// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <type_traits>
#include <utility>

#include "input/file.hpp"
#include "input/names.hpp"
#include "input/toml_tree.hpp"
#include "tb/environment/embedded.hpp"

namespace mrc::tb {
namespace {

/// The key of a field: what it takes follows from the field's type.
template <class T, auto Field>
input::Key<T> key_of(const char* name, const char* doc, double min, double max, bool or_zero = false) {
  using Type = std::remove_reference_t<decltype(std::declval<T&>().*Field)>;
  input::Key<T> key{.name = name, .doc = doc, .min = min, .max = max, .or_zero = or_zero};
  if constexpr (std::is_same_v<Type, bool>) {
    key.integer = true;
    key.flag = [](T& t) -> bool& { return t.*Field; };
  } else if constexpr (std::is_same_v<Type, uint32_t>) {
    key.integer = true;
    key.whole = [](T& t) -> uint32_t& { return t.*Field; };
  } else {
    static_assert(std::is_same_v<Type, double>);
    key.number = [](T& t) -> double& { return t.*Field; };
  }
  return key;
}
/// The key of a field of Scenario::link.
template <double Impairment::*Field>
ScenarioKey link_key(const char* name, const char* doc) {
  ScenarioKey key{.name = name, .doc = doc, .max = 1};
  key.number = [](Scenario& s) -> double& { return s.link.*Field; };
  return key;
}
#define KEY(name, min, max, doc) key_of<Scenario, &Scenario::name>(#name, doc, min, max)
#define SWITCH(name, doc) KEY(name, 0, 1, doc)
#define CTRL(name, largest) KEY(name, 0, largest, "register CTRL"),

/// What a link does to frames: keys of a scenario, for its links, and of a rule, for the frames that it names.
#define LINK_KEYS(KEY_OF)                                                                                 \
  KEY_OF(loss, "frames lost")                                                                             \
  KEY_OF(trim, "data frames trimmed")                                                                     \
  KEY_OF(lasthop, "share of the trimmed frames with the last hop's code point")                           \
  KEY_OF(ecn, "data frames and reliability probes marked CE")                                             \
  KEY_OF(corrupt, "frames with flipped bits")                                                             \
  KEY_OF(duplicate, "frames delivered twice")                                                             \
  KEY_OF(rogue, "frames followed by an altered copy that must have no effect")                            \
  KEY_OF(reorder, "frames delayed by up to reorder_ns")                                                   \
  KEY_OF(penalty, "SACKs given a window penalty or its end, as responders of another make may send them") \
  KEY_OF(no_bytes, "WRITEs of one packet that lose their payload, with a right ICRC: their QP may fail")  \
  KEY_OF(return_share, "share of the lost and trimmed data frames that a switch sends back instead")      \
  KEY_OF(return_swap, "share of the returned frames whose addresses the switch exchanges")                \
  KEY_OF(return_marked, "share of the returned frames with dscp_returned, if that is valid")
#define OF_RULE(name, doc) key_of<Impairment, &Impairment::name>(#name, doc, 0, 1),
#define OF_LINK(name, doc) link_key<&Impairment::name>(#name, doc),

const input::Key<Impairment> kImpairmentKeys[] = {LINK_KEYS(OF_RULE)};

const ScenarioKey kKeys[] = {
    MRC_SWITCHES(CTRL)  //
    KEY(qps, 0, 4096, "QPs in use; 0: all of the preset"),
    SWITCH(dut_sends, "the device under test sends messages"),
    SWITCH(peer_sends, "the peer sends messages"),
    KEY(outstanding, 0, 64, "WQEs a QP has posted at once; 0: 16, or the preset's WqeDepth if that is less"),
    KEY(size_min, 1, 1048576, "smallest message, bytes"),
    KEY(size_max, 1, 1048576, "largest message, bytes"),
    KEY(small_share, 0, 1, "share of messages of 1 to 64 bytes"),
    KEY(exact_share, 0, 1, "share of messages of whole MTUs"),
    KEY(aligned_share, 0, 1, "share of messages with addresses that are multiples of 64"),
    KEY(imm_share, 0, 1, "share of WRITEs with immediate"),
    KEY(zero_share, 0, 1, "share of messages of no bytes, with and without immediate"),
    KEY(signal_every, 0, 64,
        "a WRITE with immediate of no bytes follows so many WRITEs of a QP, as collectives signal; 0: none"),
    KEY(fifo_qps, 0, 4096, "so many QPs, the last ones, carry WRITEs of 64 bytes alone, in a class of their own"),
    KEY(own_class, 0, 1, "share of QPs with a class of their own: table QP_CLASS"),
    KEY(qpn_share, 0, 1, "share of QPs whose QPN has upper bits: table QP_QPN"),
    KEY(wqe_gap, 0, 1e6, "cycles between WQEs on average"),
    KEY(mtu_min, 0, 4, "smallest path MTU, 256 << m"),
    KEY(mtu_max, 0, 4, "largest path MTU, 256 << m"),
    KEY(srv6_share, 0, 1, "share of QPs with an SRv6 outer header"),
    KEY(ts_share, 0, 1, "share of QPs with a time stamp header"),
    KEY(srh_share, 0, 1, "share of the QPs with SRv6 that have a routing header"),
    KEY(udp_share, 0, 1, "share of the QPs without SRv6 whose entropy is the UDP source port alone"),
    KEY(generated, 0, 1, "share of the EV profiles that the NIC fills itself, AUTO or GENERATED"),
    KEY(mpr, 0, 64, "window in units of 128 PSNs; 0: the preset's MaxMpr"),
    KEY(peer_mpr, 0, 64, "window of the peer's QPs; 0: as mpr"),
    KEY(wrap_share, 0, 1, "share of QPs that start just before PSN, MSN and RQMSN wrap"),
    SWITCH(msn_zero, "MSN and RQMSN of every QP start at 0"),
    KEY(bad_wqes, 0, 1, "share of WQEs of an impossible length"),
    KEY(bad_access, 0, 4096, "QPs on which one message leaves its memory region"),
    SWITCH(may_fail, "QPs may fail: retries end, the other side has failed"),
    KEY(rounds, 1, 100, "rounds of traffic; between them failed QPs and some others are connected anew"),
    KEY(lives, 1, 100, "lives of both NICs: each but the last ends by a reset, whatever is going on"),
    KEY(life_us, 0, 1e6, "mean time from the begin of traffic to that reset, and after it from reset to reset"),
    KEY(reset_cycle, 0, 1e9, "cycle of traffic in which the reset comes; 0: drawn from life_us"),
    KEY(same_psns, 0, 1, "share of the lives whose QPs begin with the PSNs and MSNs of the life before"),
    KEY(alone, 0, 1, "share of the resets of one NIC alone; software resets the QPs of the other"),
    KEY(by_software, 0, 1,
        "share of the others that software does, no pin: all QPs of both; at L0 one in half of them"),
    KEY(max_wimm, 0, 32, "WRITEs with immediate a requestor may have outstanding; 0: none"),
    KEY(max_wimm_dest, 0, 32, "WRITEs with immediate a responder reorders; 0: it takes none"),
    KEY(wimm_extra, 0, 64, "WRITEs with immediate posted beyond max_wimm where requestors let them wait"),
    KEY(cc_share, 0, 1, "share of QPs with a congestion controller"),
    KEY(dests, 1, 4096, "destinations that the QPs are spread over"),
    KEY(cc_rtt_ns, 0, 1e6, "base round trip of the controllers; 0: what the links make of it"),
    SWITCH(cc_disable_qa, "CC_PROFILE: no quick adapt"),
    SWITCH(cc_md_resets_fast, "CC_PROFILE: a decrease ends fast increase"),
    SWITCH(cc_nack_any_reason, "CC_PROFILE: every NACK is congestion"),
    SWITCH(cc_nack_sample_cfg, "CC_PROFILE: a trim's sample is the configured round trip, not the smallest seen"),
    SWITCH(cc_nack_rtt, "CC_PROFILE: a NACK may lower the base round trip"),
    KEY(cc_ar_shift, 0, 7, "CC_PROFILE: AckReq when less than the window / 2^n is left; 0: less than a packet"),
    KEY(cc_mtu, 0, 16383, "CC_PROFILE: bytes of a full packet, floor of the window; 0: path MTU + 92"),
    KEY(cc_eta, 0, 1e6, "CC_PROFILE: bytes added to the window per period; 0: the default"),
    KEY(cc_fi, 0, 1e6, "CC_PROFILE: gain of the fair increase, bytes; 0: the default"),
    KEY(cc_alpha, 0, 1e6, "CC_PROFILE: gain of the proportional increase, bytes per 128 ns; 0: the default"),
    KEY(cc_rate_gbps, 0, 1600, "CC_PROFILE: rate that the largest window is made of; 0: the ports' together"),
    KEY(cc_qa_threshold_ns, 0, 1e6, "CC_PROFILE: a longer delay triggers quick adapt; 0: the default"),
    KEY(cc_adjust_ns, 0, 1e6, "CC_PROFILE: period of adjustment; 0: the base round trip"),
    KEY(cc_near_zero_ns, 0, 1e6, "CC_PROFILE: a smaller delay counts as none"),
    KEY(cc_ewma_weight, 0, 1, "CC_PROFILE: weight of a new delay sample"),
    LINK_KEYS(OF_LINK) KEY(delay_ns, 100, 1e6, "delay of a link"),
    KEY(jitter_ns, 0, 1e6, "random delay of every frame on top"),
    KEY(skew_ns, 0, 1e6, "constant extra delay per entropy value, up to this"),
    KEY(reorder_ns, 0, 1e6, "largest extra delay of reordered frames"),
    KEY(fuzz_us, 0, 1e9, "the peer sends what no peer may (docs/design/blocks/nic.md) this often; 0: never"),
    KEY(fuzz_for_us, 0, 1e6, "for so long on average"),
    KEY(fuzz_flood, 0, 1, "share of those times in which one kind of frame comes at line rate"),
    KEY(never_arrive, 0, 1, "share of the data packets that links lose whenever they are sent; with may_fail"),
    KEY(trim_size, 0, 4084, "bytes left of a trimmed frame; 0: 128, 206, 256 or 4084 at random"),
    KEY(trim_lengths, 0, 2, "length fields that a trimming switch rewrites: 0 none, 1 the outermost IP's, 2 all"),
    KEY(mac_errors, 0, 1, "share of the corrupted frames whose FCS is wrong"),
    KEY(read_ns, 0, 1e5, "latency of host memory reads; with read_jitter_ns 0 too: what the preset's prefetch hides"),
    KEY(read_jitter_ns, 0, 1e5, "random latency on top"),
    KEY(stall, 0, 0.99, "share of cycles in which the host takes nothing"),
    KEY(pause, 0, 10, "long pauses of the host's writes per microsecond"),
    KEY(pause_ns, 0, 1e5, "length of such a pause"),
    KEY(cqe_pause, 0, 10, "times per microsecond that the host stops to take completions"),
    KEY(cqe_pause_ns, 0, 1e5, "for so long"),
    KEY(read_errors, 0, 1, "lines that the host cannot read; it gives up every other QP of them; with may_fail"),
    KEY(write_errors, 0, 1, "packets that the host cannot write: it gives up their QPs; with may_fail"),
    KEY(rto, 0, 24, "QP attribute TIMEOUT: timer 1.024 us x 2^rto"),
    KEY(backup, 0, 31, "groups of backup EVs at the end of each profile"),
    KEY(min_active, 0, 511, "register EV_CTL: EVs that stay in use whatever they lose"),
    KEY(probe_ticks, 1, 65535, "register EV_PROBE: first interval of the probes of a bad EV, 128 ns"),
    KEY(retry_linear, 0, 7, "QP attribute RETRY_CNT: retries at the same interval before it doubles"),
    KEY(retry_exp, 0, 25, "QP attribute RETRY_CNT: further retries; 25: for ever"),
    SWITCH(same_ev, "register REORDER: the oldest gap is lost once a later packet of its EV has arrived"),
    KEY(svc_share, 0, 1, "share of QPs with the capability SVC_TIME"),
    SWITCH(dyn_mpr, "dynamic MPR, changed at random while traffic runs"),
    SWITCH(move_mpr, "responders' windows are changed even if their SACKs do not carry them"),
    KEY(ep_ticks, 1, 65535, "register EP_CTL: endpoint requests are repeated after so long, 128 ns"),
    KEY(ep_repeats, 0, 15, "register EP_CTL: times that a port status update is sent again; 15: for ever"),
    KEY(rev_seed, 0, 4294967295.0, "register REV_SEED: entropy values of reverse-path probes go on from it"),
    SWITCH(rev_probe, "register EP_CTL: reverse paths of destinations that only send are probed"),
    KEY(probe_cap, 0, 14, "register EV_PROBE: doublings of the probe interval at most"),
    SWITCH(probe_keep, "register EV_PROBE: a failed probe leaves the count of answers in a row"),
    SWITCH(skip_good, "register EV_PROBE: answers with SKIP_ONCE revive to 0 SKIP, 1 GOOD"),
    KEY(probe_successes, 1, 7, "register EV_PROBE: answers in a row that revive an EV"),
    KEY(probe_kind, 0, 2, "register EV_PROBE: probes that revive, 0 either kind, 1 EV probes, 2 reliability probes"),
    KEY(nak_invalid, 96, 127, "register NAK_CODE: syndrome for a WRITE of no bytes, an immediate too many"),
    KEY(nak_access, 96, 127, "register NAK_CODE: syndrome for a WRITE beyond its memory region"),
    KEY(dscp_data, 0, 63, "register DSCP_TX; the code points differ, but that of endpoint requests may be one of data"),
    KEY(dscp_rtx, 0, 63, "register DSCP_TX"),
    KEY(dscp_ctl, 0, 63, "register DSCP_TX"),
    KEY(dscp_ep, 0, 64, "register DSCP_TX: endpoint requests; 64: as dscp_data"),
    KEY(dscp_trimmed, 0, 63, "register DSCP_TRIM, and what switches write"),
    KEY(dscp_lasthop, 0, 63, "register DSCP_TRIM, and what last switches write"),
    KEY(dscp_returned, 0, 63, "register DSCP_TRIM, and what switches write into return_marked frames"),
    SWITCH(dscp_returned_valid, "register DSCP_TRIM: returned frames have a code point of their own"),
    KEY(skip_ticks, 0, 65535, "register EV_CTL: an EV is in SKIP for so long with skip_mode 2, 128 ns"),
    KEY(loss_share, 0, 7, "register EV_CTL: of 2^loss_share losses in a bad world one counts; 0: each, in any world"),
    SWITCH(bad_waits,
           "register EV_CTL: a packet that finds no EV in use counts as sent and lost; 0: goes on a bad one"),
    SWITCH(lost_stays,
           "register EV_CTL: what is lost leaves the flight in its turn; 0: when its QP's retransmission is refused"),
    SWITCH(one_copy, "register EV_CTL: what was lost goes again once; 0: twice where the QP may send nothing else"),
    KEY(srv6_plane_lsb, 0, 15, "register SRV6: bit of the plane number in every uSID"),
    KEY(srv6_uplink_usid, 0, 7, "register SRV6: uSID that takes the uplink number"),
    KEY(srv6_uplink_lsb, 0, 15, "register SRV6: bit of the uplink number there"),
    KEY(srv6_uplink_bits, 0, 15, "register SRV6: width of the uplink number; 0: none"),
    KEY(ack_gap, 0, 65535, "register ACK_CTL: least cycles between two semantic ACKs"),
    KEY(ar_gap, 0, 65535, "register ACK_CTL: least cycles between two AckReqs of QPs with nothing more to send"),
    KEY(reorder_pkts, 1, 32767, "register REORDER: packets above a gap before it counts as lost"),
    KEY(sack_trigger, 0, 1048575, "register SACK_TRIGGER, bytes"),
    SWITCH(share, "register SHARE: responders shut and open the windows of those who send to them"),
    KEY(share_epoch, 0, 15, "register SHARE: they count for 128 ns x 2^share_epoch"),
    KEY(share_least, 0, 255, "register SHARE: QPs that are an incast"),
    KEY(share_trims, 0, 255, "register SHARE: trimmed packets in that time from which on there is a penalty"),
    KEY(share_pen, 0, 127, "register SHARE: the penalty"),
    KEY(share_drain, 0, 4294967295.0, "register SHARE_DRAIN: bytes left below which windows are restored"),
    SWITCH(trim_nack, "capability TRIM_NACK"),
    KEY(udp_port, 1, 65535, "register UDP_PORT: sent, and received"),
    SWITCH(udp_only, "register UDP_PORT: no other port is received, 4791 and 4971 neither"),
    KEY(peer_port, 0, 65535, "register UDP_PORT of the peer; 0: as udp_port"),
    SWITCH(ip_plane, "register IP_PLANE: one address per plane"),
    KEY(ip_plane_lsb, 0, 127, "register IP_PLANE: lowest of the three bits that hold the number of the plane"),
    SWITCH(
        vary,
        "draw the registers of open choices from the seed: CTRL, UDP_PORT, IP_PLANE, code points, SRV6, SACK_TRIGGER, "
        "ACK_CTL, REV_SEED, probe_kind, skip_ticks"),
    KEY(csr_gap, 0, 1e9, "cycles between register accesses during traffic; 0: none"),
    KEY(churn, 0, 1, "share of the register accesses that write table rows: EVs in use, unused QPs and regions"),
    KEY(ended, 0, 1, "share of the register accesses that put a QP in use into ERROR; with may_fail"),
    KEY(ecc, 0, 1, "share of the register accesses that have a word of a memory stored with a wrong bit (ECC_INJECT)"),
    KEY(ecc_two, 0, 1, "share of those words that have two wrong bits and end their QP; with may_fail"),
    KEY(flap_us, 0, 1e6, "mean time between two failures of a port of the device; 0: none"),
    KEY(flap_down_us, 0, 1e6, "mean time that a port stays down"),
    SWITCH(peer_flap, "the peer's ports fail as well"),
    KEY(stand_us, 0, 1e6, "mean time between two times at which a port of the device stands still; 0: none"),
    KEY(stand_for_us, 0, 1e6, "mean time for which it takes no beat"),
    KEY(stand_ports, 0, 8, "only ports with lower numbers stand still"),
    KEY(port_stall, 0, 65535,
        "register PORT_STALL: a port that takes no beat for so long is as down, 128 ns; 0: never"),
    KEY(cut_planes, 0, 8, "ports of the device that go down at cut_us, all but one or all of them if so many"),
    KEY(cut_us, 0, 1e9, "when they go down, after the beginning of traffic"),
    KEY(back_us, 0, 1e9, "when they come back; 0: never"),
    KEY(control, 0, 1, "share of the register accesses that are a controller's: EVs denied and allowed, EV probes"),
    key_of<Scenario, &Scenario::hang_us>("hang_us", "a hang is no progress for so long; 0: 40 timer intervals", 100,
                                         1e9, true),
};
#undef KEY
#undef SWITCH
#undef CTRL
#undef LINK_KEYS
#undef OF_RULE
#undef OF_LINK

// QPs of a scenario unless it says otherwise: enough to fill eight planes.
constexpr uint32_t kDefaultQps = 32;

constexpr const char* kRemedy = "Write TOML as in docs/guide/bench.md, or use a name from 'mrc cosim --scenario list'.";
constexpr const char* kListRemedy = "'mrc cosim --scenario list' prints all keys.";
constexpr input::FileKind kScenarioFile{"scenario", input::kTomlBytes, kRemedy};

std::vector<std::string_view> scenario_names() {
  std::vector<std::string_view> names;
  for (const Scenario& s : scenarios()) names.push_back(s.name);
  return names;
}

/// A [[rule]] while it is read.
struct RuleDraft {
  LinkRule rule;
  std::string to = "both";
  double every_us = 0;
  uint32_t times = 1;
};

const input::Key<RuleDraft> kRuleKeys[] = {
    {.name = "ev_share",
     .doc = "share of the entropy values, chosen by hash",
     .max = 1,
     .number = [](RuleDraft& d) -> double& { return d.rule.ev_share; }},
    {.name = "from_us",
     .doc = "from when on, after the beginning of traffic",
     .max = 1e9,
     .number = [](RuleDraft& d) -> double& { return d.rule.from_us; }},
    {.name = "until_us",
     .doc = "until when",
     .max = 1e12,
     .number = [](RuleDraft& d) -> double& { return d.rule.until_us; }},
    {.name = "to",
     .doc = "which direction",
     .text = [](RuleDraft& d) -> std::string& { return d.to; },
     .words = "dut|peer|both"},
    key_of<RuleDraft, &RuleDraft::every_us>("every_us", "it comes again so long after its beginning", 0, 1e9),
    key_of<RuleDraft, &RuleDraft::times>("times", "how often it comes in all", 1, 1000),
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

/// A [[rule]]; of one that comes several times, each time as a rule.
std::vector<LinkRule> read_rule(const input::TomlFile& file, const toml::table& table) {
  RuleDraft draft;
  LinkRule& rule = draft.rule;
  rule.source.begin(file, table);
  for (const auto& [key, node] : table) {
    const std::string_view k = key.str();
    if (k == "planes") {
      rule.planes = planes_of(file, node);
      rule.source.lines.insert_or_assign("planes",
                                         input::Source::Spot{node.source().begin.line, node.source().begin.column});
    } else if (!input::set_key<RuleDraft>(kRuleKeys, draft, rule.source, file, k, node) &&
               !input::set_key<Impairment>(kImpairmentKeys, rule.what, rule.source, file, k, node)) {
      auto known = input::names_of<RuleDraft>(kRuleKeys);
      for (const auto& link : kImpairmentKeys) known.push_back(link.name);
      known.push_back("planes");
      input::unknown_key(file, key, "a rule", known,
                         "Rules take planes, ev_share, to, from_us, until_us, every_us, times, and what a link does "
                         "(loss, trim, ...).");
    }
  }
  rule.to_dut = draft.to != "peer";
  rule.to_peer = draft.to != "dut";
  if (rule.from_us >= rule.until_us) {
    throw ScenarioError(
        fmt::format("{}: the rule ends at {} us, not after {} us, when it begins.", rule.source.at("until_us"),
                    input::digits(rule.until_us), input::digits(rule.from_us)),
        "Give until_us above from_us.");
  }
  if (draft.times > 1 && draft.every_us < rule.until_us - rule.from_us) {
    throw ScenarioError(
        fmt::format("{}: the rule comes again after {} us, before it has ended.",
                    rule.source.at(rule.source.has("every_us") ? "every_us" : "times"), input::digits(draft.every_us)),
        "Give every_us, not below until_us - from_us.");
  }
  std::vector<LinkRule> rules;
  for (unsigned i = 0; i < draft.times; ++i) {
    rules.push_back(rule);
    rules.back().from_us += i * draft.every_us;
    rules.back().until_us += i * draft.every_us;
  }
  return rules;
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
  if (!s.dut_sends && !s.peer_sends) {
    refuse("dut_sends", "neither the device nor the peer sends: dut_sends = 0 and peer_sends = 0",
           "Let at least one of them send.");
  }
  if (const double timers = 4 * 1.024 * std::ldexp(1, static_cast<int>(s.rto)); s.hang_us > 0 && s.hang_us < timers) {
    refuse("hang_us",
           fmt::format("hang_us = {} is less than four timer intervals of rto = {}", input::digits(s.hang_us),
                       input::digits(s.rto)),
           fmt::format("Use {:.0f} or more, or 0 for 40 timer intervals.", std::ceil(timers)));
  }
  if (s.ended > 0 && !s.may_fail) {
    refuse("ended", fmt::format("ended = {}: QPs that software puts into ERROR fail", input::digits(s.ended)),
           "Say may_fail = true, too.");
  }
  if (s.ecc > 0 && s.ecc_two > 0 && !s.may_fail) {
    refuse("ecc_two", fmt::format("ecc_two = {}: QPs whose words have two wrong bits fail", input::digits(s.ecc_two)),
           "Say may_fail = true, too.");
  }
  if (s.never_arrive > 0 && !s.may_fail) {
    refuse("never_arrive",
           fmt::format("never_arrive = {}: QPs that cannot get a packet through fail", input::digits(s.never_arrive)),
           "Say may_fail = true, too.");
  }
  for (const auto& [key, value] :
       {std::pair{"read_errors", s.read_errors}, std::pair{"write_errors", s.write_errors}}) {
    if (value <= 0 || s.may_fail) continue;
    refuse(key, fmt::format("{} = {}: QPs that the host gives up fail", key, input::digits(value)),
           "Say may_fail = true, too.");
  }
  // Of data and of endpoint requests may be the same; that of returned frames counts only if it is valid.
  const uint32_t ep = s.dscp_ep == s.dscp_data || s.dscp_ep == s.dscp_rtx ? Scenario::kAsData : s.dscp_ep;
  constexpr uint32_t kNone = 65;
  const std::pair<const char*, uint32_t> codes[] = {{"dscp_data", s.dscp_data},
                                                    {"dscp_rtx", s.dscp_rtx},
                                                    {"dscp_ctl", s.dscp_ctl},
                                                    {"dscp_trimmed", s.dscp_trimmed},
                                                    {"dscp_lasthop", s.dscp_lasthop},
                                                    {"dscp_ep", ep},
                                                    {"dscp_returned", s.dscp_returned_valid ? s.dscp_returned : kNone}};
  for (const auto& a : codes) {
    for (const auto& b : codes) {
      if (&a >= &b || a.second != b.second) continue;
      refuse(
          s.source.has(b.first) ? b.first : a.first,
          fmt::format("{} and {} are both {}: nobody could tell them apart", a.first, b.first, input::digits(a.second)),
          "Give different code points.");
    }
  }
}

/// The keys and rules of a file, on top of what `s` has. Throws ScenarioError.
void read_scenario(const input::TomlFile& file, Scenario& s) {
  s.source.file = file.file();
  for (const auto& [key, node] : file.root()) {
    const std::string_view k = key.str();
    if (k == "base") continue;
    if (k == "description") {
      const auto description = node.value_exact<std::string>();
      if (!description) file.refuse(node, "description is not a text", "Write it in quotes: one line for lists.");
      s.description = *description;
    } else if (k == "rule") {
      s.rules.clear();
      for (const toml::table* table : file.tables(node, "rule")) {
        const auto rules = read_rule(file, *table);
        s.rules.insert(s.rules.end(), rules.begin(), rules.end());
      }
    } else if (!input::set_key<Scenario>(kKeys, s, s.source, file, k, node)) {
      auto known = input::names_of<Scenario>(kKeys);
      known.insert(known.end(), {"base", "description", "rule"});
      input::unknown_key(file, key, "the scenario", known, kListRemedy);
    }
  }
  check_together(s);
}

/// Lines for the keys by which `is` and `was` differ.
template <class T>
std::string key_lines(std::span<const input::Key<T>> keys, T is, T was) {
  std::string lines;
  for (const input::Key<T>& key : keys) {
    const double value = key.value(is);
    if (value == key.value(was)) continue;
    lines += key.flag ? fmt::format("{} = {}\n", key.name, value != 0) : fmt::format("{} = {}\n", key.name, value);
  }
  return lines;
}

}  // namespace

std::span<const ScenarioKey> scenario_keys() { return kKeys; }

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = [] {
    std::vector<Scenario> list;
    for (const EmbeddedFile& file : embedded_scenarios()) {
      Scenario s;
      s.qps = kDefaultQps;
      s.name = file.name;
      read_scenario(input::TomlFile(file.text, fmt::format("scenario {}", file.name), "scenario", kRemedy), s);
      s.source = {};  // it is nobody's file
      for (LinkRule& rule : s.rules) rule.source = {};
      list.push_back(std::move(s));
    }
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

void on_fabric(Scenario& scenario, const FabricProfile& profile) {
  for (const FabricSetting& s : profile.nic) {
    if (s.name != nullptr) scenario.registers.push_back({s.name, s.value});
  }
  for (unsigned i = 0; i < profile.classes; ++i)
    scenario.classes.emplace_back(profile.data[i].data, profile.data[i].rtx);
  scenario.trim_size = profile.trim_size;
  if (profile.lasthop) return;
  scenario.link.lasthop = 0;
  for (LinkRule& rule : scenario.rules) rule.what.lasthop = 0;
}

void set_key(Scenario& scenario, std::string_view key, double value, const std::string& where) {
  for (const ScenarioKey& k : kKeys) {
    if (key != k.name) continue;
    if (!k.range().has(value)) {
      throw ScenarioError(fmt::format("{}: {} = {} is out of range.", where, key, input::digits(value)),
                          fmt::format("Use {}: {}.", k.range().words(), k.doc));
    }
    k.set_value(scenario, value);
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
  read_scenario(file, s);
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
  Scenario plain;
  plain.qps = kDefaultQps;
  t += key_lines<Scenario>(kKeys, scenario, plain);
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
    t += key_lines<Impairment>(kImpairmentKeys, rule.what, {});
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
